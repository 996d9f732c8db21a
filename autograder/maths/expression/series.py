"""Sums in balls: in closed form where the term is a polynomial times geometric factors, else term by term.

A term `sum_m c_m(i) q_m^i` with polynomials c_m is kept as a list of (q, coefficients). Its sum from L to
infinity is q^L sum_j (j+L)^k q^j, with S_k(q) = sum_j j^k q^j from S_k (1-q) = q sum_{m<k} binom(k,m) S_m,
S_0 = 1/(1-q). A finite sum is the difference of two such tails, an identity of rational functions for every q
but 1.
"""

from __future__ import annotations

from collections.abc import Callable
from math import comb
from typing import Any

from flint import acb, arb, ctx, fmpq

from autograder.maths.expression.arithmetic import ONE, ZERO, Unclear, Undefined, log, power, small
from autograder.maths.expression.budget import Budget, Expensive
from autograder.maths.expression.program import NONE, Loop, Machine
from autograder.maths.expression.tails import tail

TERMS = 1200
DEGREE = 12

Terms = list[tuple[Any, list[Any]]]
Table = dict[str, Any]
Bounds = tuple[int, int | None]


class _Other(Exception):  # noqa: N818  # named for what happened
    """The term is no polynomial times geometric factors."""


def evaluate(machine: Machine, loop: Loop, budget: Budget) -> Any:
    """The value of a sum; its bounds are integers, and an empty sum is 0."""
    lower = _integer(machine.registers[loop.lower])
    upper = None if loop.upper == NONE else _integer(machine.registers[loop.upper])
    if upper is not None and upper < lower:
        return ZERO
    try:
        return _closed(machine.table, _geometric(machine, loop), lower, upper)
    except _Other:
        return _one_by_one(machine, loop, (lower, upper), budget)


def _integer(bound: Any) -> int:
    if type(bound) is not fmpq:
        raise Unclear
    if bound.q != 1:
        raise Undefined("a sum whose bound is no integer")
    return int(bound.p)


def _geometric(machine: Machine, loop: Loop) -> Terms:
    values: dict[int, Terms] = {loop.index: [(ONE, [ZERO, ONE])]}

    def operand(register: int) -> Terms:
        return values.get(register) or [(ONE, [machine.registers[register]])]

    if loop.body != loop.index and loop.body not in loop.inside:
        return operand(loop.body)
    for register in loop.inside:
        step = machine.program.steps[register]
        rule = _RULES.get(step.name)
        if rule is None or step.first == NONE:
            raise _Other
        arguments = [operand(k) for k in (step.first, step.second) if k != NONE]
        values[register] = rule(machine.table, *arguments)
        if sum(len(coefficients) for _, coefficients in values[register]) > 60:
            raise _Other
    return values[loop.body]


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
                raise _Other
            coefficients = [ZERO] * (len(a) + len(b) - 1)
            for j, x in enumerate(a):
                for k, y in enumerate(b):
                    coefficients[j + k] = coefficients[j + k] + x * y
            product = _add(table, product, [(q if r == 1 else r if q == 1 else q * r, coefficients)])
    return product


def _monomial(f: Terms) -> tuple[Any, Any]:
    """(q, c) where f is c q^i."""
    if len(f) != 1 or len(f[0][1]) != 1:
        raise _Other
    q, (c,) = f[0]
    return q, c


def _affine(f: Terms) -> tuple[Any, Any]:
    """(a, b) where f is a + b i."""
    if len(f) != 1 or f[0][0] != 1 or len(f[0][1]) > 2:
        raise _Other
    a, b, *_ = [*f[0][1], ZERO]
    return a, b


def _positive(*values: Any) -> None:
    if not all(type(value) in (fmpq, arb) and value > 0 for value in values):
        raise _Other


def _divide(table: Table, f: Terms, g: Terms) -> Terms:
    q, c = _monomial(g)
    return _multiply(table, f, [(_inverse(q), [_inverse(c)])])


def _inverse(c: Any) -> Any:
    if c == 0 or (type(c) in (arb, acb) and c.contains(0)):
        raise _Other
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
        return [(power(q, n), [power(c, n)])]
    q, base = _monomial(f)
    if q != 1:
        _positive(q, base)
        if slope != 0:
            raise _Other
        return [(power(q, n), [power(base, n)])]
    integers = all(type(value) is fmpq and value.q == 1 for value in (n, slope))
    _positive(abs(base) if integers and type(base) in (fmpq, arb) else base)
    return [(power(base, slope), [power(base, n)])]


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


