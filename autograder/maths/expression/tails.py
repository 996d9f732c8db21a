"""A certified bound for what is left of an infinite sum after its first terms.

For all i >= n a term is enclosed by monomials, |f(i)| <= C i^p q^i, found by going through its operations.
Then the ratio of consecutive bounds is at most r = q ((n+1)/n)^p, and the rest is at most C n^p q^n / (1-r)
where r < 1.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from flint import arb, ctx, fmpq

from autograder.maths.expression.arithmetic import Unclear
from autograder.maths.expression.budget import Expensive
from autograder.maths.expression.program import NONE, Loop, Machine

PATIENCE = 250  # a bound that does not fall from here on is given up
SLOW = 1000  # more terms than this are not added up

Monomial = tuple[Any, Any, Any]  # C, p, q of C i^p q^i
Line = tuple[Any, Any]  # a, b of a + b i


@dataclass(frozen=True, kw_only=True)
class Bound:
    """What holds for every i >= n: |f| between two monomials, f between two lines, its constant sign."""

    upper: Monomial | None = None
    lower: Monomial | None = None
    sign: int = 0
    above: Line | None = None
    below: Line | None = None


def tail(machine: Machine, loop: Loop, n: int, total: Any) -> Any:
    """A ball around 0 that contains the terms from i = n on, or None where more terms must be added first."""
    bounds = {loop.index: _index()}

    def operand(register: int) -> Bound:
        return bounds.get(register) or _invariant(machine.registers[register])

    for register in loop.inside:
        step = machine.program.steps[register]
        rule = _RULES.get(step.name)
        if rule is None or step.first == NONE:
            raise Unclear
        bounds[register] = rule(n, *(operand(k) for k in (step.first, step.second) if k != NONE))
    upper = operand(loop.body).upper
    if upper is None:
        raise Unclear
    return _rest(n, upper, total)


def _rest(n: int, upper: Monomial, total: Any) -> Any:
    scale, p, q = (arb(part) for part in upper)
    ratio = q * (arb(n + 1) / n) ** p
    if not ratio < 1:
        if n > PATIENCE:
            raise Unclear
        return None
    if ctx.prec * 0.7 > SLOW * -float(ratio.log().mid()):
        raise Expensive
    rest = (scale * arb(n) ** p * q**n / (1 - ratio)).abs_upper()
    floor = arb(2) ** (-2 * ctx.prec)
    wanted = arb(2) ** (50 - ctx.prec) * abs(arb(total)).max(floor)
    return arb(0, rest) if rest < wanted else None


def _index() -> Bound:
    one = (fmpq(1), fmpq(1), fmpq(1))
    return Bound(upper=one, lower=one, sign=1, above=(fmpq(0), fmpq(1)), below=(fmpq(0), fmpq(1)))


def _invariant(value: Any) -> Bound:
    if type(value) not in (fmpq, arb):
        raise Unclear
    sign = 1 if value > 0 else -1 if value < 0 else 0
    monomial = (abs(value), fmpq(0), fmpq(1))
    line = (value, fmpq(0))
    return Bound(upper=monomial, lower=monomial if sign else None, sign=sign, above=line, below=line)


def _larger(x: Any, y: Any) -> Any:
    return x if x >= y else y if y >= x else arb(x).max(arb(y))


def _line_sum(f: Line | None, g: Line | None) -> Line | None:
    return None if f is None or g is None else (f[0] + g[0], f[1] + g[1])


def _add(n: int, f: Bound, g: Bound) -> Bound:
    upper = lower = None
    if f.upper and g.upper:
        upper = (f.upper[0] + g.upper[0], _larger(f.upper[1], g.upper[1]), _larger(f.upper[2], g.upper[2]))
    sign = f.sign if f.sign == g.sign else 0
    if sign:
        lower = f.lower or g.lower
    for big, little in ((f, g), (g, f)):
        if not sign and big.sign and _is_half(n, big, little) and big.lower:
            sign, lower = big.sign, (big.lower[0] / 2, fmpq(0), fmpq(1))
    above, below = _line_sum(f.above, g.above), _line_sum(f.below, g.below)
    return Bound(upper=upper, lower=lower, sign=sign, above=above, below=below)


def _is_half(n: int, big: Bound, little: Bound) -> bool:
    """Whether |little| <= |big|/2 from n on, where |big| stays above a constant and little's bound falls."""
    if not big.lower or not little.upper or big.lower[1] != 0 or big.lower[2] != 1:
        return False
    scale, p, q = (arb(part) for part in little.upper)
    falls = q * (arb(n + 1) / n) ** p < 1
    return bool(falls and scale * arb(n) ** p * q**n <= big.lower[0] / 2)


def _negate(_: int, f: Bound) -> Bound:
    def minus(line: Line | None) -> Line | None:
        return None if line is None else (-line[0], -line[1])

    return replace(f, sign=-f.sign, above=minus(f.below), below=minus(f.above))


def _subtract(n: int, f: Bound, g: Bound) -> Bound:
    return _add(n, f, _negate(n, g))


def _product(f: Monomial | None, g: Monomial | None) -> Monomial | None:
    return None if f is None or g is None else (f[0] * g[0], f[1] + g[1], f[2] * g[2])


def _multiply(n: int, f: Bound, g: Bound) -> Bound:
    above = below = None
    for scalar, line in ((f, g), (g, f)):
        value = _value(scalar)
        if value is not None and (value >= 0 or value < 0):
            ends = [part and (value * part[0], value * part[1]) for part in (line.above, line.below)]
            above, below = ends if value >= 0 else ends[::-1]
    if below is None:
        below = _product_line(n, f.below, g.below)
    return Bound(
        upper=_product(f.upper, g.upper),
        lower=_product(f.lower, g.lower),
        sign=f.sign * g.sign,
        above=above,
        below=below,
    )


