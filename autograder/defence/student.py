"""All questions about one student's submission that have a key, and the five of them that a sheet asks.

A part is asked about as it stood at its own test: the cells up to there have run, and no later one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np

from autograder.authoring.source_notebook import OVERVIEW
from autograder.authoring.variants import stream_key
from autograder.core import Answer, Question, Report
from autograder.defence.about_code import Subject, questions_about
from autograder.defence.about_lines import Lines, Typed
from autograder.defence.bench import LIMITS, Bench
from autograder.defence.code import Definition
from autograder.defence.proofs import Asked
from autograder.grading.submission import Submission
from autograder.parts.function import Function
from autograder.protocol.respondents import local
from autograder.sandbox import Limits

QUESTIONS = 5
LEAST = 4  # below, a sheet says little
CODE_PARTS = 2  # that are looked at, as long as their questions are enough
ENOUGH = 12
_OF_A_KIND = {"change": 3, "shape": 2, "value": 2, "input": 2, "line": 1, "lost": 1}


@dataclass(frozen=True, kw_only=True)
class Handed:
    """One of a student's notebooks, and what grading found and was told about it."""

    name: str
    submission: Submission
    report: Report

    @property
    def lost(self) -> frozenset[str]:
        """The parts that lost points."""
        return frozenset(outcome.part for outcome in self.report.outcomes if outcome.standing == "lost")

    def typed(self) -> list[Typed]:
        """The typed answers that earned all points, as they were read then."""
        parts = {part.name: part for part in self.submission.paper.parts if part.by_lines}
        found = []
        for outcome in self.report.outcomes:
            said = [reply.value for question, reply in outcome.answers if _is_text(question, reply, outcome.part)]
            if outcome.part in parts and outcome.standing == "earned" and said:
                found.append(Typed(part=parts[outcome.part], text=said[0]))
        return found


def _is_text(question: Question, reply: Answer, part: str) -> bool:
    return question.by_name and question.name == part and reply.failure is None and isinstance(reply.value, str)


@dataclass(frozen=True, kw_only=True)
class Sheet:
    """What one student is asked. `code` has the definitions that the questions are about, by notebook and name."""

    student: str
    asked: tuple[Asked, ...]
    code: Mapping[tuple[str, str], Definition] = field(default_factory=dict)


class Chooser:
    """Draws the sheets of a class, one after the other, so that answers are even and neighbours are asked otherwise."""

    def __init__(self, secret: bytes, assignment: str, limits: Limits = LIMITS) -> None:
        self._secret, self._assignment, self._limits = secret, assignment, limits
        self._said: Counter[tuple[str, str]] = Counter()
        self._used: Counter[str] = Counter()

    def sheet(self, student: str, notebooks: Sequence[Handed]) -> Sheet:
        """A student's sheet; with fewer questions, or none, where not enough have a certain key."""
        key = stream_key(self._secret, "defence", self._assignment, student)
        code: dict[tuple[str, str], Definition] = {}
        found = list(candidates(notebooks, key, code, self._limits))
        asked = tuple(self._chosen(found, np.random.default_rng(key)))
        for item in asked:
            self._said[item.kind, item.guess] += 1
            self._used[seen(item)] += 1
        return Sheet(student=student, asked=asked, code=code)

    def _chosen(self, found: Sequence[Asked], rng: np.random.Generator) -> list[Asked]:
        left = [found[int(place)] for place in rng.permutation(len(found))]
        chosen: list[Asked] = []
        while left and len(chosen) < QUESTIONS:
            best = min(left, key=lambda item: self._cost(item, chosen))
            chosen.append(best)
            left = [item for item in left if item is not best and not _alike(item, best)]
        order = {name: place for place, name in enumerate(dict.fromkeys(item.notebook for item in found))}
        return sorted(chosen, key=lambda item: (order[item.notebook], item.shows, item.lines))

    def _cost(self, item: Asked, chosen: Sequence[Asked]) -> tuple[float, ...]:
        """How little an item brings: its kind has had its share, its answer was said, others are asked it."""
        kinds = Counter(other.kind for other in chosen)
        over = kinds[item.kind] >= _OF_A_KIND[item.kind]
        again = any((other.kind, other.guess) == (item.kind, item.guess) for other in chosen)
        said = self._said[item.kind, item.guess] / (1 + max(self._of_kind(item.kind), 1))
        parts = sum((other.notebook, other.part) == (item.notebook, item.part) for other in chosen)
        much = round(kinds[item.kind] / _OF_A_KIND[item.kind] + 2 * said, 3)
        return over, again, much, self._used[seen(item)], parts

    def _of_kind(self, kind: str) -> int:
        return sum(count for (each, _), count in self._said.items() if each == kind)


