"""`autograder verify`: a notebook judged again by what was committed, and compared with its receipt.

The steps are those of grading: the notebook is mended after what was handed out, run in the sandbox, asked the same
hidden questions, and judged. What a person decided stands in the receipt, and is told apart.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import nbformat
from traitlets.config import Config

from autograder.authoring import commitment
from autograder.authoring.assignment import read_assignment
from autograder.authoring.commitment import Commitment
from autograder.authoring.sealing import MINE
from autograder.core import Outcome
from autograder.course.bundle import Bundle
from autograder.errors import StaffError
from autograder.grading.notebook import SUBMISSION, mark
from autograder.grading.plan import grade_task, task_of
from autograder.grading.receipt import Judged, Receipt, Shown, judged_now
from autograder.grading.repair import make_whole
from autograder.grading.repeatability import CODE as UNSTABLE
from autograder.grading.repeatability import digest_of
from autograder.grading.submission import Submission, load_submission
from autograder.nbgrader.files import MAX_FILE_BYTES, STAMP, Beside, instructors_files, opened_regular
from autograder.nbgrader.handouts import Handouts
from autograder.sandbox import Limits
from autograder.sandbox.task import answer

# What nbgrader's exchange puts beside a notebook, and no student has.
_OF_THE_EXCHANGE = {STAMP, "submission_secret.txt"}
_STABILITY = "stability"  # the check that holds what two runs of grading disagreed about


@dataclass(frozen=True, kw_only=True)
class Part:
    """One part: what its receipt says, and whether the judge says the same here; None where it left all to a person.

    `why` tells what is other, or why a person has to decide.
    """

    name: str
    receipt: Judged
    same: bool | None
    why: str = ""


@dataclass(frozen=True, kw_only=True)
class Verified:
    """A receipt and its replay. `notes` are what a person should know."""

    receipt: Receipt
    commitment: Commitment
    parts: list[Part]
    notes: list[str] = field(default_factory=list)

    @property
    def same(self) -> bool:
        """Whether all that a machine decided came out the same."""
        return all(part.same is not False for part in self.parts)


def checked(shown: Shown, bundle: Bundle, published: str = "") -> tuple[Receipt, Commitment]:
    """The receipt with its commitment, before anything of the bundle is run.

    StaffError where the course has not signed it, it rests on nothing in the bundle, or the hash that was `published`
    is none of the bundle's.
    """
    receipt = shown.receipt
    if published and published.lower() not in bundle.commitments:
        raise StaffError(
            "not_published", f"the bundle is not what was committed: none of its commitments has the hash {published}"
        )
    found = bundle.commitments.get(receipt.commitment)
    if found is None or receipt.assignment != bundle.assignment:
        raise StaffError(
            "other_bundle",
            f"the receipt is one of {receipt.assignment}, and rests on commitment {receipt.commitment[:16]}…, which is "
            f"not in this bundle of {bundle.assignment}",
        )
    if not shown.is_signed(found.said["receipts"]):
        raise StaffError("forged", "the receipt was refused: it is not signed by the course, or was changed since")
    return receipt, found


def verify(shown: Shown, bundle: Bundle, notebook: Path, published: str = "") -> Verified:
    """Judge a notebook again, as its receipt says that it was judged.

    StaffError as `checked` says, and where the notebook is not the one that was graded.
    """
    receipt, found = checked(shown, bundle, published)
    with _only_its_own_problems():
        submission, notes = _submission(receipt, found, bundle.key, notebook)
        limits = Limits(**found.said["limits"])
        graded = mark(submission, [lambda item: grade_task(item, task_of(item, limits), answer)])
    now = {outcome.part: outcome for outcome in graded.report.outcomes}
    paper = receipt.transcribed
    parts = [_compared(name, told, now.get(name), by_person=paper) for name, told in receipt.parts.items()]
    return Verified(receipt=receipt, commitment=found, parts=parts, notes=[*_notes(receipt, found, bundle), *notes])


@contextlib.contextmanager
def _only_its_own_problems() -> Iterator[None]:
    """AUTOGRADER_PROBLEMS would take the place of what was committed."""
    given = os.environ.pop("AUTOGRADER_PROBLEMS", None)
    try:
        yield
    finally:
        if given is not None:
            os.environ["AUTOGRADER_PROBLEMS"] = given


def _submission(receipt: Receipt, found: Commitment, key: bytes, path: Path) -> tuple[Submission, list[str]]:
    """The notebook as it was graded, and which of the files beside it are not there."""
    course, said = found.folder, found.said
    written = read_assignment(course, receipt.assignment)
    source = course / "source" / receipt.assignment
    over = instructors_files(source, (), said["kept"])
    files = _files(receipt, over, path.parent)
    notes = [
        f"{name}: not beside the notebook; judged without it"
        for name in sorted(receipt.beside.keys() - files.keys() - _OF_THE_EXCHANGE)
    ]
    sources = {receipt.notebook: nbformat.read(source / f"{receipt.notebook}.ipynb", as_version=4)}
    handouts = Handouts(course, receipt.assignment, sources, Config(said["steps"]))
    whole = make_whole(path.read_bytes(), *handouts.forms(receipt.notebook, receipt.seed), files)
    whole.notebook["metadata"][MINE]["version"] = receipt.version
    submission = load_submission(
        json.loads(json.dumps(whole.with_remarks())),
        course=course,
        secret=key,
        files=files,
        asked_by=receipt.asked,
        voids=written.voids.get(receipt.notebook),
    )
    if submission.fault:
        raise StaffError("problem", f"the committed problem cannot be loaded here: {submission.fault}")
    if digest_of(submission.notebook, receipt.beside) != receipt.digest:
        raise StaffError(
            "other_notebook",
            f"{path} is not the notebook of this receipt: its answers, or cells of the student's own, are others than "
            "what was graded",
        )
    return submission, notes


def _files(receipt: Receipt, over: Beside, folder: Path) -> dict[str, bytes]:
    """The files that lay beside the notebook: of the instructor's and of those in this folder, the very same ones."""
    here = {name: over.files.get(name, _read(folder, name)) for name in receipt.beside}
    return {
        name: content
        for name, content in here.items()
        if content is not None and hashlib.sha256(content).hexdigest() == receipt.beside[name]
    }


