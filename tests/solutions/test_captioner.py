"""The captioner: its attention by properties, its steps by loops, the repairs of the printed equations."""

import pytest
import torch

from solutions.captioner import Captioner
from solutions.seq2seq import Seq2Seq

V, I, J, K, B, X, Y, T = 11, 5, 7, 3, 2, 4, 6, 5
WORDS = torch.tensor([[3, 1, 4, 10, 5], [2, 6, 0, 3, 8]])


def draw(*shape, seed=1):
    """Normal numbers in float64."""
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def randomize(model, seed=0, scale=0.6):
    """Draw every parameter, biases too, from a normal distribution, in float64."""
    g = torch.Generator().manual_seed(seed)
    for p in model.double().parameters():
        p.data = scale * torch.randn(p.shape, generator=g, dtype=torch.float64)
    return model


@pytest.fixture
def model():
    """A captioner with random parameters."""
    return randomize(Captioner(V, I, J, K))


def test_scores_by_loops(model):
    """alpha, V, CELL and softmax as printed, one image and step at a time, position by position."""
    M = draw(B, X, Y, K)
    scores, alphas = model(M, WORDS)
    for b in range(B):
        cells = [(x, y) for x in range(X) for y in range(Y)]
        h = model.W_init @ (sum(M[b, x, y] for x, y in cells) / (X * Y))
        e = model.start
        for t in range(T):
            weight = {(x, y): torch.exp(h @ model.W_key @ M[b, x, y]) for x, y in cells}
            alpha = {cell: weight[cell] / sum(weight.values()) for cell in cells}
            context = sum(alpha[x, y] * M[b, x, y] for x, y in cells)
            h = model.cell.step(h[None], torch.cat([context, e])[None])[0]
            expected = model.words.e @ model.W_auto @ h
            torch.testing.assert_close(scores[b, t], expected, rtol=1e-10, atol=1e-12)
            for cell in cells:
                torch.testing.assert_close(alphas[b, t][cell], alpha[cell], rtol=1e-10, atol=1e-14)
            e = model.words.e[WORDS[b, t]]


def test_attention_is_one_distribution_over_all_positions(model):
    """The weights of each step sum to one over x and y together."""
    alpha = model(draw(B, X, Y, K), WORDS)[1]
    assert alpha.shape == (B, T, X, Y)
    torch.testing.assert_close(alpha.sum((2, 3)), torch.ones(B, T, dtype=torch.float64))


def test_positions_have_no_order(model):
    """Shuffling the positions of an image shuffles alpha and changes no score."""
    M = draw(B, X, Y, K)
    order = torch.randperm(X * Y, generator=torch.Generator().manual_seed(0))
    shuffled = M.flatten(1, 2)[:, order].view_as(M)
    (scores, alpha), (scores2, alpha2) = model(M, WORDS), model(shuffled, WORDS)
    torch.testing.assert_close(scores2, scores, rtol=1e-10, atol=1e-12)
    torch.testing.assert_close(alpha2.flatten(2), alpha.flatten(2)[:, :, order], rtol=1e-10, atol=1e-12)


def test_limits_of_the_attention(model):
    """Zero keys give the average; huge keys the position of the largest score; one position gives itself."""
    h, M = draw(B, J, seed=2), draw(B, X, Y, K)
    s = torch.einsum("bj,jk,bxyk->bxy", h, model.W_key, M).flatten(1)
    best = M.flatten(1, 2)[torch.arange(B), s.argmax(1)]
    one = M[:, :1, :1]
    torch.testing.assert_close(model.attend(h, one)[0], one[:, 0, 0])
    model.W_key.data *= 1e6
    torch.testing.assert_close(model.attend(h, M)[0], best)
    model.W_key.data.zero_()
    torch.testing.assert_close(model.attend(h, M)[0], M.mean((1, 2)))


def test_gradient_of_the_context(model):
    """∂V/∂s[x,y] = alpha[x,y] (M[x,y] - V): here through M's part in the scores, by the chain rule on h."""
    h, M = draw(B, J, seed=2).requires_grad_(), draw(B, X, Y, K)
    V, alpha = model.attend(h, M)
    cotangent = draw(B, K, seed=3)
    (gradient,) = torch.autograd.grad(V, h, cotangent)
    ds = alpha * torch.einsum("bk,bxyk->bxy", cotangent, M - V[:, None, None])
    expected = torch.einsum("bxy,jk,bxyk->bj", ds, model.W_key, M)
    torch.testing.assert_close(gradient, expected, rtol=1e-10, atol=1e-12)


def test_attention_reaches_the_first_word(model):
    """Even with W_init = 0 the first word depends on the image: as printed, it would see nothing but h[0]."""
    model.W_init.data.zero_()
    M = draw(B, X, Y, K).requires_grad_()
    (gradient,) = torch.autograd.grad(model(M, WORDS)[0][:, 0], M, draw(B, V, seed=2))
    assert gradient.flatten(1).abs().amin(1).min() > 0


def test_every_word_that_is_fed_back_is_used(model):
    """Changing word t changes the scores from t + 1 on, word 0 included, and none before."""
    M = draw(B, X, Y, K)
    for t in range(T):
        changed = WORDS.clone()
        changed[:, t] = (changed[:, t] + 1) % V
        difference = (model(M, WORDS)[0] - model(M, changed)[0]).abs().amax((0, 2))
        assert difference[: t + 1].max() < 1e-12
        assert (difference[t + 1 :] > 1e-9).all()


def test_an_image_is_a_sentence_of_positions():
    """With J = K, one step is the step of a translator whose source states are the flattened positions."""
    captioner, translator = randomize(Captioner(V, I, J, J)), Seq2Seq(V, V, I, J, "state").double()
    translator.W_key.data = captioner.W_key.data
    translator.cell.load_state_dict(captioner.cell.state_dict())
    h, e, M = draw(B, J, seed=2), draw(B, I, seed=3), draw(B, X, Y, J)
    new, alpha = captioner.step(h, e, M)
    new2, alpha2 = translator.step(h, e, M.flatten(1, 2))
    torch.testing.assert_close(new, new2, rtol=1e-12, atol=1e-12)
    torch.testing.assert_close(alpha.flatten(1), alpha2, rtol=1e-12, atol=1e-12)


def test_caption_takes_the_likeliest_word_each_time(model):
    """Feeding a caption back gives scores whose argmax is the caption, and the same attention."""
    M = draw(B, X, Y, K)
    words, alpha = model.caption(M, T)
    scores, alpha2 = model(M, words)
    assert torch.equal(scores.argmax(2), words)
    torch.testing.assert_close(alpha, alpha2)
