"""Is one monomial bounded by a sum of others, whatever the growth of the variables? Proved by weighted AM-GM.

q_1 + … + q_r >= q_1^w_1 · … · q_r^w_r for weights that sum to 1, so m = O(q_1 + … + q_r) follows if that product over
m, over any product of known ratios >= 1 (the constraints), is a monomial that no variable can make small: in every
variable the first non-zero exponent of (e^v, v, ln v, ln ln v, …) is positive.

Weights are found by a linear programme that is repeated with deeper exponents where the shallower ones cancel; the
certificate is then checked by itself.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from fractions import Fraction

from autograder.maths.growth.constant import ONE
from autograder.maths.growth.monomial import UNIT, Atom, Basis, Exponential, Monomial, atom, monomial
from autograder.maths.growth.simplex import maximise

Coordinate = tuple[Hashable, int]
Vector = dict[Coordinate, Fraction]
_DEEPEST_CONSTRAINT = 3


@dataclass(frozen=True, kw_only=True)
class Certificate:
    """Weights of the dominating monomials and exponents (>= 0) of the constraint ratios."""

    weights: tuple[Fraction, ...]
    multipliers: tuple[Fraction, ...]


class Domain:
    """Several large variables with ratios known to be at least 1; answers dominance questions and remembers them."""

    def __init__(self, ratios: Iterable[Monomial] = ()) -> None:
        self.ratios = [deeper for ratio in ratios for deeper in _consequences(ratio)]
        self._known: dict[tuple[Monomial, frozenset[Monomial]], int] = {}

    @property
    def total(self) -> bool:
        """Over several variables some monomials are incomparable."""
        return False

    def dominated(self, small: Monomial, by: Iterable[Monomial], *, strict: bool = False) -> bool:
        """`small` = O(sum of `by`) proved; with `strict`, small/sum even tends to 0 as all variables grow."""
        key = small, frozenset(by)
        if key not in self._known:
            self._known[key] = self._decide(small, sorted(key[1], key=repr))
        return self._known[key] >= (2 if strict else 1)

    def _decide(self, small: Monomial, by: list[Monomial]) -> int:
        """0 not proved, 1 bounded, 2 vanishing."""
        best = max((lexicographic(vector(large / small)) for large in by), default=-1)
        if best == 1 or (len(by) == 1 and not self.ratios):
            return best + 1
        goals = [vector(large / small) for large in by]
        depths = {depth for goal in goals for _, depth in goal}
        # A constraint at a depth that no goal has could only spoil the slack there.
        ratios = [found for found in map(vector, self.ratios) if any(depth in depths for _, depth in found)]
        certificate = _search(goals, ratios)
        found = -1 if certificate is None else lexicographic(slack(certificate, goals, ratios))
        return max(found, best) + 1


def vector(found: Monomial) -> Vector:
    """Exponents by (variable, depth), e^v at depth -1; any other exponential is a group of its own."""
    return {_coordinate(basis): exponent.key for basis, exponent in found.powers}


def _coordinate(basis: Basis) -> Coordinate:
    if isinstance(basis, Atom):
        return basis.variable, basis.depth
    inner = list(basis.inner.powers)
    if len(inner) == 1 and isinstance(inner[0][0], Atom) and inner[0][0].depth == 0 and inner[0][1].key == 1:
        return inner[0][0].variable, -1
    return basis, 0


def lexicographic(found: Vector) -> int:
    """-1 where some variable could make it small, 0 where it is constant, 1 where it grows."""
    first: dict[Hashable, tuple[int, Fraction]] = {}
    for (group, depth), exponent in found.items():
        if exponent and (group not in first or depth < first[group][0]):
            first[group] = depth, exponent
    if any(exponent < 0 for _, exponent in first.values()):
        return -1
    # An exponential of a mixed monomial is at least 1 but need not grow.
    return int(any(isinstance(group, str) for group in first))


def slack(certificate: Certificate, goals: list[Vector], ratios: list[Vector]) -> Vector:
    """What remains of the weighted product after the constraints are used up."""
    assert sum(certificate.weights) == 1 and min((*certificate.weights, *certificate.multipliers)) >= 0
    total: Vector = {}
    for weight, goal in zip(certificate.weights, goals, strict=True):
        for coordinate, exponent in goal.items():
            total[coordinate] = total.get(coordinate, Fraction(0)) + weight * exponent
    for multiplier, ratio in zip(certificate.multipliers, ratios, strict=True):
        for coordinate, exponent in ratio.items():
            total[coordinate] = total.get(coordinate, Fraction(0)) - multiplier * exponent
    return total


def _search(goals: list[Vector], ratios: list[Vector]) -> Certificate | None:
    """Push every variable's slack positive at the shallowest depth possible; where it must be zero, go one deeper."""
    tiers: dict[Hashable, list[int]] = {}
    # In an order of their own: sets of names have another one in each process.
    for group, depth in sorted({coordinate for found in (*goals, *ratios) for coordinate in found}, key=repr):
        tiers.setdefault(group, []).append(depth)
    for depths in tiers.values():
        depths.sort()
    level = dict.fromkeys(tiers, 0)
    while True:
        solution = _solve(goals, ratios, tiers, level)
        if solution is None:
            return None
        width = len(goals) + len(ratios)
        stuck = [g for i, g in enumerate(tiers) if solution[width + i] == 0 and level[g] + 1 < len(tiers[g])]
        if not stuck:
            total = sum(solution[: len(goals)])
            scaled = [entry / total for entry in solution[:width]]
            return Certificate(weights=tuple(scaled[: len(goals)]), multipliers=tuple(scaled[len(goals) :]))
        for group in stuck:
            level[group] += 1


