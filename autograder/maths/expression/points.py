"""Where two expressions are compared: points stratified by sign and scale, drawn from the texts themselves.

The draw is a function of both texts, so that a verdict never changes from run to run and cannot be foreseen
by whoever knows one text only. Denominators are odd and drawn too: no expression has its period in all of
them. The first points are plain numbers, since the first difference becomes the witness that a student reads.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Callable, Iterator
from typing import Any

from flint import acb, fmpq

from autograder.maths.expression.vocabulary import Domain

POINTS = 40
_PLAIN: dict[str, tuple[str, ...]] = {
    "positive": ("3/2", "1/2", "2", "5/2", "3/4", "3"),
    "gt1": ("3/2", "3", "5/2", "5/4", "4", "2"),
    "real": ("3/2", "-1/2", "2", "-5/2", "3/4", "-3"),
    "unit": ("1/4", "1/2", "3/4", "1/8", "5/8", "3/8"),
    "posint": ("2", "3", "1", "5", "4", "7"),
    "nat": ("2", "3", "1", "5", "0", "4"),
    "int": ("2", "-3", "1", "-1", "0", "5"),
}


def rational(text: str) -> fmpq:
    """'3/2' as an exact rational."""
    numerator, _, denominator = text.partition("/")
    return fmpq(int(numerator), int(denominator or 1))


def generator(*texts: str) -> random.Random:
    """The stream that belongs to these texts, in practice to the program of reference and answer."""
    return random.Random(hashlib.blake2b("\0".join(texts).encode(), digest_size=8).digest())


def plain(domains: dict[str, Domain], count: int = 2) -> Iterator[dict[str, Any]]:
    """Points with small numbers, different for each variable."""
    for turn in range(count):
        point = {}
        for place, (name, domain) in enumerate(domains.items()):
            choices = _PLAIN.get(domain.kind)
            if choices is not None:
                point[name] = rational(choices[(place + turn * 3) % len(choices)])
            elif domain.kind == "steps":
                point[name] = _at(domain, (2, 3, 1, 5, 0, 4)[(place + turn * 3) % 6])
            elif domain.kind == "complex":
                point[name] = acb(fmpq(3 + place, 2), fmpq(1 + turn, 4))
            else:
                share = fmpq((3 + 5 * place + 7 * turn) % 16 or 8, 16)
                point[name] = _low(domain) + share * (_high(domain) - _low(domain))
        yield point


def stratified(domains: dict[str, Domain], rng: random.Random, count: int = POINTS) -> Iterator[dict[str, Any]]:
    """`count` points: in each variable every stratum is met once, the pairing is random."""
    columns = {name: _column(domain, rng, count) for name, domain in domains.items()}
    for k in range(count):
        yield {name: column[k] for name, column in columns.items()}


def wide(domains: dict[str, Domain], rng: random.Random) -> Iterator[dict[str, Any]]:
    """Points of unusual scale; they can refute, and are not needed for agreement."""
    for exponent in (-18, 8, 9, 12):
        point = {}
        for name, domain in domains.items():
            drawn = _DRAW.get(domain.kind, _interval)
            point[name] = drawn(domain, rng, 0.5, exponent)
        yield point


def _column(domain: Domain, rng: random.Random, count: int) -> list[Any]:
    drawn = _DRAW.get(domain.kind, _interval)
    column = [drawn(domain, rng, (k + rng.random()) / count, None) for k in range(count)]
    rng.shuffle(column)
    return column


def _magnitude(rng: random.Random, share: float, exponent: int | None) -> fmpq:
    """About 2^-7 … 2^5, spread evenly over the scales, or near 2^exponent."""
    scale = share * 12 - 7 if exponent is None else exponent + rng.random()
    denominator = _denominator(rng)
    return fmpq(max(int(2**scale * denominator), 1), denominator)


def _denominator(rng: random.Random) -> int:
    return rng.randrange(2**24, 2**25) | 1


def _positive(_: Domain, rng: random.Random, share: float, exponent: int | None) -> fmpq:
    return _magnitude(rng, share, exponent)


def _gt1(_: Domain, rng: random.Random, share: float, exponent: int | None) -> fmpq:
    return 1 + _magnitude(rng, share, exponent)


def _real(_: Domain, rng: random.Random, share: float, exponent: int | None) -> fmpq:
    if exponent is not None:
        return _magnitude(rng, share, exponent) * rng.choice((1, -1))
    return _magnitude(rng, abs(2 * share - 1), None) * (1 if share > 0.5 else -1)


def _unit(_: Domain, rng: random.Random, share: float, exponent: int | None) -> fmpq:
    if exponent is not None:
        tiny = fmpq(rng.randrange(1, 256), 2 ** (8 + abs(exponent)))
        return tiny if exponent % 2 else 1 - tiny
    denominator = _denominator(rng)
    return fmpq(int(share * (denominator - 1)) + 1, denominator + 1)


def _interval(domain: Domain, rng: random.Random, share: float, exponent: int | None) -> fmpq:
    return _low(domain) + _unit(domain, rng, share, exponent) * (_high(domain) - _low(domain))


def _low(domain: Domain) -> fmpq:
    return fmpq(domain.low.numerator, domain.low.denominator)


def _high(domain: Domain) -> fmpq:
    return fmpq(domain.high.numerator, domain.high.denominator)


def _posint(_: Domain, rng: random.Random, share: float, exponent: int | None) -> fmpq:
    return 1 + _nat(_, rng, share, exponent)


def _nat(_: Domain, rng: random.Random, share: float, exponent: int | None) -> fmpq:
    """Three fifths are 0, 1, 2, …, 11 twice; the others reach some hundreds."""
    if exponent is not None:
        return fmpq(rng.randrange(2 ** abs(exponent)))
    if share < 0.6:
        return fmpq(int(share * 40) % 12)
    return fmpq(int(2 ** (3 + 6 * (share - 0.6) / 0.4)) + rng.randrange(5))


def _int(_: Domain, rng: random.Random, share: float, exponent: int | None) -> fmpq:
    return _nat(_, rng, share, exponent) * rng.choice((1, -1))


def _steps(domain: Domain, rng: random.Random, share: float, exponent: int | None) -> fmpq:
    if domain.count:
        return _at(domain, int(share * domain.count) if exponent is None else rng.randrange(domain.count))
    return _at(domain, int(_nat(domain, rng, share, exponent)))


def _at(domain: Domain, number: int) -> fmpq:
    """The integer with this number, from 0; the numbers go round where there is a last one."""
    return _low(domain) + domain.step * (number % domain.count if domain.count else number)


def _complex(_: Domain, rng: random.Random, share: float, exponent: int | None) -> acb:
    return acb(_real(_, rng, share, exponent), _real(_, rng, rng.random(), exponent))


_DRAW: dict[str, Callable[[Domain, random.Random, float, int | None], Any]] = {
    "positive": _positive,
    "gt1": _gt1,
    "real": _real,
    "unit": _unit,
    "posint": _posint,
    "nat": _nat,
    "int": _int,
    "steps": _steps,
    "complex": _complex,
}


def nearby(point: dict[str, Any], domains: dict[str, Domain], rng: random.Random) -> dict[str, Any] | None:
    """A point beside this one in every continuous variable, or None where all are integers."""
    moved = {
        name: (value or 1) * fmpq(rng.randrange(1, 2**20), 2**50 + 1) + value
        for name, value in point.items()
        if domains[name].kind not in ("posint", "nat", "int", "steps")
    }
    return {**point, **moved} if moved else None


def inside(value: fmpq, domain: Domain) -> bool:
    """Whether `value` belongs to the domain."""
    match domain.kind:
        case "positive":
            return bool(value > 0)
        case "gt1":
            return bool(value > 1)
        case "unit" | "interval":
            return bool(_low(domain) < value < _high(domain))
        case "posint" | "nat":
            return bool(value.q == 1 and value >= (domain.kind == "posint"))
        case "steps":
            number = (value - _low(domain)) / domain.step
            return bool(number.q == 1 and number >= 0 and (not domain.count or number < domain.count))
        case "int":
            return bool(value.q == 1)
        case kind:
            return kind == "real"
