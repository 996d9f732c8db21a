"""The gradebook's rows for a whole class: one session, one transaction a submission, nothing read twice."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from nbgrader import utils
from nbgrader.api import (
    BaseCell,
    Comment,
    Grade,
    Gradebook,
    MissingEntry,
    Student,
    SubmittedAssignment,
    SubmittedNotebook,
    new_uuid,
)
from nbgrader.preprocessors import AssignLatePenalties
from sqlalchemy import select
from sqlalchemy.exc import OperationalError, SQLAlchemyError
from sqlalchemy.orm import load_only

from autograder.core import Report
from autograder.errors import StaffError
from autograder.nbgrader.run_and_judge import fill_in

TRIES = 10  # each as long as `config.PATIENCE`


@dataclass(frozen=True, kw_only=True)
class Shown:
    """The rows of one notebook, under the names by which nbgrader's feedback asks the gradebook for them."""

    notebook: Any
    grades: Mapping[str, Any]
    comments: Mapping[str, Any]

    def find_submission_notebook(self, *_: str) -> Any:
        """The notebook's own row."""
        return self.notebook

    def find_grade(self, cell: str, *_: str) -> Any:
        """The grade of a cell."""
        return self.grades[cell]

    def find_comment(self, cell: str, *_: str) -> Any:
        """The comment on a cell."""
        return self.comments[cell]

    def __deepcopy__(self, memo: object) -> Shown:
        """nbconvert copies all that a page is made with; rows are not to be copied."""
        return self

    def __enter__(self) -> Shown:
        return self

    def __exit__(self, *_: object) -> None:
        """The session stays open for the next student."""


