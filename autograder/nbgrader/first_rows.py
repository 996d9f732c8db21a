"""The first rows of students: of those who have none yet for an assignment, many at once.

They are the rows that nbgrader's `add_submission` makes, filled in before they are written.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from nbgrader.api import Comment, Grade, Student, SubmittedAssignment, SubmittedNotebook, new_uuid
from sqlalchemy import insert

from autograder.core import Report
from autograder.nbgrader.run_and_judge import fill_in

_ORDER = (Student, SubmittedAssignment, SubmittedNotebook, Grade, Comment)  # what a row speaks of comes before it


@dataclass(frozen=True, kw_only=True)
class Cells:
    """Of one notebook of the assignment its row's id, and the ids and names of cells graded and commented on."""

    notebook: str
    graded: Mapping[str, str]
    commented: Mapping[str, str]


@dataclass(kw_only=True)
class _Grade:
    auto_score: float | None = None
    manual_score: float | None = None
    extra_credit: float | None = None
    needs_manual_grade: bool = True


@dataclass(kw_only=True)
class _Comment:
    auto_comment: str | None = None
    manual_comment: str | None = None


@dataclass(kw_only=True)
class FirstRows:
    """Collects rows; `write` brings them into a session's transaction."""

    assignment: str
    cells: Mapping[str, Cells]
    _rows: dict[Any, list[dict[str, Any]]] = field(default_factory=lambda: defaultdict(list))

    def add(
        self, student: str, *, known: bool, moment: Any, reports: Mapping[str, Report]
    ) -> tuple[dict[str, Report], float, int]:
        """One submission, handed in at that moment, by a student whom the gradebook knows or not.

        The reports to be kept, the points, and how many decisions wait for a person.
        """
        mine: dict[Any, list[dict[str, Any]]] = defaultdict(list)
        if not known:
            mine[Student].append({"id": student})
        submission = {"id": new_uuid(), "assignment_id": self.assignment, "student_id": student, "timestamp": moment}
        mine[SubmittedAssignment].append(submission)
        kept: dict[str, Report] = {}
        given: list[_Grade] = []
        for name, cells in self.cells.items():
            grades = {cell: _Grade() for cell in cells.graded}
            comments = {cell: _Comment() for cell in cells.commented}
            if name in reports:
                kept[name] = fill_in(reports[name], grades, comments)
            else:
                grades = {cell: _Grade(auto_score=0, needs_manual_grade=False) for cell in grades}
            notebook = {"id": new_uuid(), "notebook_id": cells.notebook, "assignment_id": submission["id"]}
            mine[SubmittedNotebook].append(notebook)
            mine[Grade] += _of_cells(grades, cells.graded, notebook["id"])
            mine[Comment] += _of_cells(comments, cells.commented, notebook["id"])
            given += grades.values()
        for kind, rows in mine.items():  # all of them, once nothing can go wrong any more
            self._rows[kind] += rows
        return (
            kept,
            sum(grade.auto_score or 0.0 for grade in given),
            sum(bool(grade.needs_manual_grade) for grade in given),
        )

    def write(self, session: Any) -> None:
        """Everything that was collected, in no more statements than there are tables."""
        for kind in _ORDER:
            if rows := self._rows[kind]:
                session.execute(insert(kind.__table__), rows)


def _of_cells(made: Mapping[str, Any], ids: Mapping[str, str], notebook: str) -> Sequence[dict[str, Any]]:
    return [
        {"id": new_uuid(), "cell_id": ids[name], "notebook_id": notebook, **vars(item)} for name, item in made.items()
    ]