_RULES: dict[str, Callable[..., Terms]] = {
    "add": _add, "sub": _subtract, "mul": _multiply, "neg": _negate, "div": _divide, "exp": _exponential,
    "pow": _power, "abs": _absolute, "ln": _logarithm(lambda: ONE), "log2": _logarithm(lambda: arb(2).log()),
    "log10": _logarithm(lambda: arb(10).log()),
}  # fmt: skip


def _closed(table: Table, terms: Terms, lower: int, upper: int | None) -> Any:
    total: Any = ZERO
    for q, coefficients in terms:
        if any(c != 0 for c in coefficients):
            alone = len(terms) == 1
            total = table["add"](total, _closed_term(table, q, coefficients, (lower, upper), alone))
    return total


def _closed_term(table: Table, q: Any, coefficients: list[Any], bounds: Bounds, alone: bool) -> Any:
    lower, upper = bounds
    if upper is None and not abs(q) < 1:
        if alone and abs(q) >= 1 and any(abs(c) > 0 for c in coefficients):
            raise Undefined("a sum that diverges")
        raise Unclear
    if q == 1 and upper is not None:
        return _polynomial_sum(coefficients, lower, upper)
    if type(q) is not fmpq and (1 - q).contains(0):
        raise _Other
    sums = _power_sums(q, len(coefficients))
    rest = _from(q, coefficients, sums, lower)
    return rest if upper is None else table["sub"](rest, _from(q, coefficients, sums, upper + 1))


def _polynomial_sum(coefficients: list[Any], lower: int, upper: int) -> Any:
    """sum_k c_k T_k, where (k+1) T_k = (U+1)^(k+1) - L^(k+1) - sum_{m<k} binom(k+1,m) T_m."""
    sums: list[fmpq] = []
    for k in range(len(coefficients)):
        ends = fmpq((upper + 1) ** (k + 1) - lower ** (k + 1))
        sums.append((ends - sum((comb(k + 1, m) * sums[m] for m in range(k)), ZERO)) / (k + 1))
    return sum((c * t for c, t in zip(coefficients, sums, strict=True)), ZERO)


def _power_sums(q: Any, count: int) -> list[Any]:
    sums = [1 / (1 - q)]
    for k in range(1, count):
        sums.append(q * sum((comb(k, m) * sums[m] for m in range(k)), ZERO) / (1 - q))
    return sums


def _from(q: Any, coefficients: list[Any], sums: list[Any], start: int) -> Any:
    total: Any = ZERO
    for k, c in enumerate(coefficients):
        total = total + c * sum((comb(k, m) * start ** (k - m) * sums[m] for m in range(k + 1)), ZERO)
    return total * (power(q, fmpq(start)) if type(q) in (fmpq, arb) else q**start)


def _one_by_one(machine: Machine, loop: Loop, bounds: Bounds, budget: Budget) -> Any:
    lower, upper = bounds
    if upper is None:
        return _endless(machine, loop, lower, budget)
    if upper - lower >= TERMS:
        raise Expensive
    total: Any = ZERO
    for i in range(lower, upper + 1):
        budget.spend(len(loop.inside) + 1, ctx.prec)
        total = machine.table["add"](total, _term(machine, loop, i))
    return total


def _endless(machine: Machine, loop: Loop, lower: int, budget: Budget) -> Any:
    """Terms up to where a bound for the rest is small enough; late terms may vanish beside early ones."""
    registers, total = machine.registers, ZERO
    exact = {k: registers[k] for k in loop.outside}
    for k, value in exact.items():
        if type(value) is fmpq and value.q != 1:
            registers[k] = arb(value)  # exact powers would only grow
    checkpoint = max(lower, 1) + 32
    for i in range(lower, lower + TERMS):
        budget.spend(len(loop.inside) + 1, ctx.prec)
        if i == checkpoint:
            if (rest := tail(machine, loop, i, total)) is not None:
                registers[:] = [exact.get(k, value) for k, value in enumerate(registers)]
                return total + rest
            checkpoint = checkpoint + max(checkpoint // 4, 16)
        total = small(total + _term(machine, loop, i))
    raise Expensive


def _term(machine: Machine, loop: Loop, i: int) -> Any:
    for register in loop.inside:
        machine.registers[register] = None
    machine.registers[loop.index] = fmpq(i)
    machine.run(loop.inside)
    return machine.registers[loop.body]
