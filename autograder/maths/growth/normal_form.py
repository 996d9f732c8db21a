"""Trees to quotients of signed sums of monomials: the normal form in which growths are compared.

Everything stays exact as long as it can (so that `(n-k)/(k-1) + 1` is `(n-1)/(k-1)` and `ln(J/K) + ln K` is `ln J`).
What is known only up to constant factors (`max`, `sqrt(n+m)`, `ln(n+m)`) gets loose coefficients, which never cancel.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from autograder.maths.growth import constant as numbers
from autograder.maths.growth.constant import ONE, Constant, loose, rational
from autograder.maths.growth.growth_tree import Call, Name, Node, Number, Power, Product, Quotient, Sum
from autograder.maths.growth.monomial import (
    FIXED_DEPTH,
    UNIT,
    Atom,
    Basis,
    Exponential,
    Monomial,
    height,
    log_of,
    monomial,
)
from autograder.maths.growth.terms import (
    Order,
    Terms,
    Undecidable,
    Undefined,
    add,
    as_constant,
    constant_terms,
    leading,
    multiply,
    negate,
    scaled,
)

_TALLEST = 3  # exponentials inside exponentials
_EXPANDED = 4  # integer powers of sums up to this one are multiplied out
_ANY, _SOME = loose(0), loose(1)


@dataclass(frozen=True, kw_only=True)
class Ratio:
    """One sum over another."""

    top: Terms
    bottom: Terms


def ratio(top: Terms, bottom: Terms | None = None) -> Ratio:
    """A quotient; a denominator of one term is divided out."""
    bottom = {UNIT: ONE} if bottom is None else bottom
    if len(bottom) == 1:
        ((single, coefficient),) = bottom.items()
        return Ratio(top=scaled(top, ONE / coefficient, UNIT / single), bottom={UNIT: ONE})
    return Ratio(top=top, bottom=bottom)


class Evaluator:
    """Values of the variables as monomials, and the order that decides what dominates what."""

    def __init__(self, values: Mapping[str, Monomial], order: Order) -> None:
        self.values, self.order = values, order

    def ratio(self, node: Node) -> Ratio:
        """The normal form; raises Undecidable or Undefined."""
        match node:
            case Number():
                return ratio(constant_terms(rational(node.value)))
            case Name():
                return ratio({self.values[node.name]: ONE})
            case Sum():
                return self._sum(node)
            case Product():
                found = ratio({UNIT: ONE})
                for factor in node.factors:
                    found = times(found, self.ratio(factor))
                return found
            case Quotient():
                return times(self.ratio(node.top), inverse(self.ratio(node.bottom)))
            case Power():
                return self._power(self.ratio(node.base), self.ratio(node.exponent))
            case Call():
                return self._call(node.function, [self.ratio(argument) for argument in node.arguments])

    def leading(self, found: Ratio) -> tuple[int, list[Monomial], list[Monomial]]:
        """Sign, and the monomials of numerator and denominator that matter."""
        sign, top = leading(found.top, self.order)
        below, bottom = leading(found.bottom, self.order)
        return sign * below, top, bottom

    def _sum(self, node: Sum) -> Ratio:
        total = ratio({})
        for sign, term in node.terms:
            value = self.ratio(term)
            total = plus(total, value if sign > 0 else ratio(negate(value.top), value.bottom))
        return total

    # -- powers ------------------------------------------------------------------------------------------------------
    def _power(self, base: Ratio, exponent: Ratio) -> Ratio:
        fixed = as_constant(exponent.top) if exponent.bottom == {UNIT: ONE} else None
        if fixed is None or (fixed.value is None and not fixed.is_zero):
            return self._exponential(times(exponent, self._logarithm(base)))
        if fixed.is_zero:
            return ratio({UNIT: ONE})
        if not base.top and fixed.sign > 0:
            return base
        size = fixed if fixed.sign > 0 else -fixed
        if len(base.bottom) > 1 and size.key.denominator != 1 and leading(base.bottom, self.order)[0] < 0:
            base = Ratio(top=negate(base.top), bottom=negate(base.bottom))
        raised = times(ratio(self._raised(base.top, size)), inverse(ratio(self._raised(base.bottom, size))))
        return raised if fixed.sign > 0 else inverse(raised)

    def _raised(self, terms: Terms, exponent: Constant) -> Terms:
        """A sum to a positive power."""
        if len(terms) == 1:
            ((single, coefficient),) = terms.items()
            return {single.to_the(exponent): self._coefficient(coefficient, exponent)}
        if exponent.key.denominator == 1 and exponent.key <= _EXPANDED:
            found: Terms = {UNIT: ONE}
            for _ in range(int(exponent.key)):
                found = multiply(found, terms)
            return found
        sign, monomials = leading(terms, self.order)
        factor = self._coefficient(loose(sign), exponent)
        return {m.to_the(exponent): factor for m in monomials}

    @staticmethod
    def _coefficient(coefficient: Constant, exponent: Constant) -> Constant:
        if coefficient.sign > 0:
            return numbers.power(coefficient, exponent)
        if coefficient.is_zero or exponent.key.denominator != 1:
            raise Undefined if coefficient.value is not None or coefficient.sign < 0 else Undecidable
        positive = _SOME if coefficient.sign == 0 else numbers.power(-coefficient, exponent)
        if coefficient.sign == 0:
            return _ANY
        return positive if exponent.key % 2 == 0 else -positive

    def _exponential(self, exponent: Ratio) -> Ratio:
        """e to a sum: logarithms in it become powers, a constant a coefficient, anything else an exponential."""
        if exponent.bottom != {UNIT: ONE}:
            raise Undecidable
        powers: dict[Basis, Constant] = {}
        coefficient = ONE
        for single, factor in exponent.top.items():
            if single == UNIT:
                coefficient = coefficient * numbers.exponential(factor)
            elif self.order.dominated(single, [UNIT]):
                coefficient = coefficient * _SOME
            elif factor.value is None:
                raise Undecidable
            else:
                powers[_exponential_basis(single)] = factor
        return ratio({monomial(powers): coefficient})

    # -- functions ---------------------------------------------------------------------------------------------------
    def _call(self, function: str, arguments: list[Ratio]) -> Ratio:
        match function:
            case "ln":
                return self._logarithm(arguments[0])
            case "log":
                return times(self._logarithm(arguments[0]), inverse(self._logarithm(arguments[1])))
            case "sqrt":
                return self._power(arguments[0], ratio({UNIT: rational(Fraction(1, 2))}))
            case "exp":
                return self._exponential(arguments[0])
            case "max" | "min":
                return self._extreme(function, arguments)
            case _:
                return self._rounded(function, arguments[0])

    def _logarithm(self, argument: Ratio) -> Ratio:
        above, top = self._log_of_sum(argument.top)
        below, bottom = self._log_of_sum(argument.bottom)
        if above * below <= 0:
            raise Undefined
        return ratio(add(top, negate(bottom)))

    def _log_of_sum(self, terms: Terms) -> tuple[int, Terms]:
        """The sign of a sum, and the logarithm of its size: exact for one term, else up to a bounded summand."""
        sign, monomials = leading(terms, self.order)
        if len(terms) == 1:
            ((single, coefficient),) = terms.items()
            size = coefficient if coefficient.sign > 0 else -coefficient
            return sign, add(_log(single), constant_terms(numbers.logarithm(size)))
        if len(monomials) <= 1:
            return sign, add(_log(monomials[0]), {UNIT: _ANY}) if monomials else {}
        found: Terms = {UNIT: _ANY}
        for single in monomials:
            positive, parts = leading(_log(single), self.order)
            if positive < 0:
                raise Undecidable
            found = add(found, dict.fromkeys(parts, _SOME))
        return sign, found

    def _extreme(self, function: str, arguments: list[Ratio]) -> Ratio:
        """max as a sum, min(f, g) as 1/(1/f + 1/g): both within constants for positive arguments."""
        if (fixed := _fixed(function, arguments)) is not None:
            return fixed
        found = ratio({})
        for argument in arguments:
            sign, top, bottom = self.leading(argument)
            if sign <= 0 and function == "min":
                raise Undecidable
            if sign > 0:
                part = ratio(dict.fromkeys(top, _SOME), dict.fromkeys(bottom, _SOME))
                found = plus(found, part if function == "max" else inverse(part))
        if not found.top:
            raise Undecidable
        return found if function == "max" else inverse(found)

    def _rounded(self, function: str, argument: Ratio) -> Ratio:
        sign, top, bottom = self.leading(argument)
        if sign <= 0:
            raise Undecidable
        if all(self.order.dominated(single, top, strict=True) for single in bottom):
            return plus(argument, ratio({UNIT: _ANY}))
        if function == "floor":
            raise Undecidable
        return plus(ratio(dict.fromkeys(top, _SOME), dict.fromkeys(bottom, _SOME)), ratio({UNIT: ONE}))


def plus(left: Ratio, right: Ratio) -> Ratio:
    """The sum over a common denominator."""
    if left.bottom == right.bottom:
        return ratio(add(left.top, right.top), left.bottom)
    top = add(multiply(left.top, right.bottom), multiply(right.top, left.bottom))
    return ratio(top, multiply(left.bottom, right.bottom))


def times(left: Ratio, right: Ratio) -> Ratio:
    """The product; equal sums cancel where they are the same function and not merely of the same growth."""
    if left.top == right.bottom and _is_exact(left.top):
        return ratio(right.top, left.bottom)
    if right.top == left.bottom and _is_exact(right.top):
        return ratio(left.top, right.bottom)
    return ratio(multiply(left.top, right.top), multiply(left.bottom, right.bottom))


def inverse(found: Ratio) -> Ratio:
    """One over it; raises Undefined for an exact zero."""
    if not found.top:
        raise Undefined
    return ratio(found.bottom, found.top)


def _fixed(function: str, arguments: list[Ratio]) -> Ratio | None:
    """The extreme of equal arguments, or of numbers."""
    if all(argument == arguments[0] for argument in arguments):
        return arguments[0]
    known = [as_constant(a.top) if a.bottom == {UNIT: ONE} else None for a in arguments]
    values = [c.value for c in known if c is not None and c.value is not None]
    if len(values) < len(arguments):
        return None
    return arguments[values.index(max(values) if function == "max" else min(values))]


def _is_exact(terms: Terms) -> bool:
    return all(coefficient.value is not None for coefficient in terms.values())


def _log(single: Monomial) -> Terms:
    """Exact; a logarithm so deep that it would pass for a fixed variable is out of reach."""
    found: Terms = {}
    for basis, exponent in single.powers:
        if isinstance(basis, Atom) and basis.depth == FIXED_DEPTH - 1:
            raise Undecidable
        found = add(found, {log_of(basis): exponent})
    return found


def _exponential_basis(single: Monomial) -> Basis:
    """e^(ln v) is v, e^(ln ln v) is ln v; e to any other monomial is a basis element of its own."""
    if len(single.powers) == 1:
        ((basis, exponent),) = single.powers
        if isinstance(basis, Atom) and basis.depth > 0 and exponent == ONE:
            return Atom(basis.variable, basis.depth - 1)
    if height(single) >= _TALLEST:
        raise Undecidable
    return Exponential(single)
