"""What to say after a refusal: the first tensor that differs, then the kind of slip, then the single repair.

The ladder speaks about the student's own formula; neither the reference nor its numbers are shown.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import replace
from typing import Any

from autograder.maths.decision import Decision
from autograder.maths.tensor.checking import needed
from autograder.maths.tensor.comparison import Comparison
from autograder.maths.tensor.likeness import alike, sizes_of
from autograder.maths.tensor.number_systems import Floats
from autograder.maths.tensor.question import Prepared, Question
from autograder.maths.tensor.repairs import Repair, repairs
from autograder.maths.tensor.tensor_tree import Expr, children
from autograder.maths.tensor.values import Budget

MOST_TRIED = 150
SEARCH = 600_000  # operations, for all repairs together
MOST_READ = 12_000  # parts of the equation, each time that it is read with a repair
MOST_COMPARED = 400_000  # pairs of parts: the axes of each are those of others


def ladder(question: Question, prepared: Prepared, outcome: Decision) -> Decision:
    """The decision with `hints`, `right`, `first_wrong` and, if found, `repair` in its detail."""
    detail = dict(outcome.detail or {})
    hints: list[str] = []
    wrong = prepared.target
    if prepared.comparison is not None:
        right, wrong = first_wrong(prepared, prepared.comparison)
        detail |= {"right": right, "first_wrong": wrong}
        hints.append(_located(right, wrong))
    repair = _search(question, prepared, wrong)
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


def _search(question: Question, prepared: Prepared, wrong: str) -> Repair | None:
    """The first single repair that makes the wrong tensor right."""
    system = needed(prepared.answer.system, wrong)
    narrow = Question(reference=needed(question.system, wrong), declarations=question.declarations, target=wrong)
    budget, fixed, floats, worth = Budget(SEARCH), sizes_of(narrow), Floats(0), OrderedDict[Any, Any]()
    for number, equation in enumerate(system.equations):
        if equation.left.name.key != wrong:
            continue
        parts = _parts(equation.right)
        most = min(MOST_TRIED, MOST_READ // parts, MOST_COMPARED // parts**2)
        for tried, repair in enumerate(repairs(equation, system)):
            if tried >= most or budget.left < 0:
                return None
            equations = (*system.equations[:number], repair.equation, *system.equations[number + 1 :])
            repaired = replace(system, equations=equations)
            likely = alike(narrow.prepare(repaired, budget=budget, fixed=fixed), floats, worth, OrderedDict())
            if likely and _right(narrow.prepare(repaired, budget=budget)):
                return repair
    return None


def _parts(node: Expr) -> int:
    """How many parts an expression has."""
    return 1 + sum(map(_parts, children(node)))


def _right(repaired: Prepared) -> bool:
    comparison = repaired.comparison
    return comparison is not None and all(comparison.decide(what).equal for what in repaired.compared(repaired.target))
