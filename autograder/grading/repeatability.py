"""Two runs of one submission: where answers differ, a mark would be a matter of chance, and a person looks instead.

Hidden inputs follow from the course secret, random states and the order of sets are the same in every run, and torch
uses one thread: what still differs comes from the clock, from the machine, or from the submission itself.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Mapping
from typing import Any

from autograder.authoring.voids import is_void
from autograder.checks.compare import difference
from autograder.core import Answer, Outcome, Report, Verdict
from autograder.protocol.answering import question_key
from autograder.protocol.codec import encode

RTOL = 1e-9  # a sum in another order is the same answer
CODE = "unstable"


def digest(notebook: dict[str, Any], files: Mapping[str, bytes]) -> str:
    """The same for the same cells and files: what was run, whatever it showed."""
    return digest_of(notebook, beside(files))


def digest_of(notebook: dict[str, Any], beside: Mapping[str, str]) -> str:
    """The same, by the digests of the files."""
    content = [(cell["cell_type"], cell["source"]) for cell in notebook["cells"]]
    return hashlib.sha256(json.dumps([content, sorted(beside.items())]).encode()).hexdigest()


def beside(files: Mapping[str, bytes]) -> dict[str, str]:
    """A digest of each file, by its name."""
    return {name: hashlib.sha256(data).hexdigest() for name, data in files.items()}


def steady(report: Report, earlier: Report) -> Report:
    """The report, with every part flagged whose answers were others in an earlier run of the same submission.

    Where the marks differ too, the part is held, and stays so until two runs agree. Another submission, or another
    version of the problem, says nothing.
    """
    if (report.digest, report.slug, report.version) != (earlier.digest, earlier.slug, earlier.version):
        return report
    before = {outcome.part: outcome for outcome in earlier.outcomes}
    moved = [new for new in report.outcomes if new.part in before and _differ(before[new.part], new)]
    outcomes = tuple(_hold(new, before[new.part]) if new in moved else new for new in report.outcomes)
    flags = tuple(f"{new.part}: two runs of the same submission gave different answers" for new in moved)
    return dataclasses.replace(report, outcomes=outcomes, flags=(*report.flags, *flags))


def unchanged(report: Report, earlier: Report | None) -> set[str]:
    """The parts whose answers are those of an earlier report: what a person decided about them still stands."""
    if earlier is None:
        return set()
    before = {outcome.part: outcome for outcome in earlier.outcomes}
    there = [outcome for outcome in report.outcomes if outcome.part in before]
    if report.digest and report.digest == earlier.digest:
        return {outcome.part for outcome in there}
    return {
        new.part
        for new in there
        if new.answered and new.answered == before[new.part].answered and not _differ(before[new.part], new)
    }


def _differ(old: Outcome, new: Outcome) -> bool:
    replies = {question_key(question): reply for question, reply in old.answers}
    pairs = [(replies.get(question_key(question)), reply) for question, reply in new.answers]
    return any(reply is not None and not _same(reply, now) for reply, now in pairs)


def _same(old: Answer, new: Answer) -> bool:
    if old.failure or new.failure:
        return old.failure == new.failure
    if encode(old.value) == encode(new.value):
        return True
    try:
        return difference(new.value, old.value, rtol=RTOL) is None
    except (TypeError, ValueError):  # values that no check compares
        return False


def _hold(new: Outcome, old: Outcome) -> Outcome:
    """Held if its mark moved, or was held for this before; what a void has settled stays settled."""
    marks = (old.standing, old.points) == (new.standing, new.points)
    if new.standing == "held" or is_void(new) or (marks and not any(verdict.code == CODE for verdict in old.verdicts)):
        return new
    verdict = Verdict(
        check="stability",
        ok=None,
        code=CODE,
        message="Two runs of this submission gave different answers. A grader will check this.",
        staff=f"{old.standing}, {old.points:g} points before; {new.standing}, {new.points:g} points now",
    )
    return dataclasses.replace(new, standing="held", points=0.0, verdicts=(verdict, *new.verdicts))
