"""Whether two bounds are the same growth (Theta): proved by dominance, refuted by a regime, else left to a person.

Two bounds are the same where constants c, C > 0 and a size n0 exist with c*reference <= answer <= C*reference for all
values of the variables of at least n0 that satisfy the constraints. Variables are otherwise independent.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice

from autograder.errors import AuthorError, Unreadable
from autograder.maths.decision import Decision, different, equal, undecided
from autograder.maths.growth.constraints import read_constraints
from autograder.maths.growth.dominance import Domain
from autograder.maths.growth.growth_grammar import parse
from autograder.maths.growth.growth_tree import Growth, Node, names, nodes, substituted
from autograder.maths.growth.monomial import Atom, Monomial, atom
from autograder.maths.growth.normal_form import Evaluator
from autograder.maths.growth.regime import Regime, growth_along, regimes
from autograder.maths.growth.terms import Undecidable, Undefined, multiply

_MOST_PAIRS = 2500
FIRST = 12  # regimes by which a bound is told apart from a known mistake
_UNDEFINED = "Your bound has no value: it divides by zero, or takes the logarithm of zero or of a negative number."
_UNCLEAR = "This bound could not be compared."


@dataclass(frozen=True, kw_only=True)
class _Shape:
    """A positive bound as a quotient of sums of monomials, up to constants."""

    top: list[Monomial]
    bottom: list[Monomial]


def decide(
    reference: Growth | str,
    answer: Growth | str,
    *,
    variables: Iterable[str],
    constraints: Iterable[str] = (),
    definitions: Mapping[str, str] | None = None,
) -> Decision:
    """Tight comparison of two bounds; text is read first (raises Unreadable).

    `definitions` are names that stand for products of the variables, such as `{"I": "J/K"}`.
    Codes: `agree`; `too_small`, `too_large`, `incomparable` and `not_positive` with a regime as witness; `undefined`;
    `undecided`.
    """
    named = dict(definitions or {})
    declared, constraints = tuple(variables), list(constraints)
    every = (*declared, *named)
    expected, given = (parse(g, variables=every) if isinstance(g, str) else g for g in (reference, answer))
    found = _decided(expected.tree, given.tree, read_constraints([*constraints, *_tied(named)], every))
    if found.outcome != "undecided" or not named:
        return found
    # A name that is a variable of its own hides what cancels; what stands for it hides that it is large.
    meanings = {name: parse(text, variables=declared).tree for name, text in named.items()}
    right, left = substituted(expected.tree, meanings), substituted(given.tree, meanings)
    return _decided(right, left, read_constraints(constraints, declared))


def first_equal(
    candidates: Sequence[str],
    answer: str,
    *,
    variables: Iterable[str],
    constraints: Iterable[str] = (),
    definitions: Mapping[str, str] | None = None,
) -> int | None:
    """The place of the first candidate that is proved the same growth as `answer`."""
    named, declared, constraints = dict(definitions or {}), tuple(variables), list(constraints)
    every = (*declared, *named)
    ratios = read_constraints([*constraints, *_tied(named)], every)
    given = parse(answer, variables=every)
    for place, text in enumerate(candidates):
        try:
            growth = parse(text, variables=every)
            if _apart(growth.tree, given.tree, ratios):
                continue
            if decide(growth, given, variables=declared, constraints=constraints, definitions=named).equal:
                return place
        except (Unreadable, AuthorError):
            continue
    return None


def _tied(named: Mapping[str, str]) -> list[str]:
    """The constraints that say what names stand for."""
    return [f"{name} {sign} {text}" for name, text in named.items() for sign in ("<=", ">=")]


def _decided(expected: Node, given: Node, ratios: list[Monomial]) -> Decision:
    """The two trees under the constraints."""
    domain = Domain(ratios)
    try:
        small, large = _bounded(given, expected, domain)
    except Undefined:
        return different("undefined", _UNDEFINED)
    if (small and large) or _proportional(given, expected, domain):
        return equal()
    return _refute(expected, given, ratios, search=(not large, not small))


def _apart(expected: Node, given: Node, ratios: list[Monomial]) -> bool:
    """Whether one of the first regimes tells the two apart: quicker than that no proof is found."""
    used, ratios = _concerned(expected, given, ratios)
    return any(_along(expected, given, regime) for regime in islice(regimes(used, ratios), FIRST))


def _bounded(given: Node, expected: Node, domain: Domain) -> tuple[bool, bool]:
    """Whether the answer is proved O(reference), and the reference O(answer)."""
    right = _reference_shape(expected, domain)
    try:
        left = _shape(given, domain)
    except Undecidable:
        left = None
    if left is None or right is None:
        return False, False
    above, below = _products(left.top, right.bottom), _products(right.top, left.bottom)
    if len(above) * len(below) > _MOST_PAIRS:
        return False, False
    return (
        all(domain.dominated(single, below) for single in above),
        all(domain.dominated(single, above) for single in below),
    )


def _reference_shape(expected: Node, domain: Domain) -> _Shape | None:
    try:
        shape = _shape(expected, domain)
    except Undecidable:
        return None
    except Undefined:
        shape = None
    if shape is None:
        raise AuthorError("reference", "The reference bound has no positive value.")
    return shape


def _shape(tree: Node, domain: Domain) -> _Shape | None:
    """None where the bound is not positive."""
    evaluator = Evaluator({name: atom(name) for name in names(tree)}, domain)
    sign, top, bottom = evaluator.leading(evaluator.ratio(tree))
    return _Shape(top=top, bottom=bottom) if sign > 0 else None


def _products(left: list[Monomial], right: list[Monomial]) -> list[Monomial]:
    return list(dict.fromkeys(one * other for one in left for other in right))


def _proportional(given: Node, expected: Node, domain: Domain) -> bool:
    """Exactly a positive multiple of each other; this needs no sign, so it also serves bounds like n - k."""
    try:
        left, right = (Evaluator({name: atom(name) for name in names(t)}, domain).ratio(t) for t in (given, expected))
        above, below = multiply(left.top, right.bottom), multiply(right.top, left.bottom)
    except (Undecidable, Undefined):
        return False
    if not above or above.keys() != below.keys() or any(c.value is None for c in (*above.values(), *below.values())):
        return False
    factors = [above[single] / below[single] for single in above]
    return factors[0].sign > 0 and all(factor == factors[0] for factor in factors)


# -- refutation ------------------------------------------------------------------------------------------------------
def _refute(expected: Node, given: Node, ratios: Sequence[Monomial], search: tuple[bool, bool]) -> Decision:
    """Look for a regime where the answer is too small (if search[0]) and one where it is too large (if search[1])."""
    most = min(800, max(30, 10_000 // sum(1 for _ in (*nodes(expected), *nodes(given)))))
    used, ratios = _concerned(expected, given, ratios)
    found: dict[int, Regime] = {}
    for effort, regime in enumerate(regimes(used, ratios)):
        if effort > most or (found and effort > 3 * len(used) + 60):
            break
        verdict = _along(expected, given, regime)
        if verdict is None:
            if not regime.admits(ratios, exactly=True):
                continue
            where = regime.describe()
            return different("not_positive", f"Your bound is not positive when {where}.", witness=where)
        if verdict and search[(verdict + 1) // 2]:
            found.setdefault(verdict, regime)
        if all(side in found or not wanted for side, wanted in zip((-1, 1), search, strict=True)):
            break
    return _report(found) or _constants(given) or undecided("undecided", _UNCLEAR)


def _constants(given: Node) -> Decision | None:
    """Without variables there is no regime; a constant that is not positive is still wrong."""
    if set(names(given)):
        return None
    try:
        sign, *_ = (evaluator := Evaluator({}, Domain())).leading(evaluator.ratio(given))
    except Undecidable:
        return None
    return different("not_positive", "Your bound is not positive.") if sign <= 0 else None


def _along(expected: Node, given: Node, regime: Regime) -> int | None:
    """-1 where the answer is too small along the regime, +1 too large, 0 neither or unknown, None not positive."""
    right, left = _leading(expected, regime), _leading(given, regime)
    if right is None or left is None:
        return 0
    (positive, above, below), (sign, top, bottom) = right, left
    if positive < 0:  # of a reference that is negative somewhere nothing can be said
        return 0
    if sign <= 0:
        return None if positive > 0 else 0
    if positive == 0:  # a reference such as n - k vanishes where k = n
        return 1
    return growth_along(top[0] * below[0] / (bottom[0] * above[0]))


@lru_cache(maxsize=8192)
def _leading(tree: Node, regime: Regime) -> tuple[int, list[Monomial], list[Monomial]] | None:
    """A bound's sign and what matters of it along a regime. A class is compared with one reference."""
    evaluator = Evaluator(regime.values, regime)
    try:
        return evaluator.leading(evaluator.ratio(tree))
    except (Undecidable, Undefined):
        return None


