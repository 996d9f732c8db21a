"""The evaluation of one equation's body, node by node."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from autograder.maths.tensor.contraction import Contraction
from autograder.maths.tensor.core_tree import (
    Add,
    Apply,
    AxisSize,
    Constant,
    Core,
    IndexValue,
    Join,
    Multiply,
    Normalise,
    Raise,
    Read,
    Reciprocal,
    Unknown,
    rational,
)
from autograder.maths.tensor.values import LimitError, Value, union


class Frame(Contraction):
    """One equation whose variables have grids."""

    def value(self, node: Core) -> Value:
        """What a node is worth."""
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

    def raised(self, node: Raise) -> Value:
        """A power: repeated products, a root, or a function of two arguments."""
        exponent = rational(node.exponent)
        base = self.value(node.base)
        if exponent is None:
            return self.apply("pow", [base, self.value(node.exponent)], node)
        if abs(exponent.numerator) > 64 or exponent.denominator > 64:
            raise LimitError("number", "an exponent is too large to be decided here")
        if exponent < 0:
            base = Value(base.dims, self.arithmetic.reciprocal(base.array))
            exponent = -exponent
        if exponent.denominator > 1:
            return Value(base.dims, self.arithmetic.root(base.array, exponent))
        result = self.scalar(1)
        for _ in range(exponent.numerator):
            result = self.times(result, base)
        return result

    def apply(self, function: str, values: Sequence[Value], node: Core) -> Value:
        """A function of values, entry by entry."""
        dims = union(values)
        self.shape(dims)
        self.arithmetic.site = node
        return Value(dims, self.arithmetic.apply(function, [value.spread(dims) for value in values]))

    def softmax(self, node: Normalise) -> Value:
        """exp of the body over its sum along the variables."""
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
        dims = union([value for _, value in parts])
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
        """The pieces one after the other, head-major."""
        flat: list[Value] = []
        for head, axis, body in node.pieces:
            inside = self.value(body)
            rest = [dim for dim in inside.dims if dim not in (head, axis)]
            order = [*rest, *([head] if head else []), axis]
            array = np.broadcast_to(inside.spread(order), self.shape(order))
            flat.append(Value((*rest, node.output), array.reshape([*array.shape[: len(rest)], -1])))
        rest = [dim for dim in union(flat) if dim != node.output]
        shape = self.shape(rest)
        arrays = [np.broadcast_to(f.spread([*rest, node.output]), [*shape, f.array.shape[-1]]) for f in flat]
        joined = np.concatenate(arrays, axis=-1)
        positions = np.array(self.grid(node.output)) - self.owner.start
        if positions.min() < 0 or positions.max() >= joined.shape[-1]:
            raise LimitError("cat_axis", "the concatenation is used outside its range")
        return Value((*rest, node.output), joined[..., positions])
