"""Real arithmetic with a certificate: exact rationals (`fmpq`) while they stay small, else balls (`arb`).

Every function returns a value that contains the true one, or raises `Undefined` (proved to have no real value
here) or `Unclear` (this precision cannot tell). Roots and logarithms are real: `(-8)^(1/3)` and `ln(-1)` are
undefined.
"""

from __future__ import annotations

from typing import Any

from flint import arb, fmpq, fmpz

EXACT_BITS = 16384
ONE, ZERO = fmpq(1), fmpq(0)


class Undefined(Exception):  # named for what happened
    """No value at this point; the text says why, in the student's terms."""


class Unclear(Exception):  # named for what happened
    """The ball is too wide to decide; a higher precision may help."""


def small(value: Any) -> Any:
    """`value`, as a ball where an exact rational has grown too large to carry."""
    if type(value) is fmpq and value.height_bits() > EXACT_BITS:
        return arb(value)
    return value


def add(x: Any, y: Any) -> Any:
    """x + y."""
    return small(x + y)


def subtract(x: Any, y: Any) -> Any:
    """x - y."""
    return small(x - y)


def multiply(x: Any, y: Any) -> Any:
    """x y."""
    return small(x * y)


def negate(x: Any) -> Any:
    """-x."""
    return -x


def divide(x: Any, y: Any) -> Any:
    """x / y; undefined for y = 0."""
    if y == 0:
        raise Undefined("a division by zero")
    if type(y) is arb and y.contains(0):
        raise Unclear
    return small(x / y)


def exp(x: Any) -> Any:
    """e^x, 1 at 0 exactly; never a ball that contains 0."""
    if x == 0:
        return ONE
    value = arb(x).exp()
    if not (value.is_finite() and value > 0):
        raise Unclear
    return value


def log(x: Any) -> Any:
    """The natural logarithm of a positive number."""
    if x > 0:
        return ZERO if x == 1 else arb(x).log()
    if x <= 0:
        raise Undefined("the logarithm of zero" if x == 0 else "the logarithm of a negative number")
    raise Unclear


def sqrt(x: Any) -> Any:
    """The square root, exact at squares of rationals."""
    if type(x) is fmpq:
        if x < 0:
            raise Undefined("the square root of a negative number")
        root = fmpq(x.p.isqrt(), x.q.isqrt())
        return root if root * root == x else arb(x).sqrt()
    if x >= 0:
        return x.sqrt()
    if x < 0:
        raise Undefined("the square root of a negative number")
    raise Unclear


def power(x: Any, y: Any, bits: int = EXACT_BITS) -> Any:
    """x^y, with 0^0 = 1; a negative base needs an integer exponent. Exact up to `bits`."""
    if type(y) is fmpq and y.q == 1:
        return _integer_power(x, y.p, bits)
    if x == 0:
        if y > 0:
            return ZERO
        if y < 0:
            raise Undefined("a division by zero")
        raise Unclear
    if x > 0:
        if x == 1:
            return ONE
        return sqrt(x) if y == fmpq(1, 2) else exp(multiply(y, log(x)))
    if x < 0 and (type(y) is fmpq or not y.contains_integer()):
        raise Undefined("a fractional power of a negative number")
    raise Unclear


def _integer_power(x: Any, n: fmpz, bits: int) -> Any:
    if n == 0:
        return ONE
    if n < 0 and x == 0:
        raise Undefined("a division by zero")
    if type(x) is fmpq and abs(x) in (ZERO, ONE):
        return x * x if n % 2 == 0 else x
    if type(x) is fmpq and x.height_bits() * abs(n) <= bits:
        return x ** int(n)
    if type(x) is arb and n < 0 and x.contains(0):
        raise Unclear
    value = arb(x) ** n
    if not value.is_finite():
        raise Unclear
    return value


def absolute(x: Any) -> Any:
    """|x|."""
    return abs(x)


def relu(x: Any) -> Any:
    """max(x, 0)."""
    return maximum(x, ZERO)


def maximum(x: Any, y: Any) -> Any:
    """The larger one; where balls overlap, a ball that holds both."""
    if x >= y:
        return x
    return y if y >= x else arb(x).max(arb(y))


def minimum(x: Any, y: Any) -> Any:
    """The smaller one; where balls overlap, a ball that holds both."""
    if x <= y:
        return x
    return y if y <= x else arb(x).min(arb(y))


def floor(x: Any) -> Any:
    """The largest integer up to x."""
    if type(x) is fmpq:
        return fmpq(x.floor())
    value = x.floor().unique_fmpz()
    if value is None:
        raise Unclear
    return fmpq(value)


def less(x: Any, y: Any) -> bool:
    """Whether x < y."""
    return _certain(x < y, x >= y)


def at_most(x: Any, y: Any) -> bool:
    """Whether x <= y."""
    return _certain(x <= y, x > y)


def equals(x: Any, y: Any) -> bool:
    """Whether x = y: proved for exact rationals only."""
    return _certain(type(x) is type(y) is fmpq and x == y, x != y)


def differs(x: Any, y: Any) -> bool:
    """Whether x is not y."""
    return not equals(x, y)


def _certain(yes: Any, no: Any) -> bool:
    if not (yes or no):
        raise Unclear
    return bool(yes)


def no_case() -> Any:
    """What stands below the last condition."""
    raise Undefined("one of its cases to hold")


def finite(value: Any) -> Any:
    """`value`, unless it overflowed."""
    if not value.is_finite():
        raise Unclear
    return value
