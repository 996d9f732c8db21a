"""Real arithmetic with a certificate: exact rationals (`fmpq`) while they stay small, else balls (`arb`).

Every function returns a value that contains the true one, or raises `Undefined` (proved to have no real value
here) or `Unclear` (this precision cannot tell). Roots and logarithms are real: `(-8)^(1/3)` and `ln(-1)` are
undefined.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from flint import arb, ctx, fmpq, fmpz

EXACT_BITS = 16384
ONE, ZERO = fmpq(1), fmpq(0)
_LOCK = threading.RLock()


@contextmanager
def precision(bits: int) -> Iterator[None]:
    """Work at `bits`, alone: flint's precision belongs to the process, not to a thread."""
    with _LOCK:
        before, ctx.prec = ctx.prec, bits
        try:
            yield
        finally:
            ctx.prec = before


class Undefined(Exception):  # noqa: N818  # named for what happened
    """No value at this point; the text says why, in the student's terms."""


class Unclear(Exception):  # noqa: N818  # named for what happened
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


def log2(x: Any) -> Any:
    """The binary logarithm, exact at powers of 2."""
    return _log_of_base(x, 2)


def log10(x: Any) -> Any:
    """The decimal logarithm, exact at powers of 10."""
    return _log_of_base(x, 10)


def _log_of_base(x: Any, base: int) -> Any:
    if type(x) is fmpq and x > 0 and x.height_bits() < 2000:
        count, rest = 0, x if x >= 1 else 1 / x
        while rest.q == 1 and rest > 1 and rest.p % base == 0:
            count, rest = count + 1, rest / base
        if rest == 1:
            return fmpq(count if x >= 1 else -count)
    return log(x) / arb(base).log()


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


def factorial(x: Any) -> Any:
    """x!, by the gamma function where x is no integer."""
    if type(x) is fmpq and x.q == 1:
        if x < 0:
            raise Undefined("the factorial of a negative integer")
        if x <= 1000:
            return small(fmpq(fmpz.fac_ui(int(x))))
    return finite((arb(x) + 1).gamma())


def sin(x: Any) -> Any:
    """sin x."""
    return ZERO if x == 0 else arb(x).sin()


def cos(x: Any) -> Any:
    """cos x."""
    return ONE if x == 0 else arb(x).cos()


def tan(x: Any) -> Any:
    """tan x."""
    return divide(sin(x), cos(x))


def sin_pi(x: Any) -> Any:
    """sin(pi x), exact at multiples of 1/2: (-1)^n is cos(pi n) on integers."""
    if type(x) is fmpq and (2 * x).q == 1:
        return fmpq((0, 1, 0, -1)[int((2 * x).p % 4)])
    return arb(x).sin_pi()


def cos_pi(x: Any) -> Any:
    """cos(pi x), exact at multiples of 1/2."""
    return sin_pi(x + fmpq(1, 2))


def tan_pi(x: Any) -> Any:
    """tan(pi x)."""
    return divide(sin_pi(x), cos_pi(x))


def finite(value: Any) -> Any:
    """`value`, unless it overflowed."""
    if not value.is_finite():
        raise Unclear
    return value


def sinh(x: Any) -> Any:
    """sinh x."""
    return ZERO if x == 0 else finite(arb(x).sinh())


def cosh(x: Any) -> Any:
    """cosh x."""
    return ONE if x == 0 else finite(arb(x).cosh())


def tanh(x: Any) -> Any:
    """tanh x."""
    return ZERO if x == 0 else arb(x).tanh()


def coth(x: Any) -> Any:
    """1/tanh x."""
    return divide(ONE, tanh(x))


def sech(x: Any) -> Any:
    """1/cosh x."""
    return divide(ONE, cosh(x))


def asinh(x: Any) -> Any:
    """The inverse of sinh."""
    return ZERO if x == 0 else arb(x).asinh()


def atan(x: Any) -> Any:
    """The inverse of tan, in (-pi/2, pi/2)."""
    return ZERO if x == 0 else arb(x).atan()


def sigma(x: Any) -> Any:
    """The logistic function."""
    return fmpq(1, 2) if x == 0 else divide(ONE, 1 + exp(-x))


def softplus(x: Any) -> Any:
    """ln(1 + e^x)."""
    return log(1 + exp(x))


def euler() -> Any:
    """e."""
    return arb(1).exp()


def pi() -> Any:
    """The number pi."""
    return arb.pi()


REAL: dict[str, Any] = {
    "add": add, "sub": subtract, "mul": multiply, "neg": negate, "div": divide, "pow": power, "exp": exp,
    "ln": log,
    "log2": log2, "log10": log10, "sqrt": sqrt, "abs": absolute, "relu": relu, "max": maximum, "min": minimum,
    "floor": floor, "factorial": factorial, "sin": sin, "cos": cos, "tan": tan, "sin_pi": sin_pi,
    "cos_pi": cos_pi,
    "tan_pi": tan_pi, "sinh": sinh, "cosh": cosh, "tanh": tanh, "coth": coth, "sech": sech, "asinh": asinh,
    "atan": atan, "sigma": sigma, "softplus": softplus, "e": euler, "pi": pi,
}  # fmt: skip
