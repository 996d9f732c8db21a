"""The gradebook's rows for a whole class: one session, one transaction for many submissions, nothing read twice."""

from __future__ import annotations

import datetime
import json
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from nbgrader import utils
from nbgrader.api import (
    BaseCell,
    Comment,
    Grade,
    Gradebook,
    MissingEntry,
    Notebook,
    Student,
    SubmittedAssignment,
    SubmittedNotebook,
    new_uuid,
)
from nbgrader.preprocessors import AssignLatePenalties
from sqlalchemy import func, select
from sqlalchemy.exc import OperationalError
from sqlalchemy.orm import load_only

from autograder.core import Report
from autograder.errors import StaffError, did_you_mean
from autograder.nbgrader.course_directory import understood
from autograder.nbgrader.first_rows import Cells, FirstRows
from autograder.nbgrader.foreign import SourceCells
from autograder.nbgrader.run_and_judge import comment_on, fill_in
from autograder.nbgrader.scale import Scale, agree, set_due

TRIES = 10  # each as long as `config.PATIENCE`
LOCKED = "gradebook_locked"
_T = TypeVar("_T")


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


@dataclass(frozen=True, kw_only=True)
class Totals:
    """A submission's sum, its maximum, how many decisions wait for a person, and what lateness takes from the sum."""

    points: float
    of: float
    held: int
    late: float


@dataclass(frozen=True, kw_only=True)
class Entry:
    """What is to be written of one submission: the notebooks' reports of now and of an earlier run.

    Of notebooks without a report nothing was handed in, but for those that are `untouched`.
    """

    student: str
    timestamp: Any
    reports: Mapping[str, Report]
    earlier: Mapping[str, Report | None] = field(default_factory=dict)
    untouched: Collection[str] = ()


@dataclass(frozen=True, kw_only=True)
class Written:
    """What came of it: the reports to be kept, and how the submission stands."""

    reports: Mapping[str, Report]
    totals: Totals


