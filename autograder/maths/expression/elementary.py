"""The functions of the language over the reals, on top of the certified arithmetic, and the table of all."""

from __future__ import annotations

from typing import Any

from flint import arb, fmpq, fmpz

from autograder.maths.expression.arithmetic import (
    ONE,
    ZERO,
    Unclear,
    Undefined,
    absolute,
    add,
    at_most,
    differs,
    divide,
    equals,
    exp,
    finite,
    floor,
    less,
    log,
    maximum,
    minimum,
    multiply,
    negate,
    no_case,
    power,
    relu,
    small,
    sqrt,
    subtract,
)


def log2(x: Any) -> Any:
    """The binary logarithm, exact at powers of 2."""
    return _log_of_base(x, 2)


def log10(x: Any) -> Any:
    """The decimal logarithm, exact at powers of 10."""
    return _log_of_base(x, 10)


def unclear(_: Any) -> Any:
    """What no arithmetic knows: lg, until its base is chosen."""
    raise Unclear


def _log_of_base(x: Any, base: int) -> Any:
    if type(x) is fmpq and x > 0 and x.height_bits() < 2000:
        count, rest = 0, x if x >= 1 else 1 / x
        while rest.q == 1 and rest > 1 and rest.p % base == 0:
            count, rest = count + 1, rest / base
        if rest == 1:
            return fmpq(count if x >= 1 else -count)
    return log(x) / arb(base).log()


def factorial(x: Any) -> Any:
    """x!, by the gamma function where x is no integer."""
    if type(x) is fmpq and x.q == 1:
        if x < 0:
            raise Undefined("the factorial of a negative integer")
        if x <= 1000:
            return small(fmpq(fmpz.fac_ui(int(x))))
    return finite((arb(x) + 1).gamma())


_LARGEST_CHOICE = 2000


def binom(n: Any, k: Any) -> Any:
    """n over k: 0 for whole 0 <= n < k, the polynomial n (n-1) ... / k! for other n, gammas where k is no integer."""
    if type(k) is fmpq and k.q == 1:
        whole = type(n) is fmpq and n.q == 1
        if k < 0:
            if whole and n < 0:
                raise Unclear  # books differ
            return ZERO
        if whole and n >= 0:
            k = min(k, n - k)
            if k < 0:
                return ZERO
        if k <= _LARGEST_CHOICE and (whole or k <= 60):
            value: Any = ONE
            for j in range(int(k.p)):
                value = small(value * (n - j) / (j + 1))
            return value
    if n <= -1 or not n > -1:
        raise Unclear
    below = (arb(k) + 1).rgamma() * (arb(n) - arb(k) + 1).rgamma()
    return finite((arb(n) + 1).gamma() * below)


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
    "add": add,
    "sub": subtract,
    "mul": multiply,
    "neg": negate,
    "div": divide,
    "pow": power,
    "exp": exp,
    "ln": log,
    "lg": unclear,
    "log2": log2,
    "log10": log10,
    "sqrt": sqrt,
    "abs": absolute,
    "relu": relu,
    "max": maximum,
    "min": minimum,
    "floor": floor,
    "factorial": factorial,
    "binom": binom,
    "<": less,
    "<=": at_most,
    "=": equals,
    "!=": differs,
    "and": lambda one, other: one and other,
    "pair": lambda one, other: (one, other),
    "if": lambda truth, pair: pair[0 if truth else 1],
    "none": no_case,
    "sin": sin,
    "cos": cos,
    "tan": tan,
    "sin_pi": sin_pi,
    "cos_pi": cos_pi,
    "tan_pi": tan_pi,
    "sinh": sinh,
    "cosh": cosh,
    "tanh": tanh,
    "coth": coth,
    "sech": sech,
    "asinh": asinh,
    "atan": atan,
    "sigma": sigma,
    "softplus": softplus,
    "e": euler,
    "pi": pi,
}
