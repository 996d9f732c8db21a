"""Reports on disk: one JSON file a notebook, for people and scripts, with the answers packed inside for a regrade.

Of a question its kind, name and key are kept: what it asked follows from the problem, and is drawn again. Answers that
are large lie beside the reports, each once for all who gave it (`answer_store`).
"""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from autograder.authoring import privacy
from autograder.core import Answer, Outcome, Question, Report, Verdict
from autograder.errors import StaffError, Unreadable
from autograder.grading import answer_store
from autograder.protocol.answering import question_key, with_key
from autograder.protocol.codec import decode, encode

FOLDER = "reports"
FORGOTTEN = "forgotten"  # the key of the day on which a report's answers were taken out
_NO_REPORT = (OSError, ValueError, KeyError, TypeError, AttributeError, zlib.error, Unreadable)
_TYPED = 8_000  # characters of packed answers, beyond which they are arrays
_LARGE = 4_000  # bytes of a part's answers, beyond which they are not in the report itself


@dataclass(frozen=True, kw_only=True)
class Finding:
    """What the judge found about one part: the codes that cost points or held it, the hint, and what was typed then."""

    codes: tuple[str, ...]
    hint: str
    typed: str


@dataclass(frozen=True, kw_only=True)
class Found:
    """What tables and statistics need of a report: no arrays."""

    parameters: Mapping[str, Any]
    parts: Mapping[str, Finding]
    flags: tuple[str, ...]


def path_of(course: Path, assignment: str, student: str, notebook: str) -> Path:
    """Where the report of one submitted notebook lies."""
    return course / FOLDER / assignment / student / f"{notebook}.json"


def save(report: Report, path: Path, *, shared: bool = False) -> None:
    """Write the whole file or leave the old one; nobody else can read it, or the group where the course is `shared`."""
    for folder in reversed(_folders(path)):
        privacy.make_folder(folder, shared=shared)
    content = _to_json(report, path.parent.parent, shared)
    privacy.replace(path, json.dumps(content, indent=1, ensure_ascii=False).encode(), shared=shared)


def _folders(path: Path) -> list[Path]:
    """The folders around a report, `reports/` the last of them."""
    names = [folder.name for folder in path.parents]
    return list(path.parents)[: names.index(FOLDER) + 1 if FOLDER in names else 1]


def load(path: Path) -> Report:
    """The report in a file; StaffError if it is not one of ours, or has no answers any more."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        if day := content.get(FORGOTTEN):
            raise StaffError(FORGOTTEN, f"the answers of {path} were forgotten on {day}; its marks stay as they are")
        return _from_json(content, path.parent.parent)
    except _NO_REPORT as error:
        raise StaffError("report", f"{path} is not a readable report: {error}") from error


def findings(path: Path) -> Found:
    """What was found about a notebook, without its arrays; StaffError if the file is no report."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        return Found(
            parameters=_unpack(content["parameters"]),
            parts={item["part"]: _finding(item) for item in content["outcomes"]},
            flags=tuple(content["flags"]),
        )
    except _NO_REPORT as error:
        raise StaffError("report", f"{path} is not a readable report: {error}") from error


def _finding(item: Mapping[str, Any]) -> Finding:
    open_ones = [verdict for verdict in item["verdicts"] if verdict["ok"] is not True]
    return Finding(
        codes=tuple(dict.fromkeys(verdict["code"] for verdict in open_ones)),
        hint=next((verdict["message"] for verdict in open_ones if verdict["message"]), ""),
        typed=_typed(item["part"], item["answers"]) if open_ones and _is_short(item["answers"]) else "",
    )


def _is_short(answers: str | answer_store.Place | None) -> bool:
    return isinstance(answers, str) and len(answers) <= _TYPED


def _typed(part: str, packed: str) -> str:
    return in_one_text(bound_to(part, map(_pair, _unpack(packed, arrays=False))))


