"""The algebra of polynomials times geometric factors: `sum_m c_m(i) q_m^i` as a list of (q, coefficients).

`table` is the arithmetic of the coefficients. A rule raises `Other` where its result has no such form.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from flint import acb, arb, fmpq

from autograder.maths.expression.arithmetic import ONE, ZERO, log

DEGREE = 12

Terms = list[tuple[Any, list[Any]]]
Table = dict[str, Any]


class Other(Exception):  # named for what happened
    """The term is no polynomial times geometric factors."""


def _add(table: Table, f: Terms, g: Terms) -> Terms:
    merged = list(f)
    for q, coefficients in g:
        for k, (other, present) in enumerate(merged):
            if other is q or (type(q) is type(other) is fmpq and q == other):
                merged[k] = (q, _padded_sum(table, present, coefficients))
                break
        else:
            merged.append((q, coefficients))
    return merged


def _padded_sum(table: Table, a: list[Any], b: list[Any]) -> list[Any]:
    size = max(len(a), len(b))
    a, b = a + [ZERO] * (size - len(a)), b + [ZERO] * (size - len(b))
    return [table["add"](x, y) for x, y in zip(a, b, strict=True)]


def _negate(_: Table, f: Terms) -> Terms:
    return [(q, [-c for c in coefficients]) for q, coefficients in f]


def _subtract(table: Table, f: Terms, g: Terms) -> Terms:
    return _add(table, f, _negate(table, g))


def _multiply(table: Table, f: Terms, g: Terms) -> Terms:
    product: Terms = []
    for q, a in f:
        for r, b in g:
            if len(a) + len(b) - 2 > DEGREE:
                raise Other
            coefficients = [ZERO] * (len(a) + len(b) - 1)
            for j, x in enumerate(a):
                for k, y in enumerate(b):
                    coefficients[j + k] = coefficients[j + k] + x * y
            product = _add(table, product, [(q if r == 1 else r if q == 1 else q * r, coefficients)])
    return product


def _monomial(f: Terms) -> tuple[Any, Any]:
    """(q, c) where f is c q^i."""
    if len(f) != 1 or len(f[0][1]) != 1:
        raise Other
    q, (c,) = f[0]
    return q, c


def _affine(f: Terms) -> tuple[Any, Any]:
    """(a, b) where f is a + b i."""
    if len(f) != 1 or f[0][0] != 1 or len(f[0][1]) > 2:
        raise Other
    a, b, *_ = [*f[0][1], ZERO]
    return a, b


def _positive(*values: Any) -> None:
    if not all(type(value) in (fmpq, arb) and value > 0 for value in values):
        raise Other


def _divide(table: Table, f: Terms, g: Terms) -> Terms:
    q, c = _monomial(g)
    return _multiply(table, f, [(_inverse(q), [_inverse(c)])])


def _inverse(c: Any) -> Any:
    if c == 0 or (type(c) in (arb, acb) and c.contains(0)):
        raise Other
    return 1 / c


def _exponential(table: Table, f: Terms) -> Terms:
    a, b = _affine(f)
    return [(table["exp"](b), [table["exp"](a)])]


def _power(table: Table, f: Terms, g: Terms) -> Terms:
    n, slope = _affine(g)
    if slope == 0 and type(n) is fmpq and n.q == 1:
        if 0 <= n <= DEGREE:
            return _repeated(table, f, int(n))
        q, c = _monomial(f)
        _positive(abs(q), abs(c))
        return [(table["pow"](q, n), [table["pow"](c, n)])]
    q, base = _monomial(f)
    if q != 1:
        _positive(q, base)
        if slope != 0:
            raise Other
        return [(table["pow"](q, n), [table["pow"](base, n)])]
    integers = all(type(value) is fmpq and value.q == 1 for value in (n, slope))
    _positive(abs(base) if integers and type(base) in (fmpq, arb) else base)
    return [(table["pow"](base, slope), [table["pow"](base, n)])]


def _repeated(table: Table, f: Terms, n: int) -> Terms:
    result: Terms = [(ONE, [ONE])]
    for _ in range(n):
        result = _multiply(table, result, f)
    return result


def _logarithm(scale: Callable[[], Any]) -> Callable[[Table, Terms], Terms]:
    def rule(_: Table, f: Terms) -> Terms:
        q, c = _monomial(f)
        _positive(q, c)
        return [(ONE, [log(c) / scale(), log(q) / scale()])]

    return rule


def _absolute(_: Table, f: Terms) -> Terms:
    q, c = _monomial(f)
    _positive(abs(q), abs(c))
    return [(abs(q), [abs(c)])]


def _exactly_affine(f: Terms) -> tuple[fmpq, fmpq]:
    a, b = _affine(f)
    if type(a) is not fmpq or type(b) is not fmpq:
        raise Other
    return a, b


def _absolute_counting(table: Table, f: Terms) -> Terms:
    try:
        a, b = _exactly_affine(f)
    except Other:
        return _absolute(table, f)
    if a * b < 0:
        raise Other
    return f if a > 0 or b > 0 else _negate(table, f)


def _floor_counting(_: Table, f: Terms) -> Terms:
    a, b = _exactly_affine(f)
    if b.q != 1:
        raise Other
    return [(ONE, [fmpq(a.floor()), b])]


def _power_counting(table: Table, f: Terms, g: Terms) -> Terms:
    if f == [(ONE, [ZERO])]:
        n, slope = _exactly_affine(g)
        if n > 0 and slope >= 0:
            return f
    return _power(table, f, g)


RULES: dict[str, Callable[..., Terms]] = {
    "add": _add,
    "sub": _subtract,
    "mul": _multiply,
    "neg": _negate,
    "div": _divide,
    "exp": _exponential,
    "pow": _power,
    "abs": _absolute,
    "ln": _logarithm(lambda: ONE),
    "log2": _logarithm(lambda: arb(2).log()),
    "log10": _logarithm(lambda: arb(10).log()),
}

# Further rules where the index counts from 0: then |a + b i| and floor(a + b i) can be without a bend, and 0^i is 0.
COUNTING: dict[str, Callable[..., Terms]] = {
    "abs": _absolute_counting,
    "floor": _floor_counting,
    "pow": _power_counting,
}
