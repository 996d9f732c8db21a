"""`autograder adopt`: plain nbgrader and this package side by side, in copies."""

from __future__ import annotations

import copy
import hashlib
import json
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook

from autograder.commands.adopt_course import adopt_course
from autograder.course import adoption
from autograder.errors import StaffError
from tests.course.test_foreign import marks, words


@pytest.fixture
def course(tmp_path: Path) -> Path:
    """A course as somebody has it: a notebook, a configuration, a gradebook of its own."""
    path = tmp_path / "course"
    (path / "source/hw").mkdir(parents=True)
    nbformat.write(words(), path / "source/hw/words.ipynb")
    (path / adoption.CONFIG).write_text(
        "c = get_config()\nc.CourseDirectory.db_url = 'sqlite:////nowhere/gradebook.db'\n"
    )
    (path / "gradebook.db").write_text("somebody's")
    return path


def contents(course: Path) -> dict[str, str]:
    """Every file, by its digest."""
    files = [path for path in course.rglob("*") if path.is_file()]
    return {str(path): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def test_marks_are_compared_and_nothing_is_touched(course: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Cell by cell, for the solution and for the notebook as it is handed out; --write adds two lines, once."""
    before = contents(course)
    assert adopt_course(course, write=False, as_json=True) == 0
    assert contents(course) == before
    told: dict[str, Any] = json.loads(capsys.readouterr().out.splitlines()[-1])
    found = {(line["student"], line["cell"]): (line["plain"][0], line["same"]) for line in told["cells"]}
    assert found == {("as_handed_out", "name-test"): (0.0, True), ("solution", "name-test"): (1.0, True)}
    assert (told["failed"], told["notes"]) == ({}, [])
    assert adoption.write(course) and not adoption.write(course)
    assert (course / adoption.CONFIG).read_text().count("configure(c, ") == 1
    assert contents(course).keys() == before.keys()


def test_an_assignment_that_cannot_be_graded_is_told(course: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With nbgrader's own words; nothing is written then."""
    path = course / "source/hw/words.ipynb"
    path.write_text(path.read_text().replace('"schema_version": 3', '"schema_version": 1'))
    before = contents(course)
    assert adopt_course(course, write=True, as_json=False) == 1
    assert "hw could not be compared" in capsys.readouterr().out
    assert contents(course) == before


@pytest.mark.parametrize(
    ("step", "expected"),
    [(0, ["stub", "stub", "same", "id"]), (1, ["a", "b", "same", "c"]), (2, ["stub", "b", "same", "id"])],
)
def test_answers_are_found_with_and_without_an_id(step: int, expected: list[str]) -> None:
    """Some courses have their solution regions in cells that nbgrader knows nothing of, one like the other."""
    known = [{}, {}, {}, marks(grade_id="third", solution=True)]
    source, given = (
        new_notebook(cells=[new_code_cell(text, metadata=each) for text, each in zip(row, known, strict=True)])
        for row in (("a", "b", "same", "c"), ("stub", "stub", "same", "id"))
    )
    header = new_code_cell("of every notebook")  # nbgrader may put one there
    released = new_notebook(cells=[header, *copy.deepcopy(given.cells)])
    found = adoption.answered(source, given, released, step)
    assert [cell.source for cell in found.cells[1:]] == expected


def test_a_folder_without_a_course_is_told(tmp_path: Path) -> None:
    """There is nothing to compare where no notebook of the course's own is."""
    with pytest.raises(StaffError, match="holds no assignment with a notebook of the course's own"):
        adoption.assignments(tmp_path)


@pytest.mark.parametrize(
    ("plain", "ours", "same"),
    [
        ((1.0, None, False, None), (1.0, None, False, None), True),
        ((1.0, None, False, None), (0.5, None, False, None), False),
        (None, (0.0, None, False, None), False),
    ],
)
def test_a_line_is_the_same_where_all_of_it_is(plain: Any, ours: Any, same: bool) -> None:
    """Score, mark by hand, whether a person looks, and comment."""
    line = adoption.Line(assignment="a", student="s", notebook="n", cell="c", plain=plain, ours=ours)
    assert line.same == same
