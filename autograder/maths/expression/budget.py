"""How much work one decision may cost, in operations, not seconds: no verdict depends on a machine's load."""

from __future__ import annotations

from autograder.maths.expression.arithmetic import Unclear

UNITS = 150_000


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
