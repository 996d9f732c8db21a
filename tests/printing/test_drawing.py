"""What neighbours share: at most a third of their answers, in exam-1, measured."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from autograder.authoring.assignment import Assignment, read_assignment
from autograder.authoring.variants import class_seed, variant
from autograder.printing.drawing import Drawing
from autograder.printing.questions import Paper
from autograder.printing.seats import Seat, planned

COURSE = Path(__file__).resolve().parents[2] / "notebooks"
SECRET = b"a secret of the tests, forty letters long"


def exam(**changes: object) -> tuple[Assignment, Drawing]:
    """exam-1, with changes to its rules."""
    written = read_assignment(COURSE, "exam-1")
    written = dataclasses.replace(written, exam=dataclasses.replace(written.exam, **changes))
    return written, Drawing(written, Paper(COURSE, written, COURSE.parent / "problems").problems, SECRET)


@pytest.fixture(scope="module")
def forty() -> tuple[Drawing, list[Seat]]:
    """Forty seats of exam-1 as its file says, in rows of eight."""
    _, drawing = exam()
    return drawing, drawing.draw(planned([], 40, 1, []))


def test_neighbours_share_at_most_a_third(forty) -> None:
    """Beside, before and behind, also aslant; letters as they stand on the sheets, words and code as well."""
    drawing, seats = forty
    answers = [drawing.answers(seat) for seat in seats]
    assert {len(found) for found in answers} == {41}
    shares = []
    for place in range(40):
        for other in range(place):
            aside = abs(place % 8 - other % 8) <= 1 and place // 8 - other // 8 <= 1
            if aside:
                shares.append(sum(answers[place][name] == answers[other][name] for name in answers[place]) / 41)
    assert len(shares) == 35 + 32 + 2 * 28 and max(shares) <= 1 / 3
    most = drawing.most_shared(seats)
    assert most is not None and most.same / most.of == max(shares)


def test_without_rows_seats_in_turn_are_neighbours() -> None:
    """And the same holds for them."""
    _, drawing = exam(row=0)
    seats = drawing.draw(planned([], 6, 1, []))
    most = drawing.most_shared(seats)
    assert most is not None and most.same <= most.of / 3


def test_the_same_again(forty) -> None:
    """From the secret alone; a seat that has numbers keeps them, and another secret gives others."""
    drawing, seats = forty
    assert exam()[1].draw(planned([], 40, 1, []))[:8] == seats[:8]
    assert drawing.draw(seats[:3]) == seats[:3]
    written, _ = exam()
    other = Drawing(written, drawing._problems, SECRET + b"!").draw(planned([], 1, 1, []))
    assert other[0].seeds != seats[0].seeds


def test_every_option_has_its_place(forty) -> None:
    """An order has each of the notebook's letters once, and the orders of seats differ."""
    _, seats = forty
    for name in seats[0].orders:
        assert {"".join(sorted(seat.orders[name])) for seat in seats} <= {"abc", "abcd", "abcde", "abcdef"}
        assert len({seat.orders[name] for seat in seats}) > 3


def test_versions_are_the_class_and_the_next() -> None:
    """A is the variant of the notebooks, B has other numbers and what the assignment fixes; their options differ."""
    written, drawing = exam(versions=2, fixed=True)
    a, b, again = drawing.draw(planned([], 3, 2, []))
    for slug, problem in drawing._problems.items():
        assert a.seeds[slug] == again.seeds[slug] == class_seed(written, problem)
        drawn = variant(problem, b.seeds[slug]).parameters
        assert all(drawn[name] == value for name, value in written.parameters[slug].items())
    assert a.orders == again.orders != b.orders and a.seeds != b.seeds


def test_what_is_fixed_holds_on_paper() -> None:
    """Unless the exam says otherwise."""
    written, drawing = exam(fixed=True)
    (seat,) = drawing.draw(planned([], 1, 1, []))
    for slug, fixed in written.parameters.items():
        drawn = variant(drawing._problems[slug], seat.seeds[slug]).parameters
        assert all(drawn[name] == value for name, value in fixed.items())
