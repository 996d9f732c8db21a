"""Answers that nobody listed, a table of them: each row is an answer cell and the verdict that it deserves.

A row is judged as a student's notebook is: the variant's own notebook, with the row's cell in place of the official
answer, in a process of its own behind the wall, asked what grading would ask. The other answers are the official ones.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import json
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from autograder.audit.answer_rows import Fault, Row
from autograder.authoring import loading
from autograder.authoring.source_notebook import answer_id, build
from autograder.authoring.variants import variant as drawn
from autograder.core import Outcome, Parameters, Problem
from autograder.errors import AutograderError, StaffError, did_you_mean
from autograder.grading.plan import Attempt, task_of
from autograder.grading.submission import Paper, Submission
from autograder.sandbox import Limits
from autograder.sandbox.task import answer

_DRAWS = 300  # draws that show which parameters a problem has, and of what kind
# References and mistakes run in this process, and torch's settings are the whole process's: one of them at a time.
_CODE = threading.Lock()


@dataclass(frozen=True, kw_only=True)
class Judged:
    """A row with what came of it: the outcome of each part that could be judged, and why the others could not."""

    row: Row
    outcomes: Mapping[str, Outcome] = field(default_factory=dict)
    stale: Mapping[str, str] = field(default_factory=dict)
    seconds: float = 0.0

    def result(self, part: str) -> str:
        """`right`, or how the verdict differs from the expected one: see `compared`."""
        return "stale" if part in self.stale else compared(self.row.expected.get(part, ()), self.outcomes[part])

    @property
    def parts(self) -> list[str]:
        """The parts that were handed in, in order."""
        return list(self.row.cells)


def compared(expected: tuple[str, ...], outcome: Outcome) -> str:
    """How a verdict stands to those that are in order, of which the first is the one that is wanted.

    `false_accept`: all points for an answer that must lose some, any for one that must have none, or a mark for one
    that a person must see. `false_reject`: points lost by a right answer, or by one that a person must see. `held`: a
    right answer waits for a person. `held_wrong`: a wrong one does.
    """
    if not expected or any(_meets(word, outcome) for word in expected):
        return "right"
    wanted = expected[0]
    if outcome.standing == "held":
        return "held" if wanted == "full" else "held_wrong"
    if wanted in ("less", "none") or outcome.standing == "earned":
        return "false_accept"
    return "false_reject"


def _meets(word: str, outcome: Outcome) -> bool:
    match word:
        case "full":
            return outcome.standing == "earned"
        case "less":
            return outcome.standing == "lost"
        case "none":
            return outcome.standing == "lost" and outcome.points == 0
    return outcome.standing == "held"


def judge(row: Row) -> Judged:
    """What grading says to a row. Its parts are stale where problem, part or parameters are not there any more."""
    start = time.monotonic()
    if row.fault:
        return Judged(row=row, stale=dict.fromkeys(row.cells, row.fault))
    try:
        variant = _variant(row.slug, json.dumps(row.parameters), row.seed)
    except Fault as error:
        return Judged(row=row, stale=dict.fromkeys(row.cells, f"line {row.line}: {error}"))
    names = [part.name for part in variant.problem.parts]
    stale = {
        part: f"line {row.line}: {row.slug} has no part {part!r}{did_you_mean(part, names)}"
        for part in row.cells
        if part not in names
    }
    outcomes = _graded(variant, row) if len(stale) < len(row.cells) else {}
    return Judged(row=row, outcomes=outcomes, stale=stale, seconds=time.monotonic() - start)


def _graded(variant: _Variant, row: Row) -> dict[str, Outcome]:
    """The outcomes of a row's parts, by the road of every submission: run as a task, then judged from the replies."""
    submission, limits = _submission(variant, row), Limits()
    code = any(part.runs for part in submission.paper.parts)
    with _CODE if code else contextlib.nullcontext():
        task = task_of(submission, limits)
    attempt = Attempt(submission, task)
    while attempt.task:
        replies = answer(attempt.task)
        with _CODE if code else contextlib.nullcontext():
            attempt.heard(replies)
    assert attempt.graded
    return {item.part: item for item in attempt.graded.report.outcomes if item.part in row.cells}


