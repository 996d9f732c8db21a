"""Code to be checked: tests of `residual_stack`, and a function that errs."""

import torch

from .code_mistakes import CODE
from .equivalents import EQUIVALENTS


def tests_of_stack(residual_stack, *, p):
    """Assertions on what residual_stack(x, W_h, W_x, B) returns."""
    x = torch.tensor([[[0.5], [-1.0]]])  # one sequence of two steps, of width one
    W_h, W_x = torch.tensor([[[0.7]], [[-0.4]]]), torch.tensor([[[1.5]], [[0.8]]])
    B = torch.tensor([[0.3], [-0.6]])
    found = residual_stack(x, W_h, W_x, B)
    assert found.shape == (1, 2, 1)
    lowest, above = torch.zeros(2)
    for t, step in enumerate(x[0, :, 0]):
        lowest = torch.tanh(0.7 * lowest + 1.5 * step - 0.3)
        below = lowest + step if p["skip_first"] else lowest
        above = torch.tanh(-0.4 * above + 0.8 * below + 0.6)
        assert torch.allclose(found[0, t, 0], below + above)


def shapes_alone(residual_stack):
    """You test the shape of the result; most wrong functions give it, too."""
    x, W = torch.randn(2, 3, 2), torch.randn(2, 2, 2)
    assert residual_stack(x, W, W, torch.randn(2, 2)).shape == x.shape


def single_layer(residual_stack, *, p):
    """Your stacks have one layer: your tests do not see what leads from a layer to the one above it."""
    x, W_h, W_x, B = torch.randn(1, 3, 2), torch.randn(1, 2, 2), torch.randn(1, 2, 2), torch.randn(1, 2)
    found = residual_stack(x, W_h, W_x, B)
    s = torch.zeros(2)
    for t in range(3):
        s = torch.tanh(W_h[0] @ s + W_x[0] @ x[0, t] - B[0])
        assert torch.allclose(found[0, t], s + x[0, t] if p["skip_first"] else s)


def single_step(residual_stack, *, p):
    """Your sequences have one step: your tests do not see what is carried from step to step."""
    x, W_h, W_x, B = torch.randn(2, 1, 2), torch.randn(2, 2, 2), torch.randn(2, 2, 2), torch.randn(2, 2)
    found = residual_stack(x, W_h, W_x, B)
    for b in range(2):
        y = x[b, 0]
        for layer in range(2):
            s = torch.tanh(W_x[layer] @ y - B[layer])
            y = s + y if layer or p["skip_first"] else s
        assert torch.allclose(found[b, 0], y)


def layer_by_layer(residual_stack, *, p):
    """A stack of three is one layer more on a stack of two, whose result is known."""
    x, W_h, W_x, B = torch.randn(1, 3, 2), torch.randn(3, 2, 2), torch.randn(3, 2, 2), torch.randn(3, 2)
    below = x
    for layer in range(3):
        s, states = torch.zeros(2), []
        for step in below[0]:
            s = torch.tanh(W_h[layer] @ s + W_x[layer] @ step - B[layer])
            states.append(s)
        below = torch.stack(states)[None] + (below if layer or p["skip_first"] else 0)
        found = residual_stack(x, W_h[: layer + 1], W_x[: layer + 1], B[: layer + 1])
        assert found.shape == below.shape and (found - below).abs().max() < 1e-9


STACK_TESTS = {
    "function": "residual_stack",
    "takes": {"x": "[B, T, J] -9..9", "W_h": "[N, J, J] -9..9", "W_x": "[N, J, J] -9..9", "B": "[N, J] -9..9"},
    "sizes": {"B": "1..2", "T": "1..3", "J": "1..3", "N": "1..3"},
    "correct": EQUIVALENTS["residual_stack"],
    "wrong": CODE["residual_stack"],
    "reference": tests_of_stack,
    "mistakes": [shapes_alone, single_layer, single_step],
    "equivalents": [layer_by_layer],
}


def by_the_length(g):
    """Shorten a gradient that is longer than 50 to this length."""
    length = (g**2).sum().sqrt()
    return 50 * g / length if length > 50 else g


def by_the_largest_entry(g):
    """This looks at the largest entry, where the length counts."""
    if g.abs().max() <= 50:
        return g
    return 50 * g / (g**2).sum().sqrt()


def long_of_small_entries(p):
    return {"g": [40.0, 40.0]}


def with_a_sign(p):
    """Three entries, one of which is negative."""
    return {"g": [30.0, -35.0, 30.0]}


def too_long_in_one_entry(p):
    """One entry of yours is above 50: the code sees that this gradient is too long."""
    return {"g": [60.0, 0.0]}


def short(p):
    """Your gradient is not longer than 50: it stays as it is, as it should."""
    return {"g": [30.0, 40.0]}


CLIPPED = {
    "function": "clipped",
    "code": by_the_largest_entry,
    "correct": by_the_length,
    "takes": {"g": "[J] -100..100"},
    "sizes": {"J": "2..3"},
    "reference": long_of_small_entries,
    "mistakes": [too_long_in_one_entry, short],
    "equivalents": [with_a_sign],
}
