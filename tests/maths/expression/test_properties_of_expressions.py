"""Decisions against a second route: the same trees in mpmath's floats, at points of their own."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import mpmath
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autograder.maths import expression
from autograder.maths.expression.syntax import (
    Add,
    Call,
    Constant,
    Div,
    Mul,
    Neg,
    Node,
    Number,
    Pow,
    Variable,
    walk,
)

NAMES = {"x": "real", "y": "real", "a": "positive", "b": "positive"}
FUNCTIONS: dict[str, Callable[..., mpmath.mpf]] = {
    "ln": mpmath.log, "exp": mpmath.exp, "sin": mpmath.sin, "cos": mpmath.cos, "tanh": mpmath.tanh,
    "sinh": mpmath.sinh, "abs": abs, "sqrt": mpmath.sqrt, "max": max, "relu": lambda u: max(u, 0),
    "sigma": lambda u: 1 / (1 + mpmath.exp(-u)), "softplus": lambda u: mpmath.log(1 + mpmath.exp(u)),
}  # fmt: skip


def second_route(node: Node, point: dict[str, mpmath.mpf]) -> mpmath.mpf:
    """The value by mpmath; complex or infinite values count as undefined (ValueError)."""
    match node:
        case Number(value):
            return mpmath.mpf(value.numerator) / value.denominator
        case Constant(name):
            return {"e": +mpmath.e, "pi": +mpmath.pi}[name]
        case Variable(name):
            return point[name]
        case Add(terms):
            return sum((second_route(term, point) for term in terms), mpmath.mpf(0))
        case Mul(factors):
            return mpmath.fprod(second_route(factor, point) for factor in factors)
        case Neg(operand):
            return -second_route(operand, point)
        case Div(numerator, denominator):
            return _real(second_route(numerator, point) / second_route(denominator, point))
        case Pow(base, exponent):
            return _real(second_route(base, point) ** second_route(exponent, point))
        case Call(name, arguments):
            return _real(FUNCTIONS[name](*(second_route(argument, point) for argument in arguments)))
        case _:
            raise AssertionError(node)


def _real(value: mpmath.mpf) -> mpmath.mpf:
    if not isinstance(value, mpmath.mpf) or not mpmath.isfinite(value):
        raise ValueError
    return value


def differ(one: Node, other: Node, rng: random.Random) -> bool | None:
    """Whether 60-digit floats differ at one of 24 points; None where too few points have values."""
    compared = 0
    for _ in range(24):
        point = {"x": rng.gauss(0, 2), "y": rng.gauss(0, 2), "a": rng.expovariate(1), "b": rng.expovariate(1)}
        values = []
        for node in (one, other):
            with mpmath.workdps(60):
                try:
                    values.append(second_route(node, {name: mpmath.mpf(v) for name, v in point.items()}))
                except (ValueError, ZeroDivisionError, OverflowError):
                    values.append(None)
        if None in values:
            if values[0] is not values[1]:
                return True
            continue
        compared += 1
        with mpmath.workdps(60):
            if abs(values[0] - values[1]) > mpmath.mpf(10) ** -25 * max(abs(values[0]), abs(values[1]), 1e-15):
                return True
    return False if compared >= 6 else None


def mutated(node: Node, rng: random.Random) -> Node:
    """One change at one place, of a kind that students make."""
    places = list(walk(node))
    target = rng.choice(places)

    def change(part: Node) -> Node:
        match part:
            case Variable(name):
                return Variable(rng.choice([other for other in NAMES if other != name]))
            case Number(value):
                return Number(abs(value + rng.choice((1, -1, Fraction(1, 1000)))))
            case Neg(operand):
                return operand
            case Add(terms):
                return rng.choice([Mul(terms), Add((*terms[1:], Neg(terms[0]))), Add(terms[::-1])])
            case Mul(factors):
                return rng.choice([Add(factors), Div(factors[0], factors[1]), Mul(factors[::-1])])
            case Div(numerator, denominator):
                return rng.choice([Div(denominator, numerator), Mul((numerator, denominator))])
            case Pow(base, exponent):
                return rng.choice([Pow(exponent, base), Mul((base, exponent)), Neg(Pow(base, exponent))])
            case Call(name, arguments) if len(arguments) == 1:
                return Call(rng.choice([other for other in FUNCTIONS if other not in (name, "max")]), arguments)
            case _:
                return Neg(part)

    done = False

    def rebuild(part: Node) -> Node:
        nonlocal done
        if part is target and not done:
            done = True
            return change(part)
        match part:
            case Add(terms):
                return Add(tuple(map(rebuild, terms)))
            case Mul(factors):
                return Mul(tuple(map(rebuild, factors)))
            case Neg(operand):
                return Neg(rebuild(operand))
            case Div(numerator, denominator):
                return Div(rebuild(numerator), rebuild(denominator))
            case Pow(base, exponent):
                return Pow(rebuild(base), rebuild(exponent))
            case Call(name, arguments):
                return Call(name, tuple(map(rebuild, arguments)))
            case _:
                return part

    return rebuild(node)


REFERENCES = [
    "(1-e^(-a))*e^(-a*b)",
    "-ln(1-e^(-b))+b*e^(-b)/(1-e^(-b))",
    "a*b-ln(1-e^(-b))",
    "ln(e^x+e^y)",
    "max(x,y)+ln(1+e^(-abs(x-y)))",
    "e^x/(e^x+e^y)",
    "sigma(x)*(1-sigma(x))",
    "a*ln(a/b)+b-a",
    "x*sigma(x)+(1-sigma(x))*tanh(y)",
    "relu(x)-relu(-y)",
    "sin((x+y)/a)",
    "(a+1)*ln(a+1)-a*ln(a)",
    "sqrt(x^2+y^2)",
    "2*a*b-b^2",
    "x^3-3*x*y^2",
    "softplus(x-y)*a^b",
]


@pytest.mark.parametrize("reference", REFERENCES)
def test_mutants_by_a_second_route(reference: str) -> None:
    """No mutant is accepted that floats tell apart, and none is refused that they do not."""
    rng = random.Random(reference)
    key = expression.parse(reference, domains=NAMES)
    verdicts = {"equal": 0, "different": 0, "undecided": 0}
    for _ in range(40):
        mutant = mutated(key.node, rng)
        decision = expression.decide(key, replace(key, node=mutant), domains=NAMES)
        verdicts[decision.outcome] += 1
        apart = differ(key.node, mutant, rng)
        if apart is not None and decision.outcome != "undecided":
            assert decision.equal == (not apart), expression.to_text(mutant)
    assert verdicts["different"] >= 15 and verdicts["undecided"] <= 4, verdicts


ATOMS = st.one_of(st.sampled_from(list(NAMES)).map(Variable), st.integers(0, 9).map(lambda n: Number(Fraction(n))))


def _called(name: str, argument: Node) -> Node:
    return Call(name, (argument,))


def _grown(inner: st.SearchStrategy[Node]) -> st.SearchStrategy[Node]:
    pairs = st.tuples(inner, inner)
    return st.one_of(
        pairs.map(Add),
        pairs.map(Mul),
        inner.map(Neg),
        st.builds(Div, inner, inner),
        st.builds(Pow, inner, st.integers(0, 3).map(lambda n: Number(Fraction(n)))),
        st.builds(_called, st.sampled_from(["ln", "exp", "abs", "sin", "tanh", "relu", "sigma"]), inner),
    )


TREES = st.recursive(ATOMS, _grown, max_leaves=8)


@settings(max_examples=150, deadline=None, derandomize=True)
@given(TREES, TREES)
def test_symmetry(one: Node, other: Node) -> None:
    """The verdict does not depend on the order, and agrees with the second route."""
    texts = expression.to_text(one), expression.to_text(other)
    outcome = expression.decide(*texts, domains=NAMES).outcome
    assert outcome == expression.decide(*reversed(texts), domains=NAMES).outcome
    if outcome != "undecided" and (apart := differ(one, other, random.Random(1))) is not None:
        assert (outcome == "equal") == (not apart)


@settings(max_examples=150, deadline=None, derandomize=True)
@given(TREES)
def test_reflexivity(node: Node) -> None:
    """An expression equals itself, and itself written another way, unless it has no values at all."""
    text = expression.to_text(node)
    decision = expression.decide(text, text, domains=NAMES)
    assert decision.equal or decision.outcome == "undecided"
    if decision.equal:
        assert expression.decide(text, f"0+1*({text})", domains=NAMES).outcome == "equal"
        assert expression.decide(text, f"({text})+10^(-9)", domains=NAMES).outcome != "equal"
