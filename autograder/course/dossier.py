"""All that a course keeps about one student: a folder, or a zip file, with a page that a person can read.

Nothing in it is about others. Texts of the course that name somebody else say "another student"; a notebook that was
handed out to somebody else is left out, and named.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sqlalchemy import text

from autograder.authoring.exam_rules import FILE as ACCOMMODATIONS
from autograder.authoring.new_course import ROSTER
from autograder.authoring.pseudonyms import Called
from autograder.authoring.sealing import MINE
from autograder.course import personal_lines
from autograder.errors import AutograderError, StaffError, did_you_mean
from autograder.grading import answer_store
from autograder.grading import report as reports
from autograder.grading.feedback import is_for_staff
from autograder.nbgrader.called import enrolled, others_than
from autograder.nbgrader.class_gradebook import class_marks
from autograder.nbgrader.course_directory import CourseDirectory, gradebook_of
from autograder.printing import seats
from autograder.reporting import defence_marks
from autograder.reporting.class_marks import ClassMarks, Pupil

_STEPS = ("submitted", "autograded", "feedback")
_ANSWERS = "answers"
_STUDENT = text("select * from student where id = :student")
_ASSIGNMENTS = text("select name from assignment order by name")
_EXTENSION = text("""
    select submitted_assignment.extension from submitted_assignment
    join assignment on assignment.id = submitted_assignment.assignment_id
    where assignment.name = :assignment and student_id = :student
""")
_COMMENTS = text("""
    select base_cell.name, auto_comment, manual_comment from comment
    join submitted_notebook on submitted_notebook.id = comment.notebook_id
    join submitted_assignment on submitted_assignment.id = submitted_notebook.assignment_id
    join assignment on assignment.id = submitted_assignment.assignment_id
    join base_cell on base_cell.id = comment.cell_id
    where assignment.name = :assignment and student_id = :student
""")
Table = list[tuple[str, list[dict[str, str]]]]


@dataclass(kw_only=True)
class Dossier:
    """What there is: the files by their place in the folder, and what the page says.

    `left_out` are files that were handed out to somebody else.
    """

    student: str
    name: str
    people: Table = field(default_factory=list)
    assignments: list[dict[str, Any]] = field(default_factory=list)
    files: dict[str, bytes] = field(default_factory=dict)
    left_out: list[str] = field(default_factory=list)


def dossier(course: Path, student: str) -> Dossier:
    """Everything about a student; StaffError where the course knows nobody of that id."""
    people = {person.id: person for person in enrolled(course)}
    others = others_than(student, course)
    with gradebook_of(course) as (connection, place):
        root = Path(place.root)
        found = Dossier(student=student, name=str(people.get(student, student)), people=_people(root, student))
        row = connection.execute(_STUDENT, {"student": student}).mappings().one_or_none()
        if row:
            found.people.append(("Gradebook", [{key: str(value or "") for key, value in row.items()}]))
        for name in connection.scalars(_ASSIGNMENTS).all():
            marks = class_marks(connection, name, place)
            told = {"assignment": name, "student": student}
            about = _assignment(root, marks, marks.pupil(student) or Pupil(id=student), others)
            about["extension"] = str(connection.scalar(_EXTENSION, told) or "")
            for part, *said in connection.execute(_COMMENTS, told):
                about["comments"][part.removesuffix("-answer")] = " ".join(filter(None, said))
            _say_comments(about, others)
            found.assignments.append(about)
            _files(found, place, name, others)
        _further(found, place)
    if not (found.people or found.files):
        raise StaffError(
            "no_student", f"the course knows no student {student!r}{did_you_mean(student, [*people, *others.known])}"
        )
    return found


def _people(root: Path, student: str) -> Table:
    """The rows of the course's tables that are about the student."""
    places = [root / ROSTER, root / ACCOMMODATIONS, *sorted((root / seats.FOLDER).glob(f"*/{seats.FILE}"))]
    places += sorted((root / defence_marks.FOLDER).glob(f"*/{defence_marks.FILE}"))
    rows = ((str(path.relative_to(root)), personal_lines.rows_about(path, student)) for path in places)
    return [(what, found) for what, found in rows if found]


def _assignment(root: Path, marks: ClassMarks, pupil: Pupil, others: Called) -> dict[str, Any]:
    """What the page says of an assignment; comments and an extension are filled in by who asks the gradebook."""
    worth = {item.name: item.maximum for item in marks.items}
    return {
        "name": marks.assignment,
        "title": marks.title,
        "maximum": marks.maximum,
        **{name: getattr(pupil, name) for name in ("status", "total", "late")},
        "handed_in": f"{pupil.handed_in:%Y-%m-%d %H:%M}" if pupil.handed_in else "",
        "parts": [
            {**vars(mark), "name": item, "maximum": worth[item], "said": mark.hint}
            for item, mark in pupil.marks.items()
        ],
        "flags": list(map(others.text, pupil.flags)),
        "lines": _plain(personal_lines.about(root, marks.assignment, pupil.id), others),
        "comments": {},
        "extension": "",
        "forgotten": "",
    }