class Rows:
    """One assignment's rows, written by one process only; SQLite and PostgreSQL alike."""

    def __init__(self, url: str, course: str, assignment: str, converter: Any) -> None:
        self.gradebook = _gradebook(url, course)
        self._converter = converter
        self._session = self.gradebook.db()
        self._session.expire_on_commit = False
        try:
            self._assignment = self.gradebook.find_assignment(assignment)
        except MissingEntry as error:
            raise StaffError(
                "no_assignment",
                f"the gradebook has no assignment {assignment!r}; make the students' version first: "
                f"nbgrader generate_assignment {assignment}",
            ) from error
        # Held, so that the session's map keeps them: they are the same for everybody.
        self._notebooks = {row.name: row for row in self._assignment.notebooks}
        self._cells = {
            name: {cell.name: cell for cell in (*row.grade_cells, *row.solution_cells, *row.task_cells)}
            for name, row in self._notebooks.items()
        }
        self._graded = {name: [*row.grade_cells, *row.task_cells] for name, row in self._notebooks.items()}
        self._commented = {name: [*row.solution_cells, *row.task_cells] for name, row in self._notebooks.items()}
        self._session.commit()

    @property
    def notebooks(self) -> list[str]:
        """The names of the assignment's notebooks."""
        return list(self._notebooks)

    def students(self) -> list[str]:
        """Everybody that the gradebook knows."""
        return sorted(self._session.scalars(select(Student.id)))

    def close(self) -> None:
        """Let the database go."""
        self.gradebook.close()

    def forget(self) -> None:
        """Somebody else wrote: read anew."""
        self._session.rollback()
        self._session.expire_all()

    def write(self, student: str, timestamp: Any, reports: Mapping[str, Report]) -> None:
        """Marks, comments, and penalties of one submission, all or nothing; another program's lock is waited for."""
        for left in reversed(range(TRIES)):
            try:
                return self._write(student, timestamp, reports)
            except OperationalError as error:
                if "locked" not in str(error.orig):
                    raise
                if not left:
                    raise StaffError(
                        "gradebook_locked",
                        "the gradebook is locked by another program, such as formgrader, another nbgrader command or "
                        "a backup; end that one and repeat the command with --resume",
                    ) from error

    def _write(self, student: str, timestamp: Any, reports: Mapping[str, Report]) -> None:
        try:
            submission = self._submission(student, timestamp)
            for name, report in reports.items():
                mine = self._notebook(submission, name).id
                fill_in(report, self._by_name(Grade, mine), self._by_name(Comment, mine))
            for name in self._notebooks.keys() - reports.keys():
                self._nothing_handed_in(self._notebook(submission, name).id)
            self._session.flush()
            for name in reports:
                self._penalty(submission, student, name)
            self._session.commit()
        except BaseException:
            self._session.rollback()
            raise

    def _submission(self, student: str, timestamp: Any) -> Any:
        """The submission's row with all that hangs on it, made where there is none."""
        if self._session.scalars(select(Student.id).where(Student.id == student)).one_or_none() is None:
            if not self._converter.create_student:
                raise StaffError("no_student", f"no student {student!r} is in the gradebook")
            self._session.add(Student(id=student))
        row = self._session.scalars(
            select(SubmittedAssignment)
            .where(SubmittedAssignment.assignment_id == self._assignment.id, SubmittedAssignment.student_id == student)
            .options(load_only(SubmittedAssignment.id, SubmittedAssignment.timestamp, SubmittedAssignment.extension))
            .execution_options(populate_existing=True)
        ).one_or_none()
        if row is None:
            row = SubmittedAssignment(id=new_uuid(), assignment_id=self._assignment.id, student_id=student)
            self._session.add(row)
            for name, notebook in self._notebooks.items():
                self._add_notebook(row, name, notebook)
            self._session.flush()
        if timestamp:
            row.timestamp = utils.parse_utc(timestamp)
        return row

    def _add_notebook(self, row: Any, name: str, notebook: Any) -> None:
        """As nbgrader's `add_submission`: a row for each cell that is graded, one for each that is commented on."""
        mine = SubmittedNotebook(id=new_uuid(), notebook_id=notebook.id, assignment_id=row.id)
        self._session.add(mine)
        self._session.add_all([Grade(cell_id=cell.id, notebook_id=mine.id) for cell in self._graded[name]])
        self._session.add_all([Comment(cell_id=cell.id, notebook_id=mine.id) for cell in self._commented[name]])

    def _notebook(self, submission: Any, name: str) -> Any:
        """The row of one notebook of a submission."""
        return self._session.scalars(
            select(SubmittedNotebook)
            .where(
                SubmittedNotebook.assignment_id == submission.id,
                SubmittedNotebook.notebook_id == self._notebooks[name].id,
            )
            .execution_options(populate_existing=True)
        ).one()

    def _by_name(self, kind: Any, mine: str) -> dict[str, Any]:
        """Rows of one kind by their cells' names, fresh from the database."""
        rows = self._session.execute(
            select(kind, BaseCell.name)
            .join(BaseCell, BaseCell.id == kind.cell_id)
            .where(kind.notebook_id == mine)
            .execution_options(populate_existing=True)
        )
        return {name: row for row, name in rows}

    def _nothing_handed_in(self, mine: str) -> None:
        for grade in self._by_name(Grade, mine).values():
            grade.auto_score, grade.needs_manual_grade = 0, False

    def _penalty(self, submission: Any, student: str, name: str) -> None:
        """What the course's late policy takes, by nbgrader's own plugin."""
        mine = self._notebook(submission, name)
        mine.late_submission_penalty = None
        late = submission.total_seconds_late
        if late <= 0:
            return
        policy = AssignLatePenalties(parent=self._converter)
        policy.init_plugin()
        penalty = policy.plugin_inst.late_submission_penalty(student, mine.score, late)
        if penalty is not None:
            mine.late_submission_penalty = policy._check_late_penalty(mine, penalty)

    def shown(self, student: str, name: str) -> Shown:
        """What feedback on a notebook reads, fresh from the database."""
        submission = self._session.scalars(
            select(SubmittedAssignment).where(
                SubmittedAssignment.assignment_id == self._assignment.id, SubmittedAssignment.student_id == student
            )
        ).one()
        notebook = self._notebook(submission, name)
        return Shown(
            notebook=notebook,
            grades=self._by_name(Grade, notebook.id),
            comments=self._by_name(Comment, notebook.id),
        )


def _gradebook(url: str, course: str) -> Gradebook:
    """nbgrader's gradebook, its tables made where there are none; StaffError where it cannot be had."""
    try:
        return Gradebook(url, course)
    except ModuleNotFoundError as error:
        raise StaffError(
            "no_driver",
            f"the gradebook's database needs the Python package {error.name}; "
            "for PostgreSQL: pip install 'psycopg[binary]'",
        ) from error
    except SQLAlchemyError as error:
        raise StaffError("gradebook", f"the gradebook cannot be opened: {error}") from error
