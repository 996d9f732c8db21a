"""What to say after a refusal: the first tensor that differs, then the kind of slip, then the single repair.

The ladder speaks about the student's own formula; neither the reference nor its numbers are shown.
"""

from __future__ import annotations

import time
from dataclasses import replace

from autograder.maths.decision import Decision
from autograder.maths.tensor.checking import needed
from autograder.maths.tensor.comparison import Comparison
from autograder.maths.tensor.question import Prepared, Question
from autograder.maths.tensor.repairs import Repair, repairs
from autograder.maths.tensor.tensor_tree import System
from autograder.maths.tensor.values import LimitError

MOST_TRIED = 150


def ladder(question: Question, prepared: Prepared, outcome: Decision, *, deadline: float) -> Decision:
    """The decision with `hints`, `right`, `first_wrong` and, if found, `repair` in its detail."""
    detail = dict(outcome.detail or {})
    hints: list[str] = []
    wrong = prepared.target
    if prepared.comparison is not None:
        right, wrong = first_wrong(prepared, prepared.comparison)
        detail |= {"right": right, "first_wrong": wrong}
        hints.append(_located(right, wrong))
    repair = _search(question, prepared, wrong, deadline)
    if repair is not None:
        detail["repair"] = repair.code
        hints += [
            f"in your equation for {wrong}, {repair.vague}",
            f"in your equation for {wrong}: {repair.plain}",
        ]
    detail["hints"] = tuple(hints)
    message = outcome.message or (hints[0] if hints else "")
    return replace(outcome, detail=detail, message=message)


def _located(right: tuple[str, ...], wrong: str) -> str:
    if not right:
        return f"your {wrong} differs"
    names = right[0] if len(right) == 1 else f"{', '.join(right[:-1])} and {right[-1]}"
    return f"your {names} {'is' if len(right) == 1 else 'are'} correct; your {wrong} differs"


def first_wrong(prepared: Prepared, comparison: Comparison) -> tuple[tuple[str, ...], str]:
    """The tensors that both sides define and agree on, up to the first one on which they do not."""
    theirs = {meaning.name: len(meaning.left) for meaning in prepared.reference.last}
    right: list[str] = []
    for meaning in prepared.answer.last:
        if theirs.get(meaning.name) != len(meaning.left) or meaning.name in right:
            continue
        if meaning.name == prepared.target:
            break
        outcomes = [comparison.decide(what) for what in prepared.compared(meaning.name)]
        if any(outcome.outcome == "different" for outcome in outcomes):
            return tuple(right), meaning.name
        if all(outcome.equal for outcome in outcomes):
            right.append(meaning.name)
    return tuple(right), prepared.target


def _search(question: Question, prepared: Prepared, wrong: str, deadline: float) -> Repair | None:
    """The first single repair that makes the wrong tensor right."""
    system = needed(prepared.answer.system, wrong)
    narrow = Question(reference=needed(question.system, wrong), declarations=question.declarations, target=wrong)
    for number, equation in enumerate(system.equations):
        if equation.left.name.key != wrong:
            continue
        for tried, repair in enumerate(repairs(equation, system)):
            if tried >= MOST_TRIED or time.monotonic() > deadline:
                return None
            equations = (*system.equations[:number], repair.equation, *system.equations[number + 1 :])
            if _right(narrow, replace(system, equations=equations), deadline):
                return repair
    return None


def _right(question: Question, system: System, deadline: float) -> bool:
    candidate = question.prepare(system, deadline=deadline)
    if candidate.comparison is None:
        return False
    try:
        return all(
            candidate.comparison.quick(what) and candidate.comparison.decide(what).equal
            for what in candidate.compared(question.target)
        )
    except LimitError:
        return False
