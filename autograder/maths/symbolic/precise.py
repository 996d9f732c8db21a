"""Numbers of a hundred digits that behave like floats: the elements on which a student's code is run a second time.

Python's own decimal arithmetic in a context of its own: nothing is needed beyond the standard library, and no global
setting is touched. Floats that reach it are taken as they were meant: 0.1 is a tenth, and a float whose 17 digits are
those of a fraction, of the root of one, or of a multiple of pi or a logarithm (`1/3`, `7**-0.5`, `sqrt(2/pi)`, computed
in floats before we could see it) is that number.
"""

from __future__ import annotations

import decimal
import operator
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache, total_ordering
from typing import Any, SupportsFloat, SupportsIndex

from autograder.maths.symbolic.decimal_functions import CONTEXT, error_function, pi, sine

_ONE, _TWO = Decimal(1), Decimal(2)
_ULPS = Decimal(2) ** -51  # two roundings of a 53-bit float


@total_ordering
class Precise:
    """One number; mixes with int, float and numpy scalars, and answers the method names that numpy calls on objects."""

    __slots__ = ("value",)

    def __init__(self, value: object = 0) -> None:
        self.value = decimal_of(value)

    # -- arithmetic --------------------------------------------------------------------------------------------------
    def __add__(self, other: object) -> Precise:
        return _binary(CONTEXT.add, self, other)

    def __sub__(self, other: object) -> Precise:
        return _binary(CONTEXT.subtract, self, other)

    def __mul__(self, other: object) -> Precise:
        return _binary(CONTEXT.multiply, self, other)

    def __truediv__(self, other: object) -> Precise:
        return _binary(CONTEXT.divide, self, other)

    def __pow__(self, other: object) -> Precise:
        return _binary(_power, self, other)

    def __floordiv__(self, other: object) -> Precise:
        return (self / other).floor()

    def __mod__(self, other: object) -> Precise:
        return self - (self // other) * other

    def __radd__(self, other: object) -> Precise:
        return _binary(CONTEXT.add, other, self)

    def __rsub__(self, other: object) -> Precise:
        return _binary(CONTEXT.subtract, other, self)

    def __rmul__(self, other: object) -> Precise:
        return _binary(CONTEXT.multiply, other, self)

    def __rtruediv__(self, other: object) -> Precise:
        return _binary(CONTEXT.divide, other, self)

    def __rpow__(self, other: object) -> Precise:
        return _binary(_power, other, self)

    def __rfloordiv__(self, other: object) -> Precise:
        return Precise(other) // self

    def __neg__(self) -> Precise:
        return _made(self.value.copy_negate())

    def __pos__(self) -> Precise:
        return self

    def __abs__(self) -> Precise:
        return _made(self.value.copy_abs())

    # -- comparison --------------------------------------------------------------------------------------------------
    def __eq__(self, other: object) -> bool:
        return _compared(operator.eq, self, other)

    def __lt__(self, other: object) -> bool:
        return _compared(operator.lt, self, other)

    def __hash__(self) -> int:
        return hash(self.value)

    def __bool__(self) -> bool:
        return bool(self.value)

    # -- conversion --------------------------------------------------------------------------------------------------
    def __float__(self) -> float:
        return float(self.value)

    def __int__(self) -> int:
        return int(self.value)

    def __round__(self, digits: int | None = None) -> Any:
        return round(self.value) if digits is None else _made(round(self.value, digits))

    def __repr__(self) -> str:
        return f"Precise({self.value})"

    def item(self) -> Precise:
        """numpy's and torch's name for the bare number."""
        return self

    # -- what numpy calls on the elements of an object array -----------------------------------------------------------
    def exp(self) -> Precise:
        """e to the number."""
        return _made(CONTEXT.exp(self.value))

    def log(self) -> Precise:
        """The natural logarithm; -inf at 0, nan below."""
        return _made(CONTEXT.ln(self.value))

    def log2(self) -> Precise:
        """To base 2."""
        return _made(CONTEXT.divide(CONTEXT.ln(self.value), CONTEXT.ln(_TWO)))

    def log10(self) -> Precise:
        """To base 10."""
        return _made(CONTEXT.log10(self.value))

    def log1p(self) -> Precise:
        """ln(1 + x)."""
        return (self + 1).log()

    def expm1(self) -> Precise:
        """e^x - 1."""
        return self.exp() - 1

    def sqrt(self) -> Precise:
        """The square root; nan below 0."""
        return _made(CONTEXT.sqrt(self.value))

    def tanh(self) -> Precise:
        """By the exponential of -2|x|, which cannot overflow."""
        if self.isnan():
            return self
        small = (abs(self) * -2).exp()
        size = (1 - small) / (1 + small)
        return size if self.value >= 0 else -size

    def sinh(self) -> Precise:
        """(e^x - e^-x)/2."""
        return (self.exp() - (-self).exp()) / 2

    def cosh(self) -> Precise:
        """(e^x + e^-x)/2."""
        return (self.exp() + (-self).exp()) / 2

    def sin(self) -> Precise:
        """By its series after reduction."""
        return _made(sine(self.value))

    def cos(self) -> Precise:
        """sin(x + pi/2)."""
        return _made(sine(CONTEXT.add(self.value, CONTEXT.divide(pi(), _TWO))))

    def erf(self) -> Precise:
        """The error function."""
        return _made(error_function(self.value))

    def floor(self) -> Precise:
        """Towards minus infinity."""
        return _made(self.value.to_integral_value(decimal.ROUND_FLOOR, CONTEXT))

    def ceil(self) -> Precise:
        """Towards plus infinity."""
        return _made(self.value.to_integral_value(decimal.ROUND_CEILING, CONTEXT))

    def rint(self) -> Precise:
        """To the nearest even integer."""
        return _made(self.value.to_integral_value(decimal.ROUND_HALF_EVEN, CONTEXT))

    def conjugate(self) -> Precise:
        """Itself."""
        return self

    def isnan(self) -> bool:
        """Not a number."""
        return self.value.is_nan()

    def isinf(self) -> bool:
        """An infinity."""
        return self.value.is_infinite()

    def isfinite(self) -> bool:
        """A number."""
        return self.value.is_finite()

    def sign(self) -> Precise:
        """-1, 0 or 1."""
        return self if self.isnan() else Precise((self.value > 0) - (self.value < 0))


def _made(value: Decimal) -> Precise:
    found = Precise.__new__(Precise)
    found.value = value
    return found


def _binary(operation: Callable[[Decimal, Decimal], Decimal], left: object, right: object) -> Precise:
    try:
        return _made(operation(decimal_of(left), decimal_of(right)))
    except TypeError:
        return NotImplemented  # type: ignore[no-any-return]


def _compared(operation: Callable[[Decimal, Decimal], bool], left: Precise, right: object) -> bool:
    try:
        other = decimal_of(right)
    except TypeError:
        return NotImplemented  # type: ignore[no-any-return]
    return not (left.value.is_nan() or other.is_nan()) and operation(left.value, other)


def _power(base: Decimal, exponent: Decimal) -> Decimal:
    if base == 0 and exponent == 0:
        return _ONE
    if exponent == Decimal("0.5"):
        return CONTEXT.sqrt(base)
    return CONTEXT.power(base, exponent)


def decimal_of(value: object) -> Decimal:
    """Any real number as it was meant; raises TypeError for what is none."""
    if isinstance(value, Precise):
        return value.value
    if isinstance(value, bool | int | SupportsIndex):
        return Decimal(operator.index(value))
    if isinstance(value, str):
        return Decimal(value.strip().lower().replace("inf", "Infinity") if "inf" in value.lower() else value)
    if isinstance(value, Fraction):
        return CONTEXT.divide(Decimal(value.numerator), Decimal(value.denominator))
    if isinstance(value, SupportsFloat) and getattr(value, "shape", ()) == ():
        # A float32 prints its own shortest digits; widened first, 0.1 would become 0.10000000149.
        return _of_float(str(value) if type(value).__name__ == "float32" else repr(float(value)))
    raise TypeError(f"{type(value).__name__} is not a real number")


@lru_cache(maxsize=4096)
def _of_float(digits: str) -> Decimal:
    """The shortest decimal of a float, or the fraction or root of a fraction that has the same 17 digits."""
    found = Decimal(digits)
    if not found.is_finite() or len(found.as_tuple().digits) < 15:
        return found
    for factor, power in _familiar():
        near = (Fraction(CONTEXT.power(CONTEXT.divide(found, factor), power))).limit_denominator(10_000)
        if near and abs(near.numerator) < 10**6:
            root = CONTEXT.divide(Decimal(near.numerator), Decimal(near.denominator))
            meant = CONTEXT.multiply(factor, root if power == 1 else CONTEXT.sqrt(root).copy_sign(found))
            if CONTEXT.abs(CONTEXT.subtract(meant, found)) <= CONTEXT.multiply(CONTEXT.abs(found), _ULPS):
                return meant
    return found


@lru_cache(maxsize=1)
def _familiar() -> list[tuple[Decimal, int]]:
    """Factors of which a constant in a formula is a rational multiple (power 1) or the root of one (power 2)."""
    circle = pi()
    logarithms = [(CONTEXT.ln(Decimal(base)), 1) for base in (2, 3, 5, 7, 10)]
    inverse = [(CONTEXT.divide(_ONE, value), 1) for value, _ in logarithms]
    roots = [(_ONE, 2), (CONTEXT.sqrt(circle), 2), (CONTEXT.divide(_ONE, CONTEXT.sqrt(circle)), 2)]
    return [(_ONE, 1), *roots, (circle, 1), (CONTEXT.divide(_ONE, circle), 1), *logarithms, *inverse]
