"""Sums in balls: in closed form where the term is a polynomial times geometric factors, else term by term.

A term `sum_m c_m(i) q_m^i` with polynomials c_m is kept as a list of (q, coefficients). Its sum from L to
infinity is q^L sum_j (j+L)^k q^j, with S_k(q) = sum_j j^k q^j from S_k (1-q) = q sum_{m<k} binom(k,m) S_m,
S_0 = 1/(1-q). A finite sum is the difference of two such tails, an identity of rational functions for every q
but 1. Terms with |i| or floor(i/2) have this form on strides i = start + step n, n >= 0; so has a sum from minus
infinity, on a stride of -1.
"""

from __future__ import annotations

from math import comb
from typing import Any

from flint import arb, ctx, fmpq

from autograder.maths.expression.arithmetic import ONE, ZERO, Unclear, Undefined, power, small
from autograder.maths.expression.budget import Budget, Expensive
from autograder.maths.expression.extended import Infinity
from autograder.maths.expression.geometric import COUNTING, RULES, Other, Table, Terms
from autograder.maths.expression.program import NONE, Loop, Machine
from autograder.maths.expression.tails import tail

TERMS = 1200
FIRST = 4  # terms in which a power of zero may be one

Bounds = tuple[int, int | None]


def evaluate(machine: Machine, loop: Loop, budget: Budget) -> Any:
    """The value of a sum; its bounds are integers, and an empty sum is 0."""
    upper = None if loop.upper == NONE else _integer(machine.registers[loop.upper])
    if isinstance(machine.registers[loop.lower], Infinity):
        if loop.name == "prod":
            raise Unclear
        return _from_minus_infinity(machine, loop, upper)
    lower = _integer(machine.registers[loop.lower])
    if upper is not None and upper < lower:
        return ONE if loop.name == "prod" else ZERO
    if loop.name == "prod":
        return _product(machine, loop, (lower, upper), budget)
    try:
        return _closed(machine.table, _geometric(machine, loop, [ZERO, ONE]), lower, upper)
    except Other:
        pass
    last = None if upper is None else upper - lower
    try:
        return _on_strides(machine, loop, lower, last)
    except Other:
        pass
    try:
        rest = _on_strides(machine, loop, lower + FIRST, None if last is None else last - FIRST)
        first = range(lower, lower + FIRST if upper is None else min(lower + FIRST, upper + 1))
        return _accumulated("add", rest, machine, loop, first, budget)
    except Other:
        return _one_by_one(machine, loop, (lower, upper), budget)


def _from_minus_infinity(machine: Machine, loop: Loop, upper: int | None) -> Any:
    if machine.registers[loop.lower].sign > 0:
        raise Undefined("a sum that begins at infinity")
    try:
        below = _on_strides(machine, loop, -1 if upper is None else upper, None, -1)
        return below if upper is not None else machine.table["add"](below, _on_strides(machine, loop, 0, None))
    except Other as error:
        raise Unclear from error


def _on_strides(machine: Machine, loop: Loop, start: int, last: int | None, sign: int = 1) -> Any:
    """The terms at start, start + sign, ... (`last` steps, or endlessly): all at once, or two or three apart."""
    for step in (1, 2, 3):
        total: Any = ZERO
        try:
            for first in range(step):
                if last is None or first <= last:
                    terms = _geometric(machine, loop, [fmpq(start + sign * first), fmpq(sign * step)], counting=True)
                    count = None if last is None else (last - first) // step
                    total = machine.table["add"](total, _closed(machine.table, terms, 0, count))
        except Other:
            continue
        return total
    raise Other


def _integer(bound: Any) -> int:
    if type(bound) is not fmpq:
        raise Unclear
    if bound.q != 1:
        raise Undefined("a sum whose bound is no integer")
    return int(bound.p)


def _geometric(machine: Machine, loop: Loop, index: list[Any], *, counting: bool = False) -> Terms:
    """The term as a function of n, where the index is a + b n; `counting` says that n is never negative."""
    values: dict[int, Terms] = {loop.index: [(ONE, index)]}

    def operand(register: int) -> Terms:
        return values.get(register) or [(ONE, [machine.registers[register]])]

    if loop.body != loop.index and loop.body not in loop.inside:
        return operand(loop.body)
    for register in loop.inside:
        step = machine.program.steps[register]
        rule = (COUNTING.get(step.name) if counting else None) or RULES.get(step.name)
        if rule is None or step.first == NONE:
            raise Other
        arguments = [operand(k) for k in (step.first, step.second) if k != NONE]
        values[register] = rule(machine.table, *arguments)
        if sum(len(coefficients) for _, coefficients in values[register]) > 60:
            raise Other
    return values[loop.body]


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
        raise Other
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


def _product(machine: Machine, loop: Loop, bounds: Bounds, budget: Budget) -> Any:
    """The factors multiplied one by one; what an infinite product is worth is left open."""
    lower, upper = bounds
    if upper is None:
        raise Unclear
    return _accumulated("mul", ONE, machine, loop, range(lower, upper + 1), budget)


def _one_by_one(machine: Machine, loop: Loop, bounds: Bounds, budget: Budget) -> Any:
    lower, upper = bounds
    if upper is None:
        return _endless(machine, loop, lower, budget)
    return _accumulated("add", ZERO, machine, loop, range(lower, upper + 1), budget)


def _accumulated(operation: str, total: Any, machine: Machine, loop: Loop, over: range, budget: Budget) -> Any:
    """`total` after each term was added, or multiplied, to it; Expensive where there are too many."""
    if over.stop - over.start > TERMS:  # `len` of it may not fit a machine word
        raise Expensive
    for i in over:
        budget.spend(len(loop.inside) + 1, ctx.prec)
        total = machine.table[operation](total, _term(machine, loop, i))
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
    return machine.known(loop.body)
