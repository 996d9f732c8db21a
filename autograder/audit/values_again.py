"""What a tree of sympy's is worth at a point, in mpmath's numbers."""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from typing import Any

DIGITS = 40
ENOUGH = 1e-30  # of a sum that goes on for ever: what the rest of it may be
_LOOP = 3000
_BLOCK = 32  # terms of an endless sum after which it is asked whether the rest matters

Point = Mapping[str, Fraction]
Worth = Callable[[Mapping[str, Any]], Any]


class Open(Exception):  # named for what is said of a value
    """mpmath cannot say what a tree is worth."""


def value(worth: Worth, point: Point) -> Any:
    """A real value, None where there is none; Open where mpmath cannot say."""
    import mpmath as m

    with m.workdps(DIGITS):
        try:
            found = worth({name: m.mpf(number.numerator) / number.denominator for name, number in point.items()})
        except (ValueError, ArithmeticError, m.libmp.NoConvergence):
            return None
        if isinstance(found, m.mpc):
            if abs(found.imag) > ENOUGH ** (2 / 3) * (1 + abs(found)):
                return None
            found = found.real
        return None if isinstance(found, m.mpf) and m.isnan(found) else found


def compiled(tree: Any) -> Worth:
    """What the tree is worth, once each of its names has a value."""
    import mpmath as m

    with m.workdps(DIGITS):
        return _compiled(tree, {})


def _compiled(node: Any, slots: Mapping[Any, str]) -> Worth:
    """What a node of sympy's tree is worth in mpmath's numbers, once each name has a value. `slots` are the names of
    nodes whose value is worked out before.
    """
    import mpmath as m

    kind = type(node).__name__
    if node.is_Symbol or node in slots:
        return operator.itemgetter(slots.get(node) or node.name)
    constants = {"Exp1": +m.e, "Pi": +m.pi, "Infinity": m.inf, "NegativeInfinity": -m.inf,
                 "BooleanTrue": True, "BooleanFalse": False}  # fmt: skip
    if node.is_Rational or kind in constants:
        value = m.mpf(int(node.p)) / int(node.q) if node.is_Rational else constants[kind]
        return lambda names: value
    if kind in ("Sum", "Product"):
        return _series(kind, node.function, list(node.limits), slots)
    if kind == "Piecewise":
        return _switch([(_compiled(value, slots), _compiled(condition, slots)) for value, condition in node.args])
    return _applied(kind, [_compiled(argument, slots) for argument in node.args])


def _applied(kind: str, parts: list[Worth]) -> Worth:
    """A function of one or two numbers, of which sums have most, is called without a list of them."""
    import mpmath as m

    function: Callable[..., Any] = _functions().get(kind) or getattr(m, kind, None) or functools.partial(_unknown, kind)
    match parts:
        case [only]:
            return lambda names: function(only(names))
        case [first, second]:
            function = {"Add": operator.add, "Mul": operator.mul}.get(kind, function)
            return lambda names: function(first(names), second(names))
    return lambda names: function(*[part(names) for part in parts])


def _unknown(kind: str, *values: Any) -> Any:
    raise Open(kind)


def _switch(rows: list[tuple[Worth, Worth]]) -> Worth:
    def chosen(names: Mapping[str, Any]) -> Any:
        for value, condition in rows:
            if condition(names):
                return value(names)
        raise ValueError("no case holds")

    return chosen


@functools.cache
def _functions() -> dict[str, Callable[..., Any]]:
    """What sympy's nodes stand for, where mpmath has another name or another convention."""
    import mpmath as m

    return {
        "Add": lambda *x: m.fsum(x), "Mul": lambda *x: math.prod(x), "Abs": abs, "Max": max, "Min": min,
        "Pow": lambda x, y: m.mpf(1) if y == 0 else m.power(x, y), "ceiling": m.ceil, "binomial": m.binomial,
        "Mod": lambda x, y: x - y * m.floor(x / y), "StrictLessThan": lambda x, y: x < y, "And": lambda *x: all(x),
        "LessThan": lambda x, y: x <= y, "StrictGreaterThan": lambda x, y: x > y, "Or": lambda *x: any(x),
        "GreaterThan": lambda x, y: x >= y, "Equality": lambda x, y: x == y, "Unequality": lambda x, y: x != y,
        "Not": lambda x: not x,
    }  # fmt: skip


def _series(kind: str, function: Any, limits: list[Any], outer: Mapping[Any, str]) -> Worth:
    """A sum or product; what does not depend on its index is worked out once, not for every term.

    sympy makes one of a sum in a sum: the last of its limits is the outermost.
    """
    import mpmath as m

    *inside, (index, low, high) = limits
    slots = {each: f"slot {each}" for each in _without(function, {limit[0] for limit in limits}) if each not in outer}
    once = {name: _compiled(each, outer) for each, name in slots.items()}
    known = {**outer, **slots}
    term = _series(kind, function, inside, known) if inside else _compiled(function, known)
    bounds = _compiled(low, outer), _compiled(high, outer)

    def worth(names: Mapping[str, Any]) -> Any:
        first, last = (bound(names) for bound in bounds)
        if last - first > _LOOP and last != m.inf:
            raise Open("a long sum")
        inner = dict(names)
        if first <= last:
            inner.update({name: value(names) for name, value in once.items()})

        def at(i: Any) -> Any:
            inner[index.name] = m.mpf(i)
            return term(inner)

        if last == m.inf or first == -m.inf:
            return _endless(kind, at, first, last)
        values = [at(i) for i in range(int(first), int(last) + 1)]
        return m.fsum(values) if kind == "Sum" else m.fprod(values)

    return worth


def _without(node: Any, indices: set[Any]) -> Iterator[Any]:
    """The largest parts of a term in which none of the indices occurs; cases and bounds are left where they stand."""
    kind = type(node).__name__
    if node.args and not indices & node.free_symbols:
        yield node
    elif kind in ("Sum", "Product"):
        yield from _without(node.function, indices | {limit[0] for limit in node.limits})
    elif kind != "Piecewise":
        for argument in node.args:
            yield from _without(argument, indices)


def _endless(kind: str, term: Callable[[Any], Any], first: Any, last: Any) -> Any:
    """Term after term, as far as they fall like a geometric series; others as mpmath extrapolates them."""
    import mpmath as m

    if first == -m.inf:
        return (m.nsum if kind == "Sum" else m.nprod)(term, [first, last])
    values, before, neutral = [], m.inf, 0 if kind == "Sum" else 1
    for start in range(int(first), int(first) + _LOOP, _BLOCK):
        values += [term(i) for i in range(start, start + _BLOCK)]
        largest = max(abs(value - neutral) for value in values[-_BLOCK:])
        ratio = largest / before if before else m.mpf(0)
        if ratio < 1 and len(values) > _BLOCK:
            total = m.fsum(values) if kind == "Sum" else m.fprod(values)
            if _BLOCK * largest * ratio / (1 - ratio) <= abs(total) * ENOUGH:
                return total
        before = largest
    return (m.nsum if kind == "Sum" else m.nprod)(term, [first, last])
