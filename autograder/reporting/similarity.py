"""Answers that a person should lay side by side: rare shared passages of code, equal unusual wrong mathematics, and
answers that are wrong for one's own numbers and right for another seat's.

A coincidence weighs what it says: the bits of its rarity in this class. What is right, what the problem lists, and what
many have, weighs nothing. How often a class without contact reaches a score is found by dealing all coincidences of the
class to pairs by chance. The score is no probability, and what it means is for a person to find out.
"""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from autograder.authoring.pseudonyms import Called
from autograder.reporting.class_marks import ClassMarks, Item, Pupil
from autograder.reporting.code_passages import LENGTH, Passages, passages
from autograder.reporting.same_answers import Same, grouped, unnamed

COMMON = 3  # students who may share a passage, or a tenth of the class: beyond, it is nothing unusual
_DEALS = 300
_BINS = 8
_UNUSUAL = 0.5
_SEATS = 0.1  # of the other seats that would accept a wrong answer: beyond, it says little
Accepts = Callable[[Item, Mapping[str, object], str], bool]  # whether a typed answer is right for some parameters


@dataclass(frozen=True, kw_only=True)
class Signal:
    """What a pair shares in a part: its kind, the bits of each coincidence, a sentence, and the lines of code."""

    kind: str
    part: str
    each: tuple[float, ...]
    sentence: str
    lines: tuple[tuple[int, ...], tuple[int, ...]] = ((), ())

    @property
    def bits(self) -> float:
        """Their sum."""
        return sum(self.each)


@dataclass(frozen=True, kw_only=True)
class Pair:
    """Two students, what they share, and how many pairs of a class without contact would reach their score."""

    students: tuple[str, str]
    bits: float
    by_chance: float
    signals: tuple[Signal, ...]


@dataclass(frozen=True, kw_only=True)
class Likeness:
    """The pairs of a class with the highest scores; `scores` are those of all pairs."""

    pairs: tuple[Pair, ...]
    scores: tuple[float, ...]
    students: int

    @property
    def unusual(self) -> tuple[Pair, ...]:
        """The pairs of which two classes without contact would have less than one."""
        return tuple(pair for pair in self.pairs if pair.by_chance < _UNUSUAL)

    def called(self, called: Called) -> Likeness:
        """The same, with everybody called as graders see them."""
        pairs = [
            replace(
                pair,
                students=tuple(map(called.of, pair.students)),  # type: ignore[arg-type]
                signals=tuple(replace(each, sentence=called.text(each.sentence)) for each in pair.signals),
            )
            for pair in self.pairs
        ]
        return replace(self, pairs=tuple(pairs))

    @property
    def histogram(self) -> list[tuple[str, int]]:
        """How many of all pairs have a score of nought, and in steps up to the highest one."""
        edges = np.linspace(0, max(self.scores, default=0.0), _BINS + 1)
        steps = [
            (f"{low:.1f}–{high:.1f}", sum(low < score <= high + 1e-9 for score in self.scores))
            for low, high in itertools.pairwise(edges)
        ]
        return [("0", sum(score == 0 for score in self.scores)), *steps]