def bound_to(part: str, answers: Iterable[tuple[Question, Answer]]) -> Any:
    """What somebody has written for a part: text, a number, or rows of them; None where there is nothing."""
    written = (reply.value for asked, reply in answers if asked.name == part and asked.written and not reply.failure)
    return next(written, None)


def in_one_text(value: Any) -> str:
    """An answer as a text by which it is compared with others, a matrix as its rows; empty for what is none."""
    if isinstance(value, str):
        return value
    rows = value if isinstance(value, list) else [value]
    words = [entry for row in rows for entry in (row if isinstance(row, list) else [row])]
    if not words or not all(isinstance(entry, str | int | float) for entry in words):
        return ""
    return repr(rows) if all(isinstance(row, list) for row in rows) else ", ".join(map(str, words))


def _large(outcome: Outcome) -> bytes:
    """The answers of a part as they lie beside the reports: what was asked, with lengths, then an answer each."""
    packed = outcome.packed
    if len(packed) != len(outcome.answers) or not all(packed):
        packed = tuple(encode(vars(answer)) for _, answer in outcome.answers)
    if sum(map(len, packed)) <= _LARGE:
        return b""
    asked = [
        [*_question(question), len(content)] for (question, _), content in zip(outcome.answers, packed, strict=True)
    ]
    head = encode(asked)
    return b"".join((len(head).to_bytes(4, "big"), head, *packed))


def _small(outcome: Outcome) -> str:
    return in_one_line([[_question(question), vars(answer)] for question, answer in outcome.answers])


def _to_json(report: Report, folder: Path, shared: bool) -> dict[str, Any]:
    large = [_large(outcome) for outcome in report.outcomes]
    places = iter(answer_store.put([content for content in large if content], folder, shared=shared))
    outcomes = [
        {
            **{name: value for name, value in vars(outcome).items() if name not in ("verdicts", "answers", "packed")},
            "verdicts": [vars(verdict) for verdict in outcome.verdicts],
            "answers": next(places) if content else _small(outcome),
        }
        for outcome, content in zip(report.outcomes, large, strict=True)
    ]
    return {
        "slug": report.slug,
        "version": report.version,
        "parameters": in_one_line(report.parameters),
        "points": report.points,
        "flags": list(report.flags),
        "digest": report.digest,
        "beside": dict(report.beside),
        "key": report.key,
        "tests": report.tests,
        "outcomes": outcomes,
    }


def _from_json(content: dict[str, Any], folder: Path) -> Report:
    outcomes = tuple(
        Outcome(
            **{
                **item,
                "verdicts": tuple(Verdict(**verdict) for verdict in item["verdicts"]),
                "notes": tuple(item["notes"]),
                "answers": tuple(_pair(pair) for pair in _answers(item["answers"], folder)),
            }
        )
        for item in content["outcomes"]
    )
    return Report(
        slug=content["slug"],
        version=content["version"],
        parameters=_unpack(content["parameters"]),
        outcomes=outcomes,
        flags=tuple(content["flags"]),
        **{name: content[name] for name in ("digest", "beside", "key", "tests") if name in content},
    )


def _answers(kept: str | answer_store.Place, folder: Path) -> Any:
    """What a report holds itself, as all did once, or what lies beside it."""
    if isinstance(kept, str):
        return _unpack(kept)
    content = answer_store.get(kept, folder)
    start = 4 + int.from_bytes(content[:4], "big")
    pairs = []
    for *question, length in decode(content[4:start]):
        pairs.append((question, decode(content[start : start + length])))
        start += length
    return pairs


def in_one_line(value: Any) -> str:
    """Data as a report holds it in one line."""
    return base64.b64encode(zlib.compress(encode(value), 1)).decode()


def _question(question: Question) -> list[str]:
    return [question.kind, question.name, question_key(question)]


def _unpack(text: str, *, arrays: bool = True) -> Any:
    return decode(zlib.decompress(base64.b64decode(text, validate=True)), arrays=arrays)


def _pair(pair: list[Any]) -> tuple[Question, Answer]:
    (kind, name, key), answer = pair
    return with_key(Question(kind=kind, name=name), key), Answer(**answer)
