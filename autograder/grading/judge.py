"""Answers to verdicts to points: trusted, sees data only, and keeps every answer: judging again needs no re-run."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from autograder.core import FAILURES, Answer, Ask, Outcome, Parameters, Part, Question, Standing, Verdict
from autograder.errors import Unreadable
from autograder.grading.repair import writable
from autograder.protocol.answering import question_key
from autograder.protocol.codec import encode
from autograder.protocol.respondents import Interview, fault_verdict

_MOST = 128  # sets of answers to one part that are remembered


def judge_part(
    part: Part,
    p: Parameters,
    ask: Ask,
    key: tuple[int, ...],
    before: Sequence[Outcome] | None = None,
    given: Mapping[str, Answer] | None = None,
) -> Outcome:
    """The outcome of one part. A fault of ours (in a check, a reference, the channel) is held, never marked.

    `before` are the outcomes of the notebook's earlier parts: what the part that this one follows was judged by is
    carried forward, whatever its name is bound to by now. Without them, a part by itself, the name is asked.

    `given` are all answers that `ask` will give, where these are there already, by their questions' keys. The same
    answers to the last bit have the same verdicts: they are formed once.
    """
    packed = {asked: encode(vars(answer)) for asked, answer in (given or {}).items()}
    place = _place(part, p, key, packed) if packed else None
    if given and place in part.judged:
        verdicts, questions = part.judged[place]
        answers = tuple((question, given[question_key(question)]) for question in questions)
    else:
        interview = Interview(ask if before is None else carrying(part, ask, before))
        try:
            verdicts = part.judge(p, interview, key)
        except Exception:
            verdicts = [fault_verdict(part.kind)]
        answers = interview.answers
        if place and all(verdict.ok is not None for verdict in verdicts):
            _remember(part, place, verdicts, [question for question, _ in answers])
    standing, points = award(part, verdicts)
    return Outcome(
        part=part.name,
        standing=standing,
        points=points,
        max_points=float(part.points),
        verdicts=tuple(map(_writable, verdicts)),
        answers=answers,
        packed=tuple(packed.get(question_key(question), b"") for question, _ in answers) if packed else (),
    )


def _place(part: Part, p: Parameters, key: tuple[int, ...], packed: Mapping[str, bytes]) -> Any:
    """What a part's verdicts follow from; None where there is more to it."""
    if part.follows:
        return None
    try:
        digest = hashlib.sha256(encode(p))
    except Unreadable:  # parameters that are no data
        return None
    for asked, content in packed.items():
        digest.update(f"{asked} {len(content)} ".encode())
        digest.update(content)
    return key, digest.digest()


def _remember(part: Part, place: Any, verdicts: Sequence[Verdict], questions: Sequence[Question]) -> None:
    """Keep verdicts, and what was asked; of answers, nothing is kept."""
    while len(part.judged) >= _MOST:
        part.judged.pop(next(iter(part.judged)), None)
    part.judged[place] = verdicts, questions


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
