"""What `autograder collect` has put into submissions' folders: who was late, and from which upload each one came.

It lies beside the reports, where no submission can write. What it says of a student holds as long as the files that
were collected are still there.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from autograder.authoring import privacy
from autograder.grading.report import FOLDER
from autograder.nbgrader.files import opened_regular


@dataclass(frozen=True, kw_only=True)
class Record:
    """One submission: what the platform called it, whether it came late, and its files, each by its SHA-256."""

    label: str
    files: Mapping[str, str]
    late: bool = False
    order: int = 0


def path_of(course: Path, assignment: str) -> Path:
    """Where it lies."""
    return course / FOLDER / f"{assignment}.collected.json"


def read(course: Path, assignment: str) -> dict[str, Record]:
    """What was collected, by student."""
    try:
        told = json.loads(path_of(course, assignment).read_text(encoding="utf-8"))
        return {student: Record(**facts) for student, facts in told.items()}
    except (OSError, ValueError, TypeError, AttributeError):
        return {}


def write(course: Path, assignment: str, records: Mapping[str, Record], *, shared: bool) -> None:
    """Keep it, from others' eyes as well."""
    content = json.dumps({name: asdict(item) for name, item in sorted(records.items())}).encode()
    privacy.replace(path_of(course, assignment), content, shared=shared)


def is_still_there(record: Record, folder: Path) -> bool:
    """Whether a folder still holds what was collected into it, whatever else was put there since."""
    try:
        return all(_digest(folder / name) == digest for name, digest in record.files.items())
    except OSError:
        return False


def _digest(path: Path) -> str:
    with opened_regular(path) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def remarks(record: Record | None, folder: Path) -> list[str]:
    """What a grader should know about a submission that was collected."""
    if record is None or not record.late or not is_still_there(record, folder):
        return []
    return ["The platform marks this submission as late, and does not tell its time: no penalty was taken."]
