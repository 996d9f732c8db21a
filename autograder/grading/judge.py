"""Answers to verdicts to points: trusted, sees data only, and keeps every answer: judging again needs no re-run."""

from __future__ import annotations

from collections.abc import Sequence

from autograder.core import Ask, Outcome, Parameters, Part, Standing, Verdict
from autograder.protocol.respondents import Interview, fault_verdict


def judge_part(part: Part, p: Parameters, ask: Ask, key: tuple[int, ...]) -> Outcome:
    """The outcome of one part. A fault of ours (in a check, a reference, the channel) is held, never marked."""
    interview = Interview(ask)
    try:
        verdicts = part.judge(p, interview, key)
    except Exception:
        verdicts = [fault_verdict(part.kind)]
    standing, points = award(part, verdicts)
    return Outcome(
        part=part.name,
        standing=standing,
        points=points,
        max_points=float(part.points),
        verdicts=tuple(verdicts),
        answers=interview.answers,
    )


def award(part: Part, verdicts: Sequence[Verdict]) -> tuple[Standing, float]:
    """Standing and points of a part.

    Any undecided verdict holds the whole part, unless the gate (the first verdict) is lost already. Else each check
    earns its share by weight, and a lost gate earns nothing: properties alone are too easy to have.
    """
    if not verdicts or verdicts[0].ok is False:
        return "lost", 0.0
    if any(verdict.ok is None for verdict in verdicts):
        return "held", 0.0
    weights = part.weights(verdicts)
    earned = sum(weight for weight, verdict in zip(weights, verdicts, strict=True) if verdict.ok)
    if earned == sum(weights):
        return "earned", float(part.points)
    return "lost", round(float(part.points) * earned / sum(weights), 4)
