"""What is left of a line without what does nothing in it.

So a line that is the answer with `+ Z - Z`, `* Z/Z`, `+ sum(P(n), n, 0, inf) - 1` or `cases(…, 0 = 0; Z, otherwise)`
around it is the answer. What does nothing is found by numbers: terms that together are zero, factors that together are
one, what a sum does not depend on, and whatever has the value of one of its own parts.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from autograder.errors import AuthorError
from autograder.maths.expression.budget import Paid
from autograder.maths.expression.same_line import opened
from autograder.maths.expression.syntax import (
    Add,
    Call,
    Cases,
    Compare,
    Constant,
    Div,
    Given,
    Mul,
    Neg,
    Node,
    Number,
    Pow,
    Prod,
    Sum,
    Variable,
    children,
    free_variables,
    mapped,
    substitute,
    walk,
)
from autograder.maths.expression.vocabulary import Domain

if TYPE_CHECKING:
    from autograder.maths.expression.budget import Budget

_ZERO, _ONE = Number(Fraction(0)), Number(Fraction(1))
_MOST_PARTS = 10
_SHORT = 12  # terms of a sum that are looked at one by one
_NEAR = 1e-9

Numbers = tuple[complex, ...]
_KNOWN: Paid[Numbers] = Paid()  # parts of lines at the sample of points


Ranges = frozenset[tuple[Node, Node]]


def essence(
    node: Node, lives: dict[str, Domain], budget: Budget, *, opens: bool = True, given: Ranges = frozenset()
) -> Node:
    """`node` without terms that cancel, factors that do, and whatever is a plain zero or one; its brackets opened.

    Abbreviations stay as they are. With `opens` off, brackets stay too. Where the budget is spent, the rest stays.
    A sum over one of the `given` ranges whose terms are weighed by an exponential or an abbreviation is the question's
    own: it stays a sum, though only one of its terms is not zero.
    """
    core = _named(_Plain(_values(lives, budget), opens, given).of(node))
    return opened(core) if opens else core


def ranges(node: Node) -> Ranges:
    """What the sums of a line go over."""
    return frozenset((part.lower, part.upper) for part in walk(node) if isinstance(part, Sum))


def _named(node: Node) -> Node:
    """Plain abbreviations as names, so that opening brackets does not write them out."""
    match node:
        case Given(name, ()):
            return Variable(name)
        case Given(name, arguments, body):
            return Given(name, tuple(map(_named, arguments)), body)
        case _:
            return mapped(node, _named)


class _Plain:
    """Takes out of a line what does nothing; `values` is what a part of it is at some points, if that can be said."""

    def __init__(self, values: Callable[[Node], Numbers | None], opens: bool, given: Ranges) -> None:
        self.values = values
        self.opens = opens
        self.given = given

    def of(self, node: Node) -> Node:
        """The node without it."""
        match node:
            case Number() | Constant() | Variable() | Given() | Compare():
                return self._constant(node)
            case Add():
                plain = [self.of(term) for term in self._terms(node)]
                opened_again = [inner for term in plain for inner in self._terms(term)] if self.opens else plain
                terms = self._uncancelled(opened_again, 0)
                node = Add(tuple(terms)) if len(terms) > 1 else terms[0] if terms else _ZERO
            case Mul() | Div():
                factors = self._uncancelled([self._factor(factor) for factor in _factors(node)], 1)
                node = Mul(tuple(factors)) if len(factors) > 1 else factors[0] if factors else _ONE
            case Sum():
                node = self._series(node)
            case _:
                node = self._logarithm(mapped(node, self.of))
                node = next((part for part in _parts(node) if self._same(part, node)), node)
        return self._constant(node)

    def _constant(self, node: Node) -> Node:
        """A zero or a one where the node is that at every point."""
        if isinstance(node, Number | Constant | Variable):
            return node
        found = self.values(node)
        return _ZERO if _is(found, 0) else _ONE if _is(found, 1) else node

    def _same(self, one: Node, other: Node) -> bool:
        first, second = self.values(one), self.values(other)
        if first is None or second is None:
            return False
        return all(abs(x - y) <= _NEAR * max(abs(x), abs(y)) for x, y in zip(first, second, strict=True))

    def _terms(self, node: Node) -> list[Node]:
        """The terms of a sum, and of the sums among them where brackets are opened."""
        match node:
            case Add(terms):
                return [inner for term in terms for inner in (self._terms(term) if self.opens else [term])]
            case Neg(Add(terms)) if self.opens:
                return [inner for term in terms for inner in self._terms(Neg(term))]
            case Neg(Neg(operand)):
                return self._terms(operand)
            case _:
                return [node]

    def _factor(self, node: Node) -> Node:
        return Div(_ONE, self.of(node.denominator)) if isinstance(node, Div) else self.of(node)

    def _series(self, node: Sum) -> Node:
        """A sum without what does not depend on its number; one of its terms, where all others are nothing."""
        empty = _ONE if isinstance(node, Prod) else _ZERO
        is_given = (node.lower, node.upper) in self.given and not isinstance(node, Prod) and _is_weighed(node)
        if not is_given and (places := _places(node)) is not None:
            written = (substitute(node.body, {node.index: Number(Fraction(place))}) for place in places)
            left = list(itertools.islice((plain for term in written if (plain := self.of(term)) != empty), 2))
            if len(left) < 2:
                return left[0] if left else empty
        if isinstance(node, Prod):
            return node
        outside, inside = _taken_out(node)
        if outside:
            return self.of(Mul((*outside, inside)))
        terms = opened(node.body)
        if not isinstance(terms, Add) or len(terms.terms) == 1:
            return node
        return self.of(Add(tuple(Sum(term, node.index, node.lower, node.upper) for term in terms.terms)))

    def _logarithm(self, node: Node) -> Node:
        """The logarithm of a product or a power as a sum of logarithms, where it is one."""
        match node:
            case Call("ln", (Mul() | Div() as product,)):
                logarithms = [_logarithm_of(factor) for factor in _factors(product)]
                other: Node = self.of(Add(tuple(logarithms))) if len(logarithms) > 1 else logarithms[0]
            case Call("ln", (Pow(base, exponent),)):
                other = exponent if base == Constant("e") else Mul((exponent, Call("ln", (base,))))
            case Call("ln", (Call("exp", (exponent,)),)):
                other = exponent
            case _:
                return node
        return other if self._same(node, other) else node

    def _uncancelled(self, parts: list[Node], nothing: int) -> list[Node]:
        """The terms (or factors) without those that together are zero (or one), the fewest and longest first."""
        if len(parts) > _MOST_PARTS:
            return parts
        numbers = [self.values(part) for part in parts]
        lengths = [sum(1 for _ in walk(part)) for part in parts]
        for size in range(1, len(parts) + 1):
            together = itertools.combinations(range(len(parts)), size)
            for chosen in sorted(together, key=lambda chosen: -sum(lengths[k] for k in chosen)):
                taken = [number for k in chosen if (number := numbers[k]) is not None]
                if len(taken) == size and _is(tuple(map(_total(nothing), zip(*taken, strict=True))), nothing):
                    return self._uncancelled([part for k, part in enumerate(parts) if k not in chosen], nothing)
        return parts


def _parts(node: Node) -> Iterator[Node]:
    """The parts whose value a node may have: a case, an argument, a base."""
    if isinstance(node, Cases):
        yield from node.values
    elif isinstance(node, Call | Pow):
        yield from children(node)


def _places(node: Sum) -> range | None:
    """The numbers that a short sum between numerals goes over."""
    match node:
        case Sum(_, _, Number(lower), Number(upper)) if lower.denominator == upper.denominator == 1:
            return range(int(lower), int(upper) + 1) if upper - lower < _SHORT else None
    return None


def _is_weighed(node: Sum) -> bool:
    """Whether a factor of its terms is an exponential of their number or an abbreviation with it."""
    return any(
        node.index in free_variables(factor)
        for factor in _factors(node.body)
        if isinstance(factor, Given) or (isinstance(factor, Pow) and factor.base == Constant("e"))
    )


def _taken_out(node: Sum) -> tuple[list[Node], Sum]:
    """The factors that do not depend on the number of a sum, and the sum of the others."""
    factors = [factor for factor in _factors(node.body) if factor != _ONE]
    outside = [factor for factor in factors if node.index not in free_variables(factor)]
    inside = [factor for factor in factors if node.index in free_variables(factor)]
    body = Mul(tuple(inside)) if len(inside) > 1 else inside[0] if inside else _ONE
    return outside, Sum(body, node.index, node.lower, node.upper)


def _logarithm_of(factor: Node) -> Node:
    match factor:
        case Div(numerator, below) if numerator == _ONE:
            return Neg(_logarithm_of(below))
        case Pow(Constant("e"), exponent) | Call("exp", (exponent,)):
            return exponent
        case _:
            return Call("ln", (factor,))


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


def _total(nothing: int) -> Callable[[Numbers], complex]:
    def product(numbers: Numbers) -> complex:
        found = complex(1)
        for number in numbers:
            found *= number
        return found

    return product if nothing else _cleaned


def _cleaned(numbers: Numbers) -> complex:
    """The sum, as zero where it is small beside its terms."""
    found = sum(numbers)
    return complex(0) if abs(found) <= _NEAR * max(map(abs, numbers)) else found


def _is(found: Numbers | None, constant: int) -> bool:
    return bool(found) and all(abs(number - constant) <= _NEAR * constant for number in found or ())


def _values(lives: dict[str, Domain], budget: Budget) -> Callable[[Node], Numbers | None]:
    """What a part of a line is at three points; None where that cannot be said, or all parts have cost too much."""
    from autograder.maths.expression import points
    from autograder.maths.expression.budget import Exhausted
    from autograder.maths.expression.comparing import Comparison
    from autograder.maths.precision import precision

    sample = [*points.plain(lives), *points.stratified(lives, points.generator("essence"), 2)] if lives else [{}]

    def computed(node: Node) -> Numbers:
        try:
            comparison = Comparison(_ZERO, node, lives, budget=budget)
            with precision(192):
                pairs = [comparison.pair(point) for point in sample]
            return () if None in pairs else tuple(_complex(pair[1]) for pair in pairs if pair)
        except (Exhausted, AuthorError, OverflowError):  # or no float is so large
            return ()

    about = tuple(lives.items())
    return lambda node: _KNOWN.once((node, about), budget, lambda: computed(node)) or None


def _complex(value: Any) -> complex:
    return complex(Fraction(int(value.p), int(value.q))) if hasattr(value, "q") else complex(value)