@dataclass(frozen=True, kw_only=True)
class ByHand:
    """A part in the gradebook, as far as people decide it: `judged` is the judge's own mark."""

    score: float | None
    waits: bool
    comment: str | None
    judged: float | None
    maximum: float


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
        self._ids = {
            name: Cells(
                notebook=row.id,
                graded={cell.name: cell.id for cell in self._graded[name]},
                commented={cell.name: cell.id for cell in self._commented[name]},
            )
            for name, row in self._notebooks.items()
        }
        self._session.commit()

    @property
    def notebooks(self) -> list[str]:
        """The names of the assignment's notebooks."""
        return list(self._notebooks)

    def source_cells(self, name: str) -> SourceCells:
        """The cells of a notebook as they were released, and what they are worth."""
        row = self._notebooks[name]
        graded = {cell.name: cell for cell in self._graded[name]}
        return SourceCells(source={cell.name: cell for cell in row.source_cells}, graded=graded)

    def kernelspec(self, name: str) -> Any:
        """The kernel of a notebook as it was released; None where none is noted."""
        told = self._notebooks[name].kernelspec
        return json.loads(told) if told else None

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

    def due(self, scale: Scale) -> None:
        """Bring the due date of the gradebook to the assignment's."""
        set_due(self._assignment, scale)
        self._session.commit()

    def agree(self, scale: Scale, *, everybody: bool) -> None:
        """Bring the points of the gradebook to the assignment's, as `scale.agree` says."""
        agree(self.gradebook, scale, everybody=everybody)

    def write(self, entry: Entry) -> dict[str, Report]:
        """Marks, comments, and penalties of one submission, all or nothing; the reports to be kept."""
        return self._patiently(lambda: self._write(entry))

    def write_all(self, entries: Sequence[Entry]) -> list[Written | Exception]:
        """The same for many: one transaction for all whose first rows these are.

        Late ones and those with rows are written one by one. What goes wrong with one is given back in its place.
        """
        try:
            found = self._patiently(lambda: self._together(entries))
        except Exception as error:
            if getattr(error, "code", "") == LOCKED:
                raise
            found = {}  # what was wrong may be one submission's, such as a row that another program has added
        return [found[entry.student] if entry.student in found else self._alone(entry) for entry in entries]

    def _together(self, entries: Sequence[Entry]) -> dict[str, Written | Exception]:
        """What came of those whose first rows these are, by the student."""
        try:
            there = select(SubmittedAssignment.student_id)
            there = there.where(SubmittedAssignment.assignment_id == self._assignment.id)
            names = [entry.student for entry in entries]
            taken = set(self._session.scalars(there.where(SubmittedAssignment.student_id.in_(names))))
            known = set(self._session.scalars(select(Student.id).where(Student.id.in_(names))))
            new = [entry for entry in entries if entry.student not in taken and self._is_plain(entry, known)]
            rows = FirstRows(assignment=self._assignment.id, cells=self._ids)
            found = {entry.student: self._first(rows, entry, entry.student in known) for entry in new}
            rows.write(self._session)
            self._session.commit()
        except BaseException:
            self._session.rollback()
            raise
        return found

    def _is_plain(self, entry: Entry, known: Collection[str]) -> bool:
        """Whether there is nothing but new rows to it."""
        due, moment = self._assignment.duedate, _moment(entry)
        late = due is not None and moment is not None and moment > due
        return not (late or entry.untouched) and (entry.student in known or bool(self._converter.create_student))

    def _alone(self, entry: Entry) -> Written | Exception:
        try:
            reports = self.write(entry)
            return Written(reports=reports, totals=self.totals(entry.student))
        except Exception as error:
            if getattr(error, "code", "") == LOCKED:
                raise
            return error

    def _first(self, rows: FirstRows, entry: Entry, known: bool) -> Written | Exception:
        """Collect the rows of one submission."""
        of = sum(float(cell.max_score) for cells in self._graded.values() for cell in cells)
        try:
            kept, points, held = rows.add(entry.student, known=known, moment=_moment(entry), reports=entry.reports)
        except Exception as error:
            return error
        return Written(reports=kept, totals=Totals(points=points, of=of, held=held, late=0.0))

    def _patiently(self, work: Callable[[], _T]) -> _T:
        """What a transaction gives; another program's lock is waited for."""
        left = TRIES
        while True:
            try:
                return work()
            except OperationalError as error:
                if "locked" not in str(error.orig):
                    raise
                left -= 1
                if not left:
                    raise StaffError(
                        LOCKED,
                        "the gradebook is locked by another program, such as formgrader, another nbgrader command or "
                        "a backup; end that one and repeat the command with --resume",
                    ) from error

    def _write(self, entry: Entry) -> dict[str, Report]:
        kept = {}
        try:
            submission = self._submission(entry.student, entry.timestamp)
            for name, report in entry.reports.items():
                mine = self._notebook(submission, name).id
                rows = self._by_name(Grade, mine), self._by_name(Comment, mine)
                kept[name] = fill_in(report, *rows, entry.earlier.get(name))
            for name in self._notebooks.keys() - entry.reports.keys() - set(entry.untouched):
                self._nothing_handed_in(self._notebook(submission, name).id)
            self._session.flush()
            for name in entry.reports:
                self._penalty(submission, entry.student, name)
            self._session.commit()
        except BaseException:
            self._session.rollback()
            raise
        return kept

    def extend(self, student: str, days: float) -> Any:
        """Give a student more days, counted from the due date, in place of those given before; the submission's row.

        A student who has handed in nothing yet gets a row for it. Penalties are worked out again.
        """
        if self._assignment.duedate is None:  # nbgrader could not grade a submission with an extension of nothing
            name = self._assignment.name
            raise StaffError(
                "no_due_date",
                f"{name} has no due date to be extended; write one into {name}.toml: due = 2026-05-10T23:59:00+02:00",
            )
        row = self._row_of(student) or self._begun(student)
        row.extension = datetime.timedelta(days=days) if days else None
        self._session.flush()
        self.penalties(student)
        return row

    def enter(self, students: Iterable[str]) -> None:
        """Put students into the gradebook who are known by other means, as by a roster, and are not in it."""
        known = set(self.students())
        self._session.add_all(Student(id=student) for student in students if student not in known)
        self._session.flush()

    def _begun(self, student: str) -> Any:
        """The row of a student who has handed in nothing yet, so that nothing is there to be looked at.

        A student whom a gradebook with students does not have is refused: a slip of the pen would go unnoticed.
        """
        known = self.students()
        if known and student not in known:
            raise StaffError(
                "no_student",
                f"the gradebook has no student {student!r}{did_you_mean(student, known)}; to add one: nbgrader db "
                f"student add {student}",
            )
        row = self._submission(student, None)
        for name in self._notebooks:
            self._nothing_handed_in(self._notebook(row, name).id)
        return row

    def penalties(self, student: str) -> None:
        """Work out again what lateness costs a student: marks by hand and dates may be others by now."""
        if (submission := self._row_of(student)) is not None and submission.timestamp:
            for name in self._notebooks:
                self._penalty(submission, student, name)
        self._session.commit()

    def give(self, student: str, marks: Iterable[tuple[str, str, float, str]], on_paper: Collection[str] = ()) -> None:
        """Marks by hand: notebook, part, points, and a comment or nothing. All of it is written, or none.

        Of a notebook `on_paper` nothing was handed in before: its other parts wait for a person from now on.
        """
        try:
            row, marks = self._row_of(student) or self._begun(student), list(marks)
            for name in self._notebooks:
                mine = self._notebook(row, name).id
                grades, comments = self._by_name(Grade, mine), self._by_name(Comment, mine)
                for grade in grades.values() if name in on_paper else ():
                    grade.auto_score, grade.needs_manual_grade = None, True
                for _, part, points, comment in (mark for mark in marks if mark[0] == name):
                    grades[part].manual_score, grades[part].needs_manual_grade = points, False
                    if comment:
                        comment_on(part, comments).manual_comment = comment
            self._session.flush()
            self.penalties(student)
        except BaseException:
            self._session.rollback()
            raise

    def waiting(self) -> list[tuple[str, str, str, float, float | None]]:
        """What a person is to look at: student, notebook, part, what it counts, and a mark by hand that was given."""
        rows = self._session.execute(
            select(SubmittedAssignment.student_id, Notebook.name, BaseCell.name, Grade.manual_score)
            .join(SubmittedNotebook, SubmittedNotebook.id == Grade.notebook_id)
            .join(SubmittedAssignment, SubmittedAssignment.id == SubmittedNotebook.assignment_id)
            .join(Notebook, Notebook.id == SubmittedNotebook.notebook_id)
            .join(BaseCell, BaseCell.id == Grade.cell_id)
            .where(SubmittedAssignment.assignment_id == self._assignment.id, Grade.needs_manual_grade)
            .order_by(SubmittedAssignment.student_id)
        ).all()
        worth = {(name, cell.name): float(cell.max_score) for name, cells in self._graded.items() for cell in cells}
        return [(student, name, part, worth[name, part], mark) for student, name, part, mark in rows]

    def by_hand(self, student: str, notebook: str, part: str) -> ByHand:
        """What the gradebook has of a part, fresh from the database; StaffError where it has no such part."""
        row = self._row_of(student)
        mine = self._notebook(row, notebook).id if row is not None and notebook in self._notebooks else ""
        grades, comments = self._by_name(Grade, mine), self._by_name(Comment, mine)
        if part not in grades:
            raise StaffError("no_part", f"the gradebook has no part {notebook}.{part} of {student!r}")
        grade, comment = grades[part], comment_on(part, comments)
        return ByHand(
            score=grade.manual_score,
            waits=bool(grade.needs_manual_grade),
            comment=comment.manual_comment,
            judged=grade.auto_score,
            maximum=float(grade.max_score),
        )

    def put_back(self, student: str, notebook: str, part: str, before: ByHand) -> None:
        """Take a mark by hand back: score, comment, and whether it waits are as they were."""
        try:
            mine = self._notebook(self._row_of(student), notebook).id
            grade = self._by_name(Grade, mine)[part]
            grade.manual_score, grade.needs_manual_grade = before.score, before.waits
            comment_on(part, self._by_name(Comment, mine)).manual_comment = before.comment
            self._session.flush()
            self.penalties(student)
        except BaseException:
            self._session.rollback()
            raise

    def totals(self, student: str) -> Totals:
        """What the gradebook says of a submission, as nbgrader's export has it; nothing of one that it has not."""
        submission = self._row_of(student)
        if submission is None:
            return Totals(points=0.0, of=0.0, held=0, late=0.0)
        self._session.refresh(submission)
        waiting = (
            select(func.count(Grade.id))
            .join(SubmittedNotebook, SubmittedNotebook.id == Grade.notebook_id)
            .where(SubmittedNotebook.assignment_id == submission.id, Grade.needs_manual_grade)
        )
        return Totals(
            points=submission.score,
            of=submission.max_score,
            held=self._session.scalar(waiting) or 0,
            late=submission.late_submission_penalty or 0.0,
        )

    def _row_of(self, student: str) -> Any:
        return self._session.scalars(
            select(SubmittedAssignment).where(
                SubmittedAssignment.assignment_id == self._assignment.id, SubmittedAssignment.student_id == student
            )
        ).one_or_none()

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
        notebook = self._notebook(self._row_of(student), name)
        return Shown(
            notebook=notebook,
            grades=self._by_name(Grade, notebook.id),
            comments=self._by_name(Comment, notebook.id),
        )


def _moment(entry: Entry) -> Any:
    """When a submission was handed in, in UTC; None where nothing tells."""
    return utils.parse_utc(entry.timestamp) if entry.timestamp else None


def _gradebook(url: str, course: str) -> Gradebook:
    """nbgrader's gradebook, its tables made where there are none; StaffError where it cannot be had."""
    with understood():
        return Gradebook(url, course)
