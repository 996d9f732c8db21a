"""Students' requests for another look, out of a table or a folder of mails: who asks, about which part, and why.

A table has columns for the student, the part and the text. A mail (`.eml`, or its text in a `.txt` file) names them in
lines of its own, as the link on the student's page fills them in:

    Student: ada
    Part: ps1.softmax_entropy.softmax
"""

from __future__ import annotations

import email
import email.policy
import hashlib
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from autograder.authoring.roster import ID_COLUMNS, plain_heading
from autograder.errors import StaffError, did_you_mean
from autograder.reporting.class_marks import ClassMarks
from autograder.reporting.review_journal import LookRequest
from autograder.reporting.sheet import read_sheet

_TEXT = ("text", "request", "reason", "message", "comment", "question")
_STUDENT = (*ID_COLUMNS, "student", "id", "student id")
_LINE = re.compile(r"^\s*(?P<word>student|part|code|result|notebook)\s*[:=]\s*(?P<value>\S.*?)\s*$", re.IGNORECASE)
_OPENING = "Please look again, because:"
_MOST = 4_000  # characters of a request


def read_requests(place: Path, marks: ClassMarks) -> list[LookRequest]:
    """The requests in a file or folder; StaffError lists what names no student or no part, and then none is taken."""
    faults: list[str] = []
    found: dict[str, LookRequest] = {}
    for where, told in _told(place):
        request = _request(told, marks)
        if isinstance(request, str):
            faults.append(f"{where}: {request}")
        else:
            found.setdefault(request.id, request)
    if faults:
        raise StaffError("requests", "the requests were not taken:\n" + "\n".join(faults[:12]))
    return list(found.values())


def _told(place: Path) -> Iterator[tuple[str, Mapping[str, str]]]:
    """Where each request stands, and what it says."""
    if not place.is_dir():
        yield from _rows(place) if place.suffix.lower() not in (".eml", ".txt") else [(place.name, _mail(place))]
        return
    for path in sorted(place.iterdir()):
        match path.suffix.lower():
            case ".eml" | ".txt":
                yield path.name, _mail(path)
            case ".csv":
                yield from _rows(path)


def _rows(path: Path) -> Iterator[tuple[str, Mapping[str, str]]]:
    sheet = read_sheet(path)
    head = [plain_heading(name) for name in sheet.head]
    columns = {
        "student": next((head.index(name) for name in map(plain_heading, _STUDENT) if name in head), None),
        "notebook": head.index("notebook") if "notebook" in head else None,
        "part": head.index("part") if "part" in head else None,
        "text": next((head.index(name) for name in _TEXT if name in head), None),
    }
    missing = [name for name in ("student", "part", "text") if columns[name] is None]
    if missing:
        raise StaffError(
            "requests",
            f"{path} has no column for the {' and the '.join(missing)}; it has {', '.join(sheet.head)}. Call them "
            "student_id, part and text",
        )
    for row in range(1, len(sheet.rows)):
        told = {name: sheet.value(row, at).strip() for name, at in columns.items() if at is not None}
        if any(told.values()):
            yield f"{path.name}, line {row + 1}", told


def _mail(path: Path) -> Mapping[str, str]:
    """The named lines of a mail's text, and what else it says; quoted lines are somebody else's."""
    content = path.read_bytes()
    if path.suffix.lower() == ".eml":
        message = email.message_from_bytes(content, policy=email.policy.default)
        body = message.get_body(preferencelist=("plain", "html"))
        text = body.get_content() if body else ""
    else:
        text = content.decode("utf-8", "replace")
    told: dict[str, str] = {}
    rest = []
    for line in text.splitlines():
        found = _LINE.match(line)
        if found and found["word"].lower() not in told:
            told[found["word"].lower()] = found["value"]
        elif not line.lstrip().startswith(">"):
            rest.append(line)
    return told | {"text": "\n".join(rest).replace(_OPENING, "").strip()}


def _request(told: Mapping[str, str], marks: ClassMarks) -> LookRequest | str:
    """The request, or what is wrong with it."""
    student, part = told.get("student", ""), told.get("part", "")
    if marks.pupil(student) is None:
        return f"the gradebook has no student {student!r}{did_you_mean(student, [pupil.id for pupil in marks.pupils])}"
    name = part.removeprefix(f"{marks.assignment}.")
    item = marks.item(f"{told['notebook']}.{name}" if told.get("notebook") else name)
    if item is None:
        known = [each.name for each in marks.items]
        return f"{marks.assignment} has no part {part!r}{did_you_mean(name, known)}"
    text = told.get("text", "")[:_MOST]
    ident = hashlib.sha256(f"{student}\0{item.name}\0{text}".encode()).hexdigest()[:12]
    return LookRequest(id=ident, time=0.0, student=student, item=item.name, text=text)
