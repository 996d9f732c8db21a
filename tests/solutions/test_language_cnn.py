"""The language CNN against loops over the printed sum, and what stride and receptive field imply."""

import pytest
import torch

from solutions.language_cnn import LanguageCNN, stride_two_layer

V, I, B = 11, 5, 3


def draw(*shape, seed=1):
    """Normal numbers in float64."""
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def build(L, D=3, activation=torch.tanh):
    """A CNN with random parameters, biases too; tanh, so that every input keeps its influence."""
    model, g = LanguageCNN(V, I, L, D, activation).double(), torch.Generator().manual_seed(0)
    for p in model.parameters():
        p.data = 0.5 * torch.randn(p.shape, generator=g, dtype=torch.float64)
    return model


@pytest.mark.parametrize("T", [7, 8, 3])
@pytest.mark.parametrize("D", [1, 2, 3])
def test_layer_by_loops(T, D):
    """σ(Σ_{Δt,i'} W[Δt,i',i] L[2t+Δt,i'] - B[i]) term by term, for odd, even and shortest lengths."""
    L, W, bias = draw(B, T, 5), draw(D, 5, 7, seed=2), draw(7, seed=3)
    out = stride_two_layer(L, W, bias)
    assert out.shape == (B, (T - D) // 2 + 1, 7)
    for b in range(B):
        for t in range(out.shape[1]):
            for i in range(7):
                z = sum(W[d, k, i] * L[b, 2 * t + d, k] for d in range(D) for k in range(5)) - bias[i]
                assert out[b, t, i].item() == pytest.approx(max(z.item(), 0.0), rel=1e-10, abs=1e-12)


def test_network_is_embedding_and_layers():
    """L_0 is one-hot words times e; each further layer is the printed one."""
    m, w = build(2), torch.randint(V, (B, 13), generator=torch.Generator().manual_seed(0))
    L = torch.nn.functional.one_hot(w, V).double() @ m.words.e
    for W, bias in zip(m.W, m.B, strict=True):
        L = stride_two_layer(L, W, bias, torch.tanh)
    torch.testing.assert_close(m(w), L, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(("L", "D"), [(1, 3), (2, 3), (3, 3), (2, 4), (3, 2)])
def test_receptive_field(L, D):
    """Output t depends on words 2^L t … 2^L t + receptive_field - 1: on all of them and on no other."""
    m = build(L, D)
    T = m.receptive_field + 2 * 2**L
    x = draw(B, T, I).requires_grad_()
    h = x
    for W, bias in zip(m.W, m.B, strict=True):
        h = stride_two_layer(h, W, bias, torch.tanh)
    assert h.shape[1] == 3
    (gradient,) = torch.autograd.grad(h[:, 1], x, draw(B, I, seed=2))
    seen = (gradient.abs().amax((0, 2)) > 0).nonzero()[:, 0].tolist()
    assert seen == list(range(2**L, 2**L + m.receptive_field))


def test_shifts():
    """One layer: two words' shift of the input is one step's shift of the output; one word's is none."""
    m = build(1)
    w = torch.randint(V, (B, 15), generator=torch.Generator().manual_seed(0))
    torch.testing.assert_close(m(w[:, 2:]), m(w)[:, 1:], rtol=1e-12, atol=1e-12)
    assert (m(w[:, 1:-1])[:, :5] - m(w)[:, 1:6]).abs().max() > 1e-3


def test_only_words_that_occur_get_a_gradient():
    """Row w of e receives gradient iff word w stands in the sentence; a word twice receives both."""
    m, w = build(1), torch.tensor([[4, 4, 2], [9, 2, 4], [2, 2, 2]])
    (m(w) * draw(B, 1, I)).sum().backward()
    assert (m.words.e.grad.abs().amax(1) > 0).nonzero()[:, 0].tolist() == [2, 4, 9]


def test_too_short_a_sentence_is_refused():
    """A sentence below the receptive field is named with both lengths."""
    with pytest.raises(ValueError, match="6 words are shorter than the receptive field of 7"):
        build(2)(torch.zeros(1, 6, dtype=torch.long))
    assert build(2)(torch.zeros(1, 7, dtype=torch.long)).shape == (1, 1, I)