def _say_comments(about: dict[str, Any], others: Called) -> None:
    """What is said of each part: the comment in the gradebook, or else the judge's hint."""
    for part in about["parts"]:
        part["said"] = others.text(about["comments"].get(part["name"].rpartition(".")[2]) or part["said"])


def _files(found: Dossier, place: CourseDirectory, assignment: str, others: Called) -> None:
    """The student's files of an assignment, its reports and the answers that they hold."""
    for step in _STEPS:
        folder = Path(place.format_path(getattr(place, f"{step}_directory"), found.student, assignment))
        for path in sorted(folder.rglob("*")):
            if path.is_file() and not path.is_symlink():
                _file(found, f"{step}/{assignment}/{path.relative_to(folder)}", path, others)
    folder = Path(place.root, reports.FOLDER, assignment, found.student)
    for path in sorted(folder.iterdir()) if folder.is_dir() else ():
        _report(found, f"{assignment}/{path.name}", path, others)


def _file(found: Dossier, name: str, path: Path, others: Called) -> None:
    content = path.read_bytes()
    if path.suffix == ".ipynb":
        notebook = _json(content)
        whose = _marks(notebook).get("student") or found.student
        if whose != found.student:
            found.left_out.append(name)
            return
        if any(map(_noted, notebook.get("cells", ()))):
            content = _as_json(_without_notes(notebook, others))
    elif f"{name.replace('feedback/', 'submitted/', 1).removesuffix('.html')}.ipynb" in found.left_out:
        found.left_out.append(name)
        return
    found.files[name] = content


def _marks(notebook: Mapping[str, Any]) -> Mapping[str, Any]:
    metadata = notebook.get("metadata")
    marks = metadata.get(MINE) if isinstance(metadata, dict) else None
    return marks if isinstance(marks, dict) else {}


def _noted(cell: Any) -> bool:
    return isinstance(cell, dict) and isinstance(cell.get("metadata"), dict) and is_for_staff(cell)


def _without_notes(notebook: dict[str, Any], others: Called) -> dict[str, Any]:
    """A graded notebook whose notes for graders name nobody else."""
    cells = [_plain(cell, others) if _noted(cell) else cell for cell in notebook["cells"]]
    return {**notebook, "cells": cells, "metadata": _plain(notebook["metadata"], others)}


def _report(found: Dossier, name: str, path: Path, others: Called) -> None:
    content = _json(path.read_bytes())
    for about in (about for about in found.assignments if about["name"] == name.partition("/")[0]):
        about["forgotten"] = content.get(reports.FORGOTTEN, "") or about["forgotten"]
    shown = _plain({**content, "outcomes": [_without_packed(item) for item in content.get("outcomes", ())]}, others)
    found.files[f"reports/{name}"] = _as_json(shown)
    if path.suffix == ".json" and not content.get(reports.FORGOTTEN):
        try:
            report = reports.load(path)
        except AutograderError:
            return
        found.files[f"{_ANSWERS}/{name}"] = _as_json(
            {
                outcome.part: [
                    {"asked": question.kind, "name": question.name, **_answered(vars(answer))}
                    for question, answer in outcome.answers
                ]
                for outcome in report.outcomes
            }
        )


def _without_packed(outcome: dict[str, Any]) -> dict[str, Any]:
    return {**outcome, "answers": f"in {_ANSWERS}/"} if outcome.get("answers") else outcome


def _answered(answer: Mapping[str, Any]) -> dict[str, Any]:
    return {key: _values(value) for key, value in answer.items() if value not in (None, "")}


def _values(value: Any) -> Any:
    """Data that JSON can hold; an array as its shape and its numbers."""
    if hasattr(value, "tolist"):
        return {"shape": list(value.shape), "values": value.tolist()}
    if isinstance(value, Mapping):
        return {str(key): _values(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return list(map(_values, value))
    return value if isinstance(value, str | int | float | bool | None) else repr(value)


def _further(found: Dossier, place: CourseDirectory) -> None:
    """What else is named after the student: handed out to them, or written about them by other commands."""
    root = Path(place.root)
    known = {getattr(place, f"{step}_directory") for step in _STEPS} | {reports.FOLDER, answer_store.FOLDER}
    for path in personal_lines.all_files(root, known):
        parts = path.relative_to(root)
        if found.student in (*parts.parts[:-1], *personal_lines.named_after(path)) and not path.is_symlink():
            found.files[f"further/{parts}"] = path.read_bytes()


def _plain(value: Any, others: Called) -> Any:
    """Data of the course's own in which nobody else is named."""
    if isinstance(value, str):
        return others.text(value)
    if isinstance(value, Mapping):
        return {key: _plain(item, others) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item, others) for item in value]
    return value


def _json(content: bytes) -> dict[str, Any]:
    try:
        found = json.loads(content)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _as_json(content: Any) -> bytes:
    return json.dumps(content, ensure_ascii=False, indent=1).encode("utf-8", "replace")
