"""The form of a line as a question may ask for it, and what is left of a line without what does nothing in it.

A form is told in words: a name, function, abbreviation or `sum` that stands in the line as it was written; `ln in sum`
for a logarithm under a sum, `k in sin` for a sine whose argument depends on k, `t k in sin` for one that depends on
both, `index in ln` for a logarithm that
depends on the number that is summed over.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction
from typing import Any

from autograder.errors import AuthorError
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
    children,
    free_variables,
)
from autograder.maths.expression.vocabulary import Domain
from autograder.maths.expression.written_form import contains

_ZERO, _ONE = Number(Fraction(0)), Number(Fraction(1))
_ALL_OF = {"ln": ("ln", "log", "log2", "log10")}  # a logarithm to any base is one
_MOST_PARTS = 10
_NEAR = 1e-9


def has_form(node: Node, has: Iterable[str] = (), lacks: Iterable[str] = (), apart: Iterable[str] = ()) -> bool:
    """Whether all of `has` stand in a line, none of `lacks`, and no function has all of `apart` in its argument."""
    together = frozenset(apart)
    return (
        all(stands(node, what) for what in has)
        and not any(stands(node, what) for what in lacks)
        and not (together and any(together <= free_variables(call) for call, _ in _calls(node)))
    )


def stands(node: Node, what: str) -> bool:
    """Whether a word of the question's form stands in a line as it was written."""
    inner, _, outer = what.partition(" in ")
    if not outer:
        return contains(node, what)
    inside, around = _ALL_OF.get(inner, (inner,)), _ALL_OF.get(outer, (outer,))
    if outer == "sum":
        bodies = [part.body for part in _written(node) if isinstance(part, Sum)]
        return any(contains(body, name) for body in bodies for name in inside)
    calls = [(call, bound) for call, bound in _calls(node) if call.name in around]
    if inner == "index":
        return any(bound & free_variables(call) for call, bound in calls)
    return any(all(_within(call, word) for word in inner.split()) for call, _ in calls)


def _within(call: Call, word: str) -> bool:
    return word in free_variables(call) or any(contains(argument, word) for argument in call.arguments)


def _written(node: Node) -> Iterator[Node]:
    yield node
    for child in node.arguments if isinstance(node, Given) else children(node):
        yield from _written(child)


def _calls(node: Node, bound: frozenset[str] = frozenset()) -> Iterator[tuple[Call, frozenset[str]]]:
    """The functions as written, each with the numbers that the sums around it go over."""
    if isinstance(node, Call):
        yield node, bound
    if isinstance(node, Sum):
        yield from _calls(node.body, bound | {node.index})
        return
    for child in node.arguments if isinstance(node, Given) else children(node):
        yield from _calls(child, bound)


def essence(node: Node, lives: dict[str, Domain], *, opens: bool = True) -> Node:
    """`node` without terms that cancel, factors that do, and whatever is a plain zero or one; its brackets opened.

    So a line that is the answer with `+ Z - Z`, `* Z/Z` or `+ sum(P(n), n, 0, inf) - 1` behind it is the answer.
    Abbreviations stay as they are.
    """
    core = _named(_without_noise(node, _values(lives)))
    return opened(core) if opens else core


def _named(node: Node) -> Node:
    """Plain abbreviations as names, so that opening brackets does not write them out."""
    match node:
        case Given(name, ()):
            return Variable(name)
        case Given(name, arguments, body):
            return Given(name, tuple(map(_named, arguments)), body)
        case Add(terms):
            return Add(tuple(map(_named, terms)))
        case Mul(factors):
            return Mul(tuple(map(_named, factors)))
        case Neg(operand):
            return Neg(_named(operand))
        case Div(numerator, denominator):
            return Div(_named(numerator), _named(denominator))
        case Pow(base, exponent):
            return Pow(_named(base), _named(exponent))
        case Call(name, arguments):
            return Call(name, tuple(map(_named, arguments)))
        case Sum(body, index, lower, upper):
            return Sum(_named(body), index, _named(lower), _named(upper))
        case _:
            return node


Values = Callable[[Node], tuple[complex, ...] | None]


