"""Questions about a student's function or module: one place changed, a shape inside, a value, a telling input."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from autograder.core import Answer, Ask, Case, Parameters, Question
from autograder.defence import shown_cases
from autograder.defence.bench import Bench
from autograder.defence.code import Slip, sites
from autograder.defence.proofs import (
    CHANGES,
    LETTERS,
    Asked,
    Proof,
    change_key,
    entries,
    entry,
    input_key,
    odd_one_out,
    plain_number,
)
from autograder.parts.function import Function
from autograder.parts.mutants import OFF_BY_ONE

SLIPS = 16  # that are tried for one part
OPTIONS = 4
MANY = 16  # small cases that are looked at
FEW = 12  # small cases that a part's versions are compared on
_WIDEST = 240  # letters of a small case


@dataclass(frozen=True, kw_only=True)
class Subject:
    """One part as a student answered it. `key` is the student's own stream, `lost` whether points were lost."""

    notebook: str
    part: Function
    p: Parameters
    key: tuple[int, ...]
    lost: bool
    reference: Ask


def questions_about(subject: Subject, bench: Bench) -> Iterator[Asked]:
    """Whatever has a certain key; nothing where the code gives another answer when it is asked again."""
    found = _About.of(subject, bench)
    if found:
        yield from found.shapes()
        yield from found.values()
        yield from found.changes()
        if subject.lost:
            yield from found.telling_cases()


def _put(part: Function, case: Case) -> Question:
    """What the part itself asks of whoever answers for it."""
    asked: list[Question] = []

    def note(question: Question) -> Answer:
        asked.append(question)
        return Answer()

    part.respondent(note, case).call(*case.arguments.values())
    return asked[0]


