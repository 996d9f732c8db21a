"""A second route to the same verdicts: bounds evaluated in 60-digit floats along random growth rays.

It shares the tree with `autograder.maths.growth` and nothing else: no normal form, no dominance, no regimes. Two bounds
are of one growth only if the logarithm of their ratio hardly moves between T = 10^(10^30) and T = 10^(10^1500) on
every ray.
"""

from __future__ import annotations

import random
from collections.abc import Iterable

import mpmath

from autograder.maths.growth.growth_tree import Call, Name, Node, Number, Power, Product, Quotient, Sum

_MP = mpmath.MPContext()
_MP.dps = 60
_FUNCTIONS = {
    "ln": _MP.log,
    "log": lambda x, b: _MP.log(x) / _MP.log(b),
    "sqrt": _MP.sqrt,
    "max": max,
    "min": min,
    "ceil": _MP.ceil,
    "floor": _MP.floor,
    "exp": lambda x: _power(_MP.e, x),
}


class OutOfReach(Exception):
    """A value that is not a positive real of printable size here."""


def _power(base: object, exponent: object) -> object:
    if base <= 0 or _MP.mag(exponent * _MP.log(base)) > 20_000:
        raise OutOfReach
    return base**exponent


def value(node: Node, point: dict[str, object]) -> object:
    """The bound at a point."""
    match node:
        case Number():
            return _MP.mpf(node.value.numerator) / node.value.denominator
        case Name():
            return point[node.name]
        case Sum():
            return _MP.fsum(sign * value(term, point) for sign, term in node.terms)
        case Product():
            return _MP.fprod(value(factor, point) for factor in node.factors)
        case Quotient():
            return value(node.top, point) / value(node.bottom, point)
        case Power():
            return _power(value(node.base, point), value(node.exponent, point))
        case Call():
            return _FUNCTIONS[node.function](*(value(argument, point) for argument in node.arguments))


def _rate(rng: random.Random) -> object:
    """How one variable depends on s = ln T: fixed, a power of T, of ln T, or ln ln T."""
    kind = rng.choice("fffpppppllm")
    power = _MP.mpf(rng.choice([0.1, 0.25, 0.5, 0.75, 1, 1, 1, 1.5, 2, 3]))
    fixed = _MP.mpf(rng.choice([10**3, 10**5]))
    return {"f": lambda s: fixed, "p": lambda s: _MP.exp(s * power), "l": lambda s: s**power, "m": _MP.log}[kind]


def diverging_ray(
    left: Node,
    right: Node,
    names: Iterable[str],
    rng: random.Random,
    *,
    rays: int = 40,
    ordered: tuple[tuple[str, str], ...] = (),
) -> dict[str, object] | None:
    """A point far out on a ray along which the two bounds part, or None if no ray of `rays` parts them.

    `ordered` holds pairs (small, large) that every ray must respect.
    """
    for _ in range(rays):
        rates = {name: _rate(rng) for name in sorted(names)}
        points = [{name: rate(_MP.mpf(10) ** k) for name, rate in rates.items()} for k in (30, 1500)]
        if any(point[small] > point[large] for point in points for small, large in ordered):
            continue
        try:
            ratios = [_MP.log(value(left, point) / value(right, point)) for point in points]
        except (OutOfReach, ZeroDivisionError):
            continue
        if any(isinstance(ratio, mpmath.mpc) for ratio in ratios) or abs(ratios[0] - ratios[1]) > 2.5:
            return points[0]
    return None
