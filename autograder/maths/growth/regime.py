"""Growth regimes: every variable held fixed or tied to one parameter T. Along a regime all growths are comparable.

A regime in which the ratio of two bounds tends to 0 or to infinity refutes their equality, and is the student's
counter-example. A held-fixed variable is an atom that grows slower than anything that can be typed.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache

from autograder.maths.growth.constant import rational
from autograder.maths.growth.monomial import FIXED_DEPTH, Monomial, atom, tendency, without_fixed

_T = "T"
Rate = tuple[int, Fraction]  # (depth, power): T^power, or the power of an iterated logarithm of T


def _rate(depth: int, power: Fraction | int = 1) -> Rate:
    return depth, Fraction(power)


FIXED, LINEAR = _rate(FIXED_DEPTH), _rate(0)
_LOG, _LOGLOG = _rate(1), _rate(2)
_STAGES: tuple[tuple[Rate, ...], ...] = (
    (FIXED, LINEAR),
    (FIXED, _LOG, LINEAR, _rate(0, 2)),
    (FIXED, _LOGLOG, _LOG, _rate(0, Fraction(1, 2)), LINEAR, _rate(0, 2)),
    (
        FIXED,
        _LOGLOG,
        _rate(1, Fraction(1, 2)),
        _LOG,
        _rate(1, 2),
        _rate(0, Fraction(1, 4)),
        _rate(0, Fraction(1, 2)),
        _rate(0, Fraction(3, 4)),
        LINEAR,
        _rate(0, Fraction(3, 2)),
        _rate(0, 2),
        _rate(0, 4),
    ),
)
_MOST = 1500  # regimes of one stage


@dataclass(frozen=True, kw_only=True)
class Regime:
    """The rate of every variable; an order on monomials in T."""

    rates: tuple[tuple[str, Rate], ...]

    @property
    def total(self) -> bool:
        """Along a regime any two monomials can be compared."""
        return True

    @cached_property
    def values(self) -> dict[str, Monomial]:
        """Each variable as a monomial in T."""
        return {name: atom(_T, depth).to_the(rational(power)) for name, (depth, power) in self.rates}

    def dominated(self, small: Monomial, by: Iterable[Monomial], *, strict: bool = False) -> bool:
        """Along a regime one monomial of a sum decides."""
        return any(tendency(large / small) >= int(strict) for large in by)

    def admits(self, ratios: Sequence[Monomial], *, exactly: bool = False) -> bool:
        """Whether the constraints (ratios >= 1 in the variables) hold along the regime, or could after a rescaling."""
        along = tendency if exactly else growth_along
        return all(along(substituted(ratio, self.values)) >= 0 for ratio in ratios)

    def describe(self) -> str:
        """`X is fixed and Y grows`: a condition that follows the word *when*."""
        fixed = [name for name, rate in self.rates if rate == FIXED]
        base, *same = [name for name, rate in self.rates if rate == LINEAR]
        tied = [f"{name} = {_relation(rate, base)}" for name, rate in self.rates if rate not in (FIXED, LINEAR)]
        held = f"{_listed(fixed)} {'is' if len(fixed) == 1 else 'are'} fixed and " if fixed else ""
        grows = f"{_listed([base, *same])} grow at the same rate" if same else f"{base} grows"
        return held + grows + (f" with {_listed(tied)}" if tied else "")


def substituted(found: Monomial, values: dict[str, Monomial]) -> Monomial:
    """A product of powers of variables, along a regime."""
    result = Monomial(frozenset())
    for basis, exponent in found.powers:
        result = result * values[basis.variable].to_the(exponent)  # type: ignore[union-attr]
    return result


def regimes(variables: Sequence[str], ratios: Sequence[Monomial]) -> Iterator[Regime]:
    """Admissible regimes, simplest first; in each some variable is T itself. Those of a question are found once."""
    found, further = _shared(tuple(variables), tuple(ratios))
    for place in itertools.count():
        if place == len(found):
            found.extend(itertools.islice(further, 1))
        if place == len(found):
            return
        yield found[place]


@lru_cache(maxsize=64)
def _shared(variables: tuple[str, ...], ratios: tuple[Monomial, ...]) -> tuple[list[Regime], Iterator[Regime]]:
    """The regimes that were asked for so far, and those to come."""
    return [], _admissible(variables, ratios)


def _admissible(variables: Sequence[str], ratios: Sequence[Monomial]) -> Iterator[Regime]:
    seen: set[tuple[Rate, ...]] = set()
    for stage in _STAGES:
        if len(stage) ** len(variables) > _MOST and seen:
            return
        for rates in sorted(itertools.product(stage, repeat=len(variables)), key=_effort):
            if LINEAR not in rates or rates in seen:
                continue
            seen.add(rates)
            regime = Regime(rates=tuple(zip(variables, rates, strict=True)))
            if regime.admits(ratios):
                yield regime


def growth_along(quotient: Monomial) -> int:
    """+1 where a monomial in T grows without bound while the fixed variables stay fixed, -1 if it vanishes, else 0."""
    return tendency(without_fixed(quotient))


def _effort(rates: tuple[Rate, ...]) -> tuple[int, int]:
    """How hard a regime is to picture: unusual rates first count, then the number of growing variables."""
    return sum(rate not in (FIXED, LINEAR) for rate in rates), sum(rate != FIXED for rate in rates)


def _relation(rate: Rate, base: str) -> str:
    depth, power = rate
    name = base
    for _ in range(depth):
        name = f"ln({name})"
    return name if power == 1 else f"sqrt({name})" if power == Fraction(1, 2) else f"{name}^{_power(power)}"


def _power(power: Fraction) -> str:
    return str(power) if power.denominator == 1 else f"({power})"


def _listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