def _without_noise(node: Node, values: Values) -> Node:
    match node:
        case Add(terms):
            kept = _uncancelled([_without_noise(term, values) for term in terms], values, 0)
            node = Add(tuple(kept)) if len(kept) > 1 else kept[0] if kept else _ZERO
        case Neg(operand):
            node = Neg(_without_noise(operand, values))
        case Mul() | Div():
            kept = _uncancelled([_factor_without_noise(factor, values) for factor in _factors(node)], values, 1)
            node = Mul(tuple(kept)) if len(kept) > 1 else kept[0] if kept else _ONE
        case Pow(base, exponent):
            node = Pow(_without_noise(base, values), _without_noise(exponent, values))
        case Call(name, arguments):
            node = Call(name, tuple(_without_noise(argument, values) for argument in arguments))
    if isinstance(node, Number | Constant | Variable):
        return node
    found = values(node)
    return _ZERO if _is(found, 0) else _ONE if _is(found, 1) else node


def _factor_without_noise(node: Node, values: Values) -> Node:
    if isinstance(node, Div):
        return Div(_ONE, _without_noise(node.denominator, values))
    return _without_noise(node, values)


def _factors(node: Node) -> list[Node]:
    """The factors of a product or quotient; those below the line as inverses."""
    match node:
        case Mul(factors):
            return [inner for factor in factors for inner in _factors(factor)]
        case Div(numerator, denominator):
            above = [] if numerator == _ONE else _factors(numerator)
            return [*above, *(Div(_ONE, inner) for inner in _below(denominator))]
        case _:
            return [node]


def _below(node: Node) -> list[Node]:
    """The factors below the line; a quotient there stays one factor."""
    return [inner for factor in node.factors for inner in _below(factor)] if isinstance(node, Mul) else [node]


def _uncancelled(parts: list[Node], values: Values, nothing: int) -> list[Node]:
    """The terms (or factors) without those that together are zero (or one), the fewest first."""
    if len(parts) > _MOST_PARTS:
        return parts
    numbers = [values(part) for part in parts]
    for size in range(1, len(parts) + 1):
        for chosen in itertools.combinations(range(len(parts)), size):
            taken = [number for k in chosen if (number := numbers[k]) is not None]
            if len(taken) == size and _is(tuple(map(_total(nothing), zip(*taken, strict=True))), nothing):
                return _uncancelled([part for k, part in enumerate(parts) if k not in chosen], values, nothing)
    return parts


def _total(nothing: int) -> Callable[[tuple[complex, ...]], complex]:
    def product(numbers: tuple[complex, ...]) -> complex:
        found = complex(1)
        for number in numbers:
            found *= number
        return found

    return product if nothing else lambda numbers: _cleaned(numbers)


def _cleaned(numbers: tuple[complex, ...]) -> complex:
    """The sum, as zero where it is small beside its terms."""
    found = sum(numbers)
    return complex(0) if abs(found) <= _NEAR * max(map(abs, numbers)) else found


def _is(found: tuple[complex, ...] | None, constant: int) -> bool:
    return bool(found) and all(abs(number - constant) <= _NEAR * constant for number in found or ())


def _values(lives: dict[str, Domain]) -> Values:
    """What a part of a line is at three points; None where that cannot be said."""
    from autograder.maths.expression import points
    from autograder.maths.expression.budget import Budget, Exhausted
    from autograder.maths.expression.comparing import Comparison
    from autograder.maths.precision import precision

    sample = [*points.plain(lives), *points.stratified(lives, points.generator("essence"), 2)] if lives else [{}]

    def values(node: Node) -> tuple[complex, ...] | None:
        try:
            comparison = Comparison(_ZERO, node, lives, budget=Budget())
            with precision(192):
                pairs = [comparison.pair(point) for point in sample]
        except (Exhausted, AuthorError):
            return None
        return None if None in pairs else tuple(_complex(pair[1]) for pair in pairs if pair)

    return values


def _complex(value: Any) -> complex:
    return complex(float(value.p) / float(value.q)) if hasattr(value, "q") else complex(value)
