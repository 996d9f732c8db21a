"""Answers to verdicts to points: trusted, sees data only, and keeps every answer: judging again needs no re-run."""

from __future__ import annotations

from collections.abc import Sequence

from autograder.core import Answer, Ask, Outcome, Parameters, Part, Question, Standing, Verdict
from autograder.parts.respond import fault_verdict
from autograder.protocol.answering import question_key


class Interview:
    """Asks each question once and remembers the answers, in order."""

    def __init__(self, ask: Ask) -> None:
        self._ask = ask
        self._replies: dict[str, tuple[Question, Answer]] = {}

    def __call__(self, question: Question) -> Answer:
        """The answer to a question, from memory where it was asked before."""
        key = question_key(question)
        if key not in self._replies:
            self._replies[key] = (question, self._ask(question))
        return self._replies[key][1]

    @property
    def answers(self) -> tuple[tuple[Question, Answer], ...]:
        """Everything that was asked and what came back."""
        return tuple(self._replies.values())


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
    if not verdicts or (verdicts[0].ok is False and not verdicts[0].share):
        return "lost", 0.0
    if any(verdict.ok is None for verdict in verdicts):
        return "held", 0.0
    weights = [check.weight for check in getattr(part, "checks", ())] or [1.0] * len(verdicts)
    shares = [1.0 if verdict.ok else verdict.share for verdict in verdicts]
    earned = sum(weight * share for weight, share in zip(weights, shares, strict=True))
    if earned == sum(weights):
        return "earned", float(part.points)
    return "lost", round(float(part.points) * earned / sum(weights), 4)
