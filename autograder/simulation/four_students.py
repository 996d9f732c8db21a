"""Four students who hand in a copy of a course: what is right, right in other words, wrong, and nothing at all.

What each deserves is known beforehand, so that an assignment can be rehearsed before anybody sits it.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from autograder.authoring import building, loading
from autograder.authoring.assignment import Assignment, read_assignment
from autograder.authoring.variants import SECRET_VARIABLE, class_seed, variant
from autograder.core import Parameters, Part, Problem
from autograder.errors import AutograderError
from autograder.grading import report
from autograder.nbgrader.course_api import done, opened
from autograder.simulation import demo
from autograder.simulation.classroom import Files, Work, hand_in

_OWN = re.compile(r"""^variants[ \t]*=[ \t]*["']student["'][^\n]*$""", re.MULTILINE)
_SECONDS = 30.0  # of a cell, and of a question


def _right(work: Work) -> Files:
    return work.solve().files()


def _otherwise(work: Work) -> Files:
    """Each part by its first equivalent that can be handed in."""
    work.solve()
    for part in work.problem.parts:
        others = [item for item in part.right_answers() if callable(item) or isinstance(item, str)]
        for item in (item for item in others if part.applies(item, work.p)):
            work.answer(part, item)
            break
    return work.files()


def _wrong(work: Work) -> Files:
    """Each part by its first mistake that can be made."""
    work.solve()
    for part in work.problem.parts:
        for mistake in _made_in(part, work.p):
            work.answer(part, mistake)
    return work.files()


def _made_in(part: Part, p: Parameters) -> list[Callable[..., Any]]:
    """The first mistake that can be made; none in a part that follows another: it may follow from a wrong answer."""
    return [item for item in part.mistakes if part.applies(item, p)][:1] if not part.follows else []


CLASS = ("right", "otherwise", "wrong", "empty")
_MAKES: dict[str, Callable[[Work], Files]] = {
    "right": _right,
    "otherwise": _otherwise,
    "wrong": _wrong,
    "empty": lambda work: work.files(),
}


def differing(place: Path, course: Path, assignment: Assignment, root: Path) -> list[str]:
    """What a class in a copy of the course did not get that it deserves, as sentences."""
    copy = place / "notebooks"
    copy.mkdir()
    (copy / "nbgrader_config.py").write_text(demo.CONFIG.format(seconds=_SECONDS))
    text = (course / f"{assignment.name}.toml").read_text(encoding="utf-8")
    (copy / f"{assignment.name}.toml").write_text(_OWN.sub("", text), encoding="utf-8")
    before = os.environ.get("AUTOGRADER_PROBLEMS")
    os.environ["AUTOGRADER_PROBLEMS"] = str(root)
    try:
        problems = _handed_in(copy, read_assignment(copy, assignment.name))
        words = ["grade", assignment.name, "--course", str(copy), "--no-feedback"]
        environment = {name: value for name, value in os.environ.items() if name != SECRET_VARIABLE}
        run = subprocess.run(
            [sys.executable, "-m", "autograder", *words], env=environment, capture_output=True, text=True, check=False
        )
    finally:
        os.environ.pop("AUTOGRADER_PROBLEMS") if before is None else os.environ.update(AUTOGRADER_PROBLEMS=before)
    if run.returncode:
        return [f"the class could not be graded: {run.stderr.strip()[-300:]}"]
    return [said for name in CLASS for item in problems for said in _said(copy, assignment.name, name, *item)]


def _handed_in(copy: Path, assignment: Assignment) -> list[tuple[Problem, Parameters]]:
    """Build, release and hand in; the problems with their parameters."""
    found = []
    with opened(copy) as api:
        building.write(copy, assignment)
        done("generate_assignment", api.generate_assignment(assignment.name))
    files: dict[str, dict[str, Any]] = {name: {} for name in CLASS}
    for slug in assignment.problems:
        problem = loading.load(slug).worth(assignment.points.get(slug))
        p = variant(problem, class_seed(assignment, problem)).parameters
        released = json.loads((copy / "release" / assignment.name / f"{slug}.ipynb").read_text(encoding="utf-8"))
        for name in CLASS:
            files[name] |= _MAKES[name](Work(released, problem, p))
        found.append((problem, p))
    for name in CLASS:
        hand_in(files[name], copy / "submitted" / name / assignment.name)
    return found


def _said(copy: Path, assignment: str, student: str, problem: Problem, p: Parameters) -> Iterator[str]:
    """What is not as it should be in one notebook."""
    with contextlib.suppress(AutograderError):
        found = report.load(report.path_of(copy, assignment, student, problem.slug))
        for part, outcome in zip(problem.parts, found.outcomes, strict=True):
            wrong = student == "empty" or (student == "wrong" and bool(_made_in(part, p)))
            wanted = "lost" if wrong else part.at_best
            if outcome.standing != wanted or (wrong and outcome.points >= part.points):
                earned = f"{outcome.standing} with {outcome.points:g} of {part.points:g} points"
                yield f"{problem.slug}.{part.name}: the {student} answer is {earned}, and should be {wanted}"
        return
    yield f"{problem.slug}: there is no report of the {student} answers"
