"""Between which numbers the registers of a program lie, over the whole domain: rough, in floats, rounded outwards."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from fractions import Fraction

from autograder.maths.expression.program import NONE, Loop, Program, Step
from autograder.maths.expression.vocabulary import Domain

Interval = tuple[float, float]

ALL: Interval = (-math.inf, math.inf)
_ROUNDING = 1e-12
_WHOLE = 2.0**52  # below it, floats hold every whole number
_CONSTANTS = {"e": math.e, "pi": math.pi, "inf": math.inf}
_RANGES: dict[str, Interval] = {
    "sin": (-1.0, 1.0), "cos": (-1.0, 1.0), "sin_pi": (-1.0, 1.0), "cos_pi": (-1.0, 1.0), "tanh": (-1.0, 1.0),
    "sigma": (0.0, 1.0), "sech": (0.0, 1.0), "cosh": (1.0, math.inf), "softplus": (0.0, math.inf),
}  # fmt: skip


def ranges(program: Program, domains: dict[str, Domain]) -> list[Interval]:
    """An interval for each register; operands stand before what is computed from them."""
    indices = {step.payload.index: step.payload for step in program.steps if isinstance(step.payload, Loop)}
    found: list[Interval] = []
    for register, step in enumerate(program.steps):
        if step.name == "index":
            loop = indices.get(register)
            low = found[loop.lower][0] if loop and loop.lower < register else -math.inf
            high = found[loop.upper][1] if loop and NONE != loop.upper < register else math.inf
            found.append((low, high))
        else:
            found.append(_of(step, found, domains))
    return found


def _of(step: Step, found: list[Interval], domains: dict[str, Domain]) -> Interval:
    try:
        low, high = _interval(step, found, domains)
    except (OverflowError, ValueError, ZeroDivisionError):
        return ALL
    return ALL if math.isnan(low) or math.isnan(high) else (low, high)


def _interval(step: Step, found: list[Interval], domains: dict[str, Domain]) -> Interval:
    if step.name == "number":
        numerator, denominator = int(step.payload.p), int(step.payload.q)
        near = numerator / denominator
        return (near, near) if Fraction(near) == Fraction(numerator, denominator) else _around(near)
    if step.name in _CONSTANTS:
        return _around(_CONSTANTS[step.name])
    if step.name == "variable":
        return _domain(domains[step.payload])
    if step.name == "sum":
        return (0.0, math.inf) if found[step.payload.body][0] >= 0 else ALL
    if step.second != NONE:
        return _two(step, found[step.first], found[step.second])
    return _one(step.name, *found[step.first]) if step.first != NONE else ALL


def _around(near: float) -> Interval:
    """The floats beside one that a number was rounded to; infinity is what it is."""
    if math.isinf(near):
        return near, near
    return math.nextafter(near, -math.inf), math.nextafter(near, math.inf)


def _domain(domain: Domain) -> Interval:
    match domain.kind:
        case "positive" | "nat":
            return 0.0, math.inf
        case "gt1" | "posint":
            return 1.0, math.inf
        case "unit":
            return 0.0, 1.0
        case "interval":
            return float(domain.low), float(domain.high)
        case "steps":
            return float(domain.low), float(domain.high) if domain.count else math.inf
    return ALL


def _one(name: str, low: float, high: float) -> Interval:
    match name:
        case "neg":
            return -high, -low
        case "abs":
            return max(low, -high, 0.0), max(-low, high)
        case "floor":
            return low - 1, high
    if name in _GROWING:
        grows = _GROWING[name]
        return grows(low), grows(high)
    return _RANGES.get(name, ALL)


def _exp(value: float) -> float:
    return math.inf if value > 700 else math.exp(value)


def _ln(value: float) -> float:
    return -math.inf if value <= 0 else math.log(value)


_GROWING: dict[str, Callable[[float], float]] = {
    "exp": _exp,
    "ln": _ln,
    "relu": lambda value: max(value, 0.0),
    "sqrt": lambda value: math.sqrt(max(value, 0.0)),
}


def _two(step: Step, one: Interval, other: Interval) -> Interval:
    match step.name:
        case "add":
            return minus(one, (-other[1], -other[0]))
        case "sub":
            return minus(one, other)
        case "max":
            return max(one[0], other[0]), max(one[1], other[1])
        case "min":
            return min(one[0], other[0]), min(one[1], other[1])
        case "mul" if step.first == step.second:
            return _square(one)
        case "mul":
            return _hull(x * y if x and y else 0.0 for x in one for y in other)
        case "div" if other[0] > 0 or other[1] < 0 or (other[0] == 0 <= one[0]):
            inverse = (1 / other[1], 1 / other[0] if other[0] else math.inf)
            return _hull(x * y if x and y else 0.0 for x in one for y in inverse)
        case "pow" if other[0] == other[1] and other[0] % 2 == 0 and other[0] > 0:
            low, high = _square(one)
            return low ** (other[0] / 2), high ** (other[0] / 2)
        case "pow" if one[0] >= 1 and other[0] >= 0:
            return 1.0, math.inf
        case "pow" if one[0] >= 0:
            return 0.0, 1.0 if one[1] <= 1 and other[0] >= 0 else math.inf
    return ALL


def minus(one: Interval, other: Interval) -> Interval:
    """The difference, wider by what may be lost where large numbers cancel; nothing is between whole numbers."""
    low, high = one[0] - other[1], one[1] - other[0]
    ends = [abs(end) for end in (*one, *other) if math.isfinite(end)]
    exact = all(end.is_integer() and end < _WHOLE for end in ends)
    lost = 0.0 if exact else _ROUNDING * max(ends, default=0.0)
    return low - lost, high + lost


def _square(one: Interval) -> Interval:
    ends = [value * value for value in one]
    return 0.0 if one[0] < 0 < one[1] else min(ends), max(ends)


def _hull(values: Iterable[float]) -> Interval:
    ends = list(values)
    return min(ends), max(ends)
