"""`autograder marks`: points that people gave go into the gradebook as marks by hand, and into a journal."""

from __future__ import annotations

import datetime
import getpass
import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from autograder.authoring import privacy
from autograder.authoring.roster import of_course
from autograder.course.lock import alone
from autograder.grading import report as reports
from autograder.nbgrader.class_gradebook import read_class
from autograder.printing.seats import read_seats
from autograder.reporting.class_marks import ClassMarks, Mark, Pupil
from autograder.reporting.given_marks import Given, by_student, read_given
from autograder.reporting.sheet import read_sheet

if TYPE_CHECKING:
    from autograder.nbgrader.folder import Folder


def take(
    course: Path,
    assignment: str,
    table: Path,
    *,
    columns: Mapping[str, str],
    id_column: str,
    grader: str,
    dry_run: bool,
) -> list[Given]:
    """Take a table's marks; what changes. With `dry_run` nothing is written."""
    sheet, course = read_sheet(table), course.resolve()
    seats = {seat.code: seat.student for seat in read_seats(course, assignment)}
    marks = _with_seated(read_class(course, assignment), course, seats.values())
    given = read_given(sheet, marks, columns, id_column, seats)
    if dry_run or not given:
        return given
    from autograder.nbgrader.course_api import opened  # nbgrader writes marks, and is not needed to compare them
    from autograder.nbgrader.folder import Folder

    with opened(course) as api, alone(course, assignment, shared=bool(api.coursedir.groupshared)):
        folder = Folder(api, assignment)
        try:
            folder.rows.enter(student for student in by_student(given) if student in seats.values())
            for student, changes in by_student(given).items():
                rows = [(change.item.notebook, change.item.part, change.after, change.comment) for change in changes]
                folder.rows.give(student, rows, _on_paper(marks, student, changes, seated=student in seats.values()))
                _note(folder, changes, table, grader or getpass.getuser())
        finally:
            folder.close()
    return given


def _with_seated(marks: ClassMarks, course: Path, seated: Iterable[str]) -> ClassMarks:
    """With those of the roster who sat the exam on paper, and whom the gradebook does not know yet."""
    have = {pupil.id for pupil in marks.pupils}
    on_roster = {person.id for person in of_course(course)} if set(seated) - have - {""} else set()
    nothing = {item.name: Mark(status="missing") for item in marks.items}
    new = [Pupil(id=student, marks=nothing) for student in sorted({*seated} & on_roster - have)]
    return replace(marks, pupils=(*marks.pupils, *new))


def _on_paper(marks: ClassMarks, student: str, changes: list[Given], *, seated: bool) -> set[str]:
    """The notebooks of which nothing was handed in, and a person marks: all of them where somebody has a seat."""
    if not seated:
        return {change.item.notebook for change in changes if change.on_paper}
    found = next(pupil.marks for pupil in marks.pupils if pupil.id == student)
    return {item.notebook for item in marks.items if found[item.name].status == "missing"}


def _note(folder: Folder, changes: list[Given], table: Path, grader: str) -> None:
    """A line of the journal for each mark."""
    place = folder.root / reports.FOLDER / f"{folder.assignment}.marks.jsonl"
    privacy.make_folder(place.parent, shared=folder.shared)
    now = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
    with place.open("a", encoding="utf-8") as file:
        for item in changes:
            line = {
                "time": now,
                "by": item.grader or grader,
                "student": item.student,
                "part": item.item.name,
                "before": item.before,
                "after": item.after,
                "comment": item.comment,
                "table": table.name,
            }
            file.write(json.dumps(line, ensure_ascii=False) + "\n")
        file.flush()
        os.fsync(file.fileno())
    privacy.close(place, shared=folder.shared)
