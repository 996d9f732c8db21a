"""Coefficients and exponents: exact rationals, 256-bit irrationals, and factors known only up to constants.

A coefficient such as ln 2 or sqrt 3 is kept to 256 bits and compared at 120: the same number reached on two ways is
one number. A factor that merely stays between two positive constants (what sqrt(n + m) leaves behind) has a sign but no
value, and its sign is lost where two such factors of unlike sign meet: that sum is never taken for zero.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache

_BITS = 256
_SAME = Fraction(1, 2**120)
_LARGEST_BITS = 20_000


@dataclass(frozen=True, kw_only=True, eq=False)
class Constant:
    """`value` is None where only the sign is known; `sign` is then +1, -1, or 0 for unknown."""

    value: Fraction | None
    exact: bool = True
    loose_sign: int = 0

    @property
    def sign(self) -> int:
        """+1, -1, or 0 for zero and for unknown."""
        if self.value is None:
            return self.loose_sign
        return (self.value > 0) - (self.value < 0)

    @property
    def is_zero(self) -> bool:
        """Exactly zero, as opposed to unknown."""
        return self.value is not None and self.value == 0

    @cached_property
    def key(self) -> Fraction:
        """What equality and order go by: the value, an irrational one rounded to 120 bits."""
        assert self.value is not None
        if self.exact or not self.value:
            return self.value
        return _rounded(self.value, 120)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Constant):
            return NotImplemented
        if self.value is None or other.value is None:
            return self.value is other.value and self.loose_sign == other.loose_sign
        return self.key == other.key

    def __hash__(self) -> int:
        return hash(self.loose_sign if self.value is None else self.key)

    def __neg__(self) -> Constant:
        value = None if self.value is None else -self.value
        return Constant(value=value, exact=self.exact, loose_sign=-self.loose_sign)

    def __add__(self, other: Constant) -> Constant:
        if self.is_zero or other.is_zero:
            return other if self.is_zero else self
        if self.value is None or other.value is None:
            return loose(self.sign if self.sign == other.sign else 0)
        total = self.value + other.value
        if self.exact and other.exact:
            return _exact(total)
        return ZERO if abs(total) <= _SAME * max(abs(self.value), abs(other.value)) else irrational(total)

    def __mul__(self, other: Constant) -> Constant:
        return self._combine(other, operator.mul)

    def __truediv__(self, other: Constant) -> Constant:
        if other.is_zero:
            raise ZeroDivisionError
        return self._combine(other, operator.truediv)

    def _combine(self, other: Constant, how: Callable[[Fraction, Fraction], Fraction]) -> Constant:
        if self.is_zero or other.is_zero:
            return ZERO
        if other is ONE:
            return self
        if self.value is None or other.value is None:
            return loose(self.sign * other.sign)
        result = how(self.value, other.value)
        return _exact(result) if self.exact and other.exact else irrational(result)


def rational(value: Fraction | int) -> Constant:
    """An exact constant."""
    return Constant(value=Fraction(value))


def loose(sign: int) -> Constant:
    """A factor between two constants of this sign; 0: between any two constants."""
    return Constant(value=None, loose_sign=sign)


ZERO, ONE = rational(0), rational(1)


def irrational(value: Fraction) -> Constant:
    """A value good to about 250 bits; one that is a small fraction to that precision is that fraction (ln 8 / ln 2)."""
    near = value.limit_denominator(1000)
    if abs(near - value) <= abs(value) / 2**200:
        return rational(near)
    return Constant(value=_rounded(value, _BITS), exact=False)


def logarithm(constant: Constant) -> Constant:
    """The natural logarithm of a positive constant; of a loose one anything."""
    if constant.value is None:
        return loose(0)
    return irrational(_by_flint("log", constant.value))


def exponential(constant: Constant) -> Constant:
    """e to a constant; loose where the result would be astronomical."""
    if constant.value is None or abs(constant.value) > _LARGEST_BITS // 2:
        return loose(1)
    return irrational(_by_flint("exp", constant.value))


def power(base: Constant, exponent: Constant) -> Constant:
    """A positive constant to any constant."""
    if base.value is None or exponent.value is None:
        return loose(1)
    size = abs(exponent.value) * max(base.value.numerator.bit_length(), base.value.denominator.bit_length())
    if exponent.value.denominator == 1 and size < _BITS * 4:
        result = base.value ** int(exponent.value)
        return rational(result) if base.exact else irrational(result)
    return exponential(logarithm(base) * exponent)


def _exact(value: Fraction) -> Constant:
    if value.numerator.bit_length() + value.denominator.bit_length() > _LARGEST_BITS:
        return loose((value > 0) - (value < 0))
    return rational(value)


@lru_cache(maxsize=4096)
def _by_flint(function: str, value: Fraction) -> Fraction:
    """`arb.log` or `arb.exp` of a rational, good to some forty bits more than are kept."""
    from flint import arb, fmpq

    from autograder.maths.precision import precision

    with precision(_BITS + 40):
        ball = getattr(arb(fmpq(value.numerator, value.denominator)), function)()
    middle = ball.mid().fmpq()
    return Fraction(int(middle.p), int(middle.q))


def _rounded(value: Fraction, bits: int) -> Fraction:
    """The nearest fraction with a mantissa of `bits` bits."""
    sign, size = (-1 if value < 0 else 1), abs(value)
    shift = bits - (size.numerator.bit_length() - size.denominator.bit_length())
    scale = Fraction(2) ** shift
    return sign * round(size * scale) / scale
