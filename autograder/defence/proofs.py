"""What is asked, and how its key follows from answers: the same rules when a sheet is made and when a key is run again.

A key that is not certain is None, and such a question is not asked.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Literal

import numpy as np

from autograder.core import Answer, Ask, Question
from autograder.defence.bench import OTHER, SAME, Bench, Outcome, compared

Kind = Literal["change", "shape", "value", "input", "line", "lost"]
LETTERS = "abcdefgh"
CHANGES: dict[Outcome, str] = {
    "same": "the same values",
    "values": "the same shape, other values",
    "shape": "another shape",
    "error": "nothing: it stops with an error",
}
_DENOMINATOR = 12
_LARGEST = 1000


@dataclass(frozen=True, kw_only=True)
class Proof:
    """What a key was found by: the questions that were put, and the text of the changed definition, if any.

    `place` is the line and the name of a shape, or the entry of a value; `reference` answers for the right function.
    """

    claim: Kind
    name: str
    questions: tuple[Question, ...]
    text: str = ""
    place: tuple[Any, ...] = ()
    reference: Ask | None = field(default=None, repr=False)


@dataclass(frozen=True, kw_only=True)
class Asked:
    """One question of a sheet, in Markdown, with its key.

    `options` are lettered; without them the answer is written. `guess` is what somebody would say who always says the
    same. `shows` names the definitions that the sheet shows, and `lines` the lines of the last one that are meant.
    """

    kind: Kind
    notebook: str
    part: str
    text: str
    answer: str
    guess: str
    options: tuple[str, ...] = ()
    shows: tuple[str, ...] = ()
    lines: tuple[int, ...] = ()
    why: str = ""
    proof: Proof | None = field(default=None, repr=False, compare=False)

    @property
    def key(self) -> str:
        """The key as it is printed: of options, the letter with its text."""
        return f"{self.answer}) {self.options[LETTERS.index(self.answer)]}" if self.options else self.answer


def change_key(before: Sequence[Answer], after: Sequence[Answer], same: float = SAME, other: float = OTHER) -> str:
    """What a change does in every draw; empty where draws differ, or one is not certain."""
    if len(before) != len(after) or not before:
        return ""
    found = {compared(one, two, same, other) for one, two in zip(before, after, strict=True)}
    only = found.pop()
    return only if only and not found else ""


def input_key(before: Sequence[Answer], after: Sequence[Answer], same: float = SAME, other: float = OTHER) -> list[Any]:
    """For each input whether the two versions differ there; None where that is not certain."""
    found = (compared(one, two, same, other) for one, two in zip(before, after, strict=False))
    return [None if each is None else each != "same" for each in found]


def entry(answer: Answer, place: tuple[int, ...]) -> float | None:
    """One entry of an answer that is one array or one number."""
    if answer.failure or not entries(answer):
        return None
    return float(np.asarray(_array(answer.value), dtype=float)[place])


def entries(answer: Answer) -> list[tuple[int, ...]]:
    """The places of the entries of an answer; none where it is no array of numbers, or a large one."""
    array = _array(answer.value) if answer.failure is None else None
    if array is None or array.dtype.kind not in "iuf" or array.size > 60:
        return []
    return [tuple(map(int, place)) for place in np.ndindex(array.shape)]


def _array(value: Any) -> Any:
    if hasattr(value, "detach"):
        return value.detach().numpy() if not value.is_complex() and str(value.dtype) != "torch.bfloat16" else None
    if isinstance(value, bool) or not isinstance(value, int | float | np.ndarray):
        return None
    return np.asarray(value)


def plain_number(value: float | None, tolerance: float = 1e-9) -> str:
    """A number as a person finds it by hand: a whole one, or a fraction of small ones. Empty where it is none."""
    if value is None or not np.isfinite(value) or abs(value) > _LARGEST:
        return ""
    near = Fraction(value).limit_denominator(_DENOMINATOR)
    return str(near) if abs(float(near) - value) <= tolerance * max(1.0, abs(value)) else ""


def again(bench: Bench, proof: Proof, questions: Sequence[Question], same: float, other: float) -> str | None:
    """The key found once more, by these questions in the place of the proof's; None where the code cannot answer them.

    Tolerances are those of the precision in which the questions are put.
    """
    if proof.claim == "shape":
        shape = bench.traced(questions[0])[1].get((proof.name, *proof.place))
        return None if shape is None else str(shape)
    before = bench.ask(questions)
    if not before or any(answer.failure for answer in before):
        return None
    if proof.claim == "value":
        return plain_number(entry(before[0], proof.place), 1e-4)
    if proof.claim == "lost":
        assert proof.reference
        right = [proof.reference(question) for question in questions]
        return _odd_one(input_key(right, before, same, other), proof.place)
    after = bench.changed(proof.name, proof.text, questions)
    if proof.claim == "change":
        return change_key(before, after, same, other)
    return _odd_one(input_key(before, after, same, other), proof.place)


def _odd_one(differs: Sequence[bool | None], place: tuple[Any, ...]) -> str:
    """The letter of the one input at which it is otherwise; `place` says which of the two is asked for."""
    return "".join(letter for letter, differ in zip(LETTERS, differs, strict=False) if differ is place[0])


def odd_one_out(
    differs: Sequence[bool | None], options: int, looks: Sequence[object] | None = None
) -> tuple[bool, list[int]] | None:
    """Among inputs one that differs and others that do not, or the other way round: which is asked for, and they.

    The one that is asked for comes first. It `looks` like one of the others, such as in having an array of zeros: else
    somebody finds it who has not thought. None where there are too few.
    """
    looks = looks or [None] * len(differs)
    for wanted in (True, False):
        odd = [place for place, differ in enumerate(differs) if differ is wanted]
        rest = [place for place, differ in enumerate(differs) if differ is (not wanted)]
        for one in odd if len(rest) >= options - 1 else ():
            alike = [place for place in rest if looks[place] == looks[one]]
            if alike:
                others = [place for place in rest if place != alike[0]]
                return wanted, [one, alike[0], *others[: options - 2]]
    return None


def same_text(one: str, other: str) -> bool:
    """Whether two answers read the same, but for blanks and letters' size."""
    return re.sub(r"\s", "", one).lower() == re.sub(r"\s", "", other).lower()


def most_common(asked: Sequence[Asked]) -> float:
    """The share of questions that is right by whoever says the same to every question of a kind."""
    by_kind = itertools.groupby(sorted(asked, key=lambda item: item.kind), key=lambda item: item.kind)
    right = 0
    for _, items in by_kind:
        said: dict[str, int] = {}
        for item in items:
            said[item.guess] = said.get(item.guess, 0) + 1
        right += max(said.values())
    return right / len(asked) if asked else 0.0


def by_guess(asked: Sequence[Asked]) -> Mapping[tuple[Kind, str], int]:
    """How often each answer is right, by the kind of question."""
    found: dict[tuple[Kind, str], int] = {}
    for item in asked:
        found[item.kind, item.guess] = found.get((item.kind, item.guess), 0) + 1
    return found
