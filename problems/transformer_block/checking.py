"""Code to be checked: tests of `feed_forward`, and a function that errs."""

import torch

from .code_mistakes import CODE
from .equivalents import EQUIVALENTS


def tests_of_feed_forward(feed_forward, *, p):
    """Assertions on what feed_forward(L, W_FF1, B_FF1, W_FF2, B_FF2) returns."""
    L = torch.tensor([[[2.0, -1.0], [0.5, 3.0]]])  # two positions
    W_FF1, B_FF1 = torch.tensor([[1.0, 0.5], [-2.0, 1.0], [0.0, 1.0]]), torch.tensor([0.25, -1.0, 0.5])
    W_FF2, B_FF2 = torch.tensor([[1.0, -1.0, 2.0], [0.5, 1.5, -3.0]]), torch.tensor([0.1, -0.2])
    found = feed_forward(L, W_FF1, B_FF1, W_FF2, B_FF2)
    for t in range(2):
        a = W_FF1 @ L[0, t] - B_FF1
        if p["activation"] == "silu":
            h = a / (1 + torch.exp(-a))
        else:
            h = a.clamp(min=0) ** (2 if p["activation"] == "squared relu" else 1)
        assert torch.allclose(found[0, t], W_FF2 @ h - B_FF2)


def shape_alone(feed_forward):
    """You test the shape of the result, which every wrong function gives."""
    L = torch.randn(2, 3, 2)
    found = feed_forward(L, torch.randn(4, 2), torch.randn(4), torch.randn(2, 4), torch.randn(2))
    assert found.shape == L.shape


def no_biases(feed_forward, *, p):
    """All of your biases are zero: your tests do not see what is done with them."""
    L, W_FF1, W_FF2 = torch.randn(1, 3, 2), torch.randn(4, 2), torch.randn(2, 4)
    a = L @ W_FF1.T
    h = a * torch.sigmoid(a) if p["activation"] == "silu" else torch.relu(a)
    h = h**2 if p["activation"] == "squared relu" else h
    assert torch.allclose(feed_forward(L, W_FF1, torch.zeros(4), W_FF2, torch.zeros(2)), h @ W_FF2.T)


def every_position_alone(feed_forward, *, p):
    """Random positions; each of them gives alone what it gives among others, which is the formula."""
    L, W_FF1, B_FF1 = torch.randn(2, 3, 3), torch.randn(4, 3), torch.randn(4)
    W_FF2, B_FF2 = torch.randn(3, 4), torch.randn(3)
    W_FF2[0], B_FF2[0] = -1.0, 2.0  # the first entry of every result is negative, whatever is drawn
    found = feed_forward(L, W_FF1, B_FF1, W_FF2, B_FF2)
    assert torch.allclose(feed_forward(L[:1, 1:2], W_FF1, B_FF1, W_FF2, B_FF2), found[:1, 1:2])
    a = torch.einsum("fj,btj->btf", W_FF1, L) - B_FF1
    h = {"relu": torch.relu(a), "silu": a * torch.sigmoid(a), "squared relu": torch.relu(a) ** 2}[p["activation"]]
    assert (found - (torch.einsum("jf,btf->btj", W_FF2, h) - B_FF2)).abs().max() < 1e-8


FEED_FORWARD_TESTS = {
    "function": "feed_forward",
    "takes": {
        "L": "[B, T, J] -10..10",
        "W_FF1": "[F, J] -10..10",
        "B_FF1": "[F] -10..10",
        "W_FF2": "[J, F] -10..10",
        "B_FF2": "[J] -10..10",
    },
    "sizes": {"B": "1..2", "T": "1..3", "J": "1..3", "F": "1..4"},
    "correct": EQUIVALENTS["feed_forward"],
    "wrong": [mistake for mistake in CODE["feed_forward"] if mistake.__name__ != "ff_detached"],  # a gradient alone
    "reference": tests_of_feed_forward,
    "mistakes": [shape_alone, no_biases],
    "equivalents": [every_position_alone],
}


def by_softmax(scores):
    """Give the weights of each row of scores."""
    return torch.softmax(scores, dim=1)


def by_exponentials(scores):
    """The exponential of a large score is infinite, and of very low ones nothing is left."""
    e = torch.exp(scores)
    return e / e.sum(dim=1, keepdim=True)


def too_high(p):
    return {"scores": [[1000.0, 0.0]]}


def too_low(p):
    """All exponentials of the second row are zero."""
    return {"scores": [[1.0, 2.0], [-900.0, -800.0]]}


def not_high_enough(p):
    """The exponential of 700 is large, and still a number: here the code is right."""
    return {"scores": [[700.0, 0.0]]}


def one_low_score(p):
    """A low score beside others has a weight of zero, which is right: it needs more than one."""
    return {"scores": [[-1000.0, 0.0]]}


WEIGHTS = {
    "function": "weights",
    "code": by_exponentials,
    "correct": by_softmax,
    "takes": {"scores": "[T, S] -1000..1000"},
    "sizes": {"T": "1..3", "S": "2..4"},
    "reference": too_high,
    "mistakes": [not_high_enough, one_low_score],
    "equivalents": [too_low],
}
