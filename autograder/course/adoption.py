"""`autograder adopt`: a course's own solution notebooks, graded by plain nbgrader and by this package, side by side.

Nothing in the course is touched: both grade a copy of it, each with a gradebook of its own.
"""

from __future__ import annotations

import contextlib
import json
import re
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import nbformat

from autograder.authoring.sealing import is_ours
from autograder.course import run as grading
from autograder.errors import StaffError
from autograder.grading.foreign_cells import id_of, is_trusted
from autograder.nbgrader.course_api import done, opened
from autograder.nbgrader.foreign import released_form_of

CONFIG = "nbgrader_config.py"
LINES = "from autograder.nbgrader import configure\nconfigure(c, __import__('pathlib').Path(__file__).parent)\n"
_OURS = re.compile(r"^\s*(?:from autograder\.nbgrader import .*|configure\(c\b.*)$", re.MULTILINE)
# What a copy needs nothing of, beside everything that begins with a dot.
_LEFT = (
    "submitted",
    "autograded",
    "feedback",
    "release",
    "reports",
    "downloaded",
    "gradebook.db*",
    ".*",
    "__pycache__",
)
_ROWS = """
    select student_id, notebook.name, base_cell.name, auto_score, manual_score, needs_manual_grade, auto_comment
    from grade join submitted_notebook on grade.notebook_id = submitted_notebook.id
    join submitted_assignment on submitted_notebook.assignment_id = submitted_assignment.id
    join notebook on submitted_notebook.notebook_id = notebook.id
    join base_cell on grade.cell_id = base_cell.id
    left join comment on comment.notebook_id = submitted_notebook.id and comment.cell_id = base_cell.id
    order by 1, 2, 3
"""


@dataclass(frozen=True, kw_only=True)
class Line:
    """One cell of one submission, as both have it: score, mark by hand, whether a person is to look, and comment."""

    assignment: str
    student: str
    notebook: str
    cell: str
    plain: tuple[Any, ...] | None
    ours: tuple[Any, ...] | None

    @property
    def same(self) -> bool:
        """Whether not one mark differs."""
        return self.plain == self.ours


@dataclass(kw_only=True)
class Comparison:
    """All cells, and what a person should know; `failed` assignments could not be compared, each with the reason."""

    lines: list[Line] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    failed: dict[str, str] = field(default_factory=dict)

    @property
    def different(self) -> list[Line]:
        """The cells whose marks differ."""
        return [line for line in self.lines if not line.same]


def compare(course: Path) -> Comparison:
    """Grade the solutions, and the notebooks as they are handed out, both ways; each assignment for itself."""
    result = Comparison()
    with tempfile.TemporaryDirectory() as folder:
        plain, ours = copies(course, Path(folder))
        for assignment in assignments(course):
            try:
                for copy in (plain, ours):
                    prepare(copy, assignment, {"as_handed_out": 0, "solution": 1})
                _grade(plain, ours, assignment, result)
            except StaffError as error:
                result.failed[assignment] = error.message
            else:
                result.lines += lines(plain, ours, assignment)
    return result


def assignments(course: Path) -> list[str]:
    """The assignments of a course that have a notebook of the instructor's own; StaffError where there is none."""
    with opened(course) as api:
        source = Path(api.coursedir.format_path(api.coursedir.source_directory, ".", ".")).resolve()
        found = sorted({path.parent.name for path in source.glob("*/*.ipynb") if not path.name.startswith(".")})
    foreign = [name for name in found if any(not is_ours(_read(path)) for path in (source / name).glob("*.ipynb"))]
    if not foreign:
        raise StaffError("no_assignment", f"{source} holds no assignment with a notebook of the course's own")
    return foreign


def _read(path: Path) -> Any:
    try:
        return nbformat.read(path, as_version=4)
    except (OSError, ValueError) as error:
        raise StaffError("no_source", f"{path} cannot be read: {error}") from error


def copies(course: Path, folder: Path) -> tuple[Path, Path]:
    """Two copies of a course in a folder: one that nbgrader grades, and one that this package does."""
    made = []
    for name in ("plain", "ours"):
        copy = folder / name
        shutil.copytree(course, copy, ignore=shutil.ignore_patterns(*_LEFT), symlinks=True)
        path = copy / CONFIG
        text = _OURS.sub("", path.read_text(encoding="utf-8")) if path.is_file() else "c = get_config()\n"
        text += (
            f"\nc.CourseDirectory.root = {str(copy)!r}\nc.CourseDirectory.db_url = 'sqlite:///{copy}/gradebook.db'\n"
        )
        path.write_text(text + (LINES if name == "ours" else ""), encoding="utf-8")
        made.append(copy)
    return made[0], made[1]


