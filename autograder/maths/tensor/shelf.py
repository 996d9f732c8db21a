"""What a question's reference is worth, kept for the next answer to the question.

An answer is decided the same with what is kept as without: whoever takes a value from the shelf pays what it cost to
compute, and has the notes that were taken then.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Collection, Hashable
from dataclasses import dataclass, field

from autograder.maths.tensor.number_systems import Array
from autograder.maths.tensor.values import Grid, Value

MOST_WORDS = 100_000  # of eight bytes, about, for one question
MOST_DRAWN = 16
BALL = 20  # words of an entry that is an object

# A tensor's name, the grids of its positions, and those of the context.
Key = tuple[str, tuple[Grid, ...], tuple[tuple[str, Grid], ...]]


@dataclass
class Bill:
    """What the computation of one tensor has cost so far, and the tensors that it has asked for."""

    cost: float = 0.0
    inside: list[Key] = field(default_factory=list)


@dataclass(frozen=True, kw_only=True)
class Shelved:
    """The value of a tensor. Its `cost` is without that of the tensors `inside`."""

    value: Value
    cost: float
    inside: tuple[Key, ...]
    notes: frozenset[object]

    @classmethod
    def of(cls, value: Value, bill: Bill, notes: Collection[object]) -> Shelved:
        """A value that has just been computed."""
        return cls(value=value, cost=bill.cost, inside=tuple(dict.fromkeys(bill.inside)), notes=frozenset(notes))


class Shelves:
    """All that is kept of one reference; what was not asked for longest goes first."""

    def __init__(self) -> None:
        self._found: OrderedDict[Hashable, Shelved] = OrderedDict()
        self._words = 0
        self._draws: OrderedDict[Hashable, Draws] = OrderedDict()

    def about(self, trial: Hashable) -> Shelf:
        """Of one trial: of tensors drawn so, on axes of such sizes."""
        return Shelf(self, trial)

    def get(self, place: Hashable) -> Shelved | None:
        """What lies there."""
        if place in self._found:
            self._found.move_to_end(place)
        return self._found.get(place)

    def put(self, place: Hashable, found: Shelved) -> None:
        """Keep it, unless it is too large."""
        words = words_of(found.value.array)
        if place in self._found or words > MOST_WORDS // 4:
            return
        self._found[place] = found
        self._words += words
        while self._words > MOST_WORDS:
            _, last = self._found.popitem(last=False)
            self._words -= words_of(last.value.array)

    def draws(self, drawn: Hashable) -> Draws:
        """The entries of given tensors, drawn so."""
        draws = self._draws.pop(drawn, None) or Draws()
        self._draws[drawn] = draws
        if len(self._draws) > MOST_DRAWN:
            self._draws.popitem(last=False)
        return draws


class Draws(dict[Hashable, Array]):
    """Entries that have been drawn; when they are many, all are forgotten."""

    words = 0

    def __setitem__(self, key: Hashable, array: Array) -> None:
        if self.words > MOST_WORDS:
            self.clear()
            self.words = 0
        self.words += words_of(array)
        super().__setitem__(key, array)


def words_of(array: Array) -> int:
    """About how much memory an array takes."""
    return int(array.size) * (BALL if array.dtype == object else 1)


@dataclass(frozen=True)
class Shelf:
    """What is kept of one trial."""

    shelves: Shelves
    trial: Hashable

    def get(self, key: Key) -> Shelved | None:
        """The value of a tensor, if it is here."""
        return self.shelves.get((self.trial, key))

    def put(self, key: Key, found: Shelved) -> None:
        """Keep it."""
        self.shelves.put((self.trial, key), found)
