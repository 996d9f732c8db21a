"""Signed sums of monomials, and what they amount to once dominated terms are dropped."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from autograder.maths.growth.constant import ONE, Constant
from autograder.maths.growth.monomial import UNIT, Monomial

Terms = dict[Monomial, Constant]
MAX_TERMS = 40


class Undecidable(Exception):
    """The normal form does not exist or is out of reach: no verdict from this route."""


class Undefined(Exception):
    """The expression has no value: a division by zero or the logarithm of something negative."""


class Order(Protocol):
    """Who dominates whom: `Domain` over several variables, `Regime` over one, where the order is total."""

    @property
    def total(self) -> bool:
        """Any two monomials can be compared."""

    def dominated(self, small: Monomial, by: Iterable[Monomial], *, strict: bool = False) -> bool:
        """`small` = O(sum of `by`); strictly: it vanishes beside it."""


def constant_terms(constant: Constant) -> Terms:
    """A constant as a sum."""
    return {} if constant.is_zero else {UNIT: constant}


def add(left: Terms, right: Terms) -> Terms:
    """The sum, with exact cancellation."""
    found = dict(left)
    for monomial, coefficient in right.items():
        _include(found, monomial, coefficient)
    if len(found) > MAX_TERMS:
        raise Undecidable
    return found


def _include(found: Terms, monomial: Monomial, coefficient: Constant) -> None:
    total = found[monomial] + coefficient if monomial in found else coefficient
    if total.is_zero:
        del found[monomial]
    else:
        found[monomial] = total


def negate(terms: Terms) -> Terms:
    """All signs turned."""
    return {monomial: -coefficient for monomial, coefficient in terms.items()}


def multiply(left: Terms, right: Terms) -> Terms:
    """The product, multiplied out."""
    if len(left) * len(right) > 20 * MAX_TERMS:
        raise Undecidable
    found: Terms = {}
    for monomial, coefficient in left.items():
        for other, factor in right.items():
            _include(found, monomial * other, coefficient * factor)
    if len(found) > MAX_TERMS:
        raise Undecidable
    return found


def scaled(terms: Terms, coefficient: Constant, monomial: Monomial = UNIT) -> Terms:
    """Every term times one term."""
    return {m * monomial: c * coefficient for m, c in terms.items()} if terms else {}


def leading(terms: Terms, order: Order) -> tuple[int, list[Monomial]]:
    """The sign and the monomials that the sum is Theta of, for large variables; sign 0 and none for an exact zero.

    Terms of the other sign must vanish beside them; raises Undecidable.
    """
    if not terms:
        return 0, []
    if order.total:
        largest = _largest(terms, order)
        if not terms[largest].sign:
            raise Undecidable
        return terms[largest].sign, [largest]
    for sign in (1, -1):
        kept = [m for m, c in terms.items() if c.sign == sign]
        others = [m for m, c in terms.items() if c.sign != sign]
        if kept and all(order.dominated(m, kept, strict=True) for m in others):
            return sign, pruned(kept, order)
    raise Undecidable


def _largest(terms: Terms, order: Order) -> Monomial:
    found, *others = terms
    for other in others:
        if order.dominated(found, [other]):
            found = other
    return found


def pruned(monomials: list[Monomial], order: Order) -> list[Monomial]:
    """The monomials that no sum of the others dominates; those that a single other one dominates go first."""
    kept = list(monomials)
    for candidate in monomials:
        rest = [m for m in kept if m != candidate]
        if any(order.dominated(candidate, [m]) for m in rest):
            kept = rest
    for candidate in list(kept):
        rest = [m for m in kept if m != candidate]
        if len(rest) > 1 and order.dominated(candidate, rest):
            kept = rest
    return kept


def as_constant(terms: Terms) -> Constant | None:
    """The value of a sum without variables, zero included."""
    if not terms:
        return ONE + -ONE
    return terms[UNIT] if set(terms) == {UNIT} else None
