"""How much work one decision may cost, in operations, not seconds: no verdict depends on a machine's load."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

from autograder.maths.expression.arithmetic import Unclear

UNITS = 150_000
Found = TypeVar("Found")


class Exhausted(Exception):  # named for what happened
    """The decision has cost what it may cost."""


class Expensive(Unclear):
    """A sum that converges too slowly at this point to be added up."""


class Budget:
    """Operations left, weighted by their precision."""

    def __init__(self, units: float = UNITS) -> None:
        self.left = units

    def spend(self, operations: int, precision: int) -> None:
        """Pay for `operations` at `precision` bits."""
        self.left -= operations * (precision / 384) ** 1.5
        if self.left < 0:
            raise Exhausted


class Paid(Generic[Found]):
    """What was found before, and what it has cost: whoever asks again pays the same, and does not wait for it.

    So nothing depends on what was asked before. What exhausts a budget is computed to where it does.
    """

    def __init__(self, most: int = 4096) -> None:
        self.kept: dict[Hashable, tuple[Found, float]] = {}
        self.most = most

    def once(self, key: Hashable, budget: Budget, find: Callable[[], Found]) -> Found:
        """What `find` gives for this key, on which alone it depends."""
        found, cost = self.kept.get(key, (None, 0.0))
        if found is not None and cost <= budget.left:
            budget.left -= cost
            return found
        before = budget.left
        found = find()
        if found is not None and budget.left >= 0:
            while len(self.kept) >= self.most:
                self.kept.pop(next(iter(self.kept)), None)
            self.kept[key] = found, before - budget.left
        return found
