"""Keys follow from answers, and only where they are certain."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from autograder.core import Answer
from autograder.defence.bench import compared
from autograder.defence.proofs import (
    Asked,
    change_key,
    input_key,
    most_common,
    odd_one_out,
    plain_number,
    same_text,
)

ONE = torch.tensor([[1.0, 2.0], [3.0, 4.0]], dtype=torch.float64)


@pytest.mark.parametrize(
    ("after", "outcome"),
    [
        (ONE.clone(), "same"),
        (ONE + 1e-13, "same"),
        (ONE + 1e-6, None),  # near the tolerance: no key
        (ONE + 1e-3, None),
        (ONE + 0.1, "values"),
        (ONE[None], "shape"),
        (ONE.reshape(4), "shape"),
        (ONE.float(), "same"),
        (ONE.int(), None),  # another kind of numbers: neither
        (ONE * float("nan"), None),
        (ONE / 0, "values"),
        ((ONE, ONE), None),
        ("word", None),
        (ONE.numpy(), "same"),
    ],
    ids=str,
)
def test_what_a_change_does(after: Any, outcome: str | None) -> None:
    """Same values, other values, another shape; what lies between has no key."""
    assert compared(Answer(value=ONE), Answer(value=after)) == outcome


@pytest.mark.parametrize(
    ("before", "after", "outcome"),
    [
        (Answer(value=1), Answer(failure="raised"), "error"),
        (Answer(value=1), Answer(failure="timeout"), None),
        (Answer(value=1), Answer(failure="unreadable"), None),
        (Answer(failure="raised"), Answer(value=1), None),
        (Answer(value=[1, 2]), Answer(value=[1, 2, 3]), None),  # a list has no shape
        (Answer(value={"a": 1}), Answer(value={"a": 2}), "values"),
        (Answer(value={"a": 1}), Answer(value={"b": 1}), "values"),
        (Answer(value=0), Answer(value=0), "same"),
        (Answer(value=True), Answer(value=False), "values"),
        (Answer(value=-np.inf), Answer(value=-np.inf), "same"),
        (Answer(value=None), Answer(value=None), "same"),
        (Answer(value=1j), Answer(value=1j), None),
    ],
    ids=str,
)
def test_failures_and_other_values(before: Answer, after: Answer, outcome: str | None) -> None:
    """An error that is raised is an answer; anything else that kept a value from coming back is not."""
    assert compared(before, after) == outcome


def test_draws_must_agree() -> None:
    """One draw that differs takes the key away."""
    same, other = Answer(value=1.0), Answer(value=2.0)
    assert change_key([same, same], [same, same]) == "same"
    assert change_key([same, same], [other, other]) == "values"
    assert change_key([same, same], [same, other]) == ""
    assert change_key([], []) == ""


def test_one_input_among_others() -> None:
    """One that differs among those that do not, or the other way round; what is not certain is neither."""
    assert odd_one_out([False, True, None, False, False], 4) == (True, [1, 0, 3, 4])
    assert odd_one_out([True, True, True, False], 4) == (False, [3, 0, 1, 2])
    assert odd_one_out([True, True, None, None], 4) is None
    assert odd_one_out([False] * 4, 4) is None
    assert odd_one_out([False, True, False, False], 4, [0, 1, 0, 0]) is None  # found by its looks alone
    assert odd_one_out([False, True, False, False], 4, [0, 1, 0, 1]) == (True, [1, 3, 0, 2])
    assert input_key([Answer(value=1.0)] * 2, [Answer(value=1.0), Answer(value=1.000001)]) == [False, None]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.5, "1/2"),
        (-2.0, "-2"),
        (1 / 3, "1/3"),
        (0.1234567, ""),
        (1 / 13, ""),
        (float("nan"), ""),
        (1e9, ""),
        (None, ""),
    ],
)
def test_numbers_that_a_person_finds_by_hand(value: float | None, text: str) -> None:
    """Whole numbers, and fractions of small ones."""
    assert plain_number(value) == text


def test_who_always_says_the_same() -> None:
    """The best constant answer to each kind of question, over all questions."""
    asked = [
        Asked(kind=kind, notebook="n", part="p", text="", answer=guess, guess=guess)  # type: ignore[arg-type]
        for kind, guess in [("change", "same"), ("change", "same"), ("change", "error"), ("shape", "[2, 3]")]
    ]
    assert most_common(asked) == 3 / 4
    assert most_common([]) == 0.0


@pytest.mark.parametrize(
    ("one", "other", "same"), [("[2, 3]", "[2,3]", True), ("1/2", " 1/2 ", True), ("3", "-3", False)]
)
def test_words_are_compared_without_blanks(one: str, other: str, same: bool) -> None:
    """As a grader would."""
    assert same_text(one, other) is same
