"""How a submission stands in the gradebook: its notebooks, and of each the parts with their points and comments."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

from nbgrader.api import Assignment, BaseCell, Comment, Grade, Notebook, SubmittedAssignment, SubmittedNotebook
from sqlalchemy import bindparam, select

Word = Literal["earned", "partly", "lost", "held"]


@dataclass(frozen=True, kw_only=True)
class Mark:
    """A part in the gradebook. `judged` is the judge's mark, None while there is none; `by_hand` a person's."""

    name: str
    points: float
    of: float
    judged: float | None = None
    by_hand: float | None = None
    waits: bool = False

    @property
    def decided(self) -> bool:
        """Whether a person has decided about it."""
        return self.by_hand is not None and not self.waits


@dataclass(kw_only=True)
class Standing:
    """A notebook's marks by the names of its parts; `late` is what was taken for lateness."""

    marks: dict[str, Mark] = field(default_factory=dict)
    late: float = 0.0

    @property
    def points(self) -> float:
        """The sum, lateness taken off."""
        return sum(mark.points for mark in self.marks.values()) - self.late

    @property
    def of(self) -> float:
        """The most that there is."""
        return sum(mark.of for mark in self.marks.values())

    def word(self, mark: Mark) -> tuple[Word, str]:
        """How a part stands, and how it is said. A part without a mark waits with the decision about its notebook."""
        nobody = mark.by_hand is None and mark.judged is None
        if mark.waits or (nobody and any(other.waits for other in self.marks.values())):
            return "held", "waiting for a grader"
        if nobody:
            return "lost", NOT_GRADED
        by = ", marked by a grader" if mark.decided else ""
        if not mark.of:
            return "earned", f"does not count{by}"
        if mark.points >= mark.of:
            return "earned", f"earned{by}"
        return ("partly", f"partly earned{by}") if mark.points else ("lost", f"lost{by}")

    def waiting(self) -> list[str]:
        """The parts that wait; one that decides about all is the whole notebook."""
        held = [mark.name for mark in self.marks.values() if self.word(mark)[0] == "held"]
        return [WHOLE] if 1 < len(held) == len(self.marks) else held


NOT_GRADED = "not graded"  # with the decision about its notebook
WHOLE = "the whole notebook"


def standings(session: Any, assignment: str, student: str) -> dict[str, Standing]:
    """A student's notebooks by their names, in the order of the assignment; fresh from the database."""
    found: dict[str, Standing] = {}
    for notebook, late, name, *numbers in _rows(session, assignment, student):
        points, graded, task, judged, by_hand, waits = numbers
        standing = found.setdefault(notebook, Standing(late=late or 0.0))
        standing.marks[name] = Mark(
            name=name,
            points=points or 0.0,
            of=float(graded or task or 0.0),
            judged=judged,
            by_hand=by_hand,
            waits=bool(waits),
        )
    return found


def _rows(session: Any, assignment: str, student: str) -> Iterator[Any]:
    yield from session.execute(_all_marks(), {"assignment": assignment, "student": student})


@functools.cache
def _all_marks() -> Any:
    """The query for a student's marks: put together once, since that takes as long as to ask it."""
    return (
        select(
            Notebook.name,
            SubmittedNotebook.late_submission_penalty,
            BaseCell.name,
            Grade.score,
            Grade.max_score_gradecell,
            Grade.max_score_taskcell,
            Grade.auto_score,
            Grade.manual_score,
            Grade.needs_manual_grade,
        )
        .join(SubmittedNotebook, SubmittedNotebook.id == Grade.notebook_id)
        .join(SubmittedAssignment, SubmittedAssignment.id == SubmittedNotebook.assignment_id)
        .join(Notebook, Notebook.id == SubmittedNotebook.notebook_id)
        .join(Assignment, Assignment.id == SubmittedAssignment.assignment_id)
        .join(BaseCell, BaseCell.id == Grade.cell_id)
        .where(Assignment.name == bindparam("assignment"), SubmittedAssignment.student_id == bindparam("student"))
        .order_by(Notebook.name, BaseCell.name)
    )


def comments(session: Any, assignment: str, student: str, notebook: str) -> dict[str, tuple[str, str]]:
    """What stands beside the cells of a notebook: a person's comment and the package's own, by the cells' names."""
    names = {"assignment": assignment, "student": student, "notebook": notebook}
    return {name: (by_hand or "", own or "") for name, by_hand, own in session.execute(_all_comments(), names)}


@functools.cache
def _all_comments() -> Any:
    """The query for what stands beside a notebook's cells."""
    return (
        select(BaseCell.name, Comment.manual_comment, Comment.auto_comment)
        .join(SubmittedNotebook, SubmittedNotebook.id == Comment.notebook_id)
        .join(SubmittedAssignment, SubmittedAssignment.id == SubmittedNotebook.assignment_id)
        .join(Notebook, Notebook.id == SubmittedNotebook.notebook_id)
        .join(Assignment, Assignment.id == SubmittedAssignment.assignment_id)
        .join(BaseCell, BaseCell.id == Comment.cell_id)
        .where(
            Assignment.name == bindparam("assignment"),
            SubmittedAssignment.student_id == bindparam("student"),
            Notebook.name == bindparam("notebook"),
        )
    )
