"""The list of all notebooks that a course made: which numbers, for whom, when; one line of JSON for each.

It lies in the course's folder. Lines are appended, never changed, by one process at a time; what is the same as when it
was made last is not written again. It tells by its text what a notebook without a seal was handed out as, and `build`
asks it what must not be overwritten.
"""

from __future__ import annotations

import datetime
import hashlib
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from autograder.authoring import privacy
from autograder.authoring.sealing import as_json
from autograder.core import Variant
from autograder.errors import StaffError

FILE = "ledger.jsonl"
Step = Literal["built", "released"]


@dataclass(frozen=True, kw_only=True)
class Made:
    """A notebook that was made. `student` is whose own it is, empty where the class has it in common.

    `own`: every student has a variant of their own of it. `statement` has a digest of each of its locked texts.
    """

    step: Step
    assignment: str
    slug: str
    version: int
    seed: int
    student: str = ""
    own: bool = False
    parameters: Mapping[str, Any] = field(default_factory=dict)
    statement: Sequence[str] = ()


def made(notebook: Any, drawn: Variant, *, step: Step, assignment: str, student: str = "", own: bool = False) -> Made:
    """The line of a notebook, source or released, of a variant."""
    return Made(
        step=step,
        assignment=assignment,
        slug=drawn.slug,
        version=drawn.version,
        seed=drawn.seed,
        student=student,
        own=own,
        parameters=json.loads(as_json(drawn.parameters)),
        statement=statement_of(notebook),
    )


def statement_of(notebook: Any) -> list[str]:
    """A digest of each text in a notebook that students are to leave as it is."""
    return [
        text_digest(cell["source"])
        for cell in notebook["cells"]
        if cell["cell_type"] == "markdown" and (cell["metadata"].get("nbgrader") or {}).get("locked")
    ]


def text_digest(text: str) -> str:
    """Equal for texts that differ in white space alone."""
    return hashlib.sha256("".join(text.split()).encode("utf-8", "replace")).hexdigest()[:16]


def record(course: Path, notebooks: Iterable[Made]) -> None:
    """Put on the list what is not as it was made last; StaffError where it cannot be written."""
    import fcntl

    path = course / FILE
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o600)
        with os.fdopen(descriptor, "r+b") as file:
            fcntl.flock(file, fcntl.LOCK_EX)  # until it is closed
            content = file.read()
            last = {_place(line): _said(line) for line in _lines(content)}
            new = [line for line in map(_line, notebooks) if last.get(_place(line)) != _said(line)]
            if new:
                text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in new)
                broken_off = content and not content.endswith(b"\n")
                file.write((("\n" if broken_off else "") + text).encode("utf-8", "replace"))
                file.flush()
                os.fsync(descriptor)
        privacy.close(path, shared=bool(course.stat().st_mode & 0o020))
    except OSError as error:
        raise StaffError("ledger", f"the list of notebooks {path} cannot be written: {error}") from error


def read(course: Path, assignment: str) -> list[Made]:
    """All notebooks that were made of an assignment, in order."""
    names = Made.__dataclass_fields__.keys()
    lines = [line for line in _all(course) if line["assignment"] == assignment]
    return [Made(**{name: line[name] for name in names & line.keys()}) for line in lines]


def anything_released(course: Path) -> bool:
    """Whether a notebook of the course was handed out."""
    return any(line["step"] == "released" for line in _all(course))


def _all(course: Path) -> list[dict[str, Any]]:
    try:
        return _lines((course / FILE).read_bytes())
    except FileNotFoundError:
        return []
    except OSError as error:
        raise StaffError("ledger", f"the list of notebooks {course / FILE} cannot be read: {error}") from error


def _line(item: Made) -> dict[str, Any]:
    now = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
    return {"time": now, **vars(item), "statement": list(item.statement)}


def _place(line: Mapping[str, Any]) -> tuple[Any, ...]:
    return tuple(line.get(name, "") for name in ("step", "assignment", "slug", "student"))


def _said(line: Mapping[str, Any]) -> str:
    """All of a line but its time."""
    return as_json({name: line.get(name) for name in Made.__dataclass_fields__})


def _lines(content: bytes) -> list[dict[str, Any]]:
    """Every line that is whole."""
    found = []
    for text in content.split(b"\n"):
        try:
            line = json.loads(text)
        except (ValueError, RecursionError):
            continue  # it broke off
        if isinstance(line, dict) and {"step", "assignment", "slug", "version", "seed"} <= line.keys():
            found.append(line)
    return found
