"""A class's marks out of nbgrader's gradebook, with the judge's findings out of the reports beside it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from nbgrader.api import (
    Assignment,
    BaseCell,
    Grade,
    Gradebook,
    MissingEntry,
    Notebook,
    Student,
    SubmittedAssignment,
    SubmittedNotebook,
)
from sqlalchemy import select

from autograder.authoring import loading
from autograder.authoring.assignment import Assignment as Written
from autograder.authoring.assignment import read_if_there
from autograder.authoring.sealing import MINE
from autograder.authoring.voids import DROP
from autograder.core import Problem
from autograder.errors import AutograderError, StaffError
from autograder.grading import report as reports
from autograder.grading.report import Found
from autograder.nbgrader.course_api import opened
from autograder.nbgrader.handouts import is_ours, read_source
from autograder.reporting.class_marks import ClassMarks, Item, Mark, Pupil


def read_class(course: Path, assignment: str) -> ClassMarks:
    """Everybody whom the gradebook knows, with their marks; StaffError where it does not know the assignment."""
    with opened(course) as api, api.gradebook as gradebook:
        return class_marks(gradebook, assignment, Path(api.coursedir.root), api.coursedir)


def class_marks(gradebook: Gradebook, assignment: str, course: Path, coursedir: Any) -> ClassMarks:
    """The same from a gradebook that is open already."""
    try:
        row = gradebook.find_assignment(assignment)
    except MissingEntry as error:
        known = ", ".join(sorted(item.name for item in gradebook.assignments)) or "none"
        raise StaffError(
            "no_assignment", f"the gradebook has no assignment {assignment!r}; there are: {known}"
        ) from error
    written = read_if_there(course, assignment)
    items = tuple(_items(row, written, course, coursedir))
    reader = _Reader(gradebook=gradebook, row=row, items=items, course=course, coursedir=coursedir, written=written)
    return ClassMarks(
        assignment=assignment,
        title=written.title if written else assignment,
        items=items,
        pupils=tuple(reader.pupils()),
        due=row.duedate,
    )


def _items(row: Assignment, written: Written | None, course: Path, coursedir: Any) -> Iterator[Item]:
    """The graded cells in the order of the assignment's file and of each problem's parts, or the gradebook's own."""
    problems = {notebook.name: _problem(course, coursedir, row.name, notebook.name) for notebook in row.notebooks}
    order = list(written.problems) if written else []
    for notebook in sorted(row.notebooks, key=lambda item: (_place(order, item.name), item.name)):
        problem = problems[notebook.name]
        parts = [part.name for part in problem.parts] if problem else []
        cells = [*notebook.grade_cells, *notebook.task_cells]
        for cell in sorted(cells, key=lambda cell: _place(parts, cell.name)):
            part = problem.part(cell.name) if problem and cell.name in parts else None
            void = written.voids.get(problem.slug, {}).get(cell.name) if written and problem else None
            yield Item(
                notebook=notebook.name,
                part=cell.name,
                maximum=float(cell.max_score),
                slug=problem.slug if problem else "",
                title=problem.title if problem else notebook.name,
                kind=part.kind if part else "",
                void=void.effect if void else "",
                mistakes=frozenset(mistake.__name__ for mistake in part.mistakes) if part else frozenset(),
                options=part.shown_options if part else 0,
            )


def _place(order: list[str], name: str) -> int:
    return order.index(name) if name in order else len(order)


def _problem(course: Path, coursedir: Any, assignment: str, notebook: str) -> Problem | None:
    """The problem behind a notebook; None for a notebook that is not ours, or whose problem cannot be loaded."""
    try:
        source = read_source(coursedir, assignment, notebook)
        if not is_ours(source):
            return None
        return loading.load(source.metadata[MINE]["slug"], loading.find_problems(course))
    except AutograderError:
        return None


