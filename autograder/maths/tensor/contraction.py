"""Sums and products of one equation's body; a product that sums is contracted one variable at a time.

The variable that makes the smallest array goes first, so that a chain of matrices costs what a chain costs.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from autograder.maths.tensor.core_tree import Core, CoreIndex, Multiply
from autograder.maths.tensor.entries import Entries
from autograder.maths.tensor.number_systems import Array
from autograder.maths.tensor.values import LimitError, Value, union

if TYPE_CHECKING:
    pass


class Contraction(Entries):
    """The ring operations of one equation."""

    def add(self, terms: Sequence[tuple[int, Core]]) -> Value:
        """The signed sum."""
        values = [(sign, self.value(body)) for sign, body in terms]
        dims = union([value for _, value in values])
        self.shape(dims)
        total: Any = 0
        for sign, value in values:
            array = value.spread(dims)
            total = total + array if sign > 0 else total - array
        return Value(dims, self.arithmetic.reduce(np.asarray(total, dtype=self.arithmetic.dtype)))

    def times(self, first: Value, second: Value) -> Value:
        """The product of two, entry by entry."""
        dims = union([first, second])
        self.shape(dims)
        product = first.spread(dims) * second.spread(dims)
        return Value(dims, self.arithmetic.reduce(np.asarray(product, dtype=self.arithmetic.dtype)))

    def summed(self, value: Value, variable: str) -> Value:
        """The sum along one variable."""
        axis = value.dims.index(variable)
        array = np.add.reduce(value.array, axis=axis)
        dims = value.dims[:axis] + value.dims[axis + 1 :]
        return Value(dims, self.arithmetic.reduce(np.asarray(array, dtype=self.arithmetic.dtype)))

    def multiply(self, node: Multiply) -> Value:
        """The product of all factors, summed over its variables."""
        factors: list[Value] = []
        over: list[str] = []
        self._ranges(node)
        self._gather(node, factors, over)
        while over:
            variable = min(over, key=lambda name: self._cost(factors, name))
            over.remove(variable)
            touched = [factor for factor in factors if variable in factor.dims]
            factors = [factor for factor in factors if variable not in factor.dims]
            if touched and self.arithmetic.dtype is float:
                factors.append(self.contracted(touched, variable))
            elif touched:
                factors.append(self.summed(self.product(touched), variable))
            else:
                factors.append(self.scalar(len(self.grid(variable))))
        return self.product(factors)

    def _ranges(self, node: Multiply) -> None:
        """`sum_{Dt=0}^{2}` takes 0, 1, 2; the whole axis if that is its size and its start is not declared."""
        for factor in node.factors:
            if isinstance(factor, Multiply):
                self._ranges(factor)
        for variable, lower, upper in node.bounds:
            if self.owner.zero(self.meaning, variable):
                self._literal(variable, lower, upper)
                continue
            if lower is None or upper is None or lower.terms or upper.terms:
                continue
            size = upper.constant - lower.constant + 1
            if size > 100 or size < 1:
                raise LimitError("size", "this sum has too many terms, or none, to be computed here")
            if lower.constant not in (0, 1) or size != self.owner.stated(self.meaning, variable):
                self.local[variable] = tuple(range(lower.constant, upper.constant + 1))

    def _literal(self, variable: str, lower: CoreIndex | None, upper: CoreIndex | None) -> None:
        """Where an axis counts from zero, bounds made of numbers and sizes mean what they say, inside it or not."""
        grid = self.grid(variable)
        ends = [None if bound is None else self.index(bound) for bound in (lower, upper)]
        if any(end is not None and end[0] for end in ends):
            return  # a bound that depends on an index is left to the mask
        first, last = (int(grid[-n]) if end is None else int(end[1]) for n, end in enumerate(ends))
        if last - first > 100 or last < first:
            raise LimitError("size", "this sum has too many terms, or none, to be computed here")
        self.local[variable] = tuple(range(first, last + 1))

    def contracted(self, factors: Sequence[Value], variable: str) -> Value:
        """Floats have a contraction of their own."""
        dims = union(factors)
        kept = tuple(dim for dim in dims if dim != variable)
        self.shape(kept)
        operands: list[Any] = []
        for factor in factors:
            operands += [factor.array, [dims.index(dim) for dim in factor.dims]]
        array = np.einsum(*operands, [dims.index(dim) for dim in kept], optimize=len(factors) > 2)
        return Value(kept, np.asarray(array))

    def _gather(self, node: Multiply, factors: list[Value], over: list[str]) -> None:
        """Flatten products within the product; variables are unique, so sums can be done in any order."""
        over.extend(node.over)
        for factor in node.factors:
            if isinstance(factor, Multiply):
                self._gather(factor, factors, over)
            else:
                factors.append(self.value(factor))
        for variable, lower, upper in node.bounds:
            factors.append(self._mask(variable, lower, upper))

    def _cost(self, factors: Sequence[Value], variable: str) -> int:
        dims = union([factor for factor in factors if variable in factor.dims])
        return math.prod(len(self.grid(dim)) for dim in dims)

    def product(self, factors: Sequence[Value]) -> Value:
        """The product of values, small ones first."""
        ordered = sorted(factors, key=lambda factor: factor.array.size)
        result = ordered[0] if ordered else self.scalar(1)
        for factor in ordered[1:]:
            result = self.times(result, factor)
        return result

    def _mask(self, variable: str, lower: CoreIndex | None, upper: CoreIndex | None) -> Value:
        """One where lower <= variable <= upper, else zero; a lower 0 or 1 is the start of an axis that states none."""
        here = Value((variable,), np.array(self.grid(variable)))
        if lower is not None and upper is not None and not lower.terms and not upper.terms:
            lower = upper = None
        zero = self.owner.zero(self.meaning, variable)
        if lower is not None and not lower.terms and lower.constant in ((0,) if zero else (0, 1)):
            lower = None
        low = here if lower is None else self._bound(lower, zero)
        high = here if upper is None else self._bound(upper, zero)
        dims = union([here, low, high])
        middle = here.spread(dims)
        inside = (low.spread(dims) <= middle) & (middle <= high.spread(dims))
        pair: Array = np.empty(2, dtype=self.arithmetic.dtype)
        pair[:] = [self.arithmetic.constant(Fraction(0)), self.arithmetic.constant(Fraction(1))]
        return Value(dims, pair[np.broadcast_to(inside, self.shape(dims)).astype(int)])

    def _bound(self, bound: CoreIndex, zero: bool) -> Value:
        """A bound made of numbers and sizes counts from one, like the notation, or from zero where that is
        declared; variables count as their axis does.
        """
        dims, array = self.index(bound)
        return Value(dims, array if dims or zero else array + self.owner.start - 1)
