"""What a hidden test cell calls where nbgrader runs without our configuration: the same judge, in process.

The score is right for an honest notebook. It is not tamper-proof: the student's code runs in the same process.
"""

from __future__ import annotations

import dataclasses
import functools
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from autograder.authoring import ledger, variants
from autograder.authoring.assignment import Assignment, find_course, read_assignment, read_if_there
from autograder.authoring.loading import find_problems, load
from autograder.authoring.sealing import Identity
from autograder.authoring.variants import SECRET_FILE, SECRET_VARIABLE, course_secret, student_seed
from autograder.authoring.voids import CHECK
from autograder.core import Outcome
from autograder.errors import StaffError
from autograder.grading.hidden_key import hidden_key
from autograder.grading.identity import Handout, Known
from autograder.grading.judge import judge_part
from autograder.grading.submission import paper_of
from autograder.protocol.answering import answer, quiet_stderr

# The outcomes so far, by problem and seed: one process runs one notebook.
_BEFORE: dict[tuple[str, int], dict[str, Outcome]] = {}


def score(slug: str, part: str, *, version: int, seed: int, points: float, names: Mapping[str, Any]) -> float:
    """The points of one part as a plain float. Prints what was lost and why; writes nothing to standard error.

    What was handed in is judged as what it was handed out as, and by what the assignment's file says of the part. What
    only a person can decide has no points yet, and says so.
    """
    with quiet_stderr():
        folder, assignment = find_problems(), _assignment()
        known = _known(slug, seed, version, assignment, folder)
        if reason := known.reason or known.held.get(part):
            print(f"{reason} A grader will check this.")
            return 0.0
        problem = load(slug, folder)
        void = assignment.voids.get(slug, {}).get(part) if assignment else None
        void = void if void and void.applies(known.seed) else None
        paper = paper_of(problem, folder=folder, seed=known.seed, secret=_hidden_key(assignment), version=version)
        asked = void.accepting(problem.part(part)) if void else problem.part(part)
        before = _BEFORE.setdefault((slug, known.seed), {})
        ask = functools.partial(answer, namespace=names)
        outcome = judge_part(asked.at(points), paper.parameters, ask, paper.key(part), list(before.values()))
        before[part] = outcome
        outcome = void.settled(outcome) if void else outcome
    for text in (*outcome.notes, *known.remarks):
        print(text)
    for verdict in outcome.verdicts:
        if verdict.message and (not verdict.ok or verdict.check == CHECK):
            print(f"{verdict.check}: {verdict.message}")
    return float(outcome.points)


def _assignment() -> Assignment | None:
    """The assignment that the notebook belongs to, where it lies in a course (`…/<student>/<assignment>/`)."""
    try:
        return read_if_there(find_course(), Path.cwd().resolve().name)
    except StaffError:
        return None


def _known(slug: str, seed: int, version: int, assignment: Assignment | None, problems: Path) -> Known:
    """What the notebook was handed out as; as the cell says, where nothing was handed in."""
    as_told = Known(name=slug, seed=seed, version=version)
    student = Path.cwd().resolve().parent.name
    if assignment is None:
        return as_told
    handed_in = find_course() / "submitted" / student / assignment.name / f"{slug}.ipynb"
    if not handed_in.is_file():
        return as_told
    whose = student if assignment.per_student else ""
    own = {
        other: Identity(
            assignment=assignment.name, slug=other, version=version, parameters="", student=whose,
            seed=seed if other == slug else _seed_of(assignment, other, whose, problems),
        )
        for other in dict.fromkeys((slug, *assignment.problems))
    }  # fmt: skip
    made = ledger.read(find_course(), assignment.name)
    handout = Handout(
        assignment=assignment.name, student=student, secret=_secret(), problems=problems, own=own, made=made
    )
    known = handout.known(handed_in.read_bytes(), slug) or as_told
    if known.name != slug:
        return dataclasses.replace(known, reason=f"This file is the notebook {known.name!r}, handed in as {slug!r}.")
    return known


def _seed_of(assignment: Assignment, slug: str, whose: str, problems: Path) -> int:
    """The seed of another notebook of the assignment: the student's own, or the class's."""
    return own_seed(assignment.name, slug) if whose else variants.class_seed(assignment, load(slug, problems))


def own_seed(assignment: str, slug: str) -> int:
    """The seed of the student in whose folder the notebook lies (`…/<student>/<assignment>/`), for own variants."""
    here = Path.cwd().resolve()
    course = next((folder for folder in here.parents if (folder / f"{assignment}.toml").is_file()), None)
    if course is None:
        return student_seed(_secret(), assignment, slug, here.parent.name)
    written, problem = read_assignment(course, assignment), load(slug, find_problems())
    return variants.own_seed(written, problem, _secret(), here.parent.name)


def _hidden_key(assignment: Assignment | None) -> bytes:
    """What hidden inputs follow from: in a course, what those of its submissions do."""
    return hidden_key(find_course(), assignment.name, _secret()) if assignment else _secret()


def _secret() -> bytes:
    """The secret of the course that the notebook lies in; a fixed word where there is none."""
    here = Path.cwd().resolve()
    for folder in (here, *here.parents):
        if (folder / SECRET_FILE).is_file() or SECRET_VARIABLE in os.environ:
            return course_secret(folder)
    return b"no course"
