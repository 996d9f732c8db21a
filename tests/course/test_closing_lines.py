"""The lines at the end of `autograder grade`: whom one must know something of, and what to do next."""

from __future__ import annotations

import pytest

from autograder.course.progress import closing
from autograder.course.run import Result, Row
from autograder.reporting.review_journal import Ruling

MANY = {"geometric": [f"a_rather_long_name_of_a_part_{number}" for number in range(9)]}
ROWS = {
    "done": (Row(student="ada", state="done", points=5, of=5), []),
    "waits": (
        Row(student="bob", state="done", points=3, of=5, held=1, waits={"geometric": ["total"]}),
        ["bob  3 of 5; 1 to decide: total"],
    ),
    "kept": (
        Row(student="bob", state="kept", points=3, of=5, missing=("other",)),
        ["bob  3 of 5", "     not handed in: other"],
    ),
    "failed": (Row(student="eve", state="failed", why="the folder is gone"), ["eve  not graded: the folder is gone"]),
    "odd": (Row(student="e\x1b[31m", state="empty", why="no notebook"), ["e\\x1b[31m  nothing graded: no notebook"]),
}


@pytest.mark.parametrize(("row", "lines"), ROWS.values(), ids=ROWS)
def test_a_line_for_each_student_who_needs_one(row, lines) -> None:
    """Nothing of those who are graded to the end."""
    assert closing(Result(assignment="ps1", rows=[row]))[:-1] == lines


def test_the_lines_fit_80_columns() -> None:
    """What waits stands in one line for each student, whatever there is to say."""
    rows = [
        Row(student="a" * 40, state="done", waits=MANY, flags=("A flag of many words. " * 9,)),
        Row(student="bob", state="done", waits=MANY),
    ]
    lines = closing(Result(assignment="ps1", rows=rows))
    assert max(map(len, lines)) <= 80
    assert [line for line in lines if line.startswith("bob")] and lines[-2].endswith(" …")


NEXT = {
    "to decide": (
        Row(student="bob", state="done", waits={"n": ["a", "b"]}),
        "Next: autograder review 'p 1'    (2 answers",
    ),
    "all done": (Row(student="bob", state="done"), "Next: autograder report 'p 1'"),
    "not all graded": (Row(student="bob", state="failed"), "Next: autograder grade 'p 1' --resume"),
}


@pytest.mark.parametrize(("row", "start"), NEXT.values(), ids=NEXT)
def test_the_last_line_is_the_next_command(row, start) -> None:
    """As it is typed."""
    assert closing(Result(assignment="p 1", rows=[row]))[-1].startswith(start)


def test_who_followed_a_decision_is_listed() -> None:
    """With the points, and whose decision it was."""
    told = {"id": "1", "time": 0, "by": "gil", "item": "n.a", "points": 1.5, "maximum": 2, "students": ("zoe",)}
    lines = closing(Result(assignment="ps1", rows=[], followed=[Ruling(**told)]))
    assert lines[0] == "zoe: n.a has 1.5 of 2 points, as gil decided for an equal answer"
