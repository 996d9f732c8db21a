"""A rubric as items that a grader clicks: out of a part's own text, out of its checks, or all and nothing."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction

from autograder.core import FAILURES, Outcome, Part, Verdict
from autograder.grading.feedback import decides_all
from autograder.grading.notebook import SUBMISSION

# "- 2 of 4: …", "1 - …", "1/2 - …", "1 point: …", "2: …"
_ITEM = re.compile(
    r"^\s*(?:[-*•]\s+)?(?P<points>\d+(?:[./]\d+)?)(?:\s+of\s+\d+(?:\.\d+)?)?(?:\s+points?)?\s*(?:[-–:])\s+(?P<text>\S.*)$"
)
_NEXT_LEVEL = re.compile(r"(?<=[.;])\s+(?=\d+(?:[./]\d+)?:\s)")
KEYS = 9


@dataclass(frozen=True, kw_only=True)
class RubricItem:
    """One item; of those that are `only`, one alone can be chosen. `chosen` is how the judge found it."""

    label: str
    points: float
    only: bool = False
    chosen: bool = False


def rubric_items(part: Part | None, outcome: Outcome | None, maximum: float) -> tuple[list[RubricItem], str]:
    """The items, up to nine, and what else the rubric says; of a whole notebook, all of its points and nothing."""
    if outcome is not None and decides_all(outcome):
        return [
            RubricItem(label="All points of the notebook.", points=maximum, only=True),
            RubricItem(label="No points.", points=0.0, only=True),
        ], ""
    listed, rest = _listed(part.rubric) if part else ([], "")
    if listed:
        total = part.points if part else maximum
        scale = maximum / total if total else 1.0
        levels = sum(points for points, _ in listed) > total + 1e-9  # "2: …. 1: …": one of them alone
        items = [
            RubricItem(label=text, points=round(points * scale, 4), only=levels or points >= total)
            for points, text in listed
        ]
        items.append(RubricItem(label="Nothing of this.", points=0.0, only=True))
        return items[:KEYS], rest
    found, checks = _by_judge(outcome), _checks(part, outcome, maximum)
    right = bool(found) and not checks and all(verdict.ok for verdict in found)
    items = [RubricItem(label="Correct: all points.", points=maximum, only=True, chosen=right), *checks]
    if not checks and maximum > 0:
        items.append(RubricItem(label="Half of it.", points=maximum / 2, only=True))
    wrong = bool(found) and found[0].ok is False and found[0].code not in FAILURES  # nothing was said of no answer
    return [*items, RubricItem(label="Wrong: no points.", points=0.0, only=True, chosen=wrong)][:KEYS], rest


def _by_judge(outcome: Outcome | None) -> list[Verdict]:
    """What the judge says of the answer itself, whatever else a person must look at."""
    return [verdict for verdict in outcome.verdicts if verdict.check != SUBMISSION] if outcome else []


def _listed(rubric: str) -> tuple[list[tuple[float, str]], str]:
    """Points and text of each item, and the lines that are none."""
    items: list[tuple[float, str]] = []
    rest: list[str] = []
    goes_on = False  # whether the line before belongs to an item
    for line in (piece for whole in rubric.strip().splitlines() for piece in _NEXT_LEVEL.split(whole)):
        found = _ITEM.match(line)
        if found:
            items.append((float(Fraction(found["points"])), found["text"].strip()))
        elif goes_on and line.startswith((" ", "\t")) and line.strip():
            points, text = items[-1]
            items[-1] = (points, f"{text} {line.strip()}")
            continue
        else:
            rest.append(line)
        goes_on = bool(found)
    return items, "\n".join(rest).strip()


def _checks(part: Part | None, outcome: Outcome | None, maximum: float) -> list[RubricItem]:
    """The checks with their shares, where there are several."""
    verdicts = _by_judge(outcome)
    if part is None or len(verdicts) < 2:
        return []
    try:
        weights = part.weights(verdicts)
    except ValueError:  # it stopped before the others
        return []
    total = sum(weights)
    return [
        RubricItem(
            label=f"The check “{verdict.check}” holds.",
            points=round(maximum * weight / total, 4),
            chosen=verdict.ok is True,
        )
        for verdict, weight in zip(verdicts, weights, strict=True)
        if weight and total
    ]
