"""A tree up to the order of sums and products and to what does nothing: when two lines are one line."""

from __future__ import annotations

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
        case Call(name, arguments):
            return Call(name, tuple(normal(argument, level) for argument in arguments))
        case Given(name, arguments, body):
            return Given(name, tuple(normal(argument, level) for argument in arguments), normal(body, level))
        case Sum(body, index, lower, upper):
            renamed = substituted(body, {index: Variable(f"_{level}")})
            return Sum(normal(renamed, level + 1), f"_{level}", normal(lower, level), normal(upper, level))
        case _:
            return node


def _flat(parts: list[Node], chain: type[Add] | type[Mul], nothing: Node) -> list[Node]:
    flat: list[Node] = []
    for part in parts:
        if isinstance(part, chain):
            flat.extend(part.terms if isinstance(part, Add) else part.factors)
        elif part != nothing:
            flat.append(part)
    return sorted(flat, key=repr)
