"""`autograder reveal`: the key of an assignment, and all that was committed, as one file that a course may publish."""

from __future__ import annotations

import datetime
import hashlib
import json
import zipfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from autograder.authoring import commitment, privacy
from autograder.authoring.assignment import read_assignment
from autograder.authoring.commitment import Commitment
from autograder.authoring.derived_keys import assignment_key
from autograder.authoring.variants import course_secret
from autograder.errors import AutograderError, StaffError
from autograder.grading.report import FOLDER as REPORTS
from autograder.nbgrader.course_api import opened
from autograder.nbgrader.own_pages import last_moment
from autograder.nbgrader.receipts import Receipts

BUNDLE = "bundle.json"
_WHEN = (2020, 1, 1, 0, 0, 0)  # same content, same bytes


@dataclass(frozen=True, kw_only=True)
class Revealed:
    """The file, the commitments in it, on how many notebooks' receipts they bear, and what a person should know."""

    path: Path
    commitments: list[Commitment]
    receipts: int
    notes: list[str] = field(default_factory=list)


def reveal(course: Path, name: str, out: Path, *, force: bool = False) -> Revealed:
    """Write the bundle of an assignment.

    StaffError where nothing was committed, and, unless by `force`, where work can still be handed in for this
    assignment, or for another one with the same problems.
    """
    course = course.resolve()
    made = commitment.read(course, name)
    if not made:
        raise StaffError("no_commitment", f"nothing was committed for {name}; run autograder commit {name}")
    if not force and (why := [*_too_early(course, name), *_asked_elsewhere(course, name)]):
        raise StaffError("too_early", f"{'; '.join(why)}. Wait, or reveal it all the same with --force")
    key = assignment_key(course_secret(course), name)
    if commitment.hash_of_key(key) != made[-1].said["key"]:
        raise StaffError(
            "other_secret", f"{name} was committed under another course secret; restore it: the key is not the same"
        )
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        said = {"format": commitment.FORMAT, "assignment": name, "key": key.hex(), "newest": made[-1].number}
        _put(archive, BUNDLE, json.dumps(said, indent=1).encode())
        for item in made:
            _put(archive, f"{item.number}/{commitment.FILE}", item.text)
            for path, digest in item.said["files"].items():
                _put(archive, f"{item.number}/{path}", _as_committed(item.folder / path, digest))
    privacy.close(out)
    receipts, notes = _receipts(course, name)
    return Revealed(path=out, commitments=made, receipts=receipts, notes=notes)


def _as_committed(path: Path, digest: str) -> bytes:
    content = path.read_bytes() if path.is_file() else b""
    if hashlib.sha256(content).hexdigest() != digest:
        raise StaffError("changed", f"{path} is not what was committed: restore it from your backup")
    return content


def _put(archive: zipfile.ZipFile, name: str, content: bytes) -> None:
    archive.writestr(zipfile.ZipInfo(name, _WHEN), content, zipfile.ZIP_DEFLATED)


def _too_early(course: Path, name: str) -> Iterator[str]:
    with opened(course) as api, api.gradebook as gradebook:
        end = last_moment(gradebook.db, name) or read_assignment(course, name).due
    if end and end.replace(tzinfo=end.tzinfo or datetime.UTC) > datetime.datetime.now(datetime.UTC):
        yield f"{name} can be handed in until {end:%Y-%m-%d %H:%M}, and the bundle holds its hidden tests"


def _asked_elsewhere(course: Path, name: str) -> Iterator[str]:
    """Other assignments that ask the same problems, as long as they may still be answered."""
    slugs = set(read_assignment(course, name).problems)
    for path in sorted(course.glob("*.toml")):
        try:
            other = read_assignment(course, path.stem)
        except AutograderError:
            continue  # what is wrong with it is said where it is used
        over = other.due and other.due < datetime.datetime.now(datetime.UTC)
        if other.name != name and not over and (shared := slugs.intersection(other.problems)):
            yield f"{', '.join(sorted(shared))} stands in {other.name} too, which may still be answered"


def _receipts(course: Path, name: str) -> tuple[int, list[str]]:
    """How many graded notebooks have a receipt, and why the others have none."""
    receipts, reasons = Receipts(course=course, assignment=name), Counter[str]()
    for path in sorted((course / REPORTS / name).glob("*/*.json")):
        try:
            report = json.loads(path.read_text(encoding="utf-8"))
            if report["slug"]:
                reasons[receipts.missing(report)] += 1
        except (OSError, ValueError, KeyError, TypeError):
            reasons["its report cannot be read"] += 1
    good = reasons.pop("", 0)
    return good, [f"{count} graded notebooks have no receipt: {why}" for why, count in reasons.items()]