def likeness(
    marks: ClassMarks,
    sources: Mapping[str, Mapping[str, str]],
    known: Mapping[str, Sequence[str]],
    accepts: Accepts | None = None,
    same: Same | None = None,
    most: int = 20,
) -> Likeness:
    """The pairs to look at. `sources` are answer cells by student and part, `known` what everybody has, by part.

    `accepts` says whether an answer is right for another seat's numbers, `same` which wrong ones are one.
    """
    there = [pupil for pupil in marks.pupils if pupil.status in ("graded", "held")]
    found: dict[tuple[int, int], list[Signal]] = defaultdict(list)
    for item in marks.items:
        _code(there, item, sources, known.get(item.name, ()), found)
        _mathematics(there, item, same, found)
        if accepts:
            _other_seats(there, item, accepts, found)
    scores = {pair: sum(signal.bits for signal in signals) for pair, signals in found.items()}
    coincidences = [bits for signals in found.values() for signal in signals for bits in signal.each]
    dealt = _dealt(coincidences, len(there) * (len(there) - 1) // 2)
    ranked = sorted(scores, key=lambda pair: (-scores[pair], pair))
    return Likeness(
        pairs=tuple(
            Pair(
                students=(there[i].id, there[j].id),
                bits=scores[i, j],
                by_chance=float((dealt >= scores[i, j] - 1e-9).sum() / _DEALS),
                signals=tuple(sorted(found[i, j], key=lambda signal: -signal.bits)),
            )
            for i, j in ranked[:most]
        ),
        scores=tuple(scores.get(pair, 0.0) for pair in itertools.combinations(range(len(there)), 2)),
        students=len(there),
    )


def _code(
    there: Sequence[Pupil],
    item: Item,
    sources: Mapping[str, Mapping[str, str]],
    known: Sequence[str],
    found: dict[tuple[int, int], list[Signal]],
) -> None:
    """Rare passages that two answer cells share, those of the known code left out."""
    common = frozenset[int]().union(*(passages(text).found for text in known))
    cells = [passages(sources.get(pupil.id, {}).get(item.name, "")) for pupil in there]
    having: dict[int, list[int]] = defaultdict(list)
    for i, cell in enumerate(cells):
        for mark in cell.found - common:
            having[mark].append(i)
    n = sum(bool(cell.found) for cell in cells)
    rare = {mark: own for mark, own in having.items() if 2 <= len(own) <= max(COMMON, n // 10)}
    shared: dict[tuple[int, int], list[int]] = defaultdict(list)
    for mark, own in rare.items():
        for pair in itertools.combinations(own, 2):
            shared[pair].append(mark)
    for (i, j), marks in shared.items():
        apart = cells[i].apart(marks)  # those that overlap say the same thing
        lines = tuple(_lines(cells[k], marks) for k in (i, j))
        found[i, j].append(
            Signal(
                kind="code",
                part=item.name,
                each=tuple(math.log2(n / len(rare[mark])) for mark in apart),
                sentence=f"rare code is the same, whatever the names: {len(apart)} passages of {LENGTH} tokens",
                lines=(lines[0], lines[1]),
            )
        )


def _lines(cell: Passages, marks: Sequence[int]) -> tuple[int, ...]:
    spans = (range(cell.places[mark][1], cell.places[mark][2] + 1) for mark in marks)
    return tuple(sorted({line for span in spans for line in span}))


def _mathematics(
    there: Sequence[Pupil], item: Item, same: Same | None, found: dict[tuple[int, int], list[Signal]]
) -> None:
    """Equal wrong answers, where few of those who are wrong have that one."""
    place = {pupil.id: i for i, pupil in enumerate(there)}
    wrong = unnamed(there, item)
    for own in grouped(item, wrong, same):
        bits = -math.log2(len(own) / (len(wrong) + 1)) if 2 <= len(own) <= max(COMMON, len(there) // 10) else 0.0
        if bits <= 0:
            continue
        typed = " and ".join(dict.fromkeys(pupil.marks[item.name].typed for pupil in own))
        for one, other in itertools.combinations(sorted(place[pupil.id] for pupil in own), 2):
            found[one, other].append(
                Signal(
                    kind="mathematics",
                    part=item.name,
                    each=(bits,),
                    sentence=f"the same wrong answer, which {len(own)} of {len(wrong)} wrong ones are: {typed}",
                )
            )


def _other_seats(
    there: Sequence[Pupil], item: Item, accepts: Accepts, found: dict[tuple[int, int], list[Signal]]
) -> None:
    """Answers that are wrong for one's own numbers and right for those of another seat, where few seats take them."""
    variants: dict[str, list[int]] = defaultdict(list)
    for i, pupil in enumerate(there):
        if item.notebook in pupil.parameters:
            variants[repr(sorted(pupil.parameters[item.notebook].items(), key=str))].append(i)
    if len(variants) < 2 or item.options:  # one of a few letters is right for many
        return
    place = {pupil.id: i for i, pupil in enumerate(there)}
    for pupil in unnamed(there, item):
        i, mark = place[pupil.id], pupil.marks[item.name]
        if mark.points is None:
            continue
        others = [own for own in variants.values() if i not in own]
        taking = [own for own in others if accepts(item, there[own[0]].parameters[item.notebook], mark.typed)]
        seats = sum(map(len, taking))
        if not taking or len(taking) > max(1, _SEATS * len(others)):
            continue
        bits = math.log2(len(others) / len(taking)) if len(others) > 1 else 1.0
        for own in taking:
            for j in own:
                found[min(i, j), max(i, j)].append(
                    Signal(
                        kind="seat",
                        part=item.name,
                        each=(bits,),
                        sentence=f"{pupil.id}'s answer is wrong for their own numbers and right for those of "
                        f"{there[j].id}; of {len(others)} other variants {len(taking)} would take it "
                        f"(students: {seats}): {mark.typed}",
                    )
                )


def _dealt(coincidences: Sequence[float], pairs: int) -> NDArray[np.float64]:
    """The scores of all pairs of some classes in which these coincidences fall on pairs by chance."""
    rng, bits = np.random.default_rng(0), np.array(coincidences)
    classes = [np.bincount(rng.integers(pairs, size=len(bits)), bits, pairs) for _ in range(_DEALS if pairs else 0)]
    return np.concatenate(classes) if classes else np.empty(0)
