"""Sequence to sequence by loops over the equations, for both queries, and what padding must not change."""

import pytest
import torch

from solutions.seq2seq import Seq2Seq

V_in, V_out, I, J, B, T_in, T_out = 11, 13, 5, 7, 3, 6, 4
SOURCE = torch.tensor([[3, 1, 4, 1, 5, 9], [2, 6, 5, 3, 5, 8], [9, 7, 9, 3, 2, 3]])
TARGET = torch.tensor([[1, 12, 0, 5], [6, 6, 2, 7], [3, 8, 11, 4]])
ATTENTION = pytest.mark.parametrize("attention", [None, "state", "word"])


def draw(*shape, seed=1):
    """Normal numbers in float64."""
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def build(attention, seed=0, scale=0.6):
    """A model whose every parameter, biases too, is drawn from a normal distribution, in float64."""
    model, g = Seq2Seq(V_in, V_out, I, J, attention).double(), torch.Generator().manual_seed(seed)
    for p in model.parameters():
        p.data = scale * torch.randn(p.shape, generator=g, dtype=torch.float64)
    return model


@ATTENTION
def test_scores_by_loops(attention):
    """Encoder from right to left, then alpha, V, CELL and softmax as printed, one step at a time."""
    m = build(attention)
    scores = m(SOURCE, TARGET)
    for b in range(B):
        h, M = torch.zeros(1, J, dtype=torch.float64), {}
        for t in reversed(range(T_in)):
            h = m.encoder.step(h, m.source.e[SOURCE[b, t]][None])
            M[t] = h[0]
        e = m.start
        for t in range(T_out):
            x = e
            if attention is not None:
                q = (h[0] if attention == "state" else e) @ m.W_key
                weights = torch.stack([torch.exp(q @ M[s]) for s in range(T_in)])
                alpha = weights / weights.sum()
                V = sum(alpha[s] * M[s] for s in range(T_in))
                x = torch.cat([V, e])
            h = m.cell.step(h, x[None])
            torch.testing.assert_close(scores[b, t], m.target.e @ m.W_auto @ h[0], rtol=1e-10, atol=1e-12)
            e = m.target.e[TARGET[b, t]]


@ATTENTION
def test_scores_do_not_depend_on_the_word_they_predict(attention):
    """Changing word 2 of the target changes the scores from word 3 on and no others."""
    m, changed = build(attention), TARGET.clone()
    changed[:, 2] = (changed[:, 2] + 1) % V_out
    difference = (m(SOURCE, TARGET) - m(SOURCE, changed)).abs().amax((0, 2))
    assert difference[:3].max() < 1e-12
    assert difference[3] > 1e-6


@ATTENTION
def test_padding_is_never_read(attention):
    """Sentences of 6, 2 and 4 words in one batch score as each does alone, whatever the padding holds."""
    m, lengths = build(attention), torch.tensor([6, 2, 4])
    together = m(SOURCE, TARGET, lengths)
    for b, length in enumerate(lengths):
        alone = m(SOURCE[b : b + 1, :length], TARGET[b : b + 1])
        torch.testing.assert_close(together[b : b + 1], alone, rtol=1e-10, atol=1e-12)
    words, alpha = m.translate(SOURCE, T_out, lengths)
    assert torch.equal(words[1:2], m.translate(SOURCE[1:2, :2], T_out)[0])
    if alpha is not None:
        assert alpha[1, :, 2:].abs().max() == 0
        torch.testing.assert_close(alpha.sum(2), torch.ones(B, T_out, dtype=torch.float64))


@ATTENTION
def test_translation_takes_the_likeliest_word_each_time(attention):
    """Feeding a translation back as target gives scores whose argmax is the translation."""
    m = build(attention)
    words, alpha = m.translate(SOURCE, T_out)
    assert torch.equal(m(SOURCE, words).argmax(2), words)
    assert (alpha is None) == (attention is None)


def test_thought_vector_is_all_that_passes_without_attention():
    """Without attention only h[0] enters a step; with it, every state of the encoder does."""
    for attention in (None, "state"):
        m = build(attention)
        h, M = m.encode(SOURCE)
        M = M.detach().requires_grad_()
        h, _ = m.step(h.detach(), m.start.detach().expand(B, -1), M)
        (gradient,) = torch.autograd.grad(h, M, draw(B, J), allow_unused=True)
        if attention is None:
            assert gradient is None
        else:
            assert gradient.abs().amax((0, 2)).min() > 0


def test_zero_keys_attend_evenly():
    """W_key = 0 makes V the average of M."""
    m = build("state")
    m.W_key.data.zero_()
    assert torch.equal(m.translate(SOURCE, 2)[1], torch.full((B, 2, T_in), 1 / T_in, dtype=torch.float64))


def test_unknown_attention_is_refused():
    """The query must be one of the two, or there is none."""
    with pytest.raises(ValueError, match="word"):
        Seq2Seq(V_in, V_out, I, J, "none")


@pytest.mark.parametrize("attention", [None, "state", "word"])
def test_a_source_without_words(attention):
    """A row of length 0 starts from zero and attends to nothing, whatever stands in its padding; no NaN anywhere."""
    torch.manual_seed(0)
    model = Seq2Seq(11, 13, 5, 7, attention)
    w_in, w_out = torch.tensor([[3, 1, 4], [1, 5, 9]]), torch.tensor([[2, 7], [1, 8]])
    lengths = torch.tensor([3, 0])
    scores = model(w_in, w_out, lengths)
    scores.square().sum().backward()
    assert all(p.grad is None or p.grad.isfinite().all() for p in model.parameters())
    other = torch.tensor([[3, 1, 4], [7, 2, 0]])
    torch.testing.assert_close(model(other, w_out, lengths), scores)
    torch.testing.assert_close(model(w_in[1:, :0], w_out[1:]), scores[1:])
    words, alpha = model.translate(w_in, 4, lengths)
    assert words.shape == (2, 4) and (alpha is None or not alpha[1].any())


def test_a_target_without_words():
    """Has no scores."""
    model = Seq2Seq(11, 13, 5, 7)
    assert model(torch.tensor([[3, 1, 4]]), torch.empty(1, 0, dtype=torch.long)).shape == (1, 0, 13)
