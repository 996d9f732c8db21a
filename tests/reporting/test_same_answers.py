"""Which answers are one answer: by each kind's own judge, and across variants by their numbers."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from autograder import Equation, Expression, Growth, Matrix, Number, Term, Vector
from autograder.core import Part
from autograder.reporting.class_marks import Item, Mark, Pupil
from autograder.reporting.same_answers import Judged, grouped, unnamed, with_numbers_of

PARTS: dict[str, Part] = {
    "expression": Expression("a", points=1, reference="x", domains={"x": "real", "y": "real"}),
    "growth": Growth("a", points=1, reference="n", variables="n"),
    "equation": Equation("y", points=1, tensors=["W[J,K]", "x[K]"], reference="y[j] = W[j,K] x[K]"),
    "number": Number("a", points=1, reference=lambda p: 1),
    "rounded": Number("a", points=1, reference=lambda p: 1, rtol=1e-2),
    "vector": Vector("a", points=1, reference=lambda p: [1, 2]),
    "term": Term("a", points=1, reference=lambda p: "geometric law"),
    "matrix": Matrix("a", points=1, reference=[["x", "y"]], domains={"x": "real", "y": "real"}),
}
CASES = [
    ("expression", "2*x*y", "x*y + y*x", True),
    ("expression", "2*x*y", "2*x*y + 1", False),
    ("growth", "n^2 + n", "3n^2", True),
    ("growth", "n^2", "n^2 ln(n)", False),
    ("equation", "y[j] = 2 x[K] W[j,K]", "y[i] = W[i,K] x[K] + x[K] W[i,K]", True),
    ("equation", "y[j] = 2 x[K] W[j,K]", "y[j] = W[j,K] x[K]", False),
    ("number", "7200", "7,200", True),
    ("number", "7200", "7201", False),
    ("number", "many", "many", False),
    ("rounded", "7200", "7201", True),
    ("rounded", "7200", "7300", False),
    ("vector", "3, 4", "[3,4]", True),
    ("vector", "3, 4", "4, 3", False),
    ("vector", "none", "none", False),
    ("term", "The Poisson law", "poisson-law.", True),
    ("term", "Poisson law", "Poisson's law", False),
    ("matrix", "x,  y", "x, y", True),
    ("matrix", "x, y", "y, x", False),
    ("matrix", "[['x+x', 'y']]", r"\begin{pmatrix} 2x & y \end{pmatrix}", True),
    ("matrix", "[['x+x', 'y']]", "[['2x', '2y']]", False),
    ("matrix", "[['x', 'y']]", "[['x'], ['y']]", False),
]


@pytest.mark.parametrize(("kind", "one", "other", "same"), CASES)
def test_each_kind_has_the_judges_own_equality(kind: str, one: str, other: str, same: bool) -> None:
    """Right or wrong, and whichever comes first."""
    part = PARTS[kind]
    assert part.same_answer(one, other, {}) is same and part.same_answer(other, one, {}) is same


MOVED: list[tuple[str, dict[str, Any], dict[str, Any], str]] = [
    ("2*x + 12", {"K": 2, "J": 12}, {"K": 3, "J": 15}, "3*x + 15"),
    ("x2 + 2x + 2.5", {"K": 2}, {"K": 3}, "x2 + 2x + 2.5"),  # a name, no product with its sign, another number
    ("2*x", {"K": 2, "J": 2}, {"K": 3, "J": 5}, "2*x"),  # it could be either
    ("2*x", {"K": 2, "J": 2}, {"K": 3, "J": 3}, "3*x"),
    ("0.25*x", {"P": [0.25, 0.75]}, {"P": [0.5, 0.5]}, "0.5*x"),
    ("1*x", {"old": True}, {"old": False}, "1*x"),  # words and truths are no numbers
    ("2*x", {"K": 2}, {}, "2*x"),
]


@pytest.mark.parametrize(("typed", "mine", "theirs", "wanted"), MOVED)
def test_numbers_of_another_variant(typed: str, mine: dict[str, Any], theirs: dict[str, Any], wanted: str) -> None:
    """Each takes the place of one's own, where it is clear which one that is."""
    assert with_numbers_of(typed, mine, theirs) == wanted


COURSE = Path(__file__).parents[1] / "data" / "course"
ITEM = Item(notebook="n", part="a", maximum=2, slug="made_up", mistakes=frozenset({"listed"}))


def pupil(number: int, typed: str, *, points: float | None = 0, code: str = "value", **parameters: Any) -> Pupil:
    """A student with an answer."""
    status = "held" if points is None else "graded"
    mark = Mark(status=status, points=points, codes=(code,), typed=typed)  # type: ignore[arg-type]
    return Pupil(id=f"s{number}", marks={ITEM.name: mark}, parameters={"n": parameters})


def test_groups_across_variants() -> None:
    """The same mistake with one's own numbers is one answer, and so is the same text; another number is another one."""
    answers = [("2*x", 2), ("x*3", 3), ("4*x", 3), ("2*x", 5)]
    people = [pupil(i, typed, K=K) for i, (typed, K) in enumerate(answers)]
    groups = grouped(ITEM, people, lambda item, p, one, two: PARTS["expression"].same_answer(one, two, p))
    assert [[pupil.id for pupil in group] for group in groups] == [["s0", "s3", "s1"], ["s2"]]


def test_who_has_an_answer_without_a_name() -> None:
    """Wrong or undecided, typed, and no mistake that the problem lists."""
    people = [
        pupil(0, "2x"),
        pupil(1, "2x", points=None),
        pupil(2, "2x", points=2),
        pupil(3, "2x", code="listed"),
        pupil(4, ""),
    ]
    assert [pupil.id for pupil in unnamed(people, ITEM)] == ["s0", "s1"]


def test_the_judge_is_asked_so_often() -> None:
    """Beyond that, and for what is no problem of ours, answers are not said to be one."""
    tiny = Item(notebook="tiny", part="parameters", maximum=1, slug="tiny")
    same = Judged(COURSE / "problems", 2)
    assert [same(tiny, {}, "10", "10.0") for _ in range(4)] == [True, True, False, False]
    assert not same(replace(tiny, slug=""), {}, "10", "10.0") and not same(replace(tiny, part="x"), {}, "10", "10.0")
