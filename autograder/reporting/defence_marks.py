"""What the questions about own answers came to: one table for each assignment, which exports and reports read.

A student is `counted`, `held` while a person is to talk with them, `kept` where the talk decided that the points stay,
or `open` where nothing was entered, and then no total waits for it.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from autograder.reporting.marks_table import as_text, from_text

FOLDER = "defence"
FILE = "marks.csv"
COLUMNS = ("student_id", "status", "right", "asked")
Standing = Literal["counted", "held", "kept", "open"]


@dataclass(frozen=True, kw_only=True)
class Defended:
    """How many of the questions a student answered rightly, and what follows from it."""

    student: str
    status: Standing
    right: float = 0.0
    asked: int = 0

    @property
    def share(self) -> float:
        """Of right answers; all where nothing is counted."""
        return self.right / self.asked if self.asked and self.status == "counted" else 1.0


def path_of(course: Path, assignment: str) -> Path:
    """Where the table lies."""
    return course / FOLDER / assignment / FILE


def read_defended(course: Path, assignment: str) -> Mapping[str, Defended]:
    """Everybody's line by id; none where no answers were entered."""
    path = path_of(course, assignment)
    if not path.is_file():
        return {}
    rows = csv.DictReader(io.StringIO(path.read_text(encoding="utf-8")))
    found = (
        Defended(
            student=from_text(row["student_id"]),
            status=row["status"],  # type: ignore[arg-type]  # written by `as_table`
            right=float(row["right"] or 0),
            asked=int(row["asked"] or 0),
        )
        for row in rows
    )
    return {item.student: item for item in found}


def as_table(found: Iterable[Defended]) -> str:
    """The lines as CSV."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    for item in found:
        writer.writerow([as_text(item.student), item.status, f"{item.right:g}", item.asked])
    return text.getvalue()
