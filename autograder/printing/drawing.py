"""The numbers and the order of options that each seat gets, so that neighbours have little to copy from each other.

All of it follows from the course's secret and the seat's code: printing again gives the same sheet, and nobody can tell
another's. Where each seat has numbers of its own, some are tried until few answers are those of a neighbour; an answer
is the same where it is written the same on both sheets, in words and code as well.
"""

from __future__ import annotations

import string
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from autograder.authoring.assignment import Assignment
from autograder.authoring.sealing import as_json
from autograder.authoring.variants import class_seed, fixed_in, own_seed, seed_with, stream_key, variant
from autograder.core import Problem
from autograder.printing.seats import Seat

TRIED = 40  # draws of a problem, or of an order, for one seat
TURNS = 4  # times that each problem is drawn, as long as neighbours share more than
SHARED = 1 / 3  # of all answers, at most, where some draws have so few
ENOUGH = 1 / 4  # of a problem's answers: then no other draw of it is tried at first


@dataclass(frozen=True, kw_only=True)
class Shared:
    """How many answers two neighbours have in common, of how many."""

    seats: tuple[str, str]
    same: int
    of: int


@dataclass(frozen=True, kw_only=True)
class _OfSeed:
    """A problem's right answers under a seed, and the letters of its lettered texts, by part."""

    answers: Mapping[str, str]
    letters: Mapping[str, str]


