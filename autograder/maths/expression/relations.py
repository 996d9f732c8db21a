"""How one expression is related to another: by a constant factor or by an added constant."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from fractions import Fraction
from typing import Any

from flint import acb, arb, fmpq

from autograder.maths.expression import points
from autograder.maths.expression.budget import Budget, Exhausted
from autograder.maths.expression.comparing import Comparison, compare
from autograder.maths.expression.options import Options
from autograder.maths.expression.syntax import Add, Compare, Mul, Neg, Node, Number, substitute
from autograder.maths.expression.vocabulary import Domain
from autograder.maths.precision import precision

_BITS = 260
_ENOUGH = 6
_PRECISION = 512


class Relation:
    """Values of two expressions side by side at some points, `known` among them."""

    def __init__(
        self,
        key: Node,
        given: Node,
        domains: dict[str, Domain],
        budget: Budget,
        known: dict[str, Any] | None = None,
        constraints: Iterable[Compare] = (),
    ) -> None:
        self.budget = budget
        self.pairs: list[tuple[Any, Any]] = []
        self.places: list[dict[str, Any]] = []
        comparison = Comparison(key, given, domains, budget=budget, constraints=constraints)
        rng = points.generator(comparison.seed, "relation")
        sample = [known] if known else []
        sample += [*points.plain(comparison.domains), *points.stratified(comparison.domains, rng, 10)]
        self._needed = _ENOUGH if comparison.domains else 1
        sample = list(comparison.constraints.fitted(sample))
        self._collect(comparison, sample if comparison.domains else [{}])

    def _collect(self, comparison: Comparison, sample: list[dict[str, Any]]) -> None:
        with precision(_PRECISION):
            try:
                for point in sample:
                    if (pair := comparison.pair(point)) is not None:
                        self.pairs.append(pair)
                        self.places.append(point)
            except Exhausted:
                self.pairs.clear()

    def factor(self) -> Any:
        """c where answer = c * reference, neither of them zero everywhere; else None."""
        return self._constant([pair for pair in self.pairs if pair != (0, 0)], lambda x, y: y / x)

    def difference(self) -> Any:
        """c where answer = reference + c; else None."""
        return self._constant(self.pairs, lambda x, y: y - x)

    def _constant(self, pairs: list[tuple[Any, Any]], relation: Callable[[Any, Any], Any]) -> Any:
        if len(pairs) < self._needed:
            return None
        try:
            with precision(_PRECISION):
                values = [relation(x, y) for x, y in pairs]
        except ZeroDivisionError:
            return None
        best = max(values, key=_accuracy)
        if _accuracy(best) < _BITS or best == 0:
            return None
        return best if all(_same_constant(best, value) for value in values) else None


def _accuracy(value: Any) -> int:
    return 10**6 if type(value) is fmpq else int(value.rel_accuracy_bits())


def _same_constant(one: Any, other: Any) -> bool:
    if type(one) is type(other) is fmpq:
        return bool(one == other)
    kind = acb if acb in (type(one), type(other)) else arb
    return _accuracy(other) >= 100 and bool(kind(one).overlaps(kind(other)))


def equal_up_to(options: Options, key: Node, given: Node) -> bool:
    """Whether the answer is right up to what the question leaves open.

    With a point x0 a constant factor means given(x) key(x0) = key(x) given(x0), an added constant
    given(x) + key(x0) = key(x) + given(x0): both are compared as answers are.
    """
    if options.up_to == "sign":
        return compare(options, Neg(key), given).kind == "agree"
    relation = Relation(key, given, options.lives, options.budget or Budget(), constraints=options.comparisons)
    factor = options.up_to == "factor"
    if (relation.factor() if factor else relation.difference()) is None:
        return False
    for (x, y), place in zip(relation.pairs, relation.places, strict=True):
        if any(type(value) is acb for value in place.values()) or (factor and (x == 0 or y == 0)):
            continue
        fixed = {name: _literal(value) for name, value in place.items()}
        there, here = substitute(key, fixed), substitute(given, fixed)
        if factor:
            return compare(options, Mul((key, here)), Mul((given, there))).kind == "agree"
        return compare(options, Add((key, here)), Add((given, there))).kind == "agree"
    return False


def _literal(value: fmpq) -> Node:
    number = Number(Fraction(int(abs(value).p), int(value.q)))
    return Neg(number) if value < 0 else number