def _solve(
    goals: list[Vector], ratios: list[Vector], tiers: dict[Hashable, list[int]], level: dict[Hashable, int]
) -> list[Fraction] | None:
    """Columns: weights, multipliers, reward per group (at most 1), its gap to 1, the rest of the slack, surplus weight.

    The weights may sum to more than 1, so that every slack that can be positive can also earn its whole reward.
    """
    columns, groups = len(goals) + len(ratios), len(tiers)
    width = columns + 3 * groups + 1
    zero, one = Fraction(0), Fraction(1)
    rows, right = [[one] * len(goals) + [zero] * (width - len(goals) - 1) + [-one]], [one]
    for index, (group, depths) in enumerate(tiers.items()):
        for step, depth in enumerate(depths[: level[group] + 1]):
            row = [goal.get((group, depth), zero) for goal in goals]
            row += [-ratio.get((group, depth), zero) for ratio in ratios] + [zero] * (3 * groups + 1)
            if step == level[group]:
                row[columns + index] = row[columns + 2 * groups + index] = -one
            rows.append(row)
            right.append(zero)
        bound = [zero] * width
        bound[columns + index] = bound[columns + groups + index] = one
        rows.append(bound)
        right.append(one)
    objective = [zero] * columns + [one] * groups + [zero] * (2 * groups + 1)
    return maximise(objective, rows, right)


def _consequences(ratio: Monomial) -> list[Monomial]:
    """A ratio >= 1 together with what it implies for logarithms (and, for U <= J, for exponentials)."""
    found = [ratio]
    above = [(b, e) for b, e in ratio.powers if e.sign > 0]
    below = [(b, e) for b, e in ratio.powers if e.sign < 0]
    if len(above) == 1 and isinstance(above[0][0], Atom):
        for basis, exponent in below:
            assert isinstance(basis, Atom)
            names = above[0][0].variable, basis.variable
            found += [atom(names[0], d) / atom(names[1], d) for d in range(1, _DEEPEST_CONSTRAINT)]
            if above[0][1].key == 1 and exponent.key <= -1:
                found.append(_exponential(names[0]) / _exponential(names[1]))
    return [one for one in found if one != UNIT]


def _exponential(variable: str) -> Monomial:
    return monomial({Exponential(atom(variable)): ONE})
