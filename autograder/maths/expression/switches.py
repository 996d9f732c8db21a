"""Points on both sides of where an expression changes its formula.

`max`, `abs` and `relu` switch, logarithms and roots stop existing. Along each variable the zeros of what
decides are located, and points are set between them: so `relu(x - 1000)` is seen beyond 1000, `ln|x+3|` below
-3.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import pairwise
from typing import Any

from flint import arb, fmpq

from autograder.maths.expression.arithmetic import Unclear, Undefined
from autograder.maths.expression.points import inside
from autograder.maths.expression.program import NONE, Machine, Step
from autograder.maths.expression.vocabulary import Domain
from autograder.maths.precision import precision

LIMIT = 24
_SIGNS = ("<", "<=", "=", "!=")
_PIECES = frozenset(("abs", "relu", "max", "min", "floor", *_SIGNS))
_EDGES = frozenset(("ln", "log2", "log10", "sqrt", "pow"))
_GRID = [fmpq(sign * 2**k, 64) for k in range(0, 20, 2) for sign in (1, -1)]

Function = Callable[[fmpq], float | None]
Switch = tuple[int, int, int, bool]  # two operands to subtract, a level, whether to scan


def has_pieces(machine: Machine) -> bool:
    """Whether some operation has more than one formula."""
    return any(step.name in _PIECES for step in machine.program.steps)


def around_switches(
    machine: Machine, domains: dict[str, Domain], bases: list[dict[str, Any]]
) -> Iterator[dict[str, Any]]:
    """Up to `LIMIT` points beside the zeros of switching operands, along each variable through each base."""
    program = machine.program
    found = 0
    switches = [
        switch
        for step in program.steps
        if step.name in _PIECES | _EDGES
        for switch in _switches(step)
        if not any(program.depends[k] for k in switch[:2] if k != NONE)
    ]
    pieces = [switch for switch in switches if switch[3]]  # the edges are looked for from one base only
    with precision(64):
        candidates = [
            {**base, name: value}
            for turn, base in enumerate(bases)
            for name, domain in domains.items()
            for value in _beside(
                _zeros(machine, switches if not turn else pieces, base, name, domain), domain, exact=machine.jumps
            )
        ]
    for point in candidates:
        if found < (4 * LIMIT if machine.jumps else LIMIT):
            found += 1
            yield point


def _switches(step: Step) -> Iterator[Switch]:
    """What decides which formula holds: it does so where it is zero."""
    scan = step.name in _PIECES
    if step.name in ("max", "min", *_SIGNS):
        yield step.first, step.second, 0, scan
        return
    yield step.first, NONE, 0, scan
    if step.name == "floor":
        yield step.first, NONE, 1, scan
        yield step.first, NONE, -1, scan
    if step.name == "pow":  # 0^x is 1 at 0
        yield step.second, NONE, 0, False


def _zeros(
    machine: Machine,
    switches: list[Switch],
    base: dict[str, Any],
    name: str,
    domain: Domain,
) -> list[fmpq]:
    zeros: set[fmpq] = set()
    for first, second, level, scan in switches[:12]:
        function = _along(machine, (first, second), level, base, name)
        zeros.update(_roots(function, domain, scan))
    return sorted(zeros)


def _along(machine: Machine, operands: tuple[int, int], level: int, base: dict[str, Any], name: str) -> Function:
    first, second = operands

    def function(value: fmpq) -> float | None:
        machine.start({**base, name: value})
        try:
            decisive = machine.value(first)
            if second != NONE:
                decisive = decisive - machine.value(second)
            return float(arb(decisive).mid()) - level
        except (Undefined, Unclear, TypeError):
            return None

    return function


def _roots(function: Function, domain: Domain, scan: bool) -> Iterator[fmpq]:
    probes = [
        value for value in (fmpq(1, 4), fmpq(1, 2), fmpq(3, 4), fmpq(2), fmpq(3), fmpq(5)) if inside(value, domain)
    ]
    if domain.kind == "interval":
        span = fmpq(str_fraction(domain.high - domain.low))
        probes = [fmpq(str_fraction(domain.low)) + span * fmpq(k, 4) for k in (1, 2, 3)]
    if domain.kind == "steps":
        probes = [value for value in map(fmpq, range(100)) if inside(value, domain)]
    if len(probes) < 3:
        return  # so few integers are all met anyway
    x, y, z = probes[:3]
    at = [function(value) for value in (x, y, z)]
    if None in at or len({*at}) == 1:
        return
    f, g, h = (float(value) for value in at if value is not None)
    slope = (g - f) / float_of(y - x)
    if slope and abs((h - f) - slope * float_of(z - x)) <= 1e-9 * (abs(f) + abs(g) + abs(h)):
        yield _dyadic(float_of(x) - f / slope)
    elif scan:
        yield from _scanned(function, domain)


def str_fraction(value: Any) -> str:
    """A `Fraction` as text that `fmpq` reads."""
    return f"{value.numerator}/{value.denominator}"


def float_of(value: fmpq) -> float:
    """The nearest float."""
    return int(value.p) / int(value.q)


def _dyadic(value: float) -> fmpq:
    if not abs(value) < 2.0**40:
        return fmpq(0)
    return fmpq(round(value * 2**30), 2**30)


def _simple(value: fmpq) -> fmpq:
    """The fraction of small numbers that a rounded zero comes from."""
    nearest = Fraction(int(value.p), int(value.q)).limit_denominator(1000)
    return fmpq(nearest.numerator, nearest.denominator)


def _scanned(function: Function, domain: Domain) -> Iterator[fmpq]:
    grid = sorted(value for value in _GRID if inside(value, domain))
    values = [(x, function(x)) for x in grid]
    for (x, f), (y, g) in pairwise(values):
        if f is None or g is None or f * g > 0:
            continue
        for _ in range(16):
            middle = (x + y) / 2
            h = function(middle)
            if h is None:
                break
            x, y, f = (middle, y, h) if f * h > 0 else (x, middle, f)
        yield (x + y) / 2


def _beside(zeros: list[fmpq], domain: Domain, *, exact: bool = False) -> Iterator[fmpq]:
    """Values before, between and after the zeros, and close to each; the zeros themselves where they are named."""
    wanted: list[fmpq] = [(x + y) / 2 for x, y in pairwise(zeros)]
    for zero in zeros[:6]:
        step = abs(zero) / 8 if zero else fmpq(1, 8)
        wanted += [zero - step, zero + step, zero - step / 512, zero + step / 512]
    if domain.kind in ("posint", "nat", "int", "steps"):
        whole = [fmpq((value + fmpq(1, 2**20)).floor()) for value in (*zeros, *wanted)]
        wanted = [*whole, *(value + 1 for value in whole[: len(zeros)])]
    elif exact:
        wanted = [*(_simple(zero) for zero in zeros[:6]), *wanted]
    for value in dict.fromkeys(wanted):
        if inside(value, domain):
            yield value