def seen(item: Asked) -> str:
    """What a neighbour would have to be asked so that one could copy."""
    return f"{item.part} {item.text} {item.options}"


_ONCE = ("line", "lost", "input", "value")  # kinds of which one is enough about the same code


def _alike(one: Asked, other: Asked) -> bool:
    """Whether the answer to one helps with the other: the same place of the code, or the same line."""
    same = (one.notebook, one.shows) == (other.notebook, other.shows) and one.kind == other.kind
    return same and (one.lines == other.lines != () or one.kind in _ONCE)


def candidates(
    notebooks: Sequence[Handed], key: tuple[int, ...], code: dict[tuple[str, str], Definition], limits: Limits
) -> Iterator[Asked]:
    """Questions about the typed lines of every notebook, and about the code of some parts, until there are enough."""
    rng = np.random.default_rng((*key, 1))
    parts = [(handed, part) for handed in notebooks for part in handed.submission.paper.parts if part.repeats]
    order = [parts[int(place)] for place in rng.permutation(len(parts))]
    order.sort(key=lambda pair: pair[1].name not in pair[0].lost)  # those that lost points come first
    found, looked = 0, 0
    for handed, part in order:
        if looked >= CODE_PARTS and found >= ENOUGH:
            break
        asked = list(_about(handed, cast("Function", part), (*key, 2, looked), code, limits))
        found, looked = found + len(asked), looked + bool(asked)
        yield from asked
    for place in map(int, rng.permutation(len(notebooks))):
        if asked := list(_lines(notebooks[place], (*key, 3, place))):
            yield from asked
            return


def _about(
    handed: Handed, part: Function, key: tuple[int, ...], code: dict[tuple[str, str], Definition], limits: Limits
) -> Iterator[Asked]:
    paper = handed.submission.paper
    cells = cells_before(handed.submission.notebook, part.name)
    if not any(part.name in cell for cell in cells):
        return
    with Bench(cells, handed.submission.files, limits) as bench:
        here = {(handed.name, name): each for name, each in bench.definitions.items()}
        if any(code.setdefault(place, each) != each for place, each in here.items()):
            return  # a name that means another thing at another part
        subject = Subject(
            notebook=handed.name,
            part=part,
            p=paper.parameters,
            key=key,
            lost=part.name in handed.lost,
            reference=local(part.reference, part.name, paper.parameters),
        )
        yield from questions_about(subject, bench)


def cells_before(notebook: Mapping[str, Any], part: str) -> list[str]:
    """The code cells that have run when a part is marked."""
    found = []
    for cell in notebook["cells"]:
        marks = cell["metadata"].get("nbgrader") or {}
        if marks.get("grade") and marks.get("grade_id") == part:
            break
        runs = cell["cell_type"] == "code" and not marks.get("grade") and marks.get("grade_id") != OVERVIEW
        if runs and cell["source"].strip():
            found.append(cell["source"])
    return found


def _lines(handed: Handed, key: tuple[int, ...]) -> Iterator[Asked]:
    """About what was typed in a notebook, where it is right."""
    p = handed.submission.paper.parameters
    return Lines(notebook=handed.name, p=p, key=key, typed=handed.typed()).questions()
