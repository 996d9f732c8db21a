"""Whether an agreement has seen every formula that an answer switches between.

`x + floor(1/(1+(x-12345)^2))` equals `x` at every point but one. So wherever the answer has a switch that the reference
does not have, both sides of it must have been met, or bounds must show that there is only one.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from itertools import combinations
from typing import Any

from autograder.maths.expression.arithmetic import Unclear, Undefined
from autograder.maths.expression.extended import Infinity
from autograder.maths.expression.program import NONE, Loop, Machine, Program, Step
from autograder.maths.expression.ranges import Interval, minus, ranges
from autograder.maths.expression.vocabulary import Domain

_TWO_FORMULAS = ("abs", "relu", "max", "min")
_COMPARISONS = ("<", "<=", "=", "!=")
_FLAT = 64  # the longest period and the farthest place at which a straight line switches and is sure to be met
_ROUNDING = 1e-9

Place = tuple[int, int]  # a register, or two to be subtracted, whose sign decides which formula holds


def all_seen(
    machine: Machine, reference: int, answer: int, domains: dict[str, Domain], points: Iterable[dict[str, Any]]
) -> bool:
    """Whether the points at which both agree show all that the answer can be beyond the reference's own switches."""
    program = machine.program
    known = _reached(program, reference)
    added = sorted(_reached(program, answer) - known)
    fresh = [program.steps[k] for k in added]
    floors = any(program.steps[k].name == "floor" for k in known)
    places = [place for step in fresh for place in _switches(program, step)]
    floored = [k for k in added if program.steps[k].name == "floor"]
    compared = [k for k in added if program.steps[k].name in _COMPARISONS]
    powers = [(step.first, step.second) for step in fresh if step.name == "pow"]
    if not (places or floored or compared or powers):
        return True
    limits, points = ranges(program, domains), list(points)
    return (
        all(_both_sides(machine, place, limits, points) for place in places)
        and _each_with_each(machine, places, points)
        and all(
            _floor_met(program, program.steps[k].first, limits) or (floors and _varies(machine, k, points))
            for k in floored
        )
        and all(_truth_met(machine, k, limits, points) for k in compared)
        and all(_power_met(machine, base, exponent, limits, points) for base, exponent in powers)
    )


def _reached(program: Program, root: int) -> set[int]:
    """All registers that `root` is computed from, those inside sums too."""
    found: set[int] = set()
    pending = [root]
    while pending:
        register = pending.pop()
        if register == NONE or register in found:
            continue
        found.add(register)
        step = program.steps[register]
        pending += [step.first, step.second]
        if isinstance(step.payload, Loop):
            pending += [step.payload.body, step.payload.lower, step.payload.upper]
    return found


def _switches(program: Program, step: Step) -> Iterator[Place]:
    """Where a step changes its formula."""
    if step.name in _TWO_FORMULAS:
        yield step.first, step.second
    if step.name == "binom":  # zero for k < 0 and for k > n
        yield step.first, step.second
        yield step.second, NONE
    if isinstance(step.payload, Loop) and step.payload.upper != NONE:
        yield step.payload.upper, step.payload.lower  # a sum to below its beginning is empty
    inner = program.steps[step.first] if step.name in ("sqrt", "pow") else None
    if inner is not None and inner.name == "mul" and inner.first == inner.second:
        yield inner.first, NONE  # the root of a square is |x|
    if inner is not None and inner.name == "pow" and _even(program.steps[inner.second]):
        yield inner.first, NONE


def _even(step: Step) -> bool:
    return step.name == "number" and step.payload.q == 1 and int(step.payload.p) % 2 == 0


def _both_sides(machine: Machine, place: Place, limits: list[Interval], points: list[dict[str, Any]]) -> bool:
    """Whether the decisive value was met above and below zero, or cannot have both signs."""
    first, second = place
    line = _line(machine.program, first, second)
    if line is not None and (_near(line) or not any(factor for key, factor in line.items() if key)):
        return True
    low, high = limits[first] if second == NONE else minus(limits[first], limits[second])
    if low >= 0 or high <= 0 or math.inf in (limits[k][0] for k in place if k != NONE):
        return True
    return _free(machine, place) and {-1, 1} <= {_sign(machine, place, point) for point in points}


def _each_with_each(machine: Machine, places: list[Place], points: list[dict[str, Any]]) -> bool:
    """Whether of two switches in different variables each was met with the other in both its ways."""
    lines = [(place, _line(machine.program, *place)) for place in places]
    straight = [(place, {key for key in line if key}) for place, line in lines if line and _free(machine, place)]
    for (one, names), (other, more) in combinations(straight, 2):
        if names.isdisjoint(more):
            met = {(_sign(machine, one, point), _sign(machine, other, point)) for point in points}
            wanted = {(a, b) for a, _ in met for _, b in met if a and b}
            if not wanted <= met:
                return False
    return True


