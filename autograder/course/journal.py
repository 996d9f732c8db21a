"""The truth of a run: one line of JSON for each change of state, on disk before anything follows from it.

A line is appended and synced, never changed. Whatever ends the grader (kill -9, a full disk, a power cut) leaves every
line but perhaps the last one whole, and a last line that broke off says nothing. What a line says was done is done:
reports, autograded notebooks, marks and feedback were on disk before it.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from autograder.authoring import privacy
from autograder.errors import StaffError
from autograder.grading.report import FOLDER
from autograder.reporting.journal_lines import read

__all__ = ["Journal", "path_of", "read"]


def path_of(course: Path, assignment: str) -> Path:
    """Where the journal of an assignment lies."""
    return course / FOLDER / f"{assignment}.jsonl"


class Journal:
    """Appends to one file, which nobody else can read, or the group where the course is `shared`.

    `last` is the latest line of each student.
    """

    def __init__(self, path: Path, *, shared: bool = False) -> None:
        self.path = path
        self.last: dict[str, dict[str, Any]] = {}
        for line in read(path):
            if isinstance(line.get("student"), str):
                self.last[line["student"]] = line
        try:
            privacy.make_folder(path.parent, shared=shared)
            self._file = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o600)
            privacy.close(path, shared=shared)
            _sync_folder(path.parent)
        except OSError as error:
            raise StaffError("journal", f"the journal {path} cannot be written: {error}") from error

    def write(self, **line: Any) -> None:
        """Append a line; StaffError where it cannot be brought to disk, and then nothing of it stays."""
        self.write_all([line])

    def write_all(self, lines: Sequence[Mapping[str, Any]]) -> None:
        """Append some lines together, all or nothing."""
        now = round(time.time(), 3)
        text = "".join(json.dumps({"time": now, **line}, ensure_ascii=False) + "\n" for line in lines)
        end = os.fstat(self._file).st_size
        try:
            if end and os.pread(self._file, 1, end - 1) != b"\n":
                text = "\n" + text  # the line before broke off
            _append(self._file, text.encode("utf-8", "replace"))
            os.fsync(self._file)
        except OSError as error:
            os.truncate(self._file, end)
            raise StaffError("journal", f"the journal {self.path} cannot be written: {error}") from error
        self.last |= {line["student"]: dict(line) for line in lines if isinstance(line.get("student"), str)}

    def close(self) -> None:
        """Let the file go."""
        os.close(self._file)


def _append(file: int, content: bytes) -> None:
    while content:
        content = content[os.write(file, content) :]


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
