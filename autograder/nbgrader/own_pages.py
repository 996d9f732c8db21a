"""Where a student's pages get what they show: the gradebook, the course's configuration, and the problems' folders."""

from __future__ import annotations

import contextlib
import datetime
import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

import nbformat
from nbgrader.api import Assignment, SubmittedAssignment
from sqlalchemy import select

from autograder.authoring import assignment, loading, walkthrough
from autograder.authoring.sealing import MINE
from autograder.authoring.variants import variant
from autograder.errors import AutograderError
from autograder.grading import typeset
from autograder.nbgrader import feedback_page
from autograder.nbgrader.feedback_page import Sheet, taken_apart
from autograder.nbgrader.receipts import Receipts
from autograder.nbgrader.standings import comments, standings
from autograder.reporting.review_journal import LookRequest, Reviewed, path_of, state_of


class Settings(Protocol):
    """What the course's configuration says of its pages."""

    contact: str
    solutions: bool
    log: Any


class Pages:
    """The pages of one assignment; `session` is the gradebook's."""

    def __init__(self, coursedir: Any, name: str, session: Any, settings: Settings) -> None:
        self._coursedir, self._assignment, self._session = coursedir, name, session
        self._settings = settings
        self._receipts = Receipts(course=Path(coursedir.root), assignment=name)
        self._solutions: dict[tuple[str, int], Callable[[str], str]] = {}

    def sheet(self, student: str) -> Sheet:
        """What a student's pages are made of, as the gradebook has it now."""
        place = self._coursedir
        folder = Path(place.format_path(place.autograded_directory, student, self._assignment))
        found = standings(self._session, self._assignment, student)
        return Sheet(
            student=student,
            assignment=self._assignment,
            standings=found,
            title=self._written.title if self._written else "",
            titles={name: _titles(self._source(name)) for name in found},
            missing=[name for name in found if not (folder / f"{name}.ipynb").is_file()],
            contact=self._settings.contact,
            said={each.item: each.sentence for each in self._asked_by(student)},
        )

    def _asked_by(self, student: str) -> list[LookRequest]:
        """A student's requests for another look, as they stand now."""
        course = Path(self._coursedir.root)
        try:
            journal = path_of(course, self._assignment).stat()
        except FileNotFoundError:
            return []
        return _reviewed(course, self._assignment, journal.st_mtime_ns, journal.st_size).asked_by(student)

    @functools.cached_property
    def _written(self) -> assignment.Assignment | None:
        with contextlib.suppress(AutograderError):  # what is wrong with it is told where it is graded by
            return assignment.read_if_there(Path(self._coursedir.root), self._assignment)
        return None

    def _source(self, name: str) -> Path:
        place = self._coursedir
        return Path(place.format_path(place.source_directory, ".", self._assignment), f"{name}.ipynb")

    def page(self, sheet: Sheet, name: str, notebook: Any) -> str:
        """The page of a notebook as it was graded."""
        beside = comments(self._session, self._assignment, sheet.student, name)
        receipt = self._receipts.text(sheet.student, notebook, name, sheet.standings[name])
        return feedback_page.page(sheet, name, notebook, beside, self._solution(notebook), receipt)

    def _solution(self, notebook: Any) -> Callable[[str], str]:
        """The references of a notebook's variant, if they are told."""
        if not self._told():
            return lambda part: ""
        marks = notebook.metadata[MINE]
        key = (marks["slug"], marks["seed"])
        if key not in self._solutions:
            self._solutions[key] = solutions(Path(self._coursedir.root), *key)
        return self._solutions[key]

    def _told(self) -> bool:
        """Whether references are told: they are asked for, and the due date and every extension of it are over."""
        if not self._settings.solutions:
            return False
        end = last_moment(self._session, self._assignment)
        over = end is None or end < datetime.datetime.now(datetime.UTC).replace(tzinfo=None)
        if not over:
            self._settings.log.warning("The pages are without solutions: work can be handed in until %s (UTC).", end)
        return over


def _titles(source: Path) -> dict[str, str]:
    """The headings of a notebook's parts, in their order; nothing of one that is not ours, or cannot be read."""
    try:
        return dict(_titles_at(source, source.stat().st_mtime_ns))
    except (OSError, ValueError):
        return {}


@functools.lru_cache(maxsize=64)
def _titles_at(source: Path, time: int) -> tuple[tuple[str, str], ...]:
    parts, _, _ = taken_apart(nbformat.read(source, as_version=4))
    return tuple((part.name, part.title) for part in parts)


@functools.lru_cache(maxsize=4)
def _reviewed(course: Path, assignment: str, time: int, size: int) -> Reviewed:
    """The queue's journal as it is at this moment, read once for a class."""
    return state_of(course, assignment)


def last_moment(session: Any, assignment: str) -> datetime.datetime | None:
    """When nobody can hand in any more, in UTC: the due date with the longest extension; None without a due date."""
    due: datetime.datetime | None = session.scalar(select(Assignment.duedate).where(Assignment.name == assignment))
    extended = (
        select(SubmittedAssignment.extension)
        .join(Assignment, Assignment.id == SubmittedAssignment.assignment_id)
        .where(Assignment.name == assignment, SubmittedAssignment.extension.is_not(None))
    )
    return due and due + max(session.scalars(extended), default=datetime.timedelta())


def solutions(course: Path, slug: str, seed: int) -> Callable[[str], str]:
    """The reference of each part of a variant with its reason, as HTML; nothing where the problem has a fault."""
    try:
        root = loading.find_problems(course)
        problem = loading.load(slug, root)
        p = variant(problem, seed).parameters
        reasons = walkthrough.sections(problem, p, root)
    except AutograderError:
        return lambda part: ""
    known = {part.name: part for part in problem.parts}
    made: dict[str, str] = {}

    def solution(name: str) -> str:
        if name in known and name not in made:
            reason = reasons.get(name, ("", ""))[1]
            made[name] = typeset.reference(known[name], p) + (typeset.words(reason) if reason else "")
        return made.get(name, "")

    return solution
