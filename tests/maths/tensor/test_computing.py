"""Equations on arrays, against torch and plain loops."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from autograder.errors import AuthorError
from autograder.maths.tensor import declare, evaluate, parse
from tests.maths.tensor.tensor_tables import ATTENTION, BLANK, TWO_GATES

K, T, U, I, J, B = 2, 7, 3, 5, 10, 4  # noqa: E741   the axes have their letters


def draw(*shape: int, seed: int = 0) -> np.ndarray:
    """Seeded normal entries."""
    return np.random.default_rng([seed, *shape]).normal(size=shape)


def test_attention_is_torch_s_attention() -> None:
    """The printed layer equals scaled_dot_product_attention with scale one, heads side by side."""
    q, k, v, h = draw(K, U, J, seed=1), draw(K, U, J, seed=2), draw(K, I, J, seed=3), draw(T, J)
    found = evaluate(parse(ATTENTION), {"W^Q": q, "W^K": k, "W^V": v, "h_in": h}, "h_out")
    heads = [torch.einsum("kuj,tj->ktu", torch.tensor(w), torch.tensor(h))[None] for w in (q, k, v)]
    wanted = torch.nn.functional.scaled_dot_product_attention(*heads, scale=1.0)[0].transpose(0, 1).flatten(1)
    assert found.shape == (T, J)
    assert np.allclose(found, wanted, rtol=1e-12)


def test_convolution_is_conv1d() -> None:
    """Stride 2: the output is as long as every read stays inside, and equals torch's convolution."""
    system = parse("L_{l+1}[b,t,i] = relu((sum_{Dt,i'} W[Dt,i',i] L_l[b,2t+Dt,i']) - B[i])")
    layer, kernel, bias = draw(B, 11, 3), draw(4, 3, 5), draw(5)
    found = evaluate(system, {"L_l": layer, "W": kernel, "B": bias}, declarations=declare("B[I]"))
    wanted = (
        torch.nn.functional.conv1d(
            torch.tensor(layer).mT, torch.tensor(kernel).permute(2, 1, 0), -torch.tensor(bias), stride=2
        )
        .relu()
        .mT
    )
    assert found.shape == (B, 4, 5)
    assert np.allclose(found, wanted, rtol=1e-12)


def test_a_recurrence_is_unrolled_from_zeros() -> None:
    """The two-gate cell over time equals a loop; with h given as an array only its shifted entries are read."""
    names = {
        "W^{h,GR}": (3, 3),
        "W^{x,GR}": (3, 2),
        "B^{GR}": (3,),
        "W^{h,R}": (3, 3),
        "W^{x,R}": (3, 2),
        "B^{h,R}": (3,),
        "B^{x,R}": (3,),
        "W^{h,Gh}": (3, 3),
        "W^{x,Gh}": (3, 2),
        "B^{Gh}": (3,),
    }
    given = {name: draw(*shape, seed=number) for number, (name, shape) in enumerate(names.items())}
    x = draw(B, T, 2, seed=99)
    found = evaluate(parse(TWO_GATES.reference), {**given, "x": x}, "h", declarations=declare(same={"I": "J"}))
    state, states = np.zeros((B, 3)), []
    sigma = lambda z: 1 / (1 + np.exp(-z))  # noqa: E731
    for t in range(T):
        gate = sigma(state @ given["W^{h,GR}"].T + x[:, t] @ given["W^{x,GR}"].T - given["B^{GR}"])
        first = state @ given["W^{h,R}"].T - given["B^{h,R}"]
        second = x[:, t] @ given["W^{x,R}"].T - given["B^{x,R}"]
        candidate = np.tanh(gate * first + (1 - gate) * second)
        update = sigma(state @ given["W^{h,Gh}"].T + x[:, t] @ given["W^{x,Gh}"].T - given["B^{Gh}"])
        state = update * state + (1 - update) * candidate
        states.append(state)
    assert np.allclose(found, np.stack(states, 1), rtol=1e-12)


def test_boundaries_are_zero_or_an_error() -> None:
    """A read outside an array is zero, or an error where that is asked for."""
    system = parse("y[t,j] = x[t-1,j] + x[t,j]")
    x = draw(T, 2)
    assert np.allclose(evaluate(system, {"x": x}), x + np.vstack([np.zeros((1, 2)), x[:-1]]))
    with pytest.raises(AuthorError, match="outside"):
        evaluate(system, {"x": x}, boundary="error")


def test_integer_sequences_and_context() -> None:
    """Words index the embedding; a context index becomes a trailing axis."""
    table, words = draw(9, 5), np.array([[1, 3, 8], [0, 0, 7]])
    found = evaluate(parse("L_0[b,t,i] = e[w[b,t],i]"), {"e": table, "w": words}, declarations=declare(sequences="w"))
    assert np.array_equal(found, table[words])
    arrays = {
        "e": table,
        "W->": draw(5, 4, seed=1),
        "W<-": draw(5, 4, seed=2),
        "h->": draw(T, 4, seed=3),
        "h<-": draw(T, 4, seed=4),
    }
    found = evaluate(parse(BLANK.reference), arrays, "P", declarations=BLANK.declarations, sizes={"T": T})
    before = np.vstack([np.zeros((1, 4)), arrays["h->"][:-1]])
    after = np.vstack([arrays["h<-"][1:], np.zeros((1, 4))])
    scores = table @ arrays["W->"] @ before.T + table @ arrays["W<-"] @ after.T
    wanted = np.exp(scores) / np.exp(scores).sum(0)
    assert found.shape == (9, T)
    assert np.allclose(found, wanted, rtol=1e-12)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("y[t] = sum_{s=1}^{t} x[s]", lambda x: x.cumsum()),
        ("y[t] = sum_{s=1}^{T} x[s] / T", lambda x: np.full(7, x.mean())),
        ("y[t] = x[t] - max(x[t], 0)", lambda x: np.minimum(x, 0)),
        ("y[t] = softmax_t x[t]", lambda x: np.exp(x) / np.exp(x).sum()),
        ("y = ln(sum_t exp(x[t]))", lambda x: np.log(np.exp(x).sum())),
        ("y[t] = t x[t]", lambda x: np.arange(7) * x),
        ("y[c] = x[T]; x[S]", lambda x: np.concatenate([x, x])),
        ("y[t,s] = x[t]^2 / sqrt(abs(x[s]))", lambda x: x[:, None] ** 2 / np.sqrt(np.abs(x))),
    ],
)
def test_small_systems(text: str, wanted: object) -> None:
    """Sums with bounds, sizes, functions, index values and concatenations mean what numpy computes."""
    x = draw(7)
    assert np.allclose(evaluate(parse(text), {"x": x}), wanted(x), rtol=1e-12)  # type: ignore[operator]


def test_arrays_that_do_not_fit() -> None:
    """Missing tensors, wrong numbers of axes and clashing sizes are the author's errors, with what there is."""
    system = parse("y[i] = W[i,J] x[J]")
    for arrays, words in (
        ({"W": draw(2, 3)}, "no array is given for x"),
        ({"W": draw(2, 3), "x": draw(3, 1)}, "its array has 2"),
        ({"W": draw(2, 3), "x": draw(4)}, "has size 4 here and 3 elsewhere"),
    ):
        with pytest.raises(AuthorError, match=words):
            evaluate(system, arrays)
    with pytest.raises(AuthorError, match="state it"):
        evaluate(parse("y[i] = 2"), {})
    with pytest.raises(AuthorError, match="no equation defines z"):
        evaluate(system, {"W": draw(2, 3), "x": draw(3)}, "z")
