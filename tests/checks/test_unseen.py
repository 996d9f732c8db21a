"""`unseen()`: exact zeros where the result must not look."""

import pytest
import torch

from autograder import unseen
from autograder.core import Case
from autograder.errors import AuthorError
from autograder.protocol.respondents import FunctionRespondent, local


def later_words(inputs, p):
    """A position sees no later one."""
    T = inputs["x"].shape[0]
    for t in range(T - 1):
        yield t, "x", slice(t + 1, None)


def sums(x):
    """What each position has seen so far."""
    return torch.cumsum(x, 0)


CASE = Case(parameters={}, arguments={"x": torch.arange(10.0, dtype=torch.float64).view(5, 2)})
ANSWERS = [
    (sums, True),
    (lambda x: torch.tril(torch.ones(5, 5, dtype=x.dtype)) @ x, True),
    (lambda x: torch.zeros(5, 2, dtype=x.dtype), True),  # other checks see that it is wrong
    (lambda x: sums(x) + 1e-300 * x.sum(), False),
    (lambda x: torch.softmax(x, 0), False),
    (lambda x: sums(x) + 0 * x.flip(0) ** 2, True),
    (lambda x: sums(x) * float("nan"), False),
]


@pytest.mark.parametrize(("answer", "ok"), ANSWERS)
def test_a_gradient_is_zero_or_it_is_not(answer, ok):
    """However small a path is, it is seen; no path and a path of weight zero are the same."""
    wrong, right = (FunctionRespondent(name="f", ask=local(f, "f", {}), case=CASE) for f in (answer, sums))
    verdict = unseen(later_words).run(CASE, wrong, right)
    assert verdict.ok is ok
    assert ok or (verdict.code == "later_words" and "no later one" in verdict.message)


def test_a_property_has_a_sentence():
    """Without a docstring there is nothing to tell the student."""
    with pytest.raises(AuthorError) as found:
        unseen(lambda inputs, p: [])
    assert found.value.code == "property_without_sentence"
