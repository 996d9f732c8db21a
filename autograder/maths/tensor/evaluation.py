"""The value of a tensor on a grid of integer indices, own definitions inlined, in any of the arithmetics.

An `Evaluation` looks up definitions and keeps each on its grid; a `Body` is one equation whose variables have grids,
evaluated node by node.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from autograder.maths.tensor.core_tree import (
    Add,
    Apply,
    AxisSize,
    Constant,
    Core,
    CoreIndex,
    IndexValue,
    Indicator,
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
    reached,
    reads,
    variables,
)
from autograder.maths.tensor.number_systems import Arithmetic, Array
from autograder.maths.tensor.shelf import Bill, Key, Shelf, Shelved
from autograder.maths.tensor.values import Budget, Grid, LimitError, Value, rising, union

LARGEST = 400_000
_COMPARED = {"<": np.less, "<=": np.less_equal, "=": np.equal, "!=": np.not_equal}


@dataclass(frozen=True, kw_only=True)
class Options:
    """What an evaluation knows beside the equations.

    `size` gives the number of entries of a variable's axis, `axis` that of an axis letter, `stated` that of a
    variable whose size the question fixes (else 0). Axes count from `start`, those of `zero` variables from 0.
    `context` fixes indices of the context. A recurrence reads its shifted entries as given, or unrolls from
    zeros before `start` with `unroll`; those of `private` tensors are nobody else's. `budget` pays for all entries,
    `largest` is the most of one array.
    """

    size: Callable[[Meaning, str], int]
    axis: Callable[[str], int]
    stated: Callable[[Meaning, str], int] = lambda meaning, name: 0
    zero: Callable[[Meaning, str], bool] = lambda meaning, name: False
    budget: Budget | None = None
    context: Mapping[str, Grid] = field(default_factory=dict)
    start: int = 1
    largest: int = LARGEST
    unroll: bool = False
    private: frozenset[str] = frozenset()


class Evaluation:
    """All values of one system in one trial."""

    def __init__(
        self, meanings: Sequence[Meaning], arithmetic: Arithmetic, options: Options, shelf: Shelf | None = None
    ) -> None:
        self.arithmetic = arithmetic
        self.shelf = shelf
        self.open = Bill()  # of the tensor that is being computed
        self.options = options
        self.definitions: dict[str, list[Meaning]] = {}
        for meaning in meanings:
            self.definitions.setdefault(meaning.name, []).append(meaning)
        self.recurrent = recurrent(self.definitions)
        self.context_keys = {name[1:] for m in meanings for name in variables(m.body) if name.startswith("@")}
        self.memo: dict[Key, Value] = {}
        self.budget = options.budget or Budget(20 * options.largest)

    def tensor(self, name: str, grids: Sequence[Grid], context: Mapping[str, Grid]) -> Value:
        """A defined tensor on the product of the grids: dimensions "0", "1", … and the context variables it
        needs.
        """
        key = (name, tuple(grids), tuple(sorted(context.items())))
        self.open.inside.append(key)
        if key not in self.memo:
            self.memo[key] = self._computed(*key) if self.shelf is None else self._shelved(self.shelf, key)
        return self.memo[key]

    def _computed(self, name: str, grids: Sequence[Grid], context: Sequence[tuple[str, Grid]]) -> Value:
        return self.link(self._choose(name, grids), grids, dict(context))

    def _shelved(self, shelf: Shelf, key: Key) -> Value:
        """From the shelf, for the same price and with the same notes; what is not there is computed and put there."""
        if (found := shelf.get(key)) is not None:
            self.budget.spend(found.cost)
            self.arithmetic.notes |= found.notes
            for name, grids, context in found.inside:
                self.tensor(name, grids, dict(context))
            return found.value
        outer, notes = self.open, self.arithmetic.notes
        self.open, self.arithmetic.notes = Bill(), set()
        try:
            value = self._computed(*key)
            shelf.put(key, Shelved.of(value, self.open, self.arithmetic.notes))
        finally:
            self.open, self.arithmetic.notes = outer, notes | self.arithmetic.notes
        return value

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
        value = Body(self, meaning, local).value(meaning.body)
        dims = [*names, *sorted(dim for dim in value.dims if dim.startswith("@"))]
        shape = [len(local[dim]) for dim in dims]
        array = np.broadcast_to(value.spread(dims), shape)
        return Value(tuple([str(p) for p in range(len(names))] + dims[len(names) :]), array)

    def whole(self, meaning: Meaning, variable: str) -> Grid:
        """Every index along a variable's axis."""
        start = 0 if self.options.zero(meaning, variable) else self.options.start
        return tuple(range(start, start + self.options.size(meaning, variable)))

    def charge(self, entries: int) -> None:
        """Stop where the limits are."""
        if entries > self.options.largest:
            raise LimitError("size", "this is too large to be computed here")
        self.open.cost += entries * self.arithmetic.cost
        self.budget.spend(entries * self.arithmetic.cost)


