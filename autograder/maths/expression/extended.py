"""Arithmetic with infinities, on top of another one; and arithmetic on complex balls.

Only `inf` makes an infinity: `1/0` is undefined and `10^308` is a number. inf - inf, 0*inf and inf/inf are
undefined.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from flint import acb, arb, fmpq, fmpz

from autograder.maths.expression.arithmetic import ONE, ZERO, Unclear, Undefined, power
from autograder.maths.expression.elementary import REAL


@dataclass(frozen=True, slots=True)
class Infinity:
    """+inf or -inf."""

    sign: int


def _sign(x: Any) -> int:
    if isinstance(x, Infinity):
        return x.sign
    if x > 0:
        return 1
    if x < 0:
        return -1
    if x == 0:
        return 0
    raise Unclear


def _add(x: Any, y: Any) -> Any:
    if isinstance(x, Infinity) and isinstance(y, Infinity) and x.sign != y.sign:
        raise Undefined("infinity minus infinity")
    return x if isinstance(x, Infinity) else y


def _negate(x: Infinity) -> Infinity:
    return Infinity(-x.sign)


def _subtract(x: Any, y: Any) -> Any:
    return _add(x, _negate(y) if isinstance(y, Infinity) else y)


def _multiply(x: Any, y: Any) -> Any:
    if not (sign := _sign(x) * _sign(y)):
        raise Undefined("zero times infinity")
    return Infinity(sign)


def _divide(x: Any, y: Any) -> Any:
    if isinstance(y, Infinity):
        if isinstance(x, Infinity):
            raise Undefined("infinity over infinity")
        return ZERO
    if y == 0:
        raise Undefined("a division by zero")
    return Infinity(x.sign * _sign(y))


def _power(x: Any, y: Any) -> Any:
    if not isinstance(x, Infinity) and x == 0 and y.sign > 0:
        return ZERO
    if isinstance(x, Infinity) and x.sign > 0 and not isinstance(y, Infinity):
        return (ZERO, ONE, x)[_sign(y) + 1] if _sign(y) else _undefined("infinity to the power of zero")
    if isinstance(x, Infinity) or not x > 0:
        raise Undefined("a power with infinity")
    if x == 1:
        raise Undefined("one to the power of infinity")
    return x if isinstance(x, Infinity) else Infinity(1) if (_sign(x - 1) > 0) == (y.sign > 0) else ZERO


def _undefined(why: str) -> Any:
    raise Undefined(why)


def _positive_only(x: Infinity) -> Infinity:
    return x if x.sign > 0 else _undefined("a root or logarithm of minus infinity")


def _maximum(x: Any, y: Any) -> Any:
    if Infinity(1) in (x, y):
        return Infinity(1)
    return y if x == Infinity(-1) else x


def _minimum(x: Any, y: Any) -> Any:
    if Infinity(-1) in (x, y):
        return _negate(_maximum(_opposite(x), _opposite(y)))
    return y if x == Infinity(1) else x


_RULES: dict[str, Callable[..., Any]] = {
    "add": _add,
    "sub": _subtract,
    "mul": _multiply,
    "div": _divide,
    "neg": _negate,
    "pow": _power,
    "exp": lambda x: x if x.sign > 0 else ZERO,
    "ln": _positive_only,
    "log2": _positive_only,
    "log10": _positive_only,
    "sqrt": _positive_only,
    "abs": lambda _: Infinity(1),
    "relu": lambda x: x if x.sign > 0 else ZERO,
    "max": _maximum,
    "min": _minimum,
    "tanh": lambda x: fmpq(x.sign),
    "sigma": lambda x: fmpq((1 + x.sign) // 2),
    "sinh": lambda x: x,
    "cosh": lambda _: Infinity(1),
    "asinh": lambda x: x,
    "softplus": lambda x: x if x.sign > 0 else ZERO,
}


LOGIC = ("<", "<=", "=", "!=", "and", "none")
_RULES |= {name: REAL[name] for name in ("pair", "if")}


def _opposite(x: Any) -> Any:
    return _negate(x) if isinstance(x, Infinity) else x


def extended(table: dict[str, Any]) -> dict[str, Any]:
    """`table` with infinities: where an operand is one, the rule for infinities applies."""
    return {name: _wrapped(name, function) for name, function in table.items()} | {"inf": lambda: Infinity(1)}


def _wrapped(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    rule: Callable[..., Any] = _RULES.get(name, lambda *_: _undefined(f"{name} of infinity"))

    def operation(*operands: Any) -> Any:
        if not any(isinstance(operand, Infinity) for operand in operands):
            return function(*operands)
        if any(isinstance(operand, acb) for operand in operands):
            raise Undefined("infinity beside a complex number")
        return rule(*operands)

    return operation


def _complex_divide(x: Any, y: Any) -> Any:
    if y == 0:
        raise Undefined("a division by zero")
    if not isinstance(y, fmpq) and acb(y).contains(0):
        raise Unclear
    return x / y


def _complex_log(x: Any) -> Any:
    if x == 0:
        raise Undefined("the logarithm of zero")
    return _finite(acb(x).log())


def _finite(value: Any) -> Any:
    if not value.is_finite():
        raise Unclear
    return value


def _complex_power(x: Any, y: Any) -> Any:
    if isinstance(x, fmpq) and isinstance(y, fmpq) and (x > 0 or y.q == 1):
        return power(x, y)
    if x == 0:
        raise Undefined("a power of zero")
    if isinstance(y, fmpq) and y.q == 1 and abs(y) < 10**6:
        return _finite(acb(x) ** fmpz(y.p))
    return _finite(acb(x).pow(acb(y))) if not acb(x).contains(0) else _unclear()


def _unclear() -> Any:
    raise Unclear


def _native(name: str) -> Callable[[Any], Any]:
    return lambda x: _finite(getattr(acb(x), name)())


def _of_real(name: str) -> Callable[..., Any]:
    def operation(*operands: Any) -> Any:
        parts = [x.real if isinstance(x, acb) and x.imag == 0 else x for x in operands]
        if any(isinstance(part, acb) for part in parts):
            raise Undefined(f"{name} of a complex number")
        return REAL[name](*parts)

    return operation


COMPLEX: dict[str, Any] = {
    **{name: _of_real(name) for name in ("max", "min", "relu", "floor", "factorial", "binom", "log10", *LOGIC)},
    **{
        name: _native(name)
        for name in (
            "exp",
            "sin",
            "cos",
            "tan",
            "sinh",
            "cosh",
            "tanh",
            "coth",
            "sech",
            "sqrt",
            "asinh",
            "atan",
            "tan_pi",
            "sin_pi",
            "cos_pi",
        )
    },
    "add": lambda x, y: x + y,
    "sub": lambda x, y: x - y,
    "mul": lambda x, y: x * y,
    "neg": lambda x: -x,
    "div": _complex_divide,
    "pow": _complex_power,
    "ln": _complex_log,
    "abs": abs,
    "log2": lambda x: _complex_log(x) / arb(2).log(),
    "sigma": lambda x: _complex_divide(ONE, 1 + acb(-x).exp()),
    "softplus": lambda x: _complex_log(1 + acb(x).exp()),
    "pair": REAL["pair"],
    "if": REAL["if"],
    "e": REAL["e"],
    "pi": REAL["pi"],
    "i": lambda: acb(0, 1),
}
