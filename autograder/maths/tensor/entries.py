"""The entries that an equation reads: indices as integers, definitions looked up on their grid, context
indices.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from autograder.maths.tensor.core_tree import Core, CoreIndex, Integer, Meaning, Read, SizeIndex, Variable
from autograder.maths.tensor.number_systems import Array
from autograder.maths.tensor.values import Grid, Value, rising, union

if TYPE_CHECKING:
    from autograder.maths.tensor.evaluation import Evaluation


class Entries:
    """One equation of an evaluation with the grids of its variables."""

    def __init__(self, owner: Evaluation, meaning: Meaning, local: dict[str, Grid]) -> None:
        self.owner = owner
        self.arithmetic = owner.arithmetic
        self.meaning = meaning
        self.local = local

    def grid(self, variable: str) -> Grid:
        """The integers that a variable takes."""
        if variable not in self.local:
            fixed = self.owner.fixed_context.get(variable[1:]) if variable.startswith("@") else None
            self.local[variable] = self.owner.whole(self.meaning, variable) if fixed is None else fixed
        return self.local[variable]

    def shape(self, dims: Sequence[str]) -> list[int]:
        """The lengths of dimensions, charged to the limits."""
        shape = [len(self.grid(dim)) for dim in dims]
        self.owner.charge(math.prod(shape))
        return shape

    def scalar(self, value: Fraction | int) -> Value:
        """A number."""
        array: Array = np.empty((), dtype=self.arithmetic.dtype)
        array[()] = self.arithmetic.constant(Fraction(value))
        return Value((), array)

    @abstractmethod
    def value(self, node: Core) -> Value:
        """What a node is worth."""

    def number(self, index: CoreIndex) -> Value:
        """An index as a number."""
        dims, integers = self.index(index)
        array: Array = np.empty(integers.shape, dtype=self.arithmetic.dtype)
        array.ravel()[...] = [self.arithmetic.constant(Fraction(int(entry))) for entry in integers.ravel()]
        return Value(dims, array)

    def index(self, index: CoreIndex) -> tuple[tuple[str, ...], Array]:
        """The integers that an index takes, over the variables in it."""
        parts: list[tuple[int, Value]] = []
        constant = index.constant
        for coefficient, atom in index.terms:
            match atom:
                case Variable(name=name):
                    parts.append((coefficient, Value((name,), np.array(self.grid(name)))))
                case SizeIndex(axis=axis):
                    constant += coefficient * self.owner.axis(axis)
                case Integer(name=name, indices=indices):
                    dims, arrays = self._positions(indices)
                    parts.append((coefficient, Value(dims, self.arithmetic.integers(name, arrays))))
        dims = union([value for _, value in parts])
        total = np.full((1,) * len(dims), constant, dtype=np.int64)
        for coefficient, value in parts:
            total = total + coefficient * value.spread(dims)
        return dims, total

    def _positions(self, indices: Sequence[CoreIndex]) -> tuple[tuple[str, ...], list[Array]]:
        found = [Value(*self.index(index)) for index in indices]
        dims = union(found)
        return dims, [value.spread(dims) for value in found]

    def read(self, node: Read) -> Value:
        """The entries of a tensor, given or defined."""
        owner = self.owner
        shifted = any(index.variable is None for index in node.indices)
        given = node.name in owner.recurrent and shifted and not owner.unroll
        if node.name not in owner.definitions or given:
            dims, arrays = self._positions(node.indices)
            name = f"own {node.name}" if node.name in owner.private else node.name
            array = self.arithmetic.entries(name, arrays)
            return Value(dims, np.broadcast_to(array, self.shape(dims)))
        found = [self.index(index) for index in node.indices]
        grids = [tuple(int(entry) for entry in np.unique(array)) for _, array in found]
        whole = self._unrolled(node, grids) if shifted else owner.tensor(node.name, grids, self._context())
        extra = [self._local_context(dim) for dim in whole.dims[len(grids) :]]
        names = [index.variable or "" for index in node.indices] + extra
        if all(names) and len(set(names)) == len(names) and all(rising(array) for _, array in found):
            return Value(tuple(names), whole.array)
        found += [((name,), np.array(self.grid(name))) for name in extra]
        grids += [self.grid(name) for name in extra]
        dims = union([Value(*pair) for pair in found])
        places = [
            np.searchsorted(np.array(grid), Value(*pair).spread(dims)) for grid, pair in zip(grids, found, strict=True)
        ]
        return Value(dims, np.broadcast_to(whole.array[tuple(places)], self.shape(dims)))

    def _unrolled(self, node: Read, grids: Sequence[Grid]) -> Value:
        """A defined tensor at shifted indices; in a recurrence that is unrolled, zero before the start."""
        owner, start = self.owner, self.owner.start
        if node.name not in owner.recurrent:
            return owner.tensor(node.name, grids, self._context())
        inside = [tuple(entry for entry in grid if entry >= start) for grid in grids]
        shape = [len(grid) for grid in grids]
        if not all(inside):
            return Value(tuple(str(p) for p in range(len(grids))), np.zeros(shape))
        part = owner.tensor(node.name, inside, self._context())
        extra = part.array.shape[len(grids) :]
        array = np.zeros([*shape, *extra])
        places = [[p for p, entry in enumerate(grid) if entry >= start] for grid in grids]
        array[np.ix_(*places, *(range(size) for size in extra))] = part.array
        return Value(part.dims, array)

    def _context(self) -> dict[str, Grid]:
        """The context that a definition read from here sees: this equation's own t, where it has one."""
        return {key: self.grid(self._local_context(f"@{key}")) for key in self.owner.context_keys}

    def _local_context(self, dim: str) -> str:
        return dim[1:] if dim[1:] in self.meaning.free else dim
