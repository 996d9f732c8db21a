"""The blank language model: its formula, that it does not see what it predicts, and a stack that does."""

import pytest
import torch

from solutions.bidirectional import BlankLanguageModel, StackedBidirectionalRNN, leak
from solutions.rnn import GRU

V, I, J, B, T = 11, 5, 7, 3, 6


def draw(*shape, seed=1):
    """Normal numbers in float64."""
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def randomize(model, seed=0, scale=0.6):
    """Draw every parameter, biases too, from a normal distribution, in float64."""
    g = torch.Generator().manual_seed(seed)
    for p in model.double().parameters():
        p.data = scale * torch.randn(p.shape, generator=g, dtype=torch.float64)
    return model


WORDS = torch.tensor([[3, 1, 4, 1, 5, 9], [2, 6, 5, 3, 5, 8], [9, 7, 9, 3, 2, 3]])


def test_formula_of_the_problem():
    """softmax(e W_f h→[t-1] + e W_b h←[t+1]), the states computed by loops; parameters beyond the ends."""
    m = randomize(BlankLanguageModel(V, I, J))
    ahead, back = m.forward_layers[0], m.backward_layers[0]
    e = m.words.e
    for b in range(B):
        x = e[WORDS[b]]
        left, right = [m.h_before], [m.h_behind]  # h→[0], h→[1], …; h←[T+1], h←[T], …
        h = torch.zeros(1, J, dtype=torch.float64)
        for t in range(T):
            h = ahead.step(h, x[t : t + 1])
            left.append(h[0])
        h = torch.zeros(1, J, dtype=torch.float64)
        for t in reversed(range(T)):
            h = back.step(h, x[t : t + 1])
            right.insert(0, h[0])
        for t in range(T):  # word t counts from 0, so h→ of the word before it is left[t]
            scores = e @ m.W_f @ left[t] + e @ m.W_b @ right[t + 1]
            torch.testing.assert_close(m(WORDS)[b, t], scores, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("layers", [1, 3])
@pytest.mark.parametrize("t", [0, 2, T - 1])
def test_no_leak(layers, t):
    """The contexts of word t have exactly zero gradient by it, and depend on every other word."""
    m = randomize(BlankLanguageModel(V, I, J, layers, layer=GRU))
    dependence = leak(m.contexts, draw(B, T, I), t)
    assert dependence[t] == 0
    others = torch.cat([dependence[:t], dependence[t + 1 :]])
    assert others.min() > 0


@pytest.mark.parametrize("t", [0, 2, T - 1])
def test_changing_the_blanked_word_changes_nothing(t):
    """The distribution of word t is the same whatever stands there; those of its neighbours are not."""
    m, changed = randomize(BlankLanguageModel(V, I, J)), WORDS.clone()
    changed[:, t] = (changed[:, t] + 1) % V
    difference = (m(WORDS) - m(changed)).abs().amax((0, 2))
    assert difference[t] < 1e-12
    assert all(difference[s] > 1e-6 for s in range(T) if s != t)


def test_a_stack_that_concatenates_directions_leaks():
    """One bidirectional layer is honest beside the blank; from two layers on the state has seen the word."""
    x = draw(B, T, I)
    for t in (1, 2, T - 2):
        assert leak(randomize(StackedBidirectionalRNN(I, J, 1)).contexts, x, t)[t] == 0
        assert leak(randomize(StackedBidirectionalRNN(I, J, 2)).contexts, x, t)[t] > 1e-6


def test_a_stack_agrees_with_torchs_bidirectional_gru():
    """Two layers with concatenation are nn.GRU(num_layers=2, bidirectional=True), weights converted."""
    theirs = randomize(torch.nn.GRU(I, J, 2, batch_first=True, bidirectional=True))
    ours = StackedBidirectionalRNN(I, J, 2, layer=GRU).double()
    p = {name: value.detach() for name, value in theirs.named_parameters()}
    for n in (0, 1):
        for layers, suffix in ((ours.forward_layers, ""), (ours.backward_layers, "_reverse")):
            b_ih, b_hh = p[f"bias_ih_l{n}{suffix}"], p[f"bias_hh_l{n}{suffix}"]
            layers[n].load_state_dict(
                {
                    "W_x": p[f"weight_ih_l{n}{suffix}"],
                    "W_h": p[f"weight_hh_l{n}{suffix}"],
                    "B": -torch.cat([(b_ih + b_hh)[: 2 * J], b_ih[2 * J :]]),
                    "B_hn": -b_hh[2 * J :],
                }
            )
    x = draw(B, T, I)
    torch.testing.assert_close(torch.cat(ours(x), 2), theirs(x)[0], rtol=1e-10, atol=1e-10)


def test_padding_is_never_read():
    """Sentences of 6, 1 and 4 words in one batch score as each does alone, whatever the padding holds."""
    m, lengths = randomize(BlankLanguageModel(V, I, J, 2)), torch.tensor([6, 1, 4])
    together = m(WORDS, lengths)
    for b, n in enumerate(lengths):
        torch.testing.assert_close(together[b : b + 1, :n], m(WORDS[b : b + 1, :n]), rtol=1e-10, atol=1e-12)


def test_each_direction_is_a_residual_stack():
    """The first layer changes the width from I to J, the second and third are added to its output."""
    m, x = randomize(BlankLanguageModel(V, I, J, 3)), draw(B, T, I)
    first, second, third = m.forward_layers
    h = first(x)[0]
    h = h + second(h)[0]
    h = h + third(h)[0]
    torch.testing.assert_close(m.contexts(x)[0][:, 1:], h[:, :-1], rtol=1e-12, atol=1e-12)


def test_a_word_without_neighbours_has_a_learned_distribution():
    """For T = 1 both contexts are parameters: every word gets the same scores, and they can be trained."""
    m = randomize(BlankLanguageModel(V, I, J))
    scores = m(torch.tensor([[0], [7]]))
    torch.testing.assert_close(scores[0], scores[1], rtol=1e-12, atol=1e-12)
    (scores * draw(2, 1, V)).sum().backward()
    assert m.h_before.grad.abs().min() > 0
    assert m.h_behind.grad.abs().min() > 0


def test_product_of_two_experts():
    """The distribution is the renormalised product of a forward and a backward one."""
    m = randomize(BlankLanguageModel(V, I, J))
    left, right = m.contexts(m.words(WORDS))
    product = torch.softmax(m.words.scores(left @ m.W_f.T), 2) * torch.softmax(m.words.scores(right @ m.W_b.T), 2)
    expected = product / product.sum(2, keepdim=True)
    torch.testing.assert_close(torch.softmax(m(WORDS), 2), expected, rtol=1e-10, atol=1e-14)
