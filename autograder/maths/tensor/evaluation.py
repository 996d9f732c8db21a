"""The value of a tensor on a grid of integer indices, own definitions inlined, in any of the arithmetics.

Values carry the names of their dimensions. A product that sums is contracted one summed variable at a time, the one
that makes the smallest array first; a definition is evaluated once per grid.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np

from .arithmetic import Arithmetic, Array
from .core import (
    Add,
    Apply,
    AxisSize,
    Constant,
    Core,
    CoreIndex,
    IndexValue,
    Integer,
    Join,
    Meaning,
    Multiply,
    Normalise,
    Raise,
    Read,
    Reciprocal,
    SizeIndex,
    Unknown,
    Variable,
    rational,
    reads,
    variables,
)

LARGEST = 400_000
Grid = tuple[int, ...]


class Exhausted(Exception):
    """A limit was reached, or there is no rule for what was asked: the decision is `undecided`, for this reason."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


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


class Evaluation:
    """All values of one system in one trial.

    `size` gives the number of entries of a variable's axis, `axis` that of an axis letter, `stated` that of a
    variable whose size the question fixes (else 0). Axes count from `start`.
    `context` fixes indices of the context. A recurrence reads its shifted entries as given, or unrolls from zeros
    before `start` with `unroll`; those of `private` tensors are nobody else's. `deadline` is a `time.monotonic()` value.
    """

    def __init__(
        self,
        meanings: Sequence[Meaning],
        arithmetic: Arithmetic,
        *,
        size: Callable[[Meaning, str], int],
        axis: Callable[[str], int],
        stated: Callable[[Meaning, str], int] = lambda meaning, name: 0,
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

    # -- definitions --------------------------------------------------------------------------------------------

    def tensor(self, name: str, grids: Sequence[Grid], context: Mapping[str, Grid]) -> Value:
        """A defined tensor on the product of the grids: dimensions "0", "1", … and the context variables it needs."""
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
            raise Exhausted("left_index", f"{name} is only defined for some of its indices")
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
                    raise Exhausted("left_index", "an index on the left side is a variable, perhaps plus a number")
        value = _Frame(self, meaning, local).value(meaning.body)
        dims = [*names, *sorted(dim for dim in value.dims if dim.startswith("@"))]
        shape = [len(local[dim]) for dim in dims]
        array = np.broadcast_to(value.spread(dims), shape)
        return Value(tuple([str(p) for p in range(len(names))] + dims[len(names) :]), array)

    def whole(self, meaning: Meaning, variable: str) -> Grid:
        """Every index along a variable's axis."""
        return tuple(range(self.start, self.start + self.size(meaning, variable)))

    def charge(self, entries: int) -> None:
        """Stop where the limits are."""
        if entries > self.largest:
            raise Exhausted("size", "this is too large to be computed here")
        self.spent += entries
        if self.spent > 20 * self.largest or time.monotonic() > self.deadline:
            raise Exhausted("time", "this takes too long to be decided here")


class _Frame:
    """The evaluation of one equation's body: variables have grids."""

    def __init__(self, owner: Evaluation, meaning: Meaning, local: dict[str, Grid]) -> None:
        self.owner = owner
        self.arithmetic = owner.arithmetic
        self.meaning = meaning
        self.local = local

    def grid(self, variable: str) -> Grid:
        if variable not in self.local:
            fixed = self.owner.fixed_context.get(variable[1:]) if variable.startswith("@") else None
            self.local[variable] = self.owner.whole(self.meaning, variable) if fixed is None else fixed
        return self.local[variable]

    def shape(self, dims: Sequence[str]) -> list[int]:
        shape = [len(self.grid(dim)) for dim in dims]
        self.owner.charge(math.prod(shape))
        return shape

    def scalar(self, value: Fraction | int) -> Value:
        array = np.empty((), dtype=self.arithmetic.dtype)
        array[()] = self.arithmetic.constant(Fraction(value))
        return Value((), array)

    def number(self, index: CoreIndex) -> Value:
        dims, integers = self.index(index)
        array = np.empty(integers.shape, dtype=self.arithmetic.dtype)
        array.ravel()[...] = [self.arithmetic.constant(Fraction(int(entry))) for entry in integers.ravel()]
        return Value(dims, array)

    def value(self, node: Core) -> Value:
        match node:
            case Constant(value=number):
                return self.scalar(number)
            case AxisSize(axis=axis):
                return self.scalar(self.owner.axis(axis))
            case IndexValue(index=index):
                return self.number(index)
            case Read():
                return self.read(node)
            case Add(terms=terms):
                return self.add(terms)
            case Multiply():
                return self.multiply(node)
            case Reciprocal(body=body):
                inside = self.value(body)
                return Value(inside.dims, self.arithmetic.reciprocal(inside.array))
            case Raise():
                return self.raised(node)
            case Normalise():
                return self.softmax(node)
            case Apply(function=function, arguments=arguments):
                return self.apply(function, [self.value(argument) for argument in arguments], node)
            case Unknown():
                return self.unknown(node)
            case Join():
                return self.join(node)

    # -- ring operations ----------------------------------------------------------------------------------------

    def add(self, terms: Sequence[tuple[int, Core]]) -> Value:
        values = [(sign, self.value(body)) for sign, body in terms]
        dims = _union([value for _, value in values])
        self.shape(dims)
        total: Any = 0
        for sign, value in values:
            array = value.spread(dims)
            total = total + array if sign > 0 else total - array
        return Value(dims, self.arithmetic.reduce(np.asarray(total, dtype=self.arithmetic.dtype)))

    def times(self, first: Value, second: Value) -> Value:
        dims = _union([first, second])
        self.shape(dims)
        product = first.spread(dims) * second.spread(dims)
        return Value(dims, self.arithmetic.reduce(np.asarray(product, dtype=self.arithmetic.dtype)))

    def summed(self, value: Value, variable: str) -> Value:
        axis = value.dims.index(variable)
        array = np.add.reduce(value.array, axis=axis)
        dims = value.dims[:axis] + value.dims[axis + 1 :]
        return Value(dims, self.arithmetic.reduce(np.asarray(array, dtype=self.arithmetic.dtype)))

    def multiply(self, node: Multiply) -> Value:
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
        """`sum_{Dt=0}^{2}` takes 0, 1, 2; the whole axis if that is its size, wherever it starts."""
        for factor in node.factors:
            if isinstance(factor, Multiply):
                self._ranges(factor)
        for variable, lower, upper in node.bounds:
            if lower is None or upper is None or lower.terms or upper.terms:
                continue
            size = upper.constant - lower.constant + 1
            if size > 100 or size < 1:
                raise Exhausted("size", "this sum has too many terms, or none, to be computed here")
            if lower.constant not in (0, 1) or size != self.owner.stated(self.meaning, variable):
                self.local[variable] = tuple(range(lower.constant, upper.constant + 1))

    def contracted(self, factors: Sequence[Value], variable: str) -> Value:
        """Floats have a contraction of their own."""
        dims = _union(factors)
        kept = tuple(dim for dim in dims if dim != variable)
        self.shape(kept)
        operands: list[Any] = []
        for factor in factors:
            operands += [factor.array, [dims.index(dim) for dim in factor.dims]]
        array = np.einsum(*operands, [dims.index(dim) for dim in kept], optimize=len(factors) > 2)
        return Value(kept, np.asarray(array))

    def _gather(self, node: Multiply, factors: list[Value], over: list[str]) -> None:
        """Flatten products within the product; variables are unique, so their sums can be done in any order."""
        over.extend(node.over)
        for factor in node.factors:
            if isinstance(factor, Multiply):
                self._gather(factor, factors, over)
            else:
                factors.append(self.value(factor))
        for variable, lower, upper in node.bounds:
            factors.append(self._mask(variable, lower, upper))

    def _cost(self, factors: Sequence[Value], variable: str) -> int:
        dims = _union([factor for factor in factors if variable in factor.dims])
        return math.prod(len(self.grid(dim)) for dim in dims)

    def product(self, factors: Sequence[Value]) -> Value:
        ordered = sorted(factors, key=lambda factor: factor.array.size)
        result = ordered[0] if ordered else self.scalar(1)
        for factor in ordered[1:]:
            result = self.times(result, factor)
        return result

    def _mask(self, variable: str, lower: CoreIndex | None, upper: CoreIndex | None) -> Value:
        """One where lower <= variable <= upper, else zero; a lower bound of 0 or 1 is the start of the axis."""
        here = Value((variable,), np.array(self.grid(variable)))
        if lower is not None and upper is not None and not lower.terms and not upper.terms:
            lower = upper = None
        if lower is not None and not lower.terms and lower.constant in (0, 1):
            lower = None
        low = here if lower is None else self._bound(lower)
        high = here if upper is None else self._bound(upper)
        dims = _union([here, low, high])
        middle = here.spread(dims)
        inside = (low.spread(dims) <= middle) & (middle <= high.spread(dims))
        pair = np.empty(2, dtype=self.arithmetic.dtype)
        pair[:] = [self.arithmetic.constant(Fraction(0)), self.arithmetic.constant(Fraction(1))]
        return Value(dims, pair[np.broadcast_to(inside, self.shape(dims)).astype(int)])

    def _bound(self, bound: CoreIndex) -> Value:
        """A bound made of numbers and sizes counts from one, like the notation; variables count as their axis does."""
        dims, array = self.index(bound)
        return Value(dims, array if dims else array + self.owner.start - 1)

    def raised(self, node: Raise) -> Value:
        exponent = rational(node.exponent)
        base = self.value(node.base)
        if exponent is None:
            return self.apply("pow", [base, self.value(node.exponent)], node)
        if abs(exponent.numerator) > 64 or exponent.denominator > 64:
            raise Exhausted("number", "an exponent is too large to be decided here")
        if exponent < 0:
            base = Value(base.dims, self.arithmetic.reciprocal(base.array))
            exponent = -exponent
        if exponent.denominator > 1:
            return Value(base.dims, self.arithmetic.root(base.array, exponent))
        result = self.scalar(1)
        for _ in range(exponent.numerator):
            result = self.times(result, base)
        return result

    # -- functions ----------------------------------------------------------------------------------------------

    def apply(self, function: str, values: Sequence[Value], node: Core) -> Value:
        dims = _union(values)
        self.shape(dims)
        self.arithmetic.site = node
        return Value(dims, self.arithmetic.apply(function, [value.spread(dims) for value in values]))

    def softmax(self, node: Normalise) -> Value:
        inside = self.value(node.body)
        power = self.apply("exp", [inside], node)
        total = power
        count = 1
        for variable in node.over:
            if variable in total.dims:
                total = self.summed(total, variable)
            else:
                count *= len(self.grid(variable))
        if count > 1:
            total = self.times(total, self.scalar(count))
        return self.times(power, Value(total.dims, self.arithmetic.reciprocal(total.array)))

    def unknown(self, node: Unknown) -> Value:
        """A random linear form of everything that the function is given, then a fixed non-linear function."""
        parts: list[tuple[int, Value]] = []
        for number, (whole, body) in enumerate(node.arguments):
            inside = self.value(body)
            total = self._form(f"?{node.name}/{number}", inside, whole, node.outputs)
            parts.append((1, total))
        dims = _union([value for _, value in parts])
        total_array: Any = 0
        for _, value in parts:
            total_array = total_array + value.spread(dims)
        array = self.arithmetic.reduce(np.asarray(total_array, dtype=self.arithmetic.dtype))
        return self.apply(f"?{node.name}", [Value(dims, array)], node)

    def _form(self, name: str, value: Value, whole: Sequence[str], outputs: Sequence[str]) -> Value:
        dims = (*whole, *outputs)
        grids = [Value((dim,), np.array(self.grid(dim))).spread(dims) for dim in dims]
        coefficients = self.arithmetic.entries(name, grids)
        total = self.times(value, Value(dims, np.broadcast_to(coefficients, self.shape(dims))))
        for variable in whole:
            total = self.summed(total, variable)
        return total

    def join(self, node: Join) -> Value:
        flat: list[Value] = []
        for head, axis, body in node.pieces:
            inside = self.value(body)
            rest = [dim for dim in inside.dims if dim not in (head, axis)]
            order = [*rest, *([head] if head else []), axis]
            array = np.broadcast_to(inside.spread(order), self.shape(order))
            flat.append(Value((*rest, node.output), array.reshape([*array.shape[: len(rest)], -1])))
        rest = [dim for dim in _union(flat) if dim != node.output]
        shape = self.shape(rest)
        arrays = [np.broadcast_to(f.spread([*rest, node.output]), [*shape, f.array.shape[-1]]) for f in flat]
        joined = np.concatenate(arrays, axis=-1)
        positions = np.array(self.grid(node.output)) - self.owner.start
        if positions.min() < 0 or positions.max() >= joined.shape[-1]:
            raise Exhausted("cat_axis", "the concatenation is used outside its range")
        return Value((*rest, node.output), joined[..., positions])

    # -- tensors ------------------------------------------------------------------------------------------------

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
        dims = _union([value for _, value in parts])
        total = np.full((1,) * len(dims), constant, dtype=np.int64)
        for coefficient, value in parts:
            total = total + coefficient * value.spread(dims)
        return dims, total

    def _positions(self, indices: Sequence[CoreIndex]) -> tuple[tuple[str, ...], list[Array]]:
        found = [Value(*self.index(index)) for index in indices]
        dims = _union(found)
        return dims, [value.spread(dims) for value in found]

    def read(self, node: Read) -> Value:
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
        if all(names) and len(set(names)) == len(names) and all(_rising(array) for _, array in found):
            return Value(tuple(names), whole.array)
        found += [((name,), np.array(self.grid(name))) for name in extra]
        grids += [self.grid(name) for name in extra]
        dims = _union([Value(*pair) for pair in found])
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


def _rising(array: Array) -> bool:
    flat = array.ravel().tolist()
    return all(first < second for first, second in pairwise(flat))


def _union(values: Sequence[Value]) -> tuple[str, ...]:
    dims: dict[str, None] = {}
    for value in values:
        dims.update(dict.fromkeys(value.dims))
    return tuple(dims)


def recurrent(definitions: Mapping[str, Sequence[Meaning]]) -> frozenset[str]:
    """The defined tensors that need themselves: `h` in `h[t] = f(h[t-1])`. Their shifted entries are given."""
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