def _read(folder: Path, name: str) -> bytes | None:
    """A regular file in a folder; nothing for what is none, or lies elsewhere."""
    if ".." in Path(name).parts or Path(name).is_absolute():
        return None
    try:
        with opened_regular(folder / name) as file:
            content: bytes = file.read(MAX_FILE_BYTES)
            return content
    except (OSError, ValueError):
        return None


def _compared(name: str, told: Judged, now: Outcome | None, *, by_person: bool) -> Part:
    """A part here and in its receipt. What holds a part for a person is none of the judge's; `by_person`, all are."""
    if now is None:
        return Part(name=name, receipt=told, same=False, why="this part is not in the committed problem")
    before, after = _of_judge(told.verdicts), _of_judge(judged_now(now))
    apart = by_person or len(before) < len(told.verdicts)
    if apart and not before:
        return Part(name=name, receipt=told, same=None, why="held before the judge decided anything")
    marks = (told.standing, told.judged, told.of), (now.standing, now.points, now.max_points)
    if before != after or not (apart or marks[0] == marks[1]):
        codes = ", ".join(code for _, code, ok in after if ok is not True) or "correct"
        why = f"here {now.standing}, {now.points:g} of {now.max_points:g} ({codes})"
        return Part(name=name, receipt=told, same=False, why=why)
    if all(ok is None for _, _, ok in before):
        return Part(name=name, receipt=told, same=None, why="the judge leaves it to a person, here too")
    return Part(name=name, receipt=told, same=True, why="held whatever the judge says" if apart else "")


def _of_judge(verdicts: tuple[tuple[str, str, bool | None], ...]) -> tuple[tuple[str, str, bool | None], ...]:
    return tuple(item for item in verdicts if item[0] not in (SUBMISSION, _STABILITY) and item[1] != UNSTABLE)


def _notes(receipt: Receipt, found: Commitment, bundle: Bundle) -> Iterator[str]:
    said: Mapping[str, Any] = found.said
    if found.number < bundle.newest.number:
        yield (
            f"this mark rests on commitment {found.number} of {bundle.newest.number}: the tests, or other parts of the "
            "assignment, were changed later"
        )
    if said["package"]["digest"] != commitment.package_digest():
        yield (
            f"the package here is not the one that was committed (version {said['package']['version']}, "
            f"{said['package']['digest'][:12]}…): a difference may come from that"
        )
    if receipt.who:
        known = commitment.hash_of_seed(bytes.fromhex(receipt.salt), receipt.notebook, receipt.who, receipt.seed)
        if known not in said["seeds"]:
            yield f"the seed {receipt.seed} of {receipt.who} is none of those that were committed"
    if receipt.transcribed:
        yield "a person typed these answers from paper: compare the notebook with the sheet"
    if receipt.late:
        yield f"{receipt.late:g} points were taken off for lateness, which is not replayed"