def _report(found: dict[int, Regime]) -> Decision | None:
    where = {side: regime.describe() for side, regime in found.items()}
    if len(where) == 2:
        message = f"Your bound is too small when {where[-1]}, and too large when {where[1]}."
        return different("incomparable", message, witness=f"too small when {where[-1]}; too large when {where[1]}")
    if -1 in where:
        return different("too_small", f"Your bound is too small when {where[-1]}.", witness=where[-1])
    if 1 in where:
        return different("too_large", f"Your bound is too large when {where[1]}.", witness=where[1])
    return None


def _concerned(expected: Node, given: Node, ratios: Sequence[Monomial]) -> tuple[list[str], list[Monomial]]:
    """The variables that matter to two bounds, and the constraints on them alone."""
    used = _linked({*names(expected), *names(given)}, ratios)
    return used, [ratio for ratio in ratios if _variables(ratio) <= set(used)]


def _linked(used: set[str], ratios: Sequence[Monomial]) -> list[str]:
    """The variables that occur, and those that constraints tie to them."""
    linked = set(used)
    groups = [_variables(ratio) for ratio in ratios]
    for _ in groups:
        for group in groups:
            if group & linked:
                linked |= group
    return sorted(linked)


def _variables(ratio: Monomial) -> set[str]:
    return {basis.variable for basis, _ in ratio.powers if isinstance(basis, Atom)}