@dataclass(frozen=True, kw_only=True)
class _About:
    """The part with its cases, and what the student's own code answers to them."""

    subject: Subject
    bench: Bench
    drawn: tuple[Case, ...]
    few: tuple[Case, ...]
    put: tuple[Question, ...]
    given: tuple[Answer, ...]
    executed: dict[str, set[int]]
    bound: dict[tuple[str, int, str], list[int]]

    @classmethod
    def of(cls, subject: Subject, bench: Bench) -> _About | None:
        part = subject.part
        drawn = shown_cases.general(part, subject.p, subject.key)
        if part.name not in bench.definitions or not drawn:
            return None
        put = tuple(_put(part, case) for case in drawn)
        given = bench.ask(put)
        if len(given) < len(put) or any(answer.failure for answer in given):
            return None
        executed, bound = bench.traced(put[0])
        if change_key(given, bench.ask(put)) != "same":
            return None  # it draws by chance, or remembers
        few = [case for case in shown_cases.small(part, subject.p, subject.key) if len(_in_line(case)) <= _WIDEST]
        few = few[:MANY]
        further = [_put(part, case) for case in few]
        twice = list(zip(few, further, bench.ask(further), bench.ask(further), strict=False))
        sure = [(case, each, one) for case, each, one, two in twice if change_key([one], [two]) == "same"][:FEW]
        few, put = [case for case, _, _ in sure], (*put, *(each for _, each, _ in sure))
        given += [one for _, _, one in sure]
        return cls(
            subject=subject,
            bench=bench,
            drawn=tuple(drawn),
            few=tuple(few),
            put=put,
            given=tuple(given),
            executed=executed,
            bound=bound,
        )

    @property
    def general(self) -> slice:
        """The cases whose shapes are shown."""
        return slice(0, len(self.drawn))

    @property
    def small(self) -> slice:
        """The cases that are shown entry by entry."""
        return slice(len(self.drawn), None)

    def _asked(self, **words: object) -> Asked:
        return Asked(notebook=self.subject.notebook, part=self.subject.part.name, **words)  # type: ignore[arg-type]

    def _rng(self, purpose: int) -> np.random.Generator:
        return np.random.default_rng((*self.subject.key, 7, purpose))

    def _listed(self, name: str) -> tuple[str, ...]:
        """What the sheet shows of the code: the part's own definition, and the one that the question is about."""
        return tuple(dict.fromkeys((self.subject.part.name, name)))

    @functools.cached_property
    def _call(self) -> str:
        told = ", ".join(f"`{item}`" for item in shown_cases.in_shapes(self.drawn))
        anything = " The entries of the arrays are any numbers." if ": [" in told else ""
        return f"`{self.subject.part.name}` is {self.subject.part.run_by} with {told}.{anything}"

    def shapes(self) -> Iterator[Asked]:
        """The shape of what a line binds to a name."""
        for (name, line, word), shape in self.bound.items():
            if len(shape) < 2 or len(set(shape)) < 2:
                continue
            yield self._asked(
                kind="shape",
                text=f"{self._call} Which shape does `{word}` have after {at(name, line)}?",
                answer=str(shape),
                guess=str(shape),
                shows=self._listed(name),
                lines=(line,),
                proof=self._proof("shape", name, self.put[:1], place=(line, word)),
            )

    def values(self) -> Iterator[Asked]:
        """An entry of what the function returns in a small case of whole numbers."""
        rng, name = self._rng(1), self.subject.part.name
        for case, question, answer in zip(self.few, self.put[self.small], self.given[self.small], strict=True):
            places = [(place, plain_number(entry(answer, place))) for place in entries(answer)]
            telling = [pair for pair in places if pair[1] not in ("", "0", "1", "-1")]
            if not telling:
                continue
            place, number = telling[rng.integers(len(telling))]
            which = f"entry `{list(place)}` of what it returns (counted from 0)" if place else "what it returns"
            yield self._asked(
                kind="value",
                text=f"{_with(self.subject.part, case)} What is {which}? A whole number or a fraction.",
                answer=number,
                guess=number,
                shows=self._listed(name),
                proof=self._proof("value", name, (question,), place=place),
            )

    def _slips(self) -> Iterator[tuple[Slip, list[Answer]]]:
        """Changes of one place, in the student's own order, each with what the code answers then."""
        found = [
            site
            for name, lines in sorted(self.executed.items())
            if name in self.bench.definitions
            for site in sites(self.bench.definitions[name], lines)
        ]
        order = self._rng(2).permutation(len(found))
        made = (found[int(place)].make() for place in order)
        for slip in itertools.islice(filter(None, made), SLIPS):
            answers = self.bench.changed(slip.name, slip.text, self.put)
            if len(answers) == len(self.put):
                yield slip, answers
            if self.bench.tired:
                return

    def changes(self) -> Iterator[Asked]:
        """What comes of a change; and which input tells it."""
        for slip, answers in self._slips():
            outcome = change_key(self.given[self.general], answers[self.general])
            if outcome and not (outcome == "same" and self._dead(slip)):
                yield self._asked(
                    kind="change",
                    text=f"{_changed(slip)}\n\n{self._call} What does it return then, beside your version?",
                    options=tuple(CHANGES.values()),
                    answer=LETTERS[list(CHANGES).index(outcome)],  # type: ignore[arg-type]
                    guess=outcome,
                    shows=self._listed(slip.name),
                    lines=(slip.line,),
                    why=_error(answers) if outcome == "error" else "",
                    proof=self._proof("change", slip.name, self.put[self.general], text=slip.text),
                )
            yield from self._telling(slip, answers)

    def _dead(self, slip: Slip) -> bool:
        """Whether a change without effect is of a place that is not reached, or of a number that nothing depends on.

        What a constructor draws is such a number too: the parameters are given.
        """
        if slip.kind == OFF_BY_ONE or slip.inside == "__init__":
            return True
        probed = self.bench.changed(slip.name, slip.probe, self.put[self.general])
        return not probed or not all(answer.failure for answer in probed)

    def _looks(self) -> list[bool]:
        """Of each small case whether one of its arrays is nothing but zeros."""
        return [any(map(_is_zeros, shown_cases.given(case).values())) for case in self.few]

    def _telling(self, slip: Slip, answers: Sequence[Answer]) -> Iterator[Asked]:
        found = odd_one_out(input_key(self.given[self.small], answers[self.small]), OPTIONS, self._looks())
        if found:
            wanted, places = found
            which = "At which one does the changed version give another result than yours?"
            other = "At which one does the changed version give the same result as yours?"
            yield self._odd(
                "input", f"{_changed(slip)}\n\n{which if wanted else other}", wanted, places, slip.text, slip.name
            )

    def telling_cases(self) -> Iterator[Asked]:
        """Which case shows that points were lost."""
        right = [self.subject.reference(question) for question in self.put[self.small]]
        found = odd_one_out(input_key(right, self.given[self.small]), OPTIONS, self._looks())
        if found:
            wanted, places = found
            name = self.subject.part.name
            text = f"Your `{name}` did not earn all points. At which one of these inputs does it give "
            yield self._odd("lost", text + ("a wrong result?" if wanted else "the right result?"), wanted, places)

    def _odd(
        self, kind: str, text: str, wanted: bool, places: Sequence[int], changed: str = "", name: str = ""
    ) -> Asked:
        """A question for one input among several, in an order of the student's own."""
        order = [places[int(i)] for i in self._rng(3 + len(changed) + places[0]).permutation(len(places))]
        letter = LETTERS[order.index(places[0])]
        questions = tuple(self.put[self.small][place] for place in order)
        name = name or self.subject.part.name
        return self._asked(
            kind=kind,
            text=text,
            options=tuple(_in_line(self.few[place]) for place in order),
            answer=letter,
            guess=letter,
            shows=self._listed(name),
            proof=self._proof(kind, name, questions, text=changed, place=(wanted,)),
        )

    def _proof(self, kind: str, name: str, questions: Sequence[Question], **words: object) -> Proof:
        return Proof(
            claim=kind,  # type: ignore[arg-type]
            name=name,
            questions=tuple(questions),
            reference=self.subject.reference,
            **words,  # type: ignore[arg-type]
        )


def at(name: str, line: int) -> str:
    """Where a line stands; the sheet gives the listing its letter."""
    return f"line {line} of `{name}`"


def _changed(slip: Slip) -> str:
    return f"Line {slip.line} of `{slip.name}` is changed in one place:\n\n```\n{slip.after.strip()}\n```"


def _with(part: Function, case: Case) -> str:
    return f"`{part.name}` is {part.run_by} with " + ", ".join(f"`{item}`" for item in shown_cases.words(case)) + "."


def _in_line(case: Case) -> str:
    return ", ".join(f"`{item}`" for item in shown_cases.words(case))


def _is_zeros(value: object) -> bool:
    """Whether it is an array with nothing but zeros."""
    return hasattr(value, "shape") and not bool((value != 0).any())  # type: ignore[attr-defined]


def _error(answers: Sequence[Answer]) -> str:
    return next((answer.detail for answer in answers if answer.failure), "")