def _value(f: Bound) -> Any:
    """The constant that f is, or None."""
    return f.above[0] if f.above is not None and f.above is f.below else None


def _product_line(n: int, f: Line | None, g: Line | None) -> Line | None:
    """A line below f*g where both lines rise from a non-negative value at n."""
    if f is None or g is None or not (f[1] >= 0 and g[1] >= 0):
        return None
    least = f[0] + f[1] * n
    return (least * g[0], least * g[1]) if least >= 0 and g[0] + g[1] * n >= 0 else None


def _inverse(n: int, f: Bound) -> Bound:
    upper = lower = None
    if f.lower:
        scale, p, q = f.lower
        upper = (1 / scale, -p, 1 / q) if p <= 0 else (1 / (scale * arb(n) ** p), fmpq(0), 1 / q)
    if f.upper and f.upper[0] > 0 and f.upper[2] > 0:
        lower = (1 / f.upper[0], -f.upper[1], 1 / f.upper[2])
    value = _value(f)
    line = (1 / value, fmpq(0)) if value is not None and f.sign else None
    return Bound(upper=upper, lower=lower, sign=f.sign, above=line, below=line)


def _divide(n: int, f: Bound, g: Bound) -> Bound:
    return _multiply(n, f, _inverse(n, g))


def _exp(_: int, f: Bound) -> Bound:
    upper, lower = (
        None if line is None else (arb(line[0]).exp(), fmpq(0), arb(line[1]).exp()) for line in (f.above, f.below)
    )
    return Bound(upper=upper, lower=lower, sign=1)


def _power(n: int, f: Bound, g: Bound) -> Bound:
    exponent, base = _value(g), _value(f)
    if exponent is not None and type(exponent) is fmpq and exponent.q == 1 and abs(exponent) <= 64:
        return _integer_power(n, f, int(exponent.p))
    if exponent is not None and exponent > 0 and f.sign > 0:
        upper, lower = (
            m and (arb(m[0]) ** exponent, m[1] * exponent, arb(m[2]) ** exponent) for m in (f.upper, f.lower)
        )
        return Bound(upper=upper, lower=lower, sign=1)
    if base is None or not f.sign:
        raise Unclear
    result = _exp(n, _multiply(n, _invariant(abs(arb(base)).log()), g))
    return replace(result, sign=1 if f.sign > 0 else 0)


def _integer_power(n: int, f: Bound, exponent: int) -> Bound:
    result = _invariant(fmpq(1))
    for _ in range(abs(exponent)):
        result = _multiply(n, result, f)
    return _inverse(n, result) if exponent < 0 else result


def _log(n: int, f: Bound) -> Bound:
    if f.sign <= 0 or not f.upper or not f.lower or not (f.lower[0] > 0 and f.lower[2] > 0):
        raise Unclear
    slow = arb(n).log() / n  # ln i <= slow * i from n >= 3 on
    above = (arb(f.upper[0]).log(), f.upper[1] * slow + arb(f.upper[2]).log())
    scale, p, q = (arb(part) for part in f.lower)
    below = (scale.log() + p * arb(n).log(), q.log()) if p >= 0 else (scale.log(), p * slow + q.log())
    size = sum(abs(part) for part in (*above, *below))
    return Bound(upper=(size, fmpq(1), fmpq(1)), above=above, below=below)


def _log_of_base(base: int) -> Callable[[int, Bound], Bound]:
    return lambda n, f: _multiply(n, _log(n, f), _invariant(1 / arb(base).log()))


def _absolute(_: int, f: Bound) -> Bound:
    return Bound(upper=f.upper, lower=f.lower, sign=1 if f.lower else 0)


def _sqrt(_: int, f: Bound) -> Bound:
    upper, lower = (m and (arb(m[0]).sqrt(), m[1] / 2, arb(m[2]).sqrt()) for m in (f.upper, f.lower))
    return Bound(upper=upper, lower=lower, sign=f.sign)


def _extreme(n: int, f: Bound, g: Bound) -> Bound:
    return Bound(upper=_add(n, f, g).upper)


def _within_one(_n: int, _f: Bound) -> Bound:
    return Bound(upper=(fmpq(1), fmpq(0), fmpq(1)))


def _factorial(n: int, f: Bound) -> Bound:
    if f.below is None or not (f.below[0] >= 0 and f.below[1] >= 1):
        raise Unclear
    return Bound(lower=(fmpq(1), fmpq(0), n / arb(1).exp()), sign=1)  # f! >= i! >= (i/e)^i


_RULES: dict[str, Callable[..., Bound]] = {
    "add": _add,
    "sub": _subtract,
    "mul": _multiply,
    "neg": _negate,
    "div": _divide,
    "exp": _exp,
    "pow": _power,
    "ln": _log,
    "log2": _log_of_base(2),
    "log10": _log_of_base(10),
    "abs": _absolute,
    "sqrt": _sqrt,
    "relu": lambda _, f: Bound(upper=f.upper),
    "max": _extreme,
    "min": _extreme,
    "factorial": _factorial,
    "sin": _within_one,
    "cos": _within_one,
    "sin_pi": _within_one,
    "cos_pi": _within_one,
    "tanh": _within_one,
    "sigma": _within_one,
}
