"""Which typed answers of a class are one answer: the same words, or equal by the judge's own decision.

Answers to other numbers are compared twice: as they stand, and with the numbers of the one variant put in the places
of the other's. So `2*x` where K is 2 and `3*x` where K is 3 are one answer.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from autograder.authoring import loading
from autograder.errors import AutograderError
from autograder.reporting.class_marks import Item, Pupil

Same = Callable[[Item, Mapping[str, Any], str, str], bool]  # whether two answers to an item are one, under parameters
_NUMBER = re.compile(r"(?<![\w.])\d+(?:\.\d+)?(?![\w.])")


def unnamed(people: Iterable[Pupil], item: Item) -> list[Pupil]:
    """Who has a wrong or undecided typed answer of one's own: no mistake that the problem lists, and no option."""
    found = []
    for pupil in people:
        mark = pupil.marks[item.name]
        lost = mark.points is not None and mark.points < item.maximum and mark.status == "graded"
        if (
            mark.typed.strip()
            and (lost or mark.status == "held")
            and not set(mark.codes) & item.mistakes
            and not item.options
        ):
            found.append(pupil)
    return found


def grouped(item: Item, people: Iterable[Pupil], same: Same | None = None) -> list[list[Pupil]]:
    """The people by their answer to an item, the largest group first; without `same`, equal words are equal."""
    texts: dict[str, list[Pupil]] = defaultdict(list)
    for pupil in people:
        texts[" ".join(pupil.marks[item.name].typed.split())].append(pupil)
    groups: list[list[Pupil]] = []
    for own in sorted(texts.values(), key=len, reverse=True):
        if (found := next((group for group in groups if same and _one(item, group[0], own[0], same)), None)) is None:
            groups.append(list(own))
        else:
            found += own
    return sorted(groups, key=len, reverse=True)


def _one(item: Item, pupil: Pupil, other: Pupil, same: Same) -> bool:
    mine, theirs = (person.parameters.get(item.notebook, {}) for person in (pupil, other))
    typed = pupil.marks[item.name].typed
    texts = dict.fromkeys((typed, with_numbers_of(typed, mine, theirs)))
    return any(same(item, theirs, text, other.marks[item.name].typed) for text in texts)


def with_numbers_of(typed: str, mine: Mapping[str, Any], theirs: Mapping[str, Any]) -> str:
    """A text with the numbers of another variant in the places of one's own; those that could be two stay."""
    moved: dict[str, set[str]] = defaultdict(set)
    for name in mine.keys() & theirs.keys():
        for old, new in _numbers(mine[name], theirs[name]):
            moved[old].add(new)
    return _NUMBER.sub(lambda found: min(moved[found[0]]) if len(moved.get(found[0], ())) == 1 else found[0], typed)


def _numbers(mine: Any, theirs: Any) -> Iterator[tuple[str, str]]:
    """The numbers that stand in the same place of two parameters, as texts."""
    if isinstance(mine, list | tuple) and isinstance(theirs, list | tuple) and len(mine) == len(theirs):
        for one, other in zip(mine, theirs, strict=True):
            yield from _numbers(one, other)
    elif all(isinstance(value, int | float) and not isinstance(value, bool) for value in (mine, theirs)):
        yield str(mine), str(theirs)


class Judged:
    """Whether two answers are one to the judge; `most` questions for an item, since a class may ask very many."""

    def __init__(self, problems: Path, most: int) -> None:
        self._problems, self._most = problems, most
        self._asked = Counter[str]()

    def __call__(self, item: Item, p: Mapping[str, Any], one: str, other: str) -> bool:
        """False where that cannot be said."""
        self._asked[item.name] += 1
        if not item.slug or self._asked[item.name] > self._most:
            return False
        try:
            return loading.load(item.slug, self._problems).part(item.part).same_answer(one, other, dict(p))
        except AutograderError:
            return False