def _submission(variant: _Variant, row: Row) -> Submission:
    """The variant's notebook with the row's cells in it, as far as its last part; the tests of other parts are out."""
    parts = {part.name: part for part in variant.problem.parts}
    asked = {part for part in row.cells if part in parts}
    while earlier := {parts[part].follows for part in asked} - asked - {""}:
        asked |= earlier
    handed_in = {answer_id(part): cell for part, cell in row.cells.items()}
    handed_in |= {part: cell for part, cell in row.cells.items() if part in parts and parts[part].judged_by_person}
    cells, left = [], set(asked)
    for cell in variant.notebook["cells"]:
        marks = cell["metadata"]["nbgrader"]
        if left and (marks["grade_id"] in asked or not marks["grade"]):
            cells.append({**cell, "source": handed_in.get(marks["grade_id"], cell["source"])})
            left.discard(marks["grade_id"])
    paper = Paper(
        folder=loading.find_problems(),
        slug=variant.problem.slug,
        version=variant.problem.version,
        seed=row.seed,
        # Of no course. Equal papers ask equal questions: what is not compared by itself is in the secret.
        secret=f"{row.parameters} {sorted(asked)}".encode(),
        parts=[part for name, part in parts.items() if name in asked],
        parameters=variant.parameters,
    )
    return Submission(notebook={**variant.notebook, "cells": cells}, paper=paper, files={}, held={}, flags=())


@dataclass(frozen=True, kw_only=True)
class _Variant:
    """A problem in one variant, with its notebook."""

    problem: Problem
    parameters: Parameters
    notebook: dict[str, Any]


@functools.lru_cache(maxsize=256)
def _made(slug: str, parameters: str, seed: int) -> _Variant | Fault:
    try:
        problem = loading.load(slug)
    except StaffError as error:
        return Fault(error.message)
    given = json.loads(parameters)
    p = drawn(problem, seed).parameters if given is None else given
    if given is not None and (why := _misfit(problem, given)):
        return Fault(why)
    try:
        notebook = build(dataclasses.replace(problem, draw=lambda rng: p), seed)
    except Exception as error:
        why = error.message if isinstance(error, AutograderError) else f"{type(error).__name__}: {error}"
        return Fault(f"{slug} cannot have the parameters {p}: {why}")
    return _Variant(problem=problem, parameters=p, notebook=notebook)


def _variant(slug: str, parameters: str, seed: int) -> _Variant:
    """The variant, made once; `Fault` where the problem cannot have it."""
    with _CODE:  # a notebook's visible checks show what references return
        found = _made(slug, parameters, seed)
    if isinstance(found, Fault):
        raise found
    return found


def _misfit(problem: Problem, given: Parameters) -> str:
    """Why no draw gives parameters such as these: other names, a value of another kind, a word that is not drawn.

    Empty where one may. A number may be any: which ones are drawn, a draw does not say.
    """
    names, values = _drawn(problem.slug)
    if frozenset(given) not in names:
        closest = min(names, key=lambda keys: (len(keys ^ given.keys()), sorted(keys)))
        return f"{problem.slug} draws the parameters {', '.join(sorted(closest))}, not {', '.join(sorted(given))}"
    for name, value in given.items():
        alike = [other for other in values[name] if type(other) is type(value)]
        if not alike or (isinstance(value, str) and value not in alike):
            return f"{problem.slug} draws no {name} such as {value!r}"
    return ""


@functools.cache
def _drawn(slug: str) -> tuple[set[frozenset[str]], dict[str, list[Any]]]:
    """The sets of names that draws have, and the values that each name has in them."""
    draws = [drawn(loading.load(slug), seed).parameters for seed in range(_DRAWS)]
    values: dict[str, list[Any]] = {}
    for p in draws:
        for name, value in p.items():
            values.setdefault(name, []).append(value)
    return {frozenset(p) for p in draws}, values
