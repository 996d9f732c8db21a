"""A class of five: decided, held, missing, excused, and one with a comma and an umlaut in the name."""

from __future__ import annotations

import pytest

from autograder.reporting.class_marks import ClassMarks, Item, Mark, Pupil

ITEMS = (
    Item(notebook="gates", part="ugrnn", maximum=5, mistakes=frozenset({"transposed"})),
    Item(notebook="gates", part="open_gate", maximum=2, options=3, mistakes=frozenset({"closes", "keeps"})),
    Item(notebook="heads", part="merge", maximum=3),
)


def pupil(student: str, *marks: float | str | None, **known: object) -> Pupil:
    """A student by points; a word is a status."""
    made = {
        item.name: Mark(status=mark) if isinstance(mark, str) else Mark(status="graded", points=mark)
        for item, mark in zip(ITEMS, marks, strict=True)
    }
    return Pupil(id=student, marks=made, **known)  # type: ignore[arg-type]


@pytest.fixture
def marks() -> ClassMarks:
    """The class."""
    return ClassMarks(
        assignment="ps1",
        title="Problem set 1",
        items=ITEMS,
        pupils=(
            pupil("007", 5, 2, 2.125, first_name="Ada", last_name="Able", mail="Ada@X.org", lms_id="4711"),
            pupil("blaise", 1, "held", 3, mail="blaise@x.org"),
            pupil("carl", "missing", "missing", "missing"),
            pupil("dora", "excused", "excused", "excused"),
            pupil("emmy", 0, 0, 0.5, first_name="Emmy", last_name="Nöther, PhD", mail="=cmd@x.org", late=2.0),
        ),
    )
