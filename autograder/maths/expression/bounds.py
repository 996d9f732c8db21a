"""Whether one expression is nowhere above another: refuted at a point, or proved by one of a few rules.

The rules: the difference is a sum of products of known signs, a quadratic form without negative values, or one of
these after `ln u <= u - 1`, `ln u >= 1 - 1/u` or `e^u >= 1 + u` is used once; a function that grows on both sides; sums
term by term; Jensen's inequality for ln, sqrt, exp and squares. Whatever they do not prove is undecided.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import product

from autograder.maths.decision import Decision, different, equal, undecided
from autograder.maths.expression import points
from autograder.maths.expression.budget import Exhausted
from autograder.maths.expression.comparing import Comparison, compare
from autograder.maths.expression.diagnosis import place
from autograder.maths.expression.options import Options
from autograder.maths.expression.same_line import opened
from autograder.maths.expression.syntax import (
    Add,
    Call,
    Constant,
    Div,
    Given,
    Mul,
    Neg,
    Node,
    Number,
    Pow,
    Sum,
    Variable,
    free_variables,
    substitute,
)
from autograder.maths.expression.vocabulary import Domain
from autograder.maths.precision import precision

_ONE = Number(Fraction(1))
_NEVER_NEGATIVE = frozenset(("exp", "cosh", "abs", "relu", "softplus", "sigma", "sqrt", "sech", "factorial"))
_GROWING = frozenset(
    ("ln", "exp", "sqrt", "sinh", "tanh", "asinh", "atan", "sigma", "relu", "softplus", "log2", "log10")
)
_BOTH_SIGNS = frozenset(("real", "int", "complex"))


def ordered(before: Node, after: Node, relation: str, options: Options) -> Decision:
    """Whether `before relation after` holds wherever both have a value; the relation is `<=`, `<`, `>=` or `>`."""
    lower, upper = (before, after) if relation[0] == "<" else (after, before)
    if compare(options, before, after).kind == "agree":
        strict = len(relation) == 1
        return different("strict", "the two lines are equal, so that neither is larger") if strict else equal()
    if witness := _counterexample(lower, upper, options):
        return different("order", f"it does not hold at {witness}", witness=witness)
    if _Prover(options, options.lives).at_most(lower, upper):
        return equal("proved")
    return undecided("bound", "No rule that the machine knows proves this inequality, and no number refutes it.")


def _counterexample(lower: Node, upper: Node, options: Options) -> str:
    """A point at which the lower side is above the upper one."""
    comparison = Comparison(lower, upper, options.lives, budget=options.budget)
    sample = [*points.plain(comparison.domains), *points.stratified(comparison.domains, points.generator("order"))]
    try:
        with precision(384):
            for point in sample if comparison.domains else [{}]:
                pair = comparison.pair(point)
                if pair is not None and bool(pair[0] - pair[1] > 0):
                    return place(point) or "every point"
    except Exhausted:
        pass
    return ""


class _Prover:
    """The rules, where each variable and each number that is summed over lives somewhere."""

    def __init__(self, options: Options, lives: dict[str, Domain]) -> None:
        self.options = options
        self.lives = lives

    def _inside(self, node: Sum) -> _Prover:
        """The same under a sum."""
        kind = "nat" if self.sign(node.lower) == 1 else "int"
        return _Prover(self.options, {**self.lives, node.index: Domain(kind=kind)})

    def at_most(self, lower: Node, upper: Node) -> bool:
        """Whether a rule proves that `lower` is nowhere above `upper`."""
        match lower, upper:
            case Neg(one), Neg(other):
                return self.at_most(other, one)
            case Call(f, (one,)), Call(g, (other,)) if f == g in _GROWING:
                return self.at_most(one, other)
            case Sum(body, _, a, b), Sum(other, _, c, d) if isinstance(lower, Sum) and (a, b) == (c, d):
                same = substitute(other, {upper.index: Variable(lower.index)})
                if self._inside(lower).at_most(body, same):
                    return True
        return self._jensen(lower, upper) or self.not_negative(_minus(upper, lower))

    def not_negative(self, node: Node) -> bool:
        """By signs, as a quadratic form, or so after one known inequality."""
        plain = opened(node)
        if self.sign(node) == 1 or self.sign(plain) == 1 or _is_form(plain):
            return True
        for weight, known in _known(plain):
            rest = opened(_minus(node, Mul((weight, known))))
            if self.sign(weight) != 1:
                continue
            if self.sign(rest) == 1 or _is_form(rest) or self._zero(rest):
                return True
        return False

    def _zero(self, node: Node) -> bool:
        if not free_variables(node) <= set(self.options.lives):
            return False
        return compare(self.options, Number(Fraction(0)), node).kind == "agree"

    def sign(self, node: Node) -> int:
        """1 where a value is never negative, -1 where never positive, 0 where that is not known."""
        match node:
            case Number() | Constant("e" | "pi"):
                return 1
            case Variable(name):
                domain = self.lives.get(name)
                return int(domain is not None and domain.kind not in _BOTH_SIGNS and domain.low >= 0)
            case Add((Number(n), Neg(operand)) | (Neg(operand), Number(n))) if n >= 1 and self._at_most_one(operand):
                return 1
            case Add(terms):
                signs = {self.sign(term) for term in terms if term != Mul((Number(Fraction(0)),))}
                return signs.pop() if len(signs) == 1 else 0 if signs else 1
            case Neg(operand):
                return -self.sign(operand)
            case Mul(factors):
                return self._sign_of(factors)
            case Div(numerator, denominator):
                return self.sign(numerator) * self.sign(denominator)
            case Pow(base, Number(n)) if n.denominator == 1 and n % 2 == 0:
                return 1
            case Pow(base, _):
                return max(self.sign(base), 0)
            case Call("ln", (operand,)):
                return self.sign(opened(_minus(operand, _ONE)))
            case Call(name, (operand,)):
                return 1 if name in _NEVER_NEGATIVE else self.sign(operand) if name in ("sinh", "tanh", "atan") else 0
            case Given(_, _, body):
                return self.sign(body)
            case Sum(body):
                return self._inside(node).sign(body)
            case _:
                return 0

    def _at_most_one(self, node: Node) -> bool:
        match node:
            case Number(n):
                return n <= 1
            case Variable(name):
                return name in self.lives and self.lives[name].kind == "unit"
            case Call("sigma" | "tanh" | "sech"):
                return True
            case Call("exp", (exponent,)) | Pow(Constant("e"), exponent):
                return self.sign(exponent) == -1
            case Pow(base, exponent):
                return self._at_most_one(base) and self.sign(base) == 1 == self.sign(exponent)
            case _:
                return False

    def _sign_of(self, factors: tuple[Node, ...]) -> int:
        """Of a product: a factor that stands there twice is a square."""
        found = 1
        for factor in set(factors):
            if factors.count(factor) % 2:
                found *= self.sign(factor)
        return found

    def _jensen(self, lower: Node, upper: Node) -> bool:
        """The mean of f(g) beside f of the mean of g, for weights that sum to one."""
        for outside, mean, concave in ((upper, lower, True), (lower, upper, False)):
            for name, inside, weights, values, over in _means(outside, mean):
                if (name in ("ln", "sqrt")) == concave and self._is_mean(over, inside, weights, values):
                    return True
        return False

    def _is_mean(self, over: Sum, inside: Node, weights: Node, values: Node) -> bool:
        """Whether `inside` is the mean of `values` by these weights, over the numbers of a sum."""
        total = Sum(weights, over.index, over.lower, over.upper)
        average = Sum(Mul((weights, values)), over.index, over.lower, over.upper)
        return (
            free_variables(inside) | free_variables(average) <= set(self.options.lives)
            and self._inside(over).sign(weights) == 1
            and compare(self.options, _ONE, total).kind == "agree"
            and compare(self.options, inside, average).kind == "agree"
        )


def _means(outside: Node, mean: Node) -> Iterator[tuple[str, Node, Node, Node, Sum]]:
    """f, what f is applied to, and the weights and values of a mean of f, wherever both sides can be read so."""
    minus, mean = (True, mean.operand) if isinstance(mean, Neg) else (False, mean)
    if not isinstance(mean, Sum):
        return
    minus, body = (not minus, mean.body.operand) if isinstance(mean.body, Neg) else (minus, mean.body)
    factors = body.factors if isinstance(body, Mul) else (body,)
    for k, factor in enumerate(factors):
        rest = factors[:k] + factors[k + 1 :]
        for (name, inside), (other, values) in product(_applied(outside), _applied(Neg(factor) if minus else factor)):
            if name == other and rest:
                yield name, inside, Mul(rest) if len(rest) > 1 else rest[0], values, mean


def _applied(node: Node) -> list[tuple[str, Node]]:
    """The function and its argument, as which a node can be read."""
    match node:
        case Call("ln" | "sqrt" | "exp" as name, (operand,)):
            return [(name, operand)]
        case Neg(Call("ln", (operand,))):
            return [("ln", Div(_ONE, operand)), ("-ln", operand)]
        case Pow(Constant("e"), exponent):
            return [("exp", exponent)]
        case Pow(base, Number(n)) if n == 2:
            return [("square", base)]
        case _:
            return []


def _minus(one: Node, other: Node) -> Node:
    return Add((one, Neg(other)))


def _known(node: Node) -> Iterator[tuple[Node, Node]]:
    """What is never negative by a known inequality, for each logarithm and exponential of an opened sum: with a weight
    that must not be negative either."""
    for term in node.terms if isinstance(node, Add) else ():
        factors = term.factors if isinstance(term, Mul) else (term,)
        negative = sum(isinstance(factor, Neg) for factor in factors) % 2
        positive = tuple(factor.operand if isinstance(factor, Neg) else factor for factor in factors)
        for k, factor in enumerate(positive):
            weight = Mul((_ONE, *positive[:k], *positive[k + 1 :]))
            match factor:
                case Call("ln", (u,)) if negative:
                    yield weight, Add((u, Neg(_ONE), Neg(factor)))
                case Call("ln", (u,)):
                    yield weight, Add((factor, Neg(_ONE), Div(_ONE, u)))
                case Call("exp", (u,)) | Pow(Constant("e"), u) if not negative:
                    yield weight, Add((factor, Neg(_ONE), Neg(u)))


def _is_form(node: Node) -> bool:
    """Whether an opened sum is a quadratic form without negative values, in whatever its factors are."""
    table: dict[tuple[Node, ...], Fraction] = {}
    for term in node.terms if isinstance(node, Add) else ():
        factors = term.factors if isinstance(term, Mul) else (term,)
        number, atoms = Fraction(1), []
        for factor in factors:
            match factor:
                case Number(value):
                    number *= value
                case Neg(Number(value)):
                    number *= -value
                case _:
                    atoms.append(factor)
        if len(atoms) > 2:
            return False
        key = tuple(sorted((*atoms, *[_ONE] * (2 - len(atoms))), key=repr))
        table[key] = table.get(key, Fraction(0)) + number
    basis = sorted({atom for key in table for atom in key}, key=repr)
    rows = [[_entry(table, one, other) for other in basis] for one in basis]
    return bool(basis) and _not_negative(rows)


def _entry(table: dict[tuple[Node, ...], Fraction], one: Node, other: Node) -> Fraction:
    value = table.get(tuple(sorted((one, other), key=repr)), Fraction(0))
    return value if one == other else value / 2


def _not_negative(rows: list[list[Fraction]]) -> bool:
    """Whether a symmetric matrix has no negative eigenvalue, by elimination."""
    for k in range(len(rows)):
        pivot = rows[k][k]
        if pivot < 0 or (pivot == 0 and any(rows[k][k:])):
            return False
        for i in range(k + 1, len(rows)):
            if pivot:
                share = rows[i][k] / pivot
                rows[i] = [a - share * b for a, b in zip(rows[i], rows[k], strict=True)]
    return True
