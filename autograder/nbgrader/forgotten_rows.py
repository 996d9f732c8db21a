"""What a gradebook says of submissions, as far as forgetting goes: when they came, what waits, which comments stand.

Marks are in other rows. Comments go, those of the judge and those of people: both quote answers.
"""

from __future__ import annotations

import contextlib
import datetime
import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import DateTime, create_engine, text
from sqlalchemy.engine import Connection, make_url

from autograder.nbgrader.course_directory import CourseDirectory, understood

_SUBMITTED = text("""
    select assignment.name as assignment, submitted_assignment.student_id as student,
        submitted_assignment.timestamp as timestamp,
        (select count(*) from grade join submitted_notebook on submitted_notebook.id = grade.notebook_id
         where submitted_notebook.assignment_id = submitted_assignment.id and grade.needs_manual_grade) as waiting,
        (select count(*) from comment join submitted_notebook on submitted_notebook.id = comment.notebook_id
         where submitted_notebook.assignment_id = submitted_assignment.id
         and (comment.auto_comment is not null or comment.manual_comment is not null)) as comments
    from submitted_assignment join assignment on assignment.id = submitted_assignment.assignment_id
""").columns(timestamp=DateTime)
_FORGET = """
    update comment set auto_comment = null, manual_comment = null where notebook_id in (
        select submitted_notebook.id from submitted_notebook
        join submitted_assignment on submitted_assignment.id = submitted_notebook.assignment_id
        join assignment on assignment.id = submitted_assignment.assignment_id
        where assignment.name = :assignment and submitted_assignment.student_id = :student)
"""


@dataclass(frozen=True, kw_only=True)
class Row:
    """A submission in the gradebook; `timestamp` in UTC, None where nothing tells."""

    assignment: str
    student: str
    timestamp: datetime.datetime | None
    waiting: int
    comments: int


def submissions(connection: Connection) -> list[Row]:
    """Every submission that the gradebook knows."""
    return [Row(**row._mapping) for row in connection.execute(_SUBMITTED)]


def databases(place: CourseDirectory) -> list[Path]:
    """The gradebook's file and copies of it beside it, as upgrades and backups make them; none of a server's."""
    url = make_url(place.database)
    if url.get_backend_name() != "sqlite":
        return []
    own = Path(place.root, url.database or "")
    beside = [path for path in own.parent.glob(f"{own.stem}*") if path != own and _is_sqlite(path)]
    return [own, *sorted(beside)]


def _is_sqlite(path: Path) -> bool:
    with contextlib.suppress(OSError), path.open("rb") as file:
        return file.read(16) == b"SQLite format 3\0"
    return False


def forget_comments(place: CourseDirectory, pairs: Iterable[tuple[str, str]]) -> None:
    """Empty the comments on these submissions (assignment, student), in copies as well, and write the files anew.

    A database keeps what it deleted until then. A second time, it changes nothing.
    """
    told = [{"assignment": assignment, "student": student} for assignment, student in pairs]
    files = databases(place)
    for path in files:
        _in_file(path, told)
    if not files:
        with understood():
            engine = create_engine(place.database)
            with engine.begin() as connection:
                for one in told:
                    connection.execute(text(_FORGET), one)
            with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
                connection.execute(text("vacuum full comment"))
            engine.dispose()


def _in_file(path: Path, told: list[dict[str, str]]) -> None:
    with contextlib.closing(sqlite3.connect(path, timeout=30)) as database:
        if not database.execute("select 1 from sqlite_master where name = 'submitted_notebook'").fetchone():
            return
        with database:
            database.executemany(_FORGET, told)
        database.execute("vacuum")
        database.execute("pragma wal_checkpoint(truncate)")
