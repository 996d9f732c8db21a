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

from autograder.authoring import variants
from autograder.authoring.assignment import read_assignment
from autograder.authoring.loading import find_problems, load
from autograder.authoring.variants import SECRET_FILE, SECRET_VARIABLE, course_secret, student_seed
from autograder.core import Outcome
from autograder.grading.judge import judge_part
from autograder.grading.submission import paper_of
from autograder.protocol.answering import answer, quiet_stderr

# The outcomes so far, by problem and seed: one process runs one notebook.
_BEFORE: dict[tuple[str, int], dict[str, Outcome]] = {}


def score(slug: str, part: str, *, version: int, seed: int, points: float, names: Mapping[str, Any]) -> float:
    """The points of one part as a plain float. Prints what was lost and why; writes nothing to standard error."""
    with quiet_stderr():
        folder = find_problems()
        problem = load(slug, folder)
        paper = paper_of(problem, folder=folder, seed=seed, secret=_secret(), version=version)
        worth = dataclasses.replace(problem.part(part), points=points)
        before = _BEFORE.setdefault((slug, seed), {})
        ask = functools.partial(answer, namespace=names)
        outcome = before[part] = judge_part(worth, paper.parameters, ask, paper.key(part), list(before.values()))
    for verdict in outcome.verdicts:
        if not verdict.ok:
            print(f"{verdict.check}: {verdict.message}")
    return float(outcome.points)


def own_seed(assignment: str, slug: str) -> int:
    """The seed of the student in whose folder the notebook lies (`…/<student>/<assignment>/`), for own variants."""
    here = Path.cwd().resolve()
    course = next((folder for folder in here.parents if (folder / f"{assignment}.toml").is_file()), None)
    if course is None:
        return student_seed(_secret(), assignment, slug, here.parent.name)
    written, problem = read_assignment(course, assignment), load(slug, find_problems())
    return variants.own_seed(written, problem, _secret(), here.parent.name)


def _secret() -> bytes:
    """The secret of the course that the notebook lies in; a fixed word where there is none."""
    here = Path.cwd().resolve()
    for folder in (here, *here.parents):
        if (folder / SECRET_FILE).is_file() or SECRET_VARIABLE in os.environ:
            return course_secret(folder)
    return b"no course"