@dataclass(frozen=True, kw_only=True)
class _Reader:
    """What is needed to read one student after the other; each table of the gradebook is read once."""

    gradebook: Gradebook
    row: Assignment
    items: tuple[Item, ...]
    course: Path
    coursedir: Any
    written: Written | None

    def pupils(self) -> Iterator[Pupil]:
        """Everybody, in order of their ids."""
        session = self.gradebook.db
        people = session.execute(
            select(Student.id, Student.first_name, Student.last_name, Student.email, Student.lms_user_id)
        )
        times = dict(
            session.execute(
                select(SubmittedAssignment.student_id, SubmittedAssignment.timestamp).where(
                    SubmittedAssignment.assignment_id == self.row.id
                )
            ).all()
        )
        late, grades = self._late(), self._grades()
        for student, first, last, mail, lms in sorted(people, key=lambda person: person[0]):
            mine = grades.get(student, {})
            found = {name: self._found(student, name) for name in {item.notebook for item in self.items}}
            there = {name for name, report in found.items() if self._was_handed_in(student, name, report, mine)}
            yield Pupil(
                id=student,
                first_name=first or "",
                last_name=last or "",
                mail=mail or "",
                lms_id=lms or "",
                handed_in=times.get(student),
                late=late.get(student, 0.0),
                marks={item.name: self._mark(student, item, found[item.notebook], mine, there) for item in self.items},
                parameters={name: report.parameters for name, report in found.items() if report},
                flags=tuple(flag for report in found.values() if report for flag in report.flags),
            )

    def _grades(self) -> dict[str, dict[str, Any]]:
        """Everybody's rows by the item's name."""
        rows = self.gradebook.db.execute(
            select(
                SubmittedAssignment.student_id, Notebook.name, BaseCell.name, Grade.auto_score, Grade.manual_score,
                Grade.extra_credit, Grade.needs_manual_grade,
            )
            .join(SubmittedNotebook, SubmittedNotebook.id == Grade.notebook_id)
            .join(SubmittedAssignment, SubmittedAssignment.id == SubmittedNotebook.assignment_id)
            .join(Notebook, Notebook.id == SubmittedNotebook.notebook_id)
            .join(BaseCell, BaseCell.id == Grade.cell_id)
            .where(SubmittedAssignment.assignment_id == self.row.id)
        )  # fmt: skip
        found: dict[str, dict[str, Any]] = {}
        for student, notebook, part, auto, manual, extra, waits in rows:
            found.setdefault(student, {})[f"{notebook}.{part}"] = (auto, manual, extra or 0.0, waits)
        return found

    def _late(self) -> dict[str, float]:
        rows = self.gradebook.db.execute(
            select(SubmittedAssignment.student_id, SubmittedNotebook.late_submission_penalty)
            .join(SubmittedAssignment, SubmittedAssignment.id == SubmittedNotebook.assignment_id)
            .where(SubmittedAssignment.assignment_id == self.row.id)
        )
        found: dict[str, float] = {}
        for student, penalty in rows:
            found[student] = found.get(student, 0.0) + (penalty or 0.0)
        return found

    def _found(self, student: str, notebook: str) -> Found | None:
        try:
            return reports.findings(reports.path_of(self.course, self.row.name, student, notebook))
        except StaffError:
            return None

    def _was_handed_in(self, student: str, notebook: str, report: Found | None, mine: Mapping[str, Any]) -> bool:
        """Whether there is a graded notebook, or a person has marked, or is to mark, something of it."""
        place = self.coursedir.format_path(self.coursedir.autograded_directory, student, self.row.name)
        if report or Path(place, f"{notebook}.ipynb").is_file():
            return True
        names = [item.name for item in self.items if item.notebook == notebook]
        return any(name in mine and (mine[name][1] is not None or mine[name][3]) for name in names)

    def _waits(self, notebook: str, mine: Mapping[str, Any]) -> bool:
        """Whether a person is to decide about a part of a notebook, or by one part about the whole of it."""
        return any(mine[item.name][3] for item in self.items if item.notebook == notebook and item.name in mine)

    def _mark(self, student: str, item: Item, report: Found | None, mine: Mapping[str, Any], there: set[str]) -> Mark:
        if self.written and student in self.written.excused:
            return Mark(status="excused")
        if item.name not in mine or item.notebook not in there:
            return Mark(status="missing")
        auto, manual, extra, waits = mine[item.name]
        if item.void != DROP and (waits or (auto is None and manual is None and self._waits(item.notebook, mine))):
            mark = Mark(status="held")
        else:
            points = (manual if manual is not None else auto or 0.0) + extra
            mark = Mark(status="void" if item.void == DROP else "graded", points=points, by_hand=manual is not None)
        outcome = report.parts.get(item.part) if report else None
        if outcome is None:
            return mark
        return replace(mark, codes=outcome.codes, hint=outcome.hint, typed=outcome.typed)