def prepare(course: Path, assignment: str, students: Mapping[str, int]) -> None:
    """Hand an assignment out, and hand it in: for each student, every which answer is the solution's (0: none)."""
    with opened(course) as api:
        if not (course / f"release/{assignment}").is_dir():
            done("generate_assignment", api.generate_assignment(assignment))
        place = api.coursedir
        source = Path(place.format_path(place.source_directory, ".", assignment))
        release = Path(place.format_path(place.release_directory, ".", assignment))
        for student, step in students.items():
            target = Path(place.format_path(place.submitted_directory, student, assignment))
            shutil.copytree(release, target)
            for path in target.glob("*.ipynb"):
                path.chmod(0o644)
                wanted = _read(source / path.name)
                given = released_form_of(wanted, api.config)
                path.write_text(json.dumps(answered(wanted, given, _read(path), step)), encoding="utf-8")


def answered(source: Any, given: Any, released: Any, step: int) -> Any:
    """A student's notebook with every `step`-th answer of the instructor's in it.

    `given` is the source as it is handed out: by it, answers are found that nbgrader knows nothing of.
    """
    solutions: dict[str, list[str]] = {}
    for cell, stub in zip(source.cells, given["cells"], strict=True):
        if not is_trusted(cell) and (id_of(cell) or cell.source != stub["source"]):
            solutions.setdefault(id_of(cell) or stub["source"], []).append(cell.source)
    count = 0
    for cell in released.cells:
        if texts := solutions.get(id_of(cell) or cell.source):
            text, count = texts.pop(0), count + 1
            if step and count % step == 0:
                cell.source = text
    return released


def _grade(plain: Path, ours: Path, assignment: str, result: Comparison) -> None:
    with opened(plain) as api:
        students = sorted(api.get_submitted_students(assignment))
        for student in students:
            try:
                done("autograde", api.autograde(assignment, student, force=True))
            except StaffError as error:
                told = " ".join(error.message.split("\n")[-2:])  # the last line of the cause, and the notebook
                result.notes.append(f"{assignment}, {student}: plain nbgrader failed: {told}")
    graded = grading.run(ours, grading.Options(assignment=assignment, feedback=False))
    result.notes += [f"{assignment}: {note}" for note in graded.notes]
    result.notes += [f"{assignment}, {row.student}: {row.why}" for row in graded.rows if row.state == "failed"]
    result.notes += [f"{assignment}, {row.student}: {flag}" for row in graded.rows for flag in row.flags]
    if graded.stopped:
        raise StaffError("stopped", graded.stopped)


def lines(plain: Path, ours: Path, assignment: str) -> list[Line]:
    """What both gradebooks say about an assignment, cell by cell."""
    both = [rows(course, assignment) for course in (plain, ours)]
    keys = sorted(both[0].keys() | both[1].keys())
    return [
        Line(
            assignment=assignment,
            student=student,
            notebook=notebook,
            cell=cell,
            plain=both[0].get((student, notebook, cell)),
            ours=both[1].get((student, notebook, cell)),
        )
        for student, notebook, cell in keys
    ]


def rows(course: Path, assignment: str) -> dict[tuple[str, str, str], tuple[Any, ...]]:
    """What a gradebook says, by student, notebook, and cell."""
    words = "join assignment on notebook.assignment_id = assignment.id and assignment.name = ?"
    query = _ROWS.replace("join base_cell", f"{words} join base_cell", 1)
    with contextlib.closing(sqlite3.connect(course / "gradebook.db")) as database:
        return {tuple(row[:3]): tuple(row[3:]) for row in database.execute(query, [assignment])}


def write(course: Path) -> bool:
    """Add the two lines to a course's configuration; whether they were not there."""
    path = course / CONFIG
    text = path.read_text(encoding="utf-8") if path.is_file() else "c = get_config()\n"
    if _OURS.search(text):
        return False
    path.write_text(f"{text.rstrip()}\n\n{LINES}", encoding="utf-8")
    return True


def shown(value: tuple[Any, ...] | None) -> str:
    """What one gradebook says about a cell, in words."""
    if value is None:
        return "no row"
    auto, manual, waits, comment = value
    points = "no mark" if auto is None and manual is None else f"{manual if manual is not None else auto:g}"
    return ", ".join(filter(None, [points, "a person looks" if waits else "", comment or ""]))


def by_assignment(result: Comparison) -> Iterator[tuple[str, int, int]]:
    """Each assignment with how many cells were compared, and how many differ."""
    for name in dict.fromkeys(line.assignment for line in result.lines):
        mine = [line for line in result.lines if line.assignment == name]
        yield name, len(mine), sum(not line.same for line in mine)
