"""The value of a tensor on a grid of integer indices, own definitions inlined, in any of the arithmetics.

A definition is evaluated once per grid and kept; what an equation's body is worth is `frame`'s affair.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from autograder.maths.tensor.core_tree import Meaning, Variable, reads, variables
from autograder.maths.tensor.frame import Frame
from autograder.maths.tensor.number_systems import Arithmetic
from autograder.maths.tensor.values import Grid, LimitError, Value

LARGEST = 400_000


def _unstated(_meaning: Meaning, _name: str) -> int:
    return 0


def _nowhere(_meaning: Meaning, _name: str) -> bool:
    return False


class Evaluation:
    """All values of one system in one trial.

    `size` gives the number of entries of a variable's axis, `axis` that of an axis letter, `stated` that of a
    variable whose size the question fixes (else 0). Axes count from `start`, those of `zero` variables from 0.
    `context` fixes indices of the context. A recurrence reads its shifted entries as given, or unrolls from
    zeros before `start` with `unroll`; those of `private` tensors are nobody else's. `deadline` is a
    `time.monotonic()` value.
    """

    def __init__(
        self,
        meanings: Sequence[Meaning],
        arithmetic: Arithmetic,
        *,
        size: Callable[[Meaning, str], int],
        axis: Callable[[str], int],
        stated: Callable[[Meaning, str], int] = _unstated,
        zero: Callable[[Meaning, str], bool] = _nowhere,
        deadline: float = math.inf,
        context: Mapping[str, Grid] | None = None,
        start: int = 1,
        largest: int = LARGEST,
        unroll: bool = False,
        private: frozenset[str] = frozenset(),
    ) -> None:
        self.arithmetic = arithmetic
        self.size = size
        self.axis = axis
        self.stated = stated
        self.zero = zero
        self.deadline = deadline
        self.start = start
        self.largest = largest
        self.unroll = unroll
        self.private = private
        self.fixed_context = dict(context or {})
        self.definitions: dict[str, list[Meaning]] = {}
        for meaning in meanings:
            self.definitions.setdefault(meaning.name, []).append(meaning)
        self.recurrent = recurrent(self.definitions)
        self.context_keys = {name[1:] for m in meanings for name in variables(m.body) if name.startswith("@")}
        self.memo: dict[tuple[object, ...], Value] = {}
        self.spent = 0

    # -- definitions

    def tensor(self, name: str, grids: Sequence[Grid], context: Mapping[str, Grid]) -> Value:
        """A defined tensor on the product of the grids: dimensions "0", "1", … and the context variables it
        needs.
        """
        key = (name, tuple(grids), tuple(sorted(context.items())))
        if key not in self.memo:
            self.memo[key] = self.link(self._choose(name, grids), grids, context)
        return self.memo[key]

    def _choose(self, name: str, grids: Sequence[Grid]) -> Meaning:
        """The equation for these indices: `h[0,J] = …` before `h[t,J] = …`."""
        for meaning in self.definitions[name]:
            fixed = [(i, index.constant) for i, index in enumerate(meaning.left) if not index.terms]
            if fixed and all(set(grids[i]) == {number} for i, number in fixed):
                return meaning
        general = [m for m in self.definitions[name] if all(index.terms for index in m.left)]
        if not general:
            raise LimitError("left_index", f"{name} is only defined for some of its indices")
        return general[-1]

    def link(self, meaning: Meaning, grids: Sequence[Grid], context: Mapping[str, Grid]) -> Value:
        """One link of an equation on the product of the grids."""
        local = {f"@{key}": grid for key, grid in context.items()}
        names = []
        for position, (index, grid) in enumerate(zip(meaning.left, grids, strict=True)):
            if not index.terms:
                names.append(f"={position}")
                local[f"={position}"] = grid
                continue
            match index.terms:
                case ((1, Variable(name=name)),):
                    local[name] = tuple(entry - index.constant for entry in grid)
                    names.append(name)
                case _:
                    raise LimitError("left_index", "an index on the left side is a variable, perhaps plus a number")
        value = Frame(self, meaning, local).value(meaning.body)
        dims = [*names, *sorted(dim for dim in value.dims if dim.startswith("@"))]
        shape = [len(local[dim]) for dim in dims]
        array = np.broadcast_to(value.spread(dims), shape)
        return Value(tuple([str(p) for p in range(len(names))] + dims[len(names) :]), array)

    def whole(self, meaning: Meaning, variable: str) -> Grid:
        """Every index along a variable's axis."""
        start = 0 if self.zero(meaning, variable) else self.start
        return tuple(range(start, start + self.size(meaning, variable)))

    def charge(self, entries: int) -> None:
        """Stop where the limits are."""
        if entries > self.largest:
            raise LimitError("size", "this is too large to be computed here")
        self.spent += entries
        if self.spent > 20 * self.largest or time.monotonic() > self.deadline:
            raise LimitError("time", "this takes too long to be decided here")


def recurrent(definitions: Mapping[str, Sequence[Meaning]]) -> frozenset[str]:
    """The defined tensors that need themselves, as h does in `h[t] = f(h[t-1])`."""
    needs = {
        name: {read.name for meaning in meanings for read in reads(meaning.body)} & set(definitions)
        for name, meanings in definitions.items()
    }
    found = set()
    for name in needs:
        reached, waiting = set(), list(needs[name])
        while waiting:
            other = waiting.pop()
            if other not in reached:
                reached.add(other)
                waiting.extend(needs[other])
        if name in reached:
            found.add(name)
    return frozenset(found)