class Body:
    """One equation's body: what it is worth where each of its variables takes the integers of its grid.

    A product that sums is contracted one variable at a time. The variable that makes the smallest array goes first, so
    that a chain of matrices costs what a chain costs.
    """

    def __init__(self, owner: Evaluation, meaning: Meaning, local: dict[str, Grid]) -> None:
        self.owner = owner
        self.arithmetic = owner.arithmetic
        self.options = owner.options
        self.meaning = meaning
        self.local = local

    def value(self, node: Core) -> Value:
        """What a node is worth."""
        match node:
            case Constant(value=number):
                return self._scalar(number)
            case AxisSize(axis=axis):
                return self._scalar(self.options.axis(axis))
            case IndexValue(index=index):
                return self._number(index)
            case Indicator():
                return self._compared(node)
            case Read():
                return self._read(node)
            case Add(terms=terms):
                return self._add(terms)
            case Multiply():
                return self._multiply(node)
            case Reciprocal(body=body):
                inside = self.value(body)
                return Value(inside.dims, self.arithmetic.reciprocal(inside.array))
            case Raise():
                return self._raised(node)
            case Normalise():
                return self._softmax(node)
            case Apply(function=function, arguments=arguments):
                return self._apply(function, [self.value(argument) for argument in arguments], node)
            case Unknown():
                return self._unknown(node)
            case Join():
                return self._join(node)

    # -- leaves

    def _scalar(self, value: Fraction | int) -> Value:
        """A number."""
        array: Array = np.empty((), dtype=self.arithmetic.dtype)
        array[()] = self.arithmetic.constant(Fraction(value))
        return Value((), array)

    def _number(self, index: CoreIndex) -> Value:
        """An index as a number."""
        dims, integers = self._index(index)
        array: Array = np.empty(integers.shape, dtype=self.arithmetic.dtype)
        array.ravel()[...] = [self.arithmetic.constant(Fraction(int(entry))) for entry in integers.ravel()]
        return Value(dims, array)

    def _index(self, index: CoreIndex) -> tuple[tuple[str, ...], Array]:
        """The integers that an index takes, over the variables in it."""
        if index.variable is not None:
            return (index.variable,), np.array(self._grid(index.variable))
        parts: list[tuple[int, Value]] = []
        constant = index.constant
        for coefficient, atom in index.terms:
            match atom:
                case Variable(name=name):
                    parts.append((coefficient, Value((name,), np.array(self._grid(name)))))
                case SizeIndex(axis=axis):
                    constant += coefficient * self.options.axis(axis)
                case Integer(name=name, indices=indices):
                    dims, arrays = self._positions(indices)
                    parts.append((coefficient, Value(dims, self.arithmetic.integers(name, arrays))))
        dims = union([value for _, value in parts])
        total = np.full((1,) * len(dims), constant, dtype=np.int64)
        for coefficient, value in parts:
            total = total + coefficient * value.spread(dims)
        return dims, total

    def _positions(self, indices: Sequence[CoreIndex]) -> tuple[tuple[str, ...], list[Array]]:
        found = [Value(*self._index(index)) for index in indices]
        dims = union(found)
        return dims, [value.spread(dims) for value in found]

    def _read(self, node: Read) -> Value:
        """The entries of a tensor, given or defined."""
        owner = self.owner
        variables = tuple([index.variable for index in node.indices if index.variable is not None])
        shifted = len(variables) < len(node.indices)
        plain = not shifted and len(set(variables)) == len(variables)
        given = node.name in owner.recurrent and shifted and not self.options.unroll
        if node.name not in owner.definitions or given:
            name = f"own {node.name}" if node.name in self.options.private else node.name
            if plain:
                self._shape(variables)
                return Value(variables, self.arithmetic.product(name, tuple(map(self._grid, variables))))
            dims, arrays = self._positions(node.indices)
            array = self.arithmetic.entries(name, arrays)
            return Value(dims, np.broadcast_to(array, self._shape(dims)))
        if plain and all(map(rising, wholes := [self._grid(name) for name in variables])):
            whole = owner.tensor(node.name, wholes, self._context())
            if len(whole.dims) == len(wholes):
                return Value(variables, whole.array)
        found = [self._index(index) for index in node.indices]
        grids = [tuple(int(entry) for entry in np.unique(array)) for _, array in found]
        whole = self._unrolled(node, grids) if shifted else owner.tensor(node.name, grids, self._context())
        extra = [self._local_context(dim) for dim in whole.dims[len(grids) :]]
        names = [index.variable or "" for index in node.indices] + extra
        if (
            all(names)
            and len(set(names)) == len(names)
            and all(rising(tuple(array.ravel().tolist())) for _, array in found)
        ):
            return Value(tuple(names), whole.array)
        found += [((name,), np.array(self._grid(name))) for name in extra]
        grids += [self._grid(name) for name in extra]
        dims = union([Value(*pair) for pair in found])
        places = [
            np.searchsorted(np.array(grid), Value(*pair).spread(dims)) for grid, pair in zip(grids, found, strict=True)
        ]
        return Value(dims, np.broadcast_to(whole.array[tuple(places)], self._shape(dims)))

    def _unrolled(self, node: Read, grids: Sequence[Grid]) -> Value:
        """A defined tensor at shifted indices; in a recurrence that is unrolled, zero before the start."""
        owner, start = self.owner, self.options.start
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
        return {key: self._grid(self._local_context(f"@{key}")) for key in self.owner.context_keys}

    def _local_context(self, dim: str) -> str:
        return dim[1:] if dim[1:] in self.meaning.free else dim

    # -- sums and products

    def _add(self, terms: Sequence[tuple[int, Core]]) -> Value:
        """The signed sum."""
        values = [(sign, self.value(body)) for sign, body in terms]
        dims = union([value for _, value in values])
        self._shape(dims)
        return Value(dims, self.arithmetic.added([(sign, value.spread(dims)) for sign, value in values]))

    def _times(self, first: Value, second: Value) -> Value:
        """The product of two, entry by entry."""
        dims = union([first, second])
        self._shape(dims)
        return Value(dims, self.arithmetic.times(first.spread(dims), second.spread(dims)))

    def _summed(self, value: Value, variable: str) -> Value:
        """The sum along one variable."""
        axis = value.dims.index(variable)
        dims = value.dims[:axis] + value.dims[axis + 1 :]
        return Value(dims, self.arithmetic.along(value.array, axis))

    def _multiply(self, node: Multiply) -> Value:
        """The product of all factors, summed over its variables."""
        factors: list[Value] = []
        over: list[str] = []
        self._ranges(node)
        self._gather(node, factors, over)
        costs = {name: self._cost(factors, name) for name in over}
        while over:
            variable = min(over, key=costs.__getitem__)
            over.remove(variable)
            touched = [factor for factor in factors if variable in factor.dims]
            factors = [factor for factor in factors if variable not in factor.dims]
            if touched and self.arithmetic.dtype is float:
                factors.append(self._contracted(touched, variable))
            elif touched:
                factors.append(self._summed(self._product(touched), variable))
            else:
                factors.append(self._scalar(len(self._grid(variable))))
            changed = {variable, *factors[-1].dims}  # no other variable stands where it did not
            costs |= {name: self._cost(factors, name) for name in over if name in changed}
        return self._product(factors)

    def _ranges(self, node: Multiply) -> None:
        """`sum_{Dt=0}^{2}` takes 0, 1, 2; the whole axis if that is its size and its start is not declared."""
        for factor in node.factors:
            if isinstance(factor, Multiply):
                self._ranges(factor)
        for variable, lower, upper in node.bounds:
            if self.options.zero(self.meaning, variable):
                self._literal(variable, lower, upper)
                continue
            if lower is None or upper is None or lower.terms or upper.terms:
                continue
            size = upper.constant - lower.constant + 1
            if size > 100 or size < 1:
                raise LimitError("size", "this sum has too many terms, or none, to be computed here")
            if lower.constant not in (0, 1) or size != self.options.stated(self.meaning, variable):
                self.local[variable] = tuple(range(lower.constant, upper.constant + 1))

    def _literal(self, variable: str, lower: CoreIndex | None, upper: CoreIndex | None) -> None:
        """Where an axis counts from zero, bounds made of numbers and sizes mean what they say, inside it or not."""
        grid = self._grid(variable)
        low, high = (None if bound is None else self._index(bound) for bound in (lower, upper))
        if (low and low[0]) or (high and high[0]):
            return  # a bound that depends on an index is left to the mask
        first = int(low[1]) if low else grid[0]
        last = int(high[1]) if high else grid[-1]
        if last - first > 100 or last < first:
            raise LimitError("size", "this sum has too many terms, or none, to be computed here")
        self.local[variable] = tuple(range(first, last + 1))

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
        return math.prod(len(self._grid(dim)) for dim in dims)

    def _contracted(self, factors: Sequence[Value], variable: str) -> Value:
        """Floats have a contraction of their own."""
        dims = union(factors)
        kept = tuple(dim for dim in dims if dim != variable)
        self._shape(kept)
        operands: list[Any] = []
        for factor in factors:
            operands += [factor.array, [dims.index(dim) for dim in factor.dims]]
        array = np.einsum(*operands, [dims.index(dim) for dim in kept], optimize=len(factors) > 2)
        return Value(kept, np.asarray(array))

    def _product(self, factors: Sequence[Value]) -> Value:
        """The product of values, small ones first."""
        ordered = sorted(factors, key=lambda factor: factor.array.size)
        result = ordered[0] if ordered else self._scalar(1)
        for factor in ordered[1:]:
            result = self._times(result, factor)
        return result

    def _mask(self, variable: str, lower: CoreIndex | None, upper: CoreIndex | None) -> Value:
        """One where lower <= variable <= upper, else zero; a lower 0 or 1 is the start of an axis that states none."""
        here = Value((variable,), np.array(self._grid(variable)))
        if lower is not None and upper is not None and not lower.terms and not upper.terms:
            lower = upper = None
        zero = self.options.zero(self.meaning, variable)
        if lower is not None and not lower.terms and lower.constant in ((0,) if zero else (0, 1)):
            lower = None
        low = here if lower is None else self._bound(lower, zero)
        high = here if upper is None else self._bound(upper, zero)
        dims = union([here, low, high])
        middle = here.spread(dims)
        inside = (low.spread(dims) <= middle) & (middle <= high.spread(dims))
        pair: Array = np.empty(2, dtype=self.arithmetic.dtype)
        pair[:] = [self.arithmetic.constant(Fraction(0)), self.arithmetic.constant(Fraction(1))]
        return Value(dims, pair[np.broadcast_to(inside, self._shape(dims)).astype(int)])

    def _compared(self, node: Indicator) -> Value:
        """One where the indices compare as the sign says, else zero."""
        sequences = {a.name for side in (node.left, node.right) for _, a in side.terms if isinstance(a, Integer)}
        if not sequences <= set(self.arithmetic.ranges):
            raise LimitError("indicator", "a comparison with an integer sequence whose axis is not known")
        names = variables(node.left) | variables(node.right)
        zero = any(self.options.zero(self.meaning, name) for name in names)
        left, right = self._bound(node.left, zero), self._bound(node.right, zero)
        dims = union([left, right])
        holds = _COMPARED[node.sign](left.spread(dims), right.spread(dims))
        if (node.left.constant or node.right.constant) and (holds.all() or not holds.any()):
            raise LimitError("indicator", "a comparison with a number that no drawn axis reaches")
        pair: Array = np.empty(2, dtype=self.arithmetic.dtype)
        pair[:] = [self.arithmetic.constant(Fraction(0)), self.arithmetic.constant(Fraction(1))]
        return Value(dims, pair[np.broadcast_to(holds, self._shape(dims)).astype(int)])

    def _bound(self, bound: CoreIndex, zero: bool) -> Value:
        """A bound made of numbers and sizes counts from one, like the notation, or from zero where that is
        declared; variables count as their axis does.
        """
        dims, array = self._index(bound)
        return Value(dims, array if dims or zero else array + self.options.start - 1)

    # -- the other nodes

    def _raised(self, node: Raise) -> Value:
        """A power: repeated products, a root, or a function of two arguments."""
        exponent = rational(node.exponent)
        base = self.value(node.base)
        if exponent is None:
            return self._apply("pow", [base, self.value(node.exponent)], node)
        if abs(exponent.numerator) > 64 or exponent.denominator > 64:
            raise LimitError("number", "an exponent is too large to be decided here")
        if exponent < 0:
            base = Value(base.dims, self.arithmetic.reciprocal(base.array))
            exponent = -exponent
        if exponent.denominator > 1:
            return Value(base.dims, self.arithmetic.root(base.array, exponent))
        result = self._scalar(1)
        for _ in range(exponent.numerator):
            result = self._times(result, base)
        return result

    def _apply(self, function: str, values: Sequence[Value], node: Core) -> Value:
        """A function of values, entry by entry."""
        dims = union(values)
        self._shape(dims)
        self.arithmetic.site = node
        return Value(dims, self.arithmetic.apply(function, [value.spread(dims) for value in values]))

    def _softmax(self, node: Normalise) -> Value:
        """exp of the body over its sum along the variables: along the whole axis, also where one entry is read.

        That entry may lie beyond the axis: an integer sequence that says which one takes any numbers.
        """
        wholes = {name: self.owner.whole(self.meaning, name) for name in node.over if not name.startswith("@")}
        asked = {name: self._grid(name) for name in wholes if set(self._grid(name)) != set(wholes[name])}
        power = self._apply("exp", [self.value(node.body)], node)
        self.local |= {name: wholes[name] for name in asked}
        total = self._apply("exp", [self.value(node.body)], node) if asked else power
        count = 1
        for variable in node.over:
            if variable in total.dims:
                total = self._summed(total, variable)
            else:
                count *= len(self._grid(variable))
        if count > 1:
            total = self._times(total, self._scalar(count))
        self.local |= asked
        return self._times(power, Value(total.dims, self.arithmetic.reciprocal(total.array)))

    def _unknown(self, node: Unknown) -> Value:
        """A random linear form of everything that the function is given, then a fixed non-linear function."""
        parts: list[Value] = []
        for number, (whole, body) in enumerate(node.arguments):
            parts.append(self._form(f"?{node.name}/{number}", self.value(body), whole, node.outputs))
        dims = union(parts)
        array = self.arithmetic.added([(1, value.spread(dims)) for value in parts])
        return self._apply(f"?{node.name}", [Value(dims, array)], node)

    def _form(self, name: str, value: Value, whole: Sequence[str], outputs: Sequence[str]) -> Value:
        dims = (*whole, *outputs)
        grids = [Value((dim,), np.array(self._grid(dim))).spread(dims) for dim in dims]
        coefficients = self.arithmetic.entries(name, grids)
        total = self._times(value, Value(dims, np.broadcast_to(coefficients, self._shape(dims))))
        for variable in whole:
            total = self._summed(total, variable)
        return total

    def _join(self, node: Join) -> Value:
        """The pieces one after the other, head-major."""
        flat: list[Value] = []
        for head, axis, body in node.pieces:
            inside = self.value(body)
            rest = [dim for dim in inside.dims if dim not in (head, axis)]
            order = [*rest, *([head] if head else []), axis]
            array = np.broadcast_to(inside.spread(order), self._shape(order))
            flat.append(Value((*rest, node.output), array.reshape([*array.shape[: len(rest)], -1])))
        rest = [dim for dim in union(flat) if dim != node.output]
        shape = self._shape(rest)
        arrays = [np.broadcast_to(f.spread([*rest, node.output]), [*shape, f.array.shape[-1]]) for f in flat]
        joined = np.concatenate(arrays, axis=-1)
        positions = np.array(self._grid(node.output)) - self.options.start
        if positions.min() < 0 or positions.max() >= joined.shape[-1]:
            raise LimitError("cat_axis", "the concatenation is used outside its range")
        return Value((*rest, node.output), joined[..., positions])

    # -- grids

    def _grid(self, variable: str) -> Grid:
        """The integers that a variable takes."""
        if variable not in self.local:
            fixed = self.options.context.get(variable[1:]) if variable.startswith("@") else None
            self.local[variable] = self.owner.whole(self.meaning, variable) if fixed is None else fixed
        return self.local[variable]

    def _shape(self, dims: Sequence[str]) -> list[int]:
        """The lengths of dimensions, charged to the limits."""
        shape = [len(self._grid(dim)) for dim in dims]
        self.owner.charge(math.prod(shape))
        return shape


def recurrent(definitions: Mapping[str, Sequence[Meaning]]) -> frozenset[str]:
    """The defined tensors that need themselves, as h does in `h[t] = f(h[t-1])`."""
    needs = {
        name: {read.name for meaning in meanings for read in reads(meaning.body)} & set(definitions)
        for name, meanings in definitions.items()
    }
    return frozenset(name for name in needs if name in reached(needs, name))
