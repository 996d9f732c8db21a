"""The arithmetic that notices what a precision cannot see.

`x + e^(-6000)` and `x` agree to thousands of bits; so do `tanh(1000)` and 1. Here an addition whose smaller
term vanishes beside the larger, or a function that is flat to working precision, raises `Absorbed`: agreement
found with such a step proves nothing at this precision.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from flint import arb, ctx, fmpq

from autograder.maths.expression import arithmetic, elementary
from autograder.maths.expression.arithmetic import ONE, ZERO, Unclear, divide, negate
from autograder.maths.expression.elementary import REAL
from autograder.maths.expression.extended import COMPLEX

EXACT_BITS = 2**18


class Absorbed(Unclear):
    """Part of an operand left no trace in the result."""


@lru_cache(maxsize=16)
def _trace(precision: int) -> Any:
    """The least ratio of two terms at which the smaller one is still seen."""
    return arb(2) ** (40 - precision)


def _vanishes(x: Any, y: Any) -> bool:
    """Whether x, not known to be zero, disappears beside y."""
    if x == 0:
        return False
    small, large = abs(x), abs(y)
    if type(small) is arb and small.contains(0):
        return False  # what is only zero to working precision came from a cancellation, checked there
    return not small > large * _trace(ctx.prec)


def add(x: Any, y: Any) -> Any:
    """x + y, both of which must leave a trace."""
    return _observed(x, y, x + y)


def subtract(x: Any, y: Any) -> Any:
    """x - y, both of which must leave a trace."""
    return _observed(x, y, x - y)


def _observed(x: Any, y: Any, value: Any) -> Any:
    if type(value) is fmpq:
        if value.height_bits() > EXACT_BITS:
            raise Absorbed
        return value
    if y != 0 and x != 0 and (_vanishes(x, y) or _vanishes(y, x)):
        raise Absorbed
    return value


def multiply(x: Any, y: Any) -> Any:
    """x y, exact up to a larger size than elsewhere."""
    value = x * y
    if type(value) is fmpq and value.height_bits() > EXACT_BITS:
        raise Absorbed
    return value


def exp(x: Any) -> Any:
    """e^x, where x must be visible beside 0."""
    if x != 0 and _vanishes(x, ONE):
        raise Absorbed
    return arithmetic.exp(x)


def power(x: Any, y: Any) -> Any:
    """x^y by exponential and logarithm."""
    if type(y) is fmpq and y.q == 1:
        value = arithmetic.power(x, y, EXACT_BITS)
        if type(x) is fmpq and type(value) is arb:
            raise Absorbed
        return value
    if x > 0 and x != 1 and y != fmpq(1, 2):
        return exp(multiply(y, arithmetic.log(x)))
    return arithmetic.power(x, y)


def _even(name: str) -> Any:
    def observed(x: Any) -> Any:
        if x != 0 and _vanishes(x * x, ONE):
            raise Absorbed
        return REAL[name](x)

    return observed


def tanh(x: Any) -> Any:
    """tanh through exponentials, so that flat parts are noticed."""
    if x == 0:
        return ZERO
    tiny = exp(multiply(fmpq(-2), abs(x)))
    value = divide(subtract(ONE, tiny), add(ONE, tiny))
    return value if x > 0 else negate(value)


def cosh(x: Any) -> Any:
    """cosh through exponentials."""
    return add(exp(x), exp(negate(x))) / 2


def sinh(x: Any) -> Any:
    """sinh through exponentials."""
    return ZERO if x == 0 else subtract(exp(x), exp(negate(x))) / 2


def asinh(x: Any) -> Any:
    """asinh through logarithm and root."""
    if x == 0:
        return ZERO
    size = abs(x)
    value = arithmetic.log(add(size, arithmetic.sqrt(add(multiply(size, size), ONE))))
    return value if x > 0 else negate(value)


def atan(x: Any) -> Any:
    """atan, where x must be visible beside 0 and infinity."""
    if x != 0 and (_vanishes(x * x, ONE) or _vanishes(ONE, x * x)):
        raise Absorbed
    return elementary.atan(x)


def factorial(x: Any) -> Any:
    """x!, unless its size hides what is added to it."""
    value = elementary.factorial(x)
    if type(x) is fmpq and type(value) is arb and x > ctx.prec:
        raise Absorbed
    return value


def binom(n: Any, k: Any) -> Any:
    """n over k, unless its size hides what is added to it."""
    value = elementary.binom(n, k)
    if type(n) is type(k) is fmpq and type(value) is arb and abs(n) > ctx.prec:
        raise Absorbed
    return value


AUDIT: dict[str, Any] = {
    **REAL,
    "add": add,
    "sub": subtract,
    "mul": multiply,
    "exp": exp,
    "pow": power,
    "tanh": tanh,
    "cosh": cosh,
    "sinh": sinh,
    "asinh": asinh,
    "atan": atan,
    "factorial": factorial,
    "binom": binom,
    **{name: _even(name) for name in ("sin", "cos", "tan", "sin_pi", "cos_pi", "tan_pi")},
    "sigma": lambda x: divide(ONE, add(ONE, exp(negate(x)))),
    "softplus": lambda x: arithmetic.log(add(ONE, exp(x))),
    "coth": lambda x: divide(ONE, tanh(x)),
    "sech": lambda x: divide(ONE, cosh(x)),
}


def _complex_exp(x: Any) -> Any:
    if x != 0 and _vanishes(x, ONE):
        raise Absorbed
    return COMPLEX["exp"](x)


def _quotient(x: Any, y: Any) -> Any:
    return COMPLEX["div"](x, y)


def _complex_tanh(x: Any) -> Any:
    up, down = _complex_exp(x), _complex_exp(-x)
    return _quotient(subtract(up, down), add(up, down))


COMPLEX_AUDIT: dict[str, Any] = {
    **COMPLEX,
    "add": add,
    "sub": subtract,
    "exp": _complex_exp,
    "tanh": _complex_tanh,
    "coth": lambda x: _quotient(ONE, _complex_tanh(x)),
    "sinh": lambda x: subtract(_complex_exp(x), _complex_exp(-x)) / 2,
    "cosh": lambda x: add(_complex_exp(x), _complex_exp(-x)) / 2,
    "sech": lambda x: _quotient(ONE, add(_complex_exp(x), _complex_exp(-x)) / 2),
    "sigma": lambda x: _quotient(ONE, add(ONE, _complex_exp(-x))),
    "softplus": lambda x: COMPLEX["ln"](add(ONE, _complex_exp(x))),
}