def _free(machine: Machine, place: Place) -> bool:
    return not any(machine.program.depends[k] for k in place if k != NONE)


def _sign(machine: Machine, place: Place, point: dict[str, Any]) -> int:
    """The sign of the decisive value at a point; 0 also where it has none."""
    value = _value(machine, place[0], point)
    other = _value(machine, place[1], point) if place[1] != NONE else 0
    if value is None or other is None or isinstance(value, Infinity) or isinstance(other, Infinity):
        return 0
    return int(value > other) - int(value < other)


def _truth_met(machine: Machine, register: int, limits: list[Interval], points: list[dict[str, Any]]) -> bool:
    """Whether a comparison was met true and false, or can be but one; an equation must be one of a straight line."""
    step = machine.program.steps[register]
    line = _line(machine.program, step.first, step.second)
    low, high = minus(limits[step.first], limits[step.second])
    if low > 0 or high < 0 or (step.name == "<=" and high <= 0) or (step.name == "<" and low >= 0):
        return True
    if line is not None and _near(line):
        return True
    return (line is not None or step.name in ("<", "<=")) and _varies(machine, register, points)


def _floor_met(program: Program, operand: int, limits: list[Interval]) -> bool:
    """Whether a floor has one value only, or goes up in steps that are met soon."""
    low, high = (end + sign * _ROUNDING * abs(end) for end, sign in zip(limits[operand], (-1, 1), strict=True))
    if math.isfinite(low) and math.isfinite(high) and math.floor(low) == math.floor(high):
        return True
    line = _line(program, operand, NONE)
    return line is not None and all(1 / _FLAT <= abs(factor) <= _FLAT for key, factor in line.items() if key)


def _varies(machine: Machine, register: int, points: list[dict[str, Any]]) -> bool:
    """Whether the points show more than one value."""
    return not machine.program.depends[register] and len({str(_value(machine, register, q)) for q in points}) > 1


def _power_met(
    machine: Machine, base: int, exponent: int, limits: list[Interval], points: list[dict[str, Any]]
) -> bool:
    """Whether a power of zero, which is 1 where its exponent is 0, was met in both ways or can be but one."""
    if machine.program.steps[exponent].name == "number" or limits[base][0] > 0 or limits[base][1] < 0:
        return True
    if limits[exponent][0] > 0:
        return True
    if machine.program.depends[base] or machine.program.depends[exponent]:
        line = _line(machine.program, exponent, NONE)
        return line is not None and _near(line)
    values = [(_value(machine, base, point), _value(machine, exponent, point)) for point in points]
    of_zero = [power == 0 for value, power in values if value == 0 and power is not None]
    return len(of_zero) < len(values) or len(set(of_zero)) == 2


def _value(machine: Machine, register: int, point: dict[str, Any]) -> Any:
    machine.start(point)
    try:
        return machine.value(register)
    except (Undefined, Unclear):
        return None


def _line(program: Program, first: int, second: int) -> dict[str, float] | None:
    """The operand, or the difference of two, as factors of variables, the constant under ''; None if it is no line."""
    line = _linear(program, first)
    if line is None or second == NONE:
        return line
    other = _linear(program, second)
    return None if other is None else _plus(line, other, -1)


def _linear(program: Program, register: int) -> dict[str, float] | None:
    step = program.steps[register]
    match step.name:
        case "number":
            return {"": int(step.payload.p) / int(step.payload.q)}
        case "variable":
            return {step.payload: 1.0}
        case "index":
            return {f"index {step.payload}": 1.0}
    operands = [_linear(program, k) for k in (step.first, step.second) if k != NONE]
    if None in operands or not operands:
        return None
    lines = [line for line in operands if line is not None]
    match step.name, lines:
        case "neg", [line]:
            return _plus({}, line, -1)
        case "add", [one, other]:
            return _plus(one, other, 1)
        case "sub", [one, other]:
            return _plus(one, other, -1)
        case "mul", [one, other] if set(one) <= {""} or set(other) <= {""}:
            number, line = (one, other) if set(one) <= {""} else (other, one)
            return _plus({}, line, number.get("", 0.0))
        case "div", [line, number] if set(number) <= {""} and number.get(""):
            return _plus({}, line, 1 / number[""])
    return None


def _plus(one: dict[str, float], other: dict[str, float], factor: float) -> dict[str, float]:
    return {key: one.get(key, 0.0) + factor * other.get(key, 0.0) for key in {*one, *other}}


def _near(line: dict[str, float]) -> bool:
    """Whether a line is zero for small numbers: it is met on both sides."""
    factors = [abs(factor) for key, factor in line.items() if key and factor]
    return bool(factors) and max(*factors, abs(line.get("", 0.0)), 0) <= _FLAT * min(factors)
