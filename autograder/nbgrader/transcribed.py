"""What was copied from paper: which answers of a student, from which seat, by whom.

It lies beside the reports, where no submission can write. A student who is in it sat an exam on paper, and every part
waits for a person: a copied answer with what the judge says to it, and all else because it is not marked yet.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path

from autograder.authoring import privacy
from autograder.grading.report import FOLDER


@dataclass(frozen=True, kw_only=True)
class Transcript:
    """One student's answers as they were typed, with the paper's letters, and who typed each, by `problem.part`."""

    seat: str
    answers: Mapping[str, str] = field(default_factory=dict)
    by: Mapping[str, str] = field(default_factory=dict)

    def held(self, notebook: str, parts: list[str]) -> dict[str, str]:
        """Why each part of a notebook waits for a person."""
        return {part: self._reason(f"{notebook}.{part}") for part in parts}

    def _reason(self, name: str) -> str:
        if name in self.answers:
            return f"Transcribed from paper by {self.by.get(name, 'nobody named')}."  # the same for the same answer
        return f"This was answered on paper (seat {self.seat}), and is not marked yet."


def path_of(course: Path, assignment: str) -> Path:
    """Where it lies."""
    return course / FOLDER / f"{assignment}.transcribed.json"


def read(course: Path, assignment: str) -> dict[str, Transcript]:
    """What was copied, by student; nothing where nothing was."""
    path = path_of(course, assignment)
    if not path.is_file():
        return {}
    told = json.loads(path.read_text(encoding="utf-8"))
    return {student: Transcript(**facts) for student, facts in told.items()}


def write(course: Path, assignment: str, transcripts: Mapping[str, Transcript], *, shared: bool) -> None:
    """Keep it, from others' eyes as well."""
    told = {student: asdict(item) for student, item in sorted(transcripts.items())}
    content = json.dumps(told, ensure_ascii=False, indent=1).encode()
    privacy.replace(path_of(course, assignment), content, shared=shared)
