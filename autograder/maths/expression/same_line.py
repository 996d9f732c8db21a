"""When two lines are one line: up to the order of terms and what does nothing, or up to opened brackets as well."""

from __future__ import annotations

import functools
import itertools
from fractions import Fraction

from autograder.maths.expression.syntax import (
    Add,
    Call,
    Div,
    Given,
    Mul,
    Neg,
    Node,
    Number,
    Pow,
    Sum,
    Variable,
    mapped,
    walk,
)
from autograder.maths.expression.syntax import substitute as substituted

_ZERO, _ONE = Number(Fraction(0)), Number(Fraction(1))


def normal(node: Node, level: int = 0) -> Node:
    """`node` with chains sorted, `+0`, `*1`, `/1`, `^1` and double minus dropped, indices renamed."""
    match node:
        case Add(terms):
            flat = _flat([normal(term, level) for term in terms], Add, _ZERO)
            return flat[0] if len(flat) == 1 else Add(tuple(flat)) if flat else _ZERO
        case Mul(factors):
            flat = _flat([normal(factor, level) for factor in factors], Mul, _ONE)
            return flat[0] if len(flat) == 1 else Mul(tuple(flat)) if flat else _ONE
        case Neg(operand):
            inner = normal(operand, level)
            return inner.operand if isinstance(inner, Neg) else _ZERO if inner == _ZERO else Neg(inner)
        case Div(numerator, denominator):
            under = normal(denominator, level)
            return normal(numerator, level) if under == _ONE else Div(normal(numerator, level), under)
        case Pow(base, exponent):
            over = normal(exponent, level)
            return normal(base, level) if over == _ONE else Pow(normal(base, level), over)
        case Sum(body, index, lower, upper):
            renamed = substituted(body, {index: Variable(f"_{level}")})
            return type(node)(normal(renamed, level + 1), f"_{level}", normal(lower, level), normal(upper, level))
        case _:
            return mapped(node, lambda operand: normal(operand, level))


def _flat(parts: list[Node], chain: type[Add] | type[Mul], nothing: Node) -> list[Node]:
    flat: list[Node] = []
    for part in parts:
        if isinstance(part, chain):
            flat.extend(part.terms if isinstance(part, Add) else part.factors)
        elif part != nothing:
            flat.append(part)
    return sorted(flat, key=repr)


# A polynomial: the coefficient of each product, which is written as its sorted factors.
_Terms = dict[tuple[Node, ...], Fraction]
_LARGEST, _MOST_TERMS = 4, 60


def opened(node: Node) -> Node:
    """`node` with brackets opened, like terms and numbers collected, and plain abbreviations written out.

    It serves to tell a question that was rewritten from a step, and says nothing of where a line has a value.
    """
    return _tree({factors: value for factors, value in _terms(node).items() if value})


def _terms(node: Node) -> _Terms:
    match node:
        case Number(value):
            return {(): value}
        case Neg(operand):
            return {factors: -value for factors, value in _terms(operand).items()}
        case Add(terms):
            return _added([_terms(term) for term in terms])
        case Mul(factors):
            return functools.reduce(_multiplied, map(_terms, factors))
        case Div(numerator, denominator):
            return _multiplied(_terms(numerator), _inverse(denominator))
        case Pow(base, Number(n)) if n.denominator == 1 and 0 <= n <= _LARGEST:
            return functools.reduce(_multiplied, [_terms(base)] * int(n), {(): Fraction(1)})
        case Given(_, (), body) if not any(isinstance(inner, Sum) for inner in walk(body)):
            return _terms(body)
        case Call(name, arguments):
            return {(Call(name, tuple(map(opened, arguments))),): Fraction(1)}
        case _:
            return {(normal(node),): Fraction(1)}


def _added(parts: list[_Terms]) -> _Terms:
    total: _Terms = {}
    for part in parts:
        for factors, value in part.items():
            total[factors] = total.get(factors, Fraction(0)) + value
    return total


def _multiplied(one: _Terms, other: _Terms) -> _Terms:
    if len(one) * len(other) > _MOST_TERMS:
        return {(_tree(one), _tree(other)): Fraction(1)}
    pairs = itertools.product(one.items(), other.items())
    return _added([{tuple(sorted(a + b, key=repr)): x * y} for (a, x), (b, y) in pairs])


def _inverse(node: Node) -> _Terms:
    match [(factors, value) for factors, value in _terms(node).items() if value]:
        case [((), value)]:
            return {(): 1 / value}
        case [((Div(_, under),), value)]:
            return _multiplied({(): 1 / value}, _terms(under))
        case _:
            return {(Div(_ONE, opened(node)),): Fraction(1)}


def _tree(terms: _Terms) -> Node:
    return Add(tuple(Mul((_number(value), *factors)) for factors, value in sorted(terms.items(), key=repr)))


def _number(value: Fraction) -> Node:
    return Number(value) if value >= 0 else Neg(Number(-value))
