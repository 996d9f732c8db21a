"""`symbolic()`: exact formulas pass, rounded constants lose though floats cannot tell, other code is held."""

import functools

import numpy as np
import pytest
import torch

from autograder import Function, close, symbolic
from autograder.grading.judge import judge_part
from autograder.protocol.answering import answer


def softmax_numpy(x):
    """A softmax over the last axis."""
    z = np.exp(x - x.max(-1, keepdims=True))
    return z / z.sum(-1, keepdims=True)


def with_epsilon(x):
    """A softmax with a small number added below."""
    z = np.exp(x)
    return z / (z.sum(-1, keepdims=True) + 1e-60)


def halved(x):
    """x over the root of two."""
    return x / np.sqrt(2)


def scores(q, k):
    """Scaled scores, in torch."""
    return q @ k.T / q.shape[1] ** 0.5


def array_input(rng, p):
    """A small array."""
    return {"x": rng.standard_normal((2, 3))}


def torch_inputs(rng, p):
    """Queries and keys of width two."""
    return {"q": torch.from_numpy(rng.standard_normal((3, 2))), "k": torch.from_numpy(rng.standard_normal((5, 2)))}


def judged(reference, inputs, student):
    """The outcome for a student's function, by values with a lax tolerance and then by the exact formula."""
    part = Function("f", points=2, reference=reference, inputs=inputs, checks=[close(rtol=1e-6), symbolic()])
    return judge_part(part, {}, functools.partial(answer, namespace={"f": student}), (1,))


@pytest.mark.parametrize(
    ("reference", "inputs", "student", "standing", "code"),
    [
        (softmax_numpy, array_input, lambda x: np.exp(x) / np.exp(x).sum(-1, keepdims=True), "earned", "ok"),
        (softmax_numpy, array_input, with_epsilon, "lost", "rounded_constant"),
        (halved, array_input, lambda x: x * 2**-0.5, "earned", "ok"),
        (halved, array_input, lambda x: x * 0.70710678, "lost", "rounded_constant"),
        (scores, torch_inputs, lambda q, k: torch.einsum("tu,su->ts", q, k) * q.shape[1] ** -0.5, "earned", "ok"),
        (scores, torch_inputs, lambda q, k: q @ k.T * 0.707106781, "lost", "rounded_constant"),
    ],
)
def test_exact_and_rounded(reference, inputs, student, standing, code):
    """Values agree in every row; only the exact formula keeps all points."""
    outcome = judged(reference, inputs, student)
    assert outcome.verdicts[0].ok
    assert (outcome.standing, outcome.verdicts[1].code) == (standing, code)
    assert outcome.points == (2.0 if standing == "earned" else 1.0)


def test_code_without_a_counterpart_is_held():
    """A function that leaves numpy is neither right nor wrong by this check: a person looks."""

    def by_hand(x):
        return np.array([[float(str(value)) / 2**0.5 for value in row] for row in x])

    outcome = judged(halved, array_input, by_hand)
    assert outcome.standing in ("held", "lost")
    assert outcome.verdicts[1].ok is None or outcome.verdicts[1].code in ("rounded_constant", "raised")


def test_forged_digits_are_malformed():
    """A student's process may send anything as digits; it is compared as what it is, and never evaluated."""
    from autograder.checks.symbolic import _digits
    from autograder.maths.symbolic import compare

    right = _digits({"digits": [[[2], ["1", "2"]]]})
    for reply in ({"digits": [[[2], ["1", "__import__('os')"]]]}, {"digits": 7}, {}, {"digits": [[[9], ["1"]]]}):
        assert compare(right, _digits(reply)).outcome == "different"
