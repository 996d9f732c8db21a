"""Answers to verdicts to points: trusted, sees data only, and keeps every answer: judging again needs no re-run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from autograder.core import FAILURES, Answer, Ask, Outcome, Parameters, Part, Question, Standing, Verdict
from autograder.grading.repair import writable
from autograder.protocol.respondents import Interview, fault_verdict


def judge_part(
    part: Part, p: Parameters, ask: Ask, key: tuple[int, ...], before: Sequence[Outcome] | None = None
) -> Outcome:
    """The outcome of one part. A fault of ours (in a check, a reference, the channel) is held, never marked.

    `before` are the outcomes of the notebook's earlier parts: what the part that this one follows was judged by is
    carried forward, whatever its name is bound to by now. Without them, a part by itself, the name is asked.
    """
    interview = Interview(ask if before is None else carrying(part, ask, before))
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
        verdicts=tuple(map(_writable, verdicts)),
        answers=interview.answers,
    )


def _writable(verdict: Verdict) -> Verdict:
    """With texts that a file can hold: a verdict may quote what was handed in."""
    message, witness, staff = map(writable, (verdict.message, verdict.witness, verdict.staff))
    return replace(verdict, message=message, witness=witness, staff=staff)


def carrying(part: Part, ask: Ask, before: Sequence[Outcome]) -> Ask:
    """`ask`, but what the part followed says is what it was judged by: nothing where it was not, or was unreadable."""
    found = next((outcome for outcome in before if outcome.part == part.follows), None)

    def answering(question: Question) -> Answer:
        if not part.follows or question.name != part.follows:
            return ask(question)
        read = found is not None and not any(verdict.code in FAILURES for verdict in found.verdicts)
        replies = (reply for asked, reply in found.answers if asked.name == part.follows) if found and read else ()
        return next(iter(replies), Answer(failure="missing", detail=f"{part.follows} has no answer that can be read"))

    return answering


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
