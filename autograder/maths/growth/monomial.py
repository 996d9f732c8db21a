"""Monomials of the growth scale: products of powers of v, ln v, ln ln v, … and of exponentials.

A basis element is `Atom(v, depth)` (depth 0 is v itself, 1 is ln v, …) or `Exponential(m)` = e^m. Variables are large:
each atom exceeds 1, and grows with its variable.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from autograder.maths.growth.constant import ONE, Constant

FIXED_DEPTH = 9  # an atom so deep grows so slowly that it stands for a variable that is held fixed


@dataclass(frozen=True)
class Atom:
    """The `depth`-fold logarithm of a variable."""

    variable: str
    depth: int


@dataclass(frozen=True)
class Exponential:
    """e to a monomial."""

    inner: Monomial


Basis = Atom | Exponential


@dataclass(frozen=True)
class Monomial:
    """Basis elements with their exponents, none of them zero."""

    powers: frozenset[tuple[Basis, Constant]]

    @cached_property
    def _hash(self) -> int:
        return hash(self.powers)

    def __hash__(self) -> int:
        return self._hash

    def __mul__(self, other: Monomial) -> Monomial:
        if not other.powers:
            return self
        found = dict(self.powers)
        for basis, exponent in other.powers:
            found[basis] = found[basis] + exponent if basis in found else exponent
        return monomial(found)

    def __truediv__(self, other: Monomial) -> Monomial:
        return self * Monomial(frozenset((basis, -exponent) for basis, exponent in other.powers))

    def to_the(self, exponent: Constant) -> Monomial:
        """Every exponent multiplied."""
        return monomial({basis: power * exponent for basis, power in self.powers})


def monomial(powers: dict[Basis, Constant]) -> Monomial:
    """A monomial without its zero exponents."""
    return Monomial(frozenset((basis, exponent) for basis, exponent in powers.items() if not exponent.is_zero))


UNIT = Monomial(frozenset())


def atom(variable: str, depth: int = 0) -> Monomial:
    """One variable, or its logarithm of some depth."""
    return Monomial(frozenset({(Atom(variable, depth), ONE)}))


def log_of(basis: Basis) -> Monomial:
    """The logarithm of a basis element, which is again a monomial."""
    return basis.inner if isinstance(basis, Exponential) else atom(basis.variable, basis.depth + 1)


def height(found: Monomial) -> int:
    """How deep exponentials are nested in it."""
    return max((1 + height(basis.inner) for basis, _ in found.powers if isinstance(basis, Exponential)), default=0)


def tendency(quotient: Monomial) -> int:
    """Of a monomial in one variable: +1 where it grows without bound, -1 where it vanishes, 0 where it is constant."""
    if all(isinstance(basis, Atom) for basis, _ in quotient.powers):
        first = min(quotient.powers, key=lambda item: item[0].depth, default=None)  # type: ignore[union-attr]
        return first[1].sign if first else 0
    largest, sign = UNIT, 0
    for basis, exponent in quotient.powers:
        logarithm = log_of(basis)
        if sign == 0 or tendency(logarithm / largest) > 0:
            largest, sign = logarithm, exponent.sign
    return sign


def is_fixed(found: Monomial) -> bool:
    """Built from held-fixed variables alone."""
    return all(
        basis.depth >= FIXED_DEPTH if isinstance(basis, Atom) else is_fixed(basis.inner) for basis, _ in found.powers
    )


def without_fixed(found: Monomial) -> Monomial:
    """The factors that a held-fixed variable cannot account for."""
    kept = {
        basis: power
        for basis, power in found.powers
        if not (basis.depth >= FIXED_DEPTH if isinstance(basis, Atom) else is_fixed(basis.inner))
    }
    return monomial(kept)