class Drawing:
    """Draws the seats of one exam."""

    def __init__(self, assignment: Assignment, problems: Mapping[str, Problem], secret: bytes) -> None:
        self._assignment, self._problems, self._secret = assignment, problems, secret
        self._known: dict[tuple[str, str], _OfSeed] = {}

    def draw(self, seats: Sequence[Seat]) -> list[Seat]:
        """The seats with seeds and orders; what a seat has already stays."""
        made: list[Seat] = []
        for seat in seats:
            if not seat.seeds:
                near = [made[place] for place in self._places_near(len(made)) if place < len(made)]
                seat = replace(seat, seeds=self._seeds(seat, near))
                seat = replace(seat, orders=self._orders(seat, near))
            made.append(seat)
        return made

    def most_shared(self, seats: Sequence[Seat]) -> Shared | None:
        """The two neighbours who have most answers in common; None where nobody has a neighbour."""
        pairs = [
            self._shared(seats[near], seat)
            for place, seat in enumerate(seats)
            for near in self._places_near(place)
            if near < place
        ]
        return max(pairs, key=lambda pair: pair.same, default=None)

    def _shared(self, one: Seat, other: Seat) -> Shared:
        ours, theirs = self.answers(one), self.answers(other)
        same = sum(ours[name] == theirs[name] for name in ours)
        return Shared(seats=(one.code, other.code), same=same, of=len(ours))

    def answers(self, seat: Seat) -> dict[str, str]:
        """What is right on a seat's sheet, by `problem.part`, as it is written there."""
        found = {}
        for slug, seed in seat.seeds.items():
            for part, text in self._of(slug, seed).answers.items():
                name = f"{slug}.{part}"
                found[name] = seat.paper_letters(name, text) if name in seat.orders else text
        return found

    def _places_near(self, place: int) -> list[int]:
        """The places of seats beside, before and behind one, of those that come earlier."""
        row = self._assignment.exam.row
        if not row:
            return [place - 1] if place else []
        beside = [place - 1] if place % row else []
        before = [place - row + step for step in (-1, 0, 1) if 0 <= place % row + step < row]
        return [near for near in (*beside, *before) if near >= 0]

    def _seeds(self, seat: Seat, near: Sequence[Seat]) -> dict[str, int]:
        """A seed for each problem, by what the exam's versions are."""
        versions, secret = self._assignment.exam.versions, self._secret
        if versions == "seat":
            return self._own(seat, near)
        if versions == "student" and seat.student:
            drawn = self._problems.items()
            return {name: own_seed(self._assignment, problem, secret, seat.student) for name, problem in drawn}
        place = string.ascii_uppercase.index(seat.version)
        return {name: self._of_version(item, place) for name, item in self._problems.items()}

    def _own(self, seat: Seat, near: Sequence[Seat]) -> dict[str, int]:
        """Draws that leave little in common with the worst of the neighbours; each is reconsidered after the others."""
        found: dict[str, int] = {}
        shared: dict[str, list[int]] = {}  # by problem, how many answers are those of each neighbour
        for turn in range(TURNS):
            for slug in self._problems:
                others = [
                    sum(counts) for counts in zip(*(shared[name] for name in shared if name != slug), strict=True)
                ]
                found[slug], shared[slug] = self._best(slug, seat, near, others or [0] * len(near), turn)
            asked = sum(len(problem.parts) for problem in self._problems.values())
            if all(sum(counts) <= SHARED * asked for counts in zip(*shared.values(), strict=True)):
                break
        return found

    def _best(
        self, slug: str, seat: Seat, near: Sequence[Seat], others: Sequence[int], turn: int
    ) -> tuple[int, list[int]]:
        """The draw of a problem by which the worst neighbour shares least, with what each shares of it."""
        best: tuple[list[int], int, list[int]] | None = None
        for attempt in range(TRIED):
            key = stream_key(self._secret, "seat", self._assignment.name, slug, seat.code, attempt)
            seed = self._fixed(self._problems[slug], key[0])
            same = [self._same(slug, seed, other) for other in near]
            order = sorted((old + new for old, new in zip(others, same, strict=True)), reverse=True)
            if best is None or order < best[0]:
                best = order, seed, same
            if not turn and max(same, default=0) <= ENOUGH * len(self._problems[slug].parts):
                break
        assert best
        return best[1], best[2]

    def _same(self, slug: str, seed: int, other: Seat) -> int:
        """How many of a problem's answers are those of another seat; letters get another order in any case."""
        ours, theirs = self._of(slug, seed), self._of(slug, other.seeds[slug]).answers
        return sum(ours.answers[part] == theirs[part] for part in ours.answers.keys() - ours.letters)

    def _of_version(self, problem: Problem, version: int) -> int:
        """The seed of the class, and for further versions the next ones that give other numbers."""
        seeds = [class_seed(self._assignment, problem)]
        seed = seeds[0]
        for _ in range(TRIED * version):  # a problem may have fewer variants than the exam has versions
            seed = self._fixed(problem, seed + 1)
            if len(seeds) <= version and all(variant(problem, seed) != variant(problem, other) for other in seeds):
                seeds.append(seed)
        return seeds[version % len(seeds)]

    def _fixed(self, problem: Problem, seed: int) -> int:
        return seed_with(problem, seed, fixed_in(self._assignment, problem)) if self._assignment.exam.fixed else seed

    def _orders(self, seat: Seat, near: Sequence[Seat]) -> dict[str, str]:
        """Of each part with lettered texts an order whose right answer reads otherwise on the neighbours' sheets."""
        whose = seat.code if self._assignment.exam.versions in ("seat", "student") else seat.version
        theirs = [self.answers(other) for other in near]
        found = {}
        for slug, seed in seat.seeds.items():
            drawn = self._of(slug, seed)
            for part, letters in drawn.letters.items():
                name = f"{slug}.{part}"
                orders = (self._order(name, whose, letters, attempt) for attempt in range(TRIED))
                right = {other[name] for other in theirs}
                order = next(
                    (each for each in orders if _read(each, drawn.answers[part]) not in right),
                    self._order(name, whose, letters, 0),
                )
                found[name] = order
        return found

    def _of(self, slug: str, seed: int) -> _OfSeed:
        problem = self._problems[slug]
        p = variant(problem, seed).parameters
        place = slug, as_json(p)
        if place not in self._known:
            letters = {part.name: "".join(part.lettered(p)) for part in problem.parts}
            self._known[place] = _OfSeed(
                answers={part.name: part.typed_answer(p) for part in problem.parts},
                letters={name: text for name, text in letters.items() if text},
            )
        return self._known[place]

    def _order(self, name: str, whose: str, letters: str, attempt: int) -> str:
        key = stream_key(self._secret, "order", self._assignment.name, name, whose, attempt)
        return "".join(np.random.default_rng(key).permutation(list(letters)).tolist())


def _read(order: str, notebook: str) -> str:
    """A text of the notebook's letters by those of the paper."""
    return Seat(code="", orders={"": order}).paper_letters("", notebook)
