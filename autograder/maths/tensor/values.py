"""Arrays whose dimensions are variables, and the reason why an evaluation stopped."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

import numpy as np

from autograder.maths.tensor.number_systems import Array

Grid = tuple[int, ...]
OPERATIONS = 1_500_000


class LimitError(Exception):
    """A limit was reached, or there is no rule for what was asked: the decision is `undecided`, for this
    reason.
    """

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


class Budget:
    """What all evaluations of one decision may cost, in operations on large integers, not in seconds: no verdict
    depends on a machine's load.
    """

    def __init__(self, operations: float = OPERATIONS) -> None:
        self.left = operations

    def spend(self, operations: float) -> None:
        """Pay for `operations`; raises LimitError where that many are not left."""
        self.left -= operations
        if self.left < 0:
            raise LimitError("time", "this takes too long to be decided here")


@dataclass(frozen=True, slots=True)
class Value:
    """An array whose dimensions are variables."""

    dims: tuple[str, ...]
    array: Array

    def spread(self, dims: Sequence[str]) -> Array:
        """The array with the dimensions `dims`, of length one where it has none."""
        if self.dims == tuple(dims):
            return self.array
        array = np.asarray(self.array, dtype=None)
        order = [self.dims.index(dim) for dim in dims if dim in self.dims]
        array = array.transpose(order)
        return array.reshape([array.shape[order.index(self.dims.index(d))] if d in self.dims else 1 for d in dims])


@lru_cache(maxsize=1024)
def rising(grid: Grid) -> bool:
    """Whether the entries grow strictly."""
    return all(first < second for first, second in pairwise(grid))


def union(values: Sequence[Value]) -> tuple[str, ...]:
    """The dimensions of all, each once."""
    dims: dict[str, None] = {}
    for value in values:
        dims.update(dict.fromkeys(value.dims))
    return tuple(dims)
