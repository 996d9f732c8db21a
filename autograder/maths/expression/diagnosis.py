"""What to tell a student whose answer is refused, without showing the reference.

Tried in this order: a known mistake of the question, the sign, a constant factor, a constant difference, a
renamed variable. For answers without variables any two numbers have a constant ratio, so that only the sign
and the unit of information (nats or bits) are named there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import combinations, permutations
from typing import Any

from flint import arb, fmpq

from autograder.errors import AuthorError, Unreadable
from autograder.maths.decision import Decision, different
from autograder.maths.expression.budget import Budget
from autograder.maths.expression.comparing import Finding, Sight, compare, same
from autograder.maths.expression.extended import Infinity
from autograder.maths.expression.options import Options
from autograder.maths.expression.parsing import parse_with
from autograder.maths.expression.relations import Relation
from autograder.maths.expression.syntax import Neg, Node, Variable, free_variables, substitute
from autograder.maths.precision import precision


def explain(options: Options, key: Node, given: Node, finding: Finding) -> Decision:
    """The decision *different*, with the most telling reason found."""
    assert finding.sight is not None
    witness, detail = _witness(finding.sight), _detail(finding.sight)
    budget = options.budget or Budget()  # for all hints together: they must not outlast the decision itself
    for name, text in (options.mistakes or {}).items():
        if _is_mistake(options, name, text, given, budget):
            return different("mistake", _message(finding), witness=witness, **detail, mistake=name)
    if finding.code == "differ":
        relation = Relation(key, given, options.lives, budget, finding.sight.point, options.comparisons)
        for reason in (_sign, _factor, _difference, _renamed):
            if (found := reason(options, key, given, relation)) is not None:
                code, message, extra = found
                return different(code, message, witness=witness, **detail, **extra)
    return different("domain" if finding.code == "domain" else "value", _message(finding), witness=witness, **detail)


Reason = tuple[str, str, dict[str, object]]


def _is_mistake(options: Options, name: str, text: str, given: Node, budget: Budget) -> bool:
    try:
        wrong = parse_with(text, options.words).node
    except Unreadable as error:
        raise AuthorError("mistake", f"the mistake {name!r} cannot be read: {error.message}") from error
    return compare(options, wrong, given, budget).kind == "agree"


def _sign(options: Options, key: Node, given: Node, relation: Relation) -> Reason | None:
    negated = key.operand if isinstance(key, Neg) else Neg(key)
    if compare(options, negated, given, relation.budget).kind != "agree":
        return None
    return "sign", "the sign is wrong; everything else is correct", {}


def _factor(_: Options, key: Node, given: Node, relation: Relation) -> Reason | None:
    factor = relation.factor()
    if factor is None:
        return None
    name = _named(factor, _known_factors)
    plain = not free_variables(key) | free_variables(given)
    if name in ("ln 2", "1/ln 2"):
        shown = "correct, but in another unit" if plain else f"off by the constant factor {name}"
        return "unit", f"{shown}: does the question ask for bits or nats?", {"factor": name}
    if plain:
        return None
    shown = f" {name}" if name else ""
    return "constant_factor", f"off by a constant factor{shown}", {"factor": name or number(factor)}


def _difference(_: Options, key: Node, __: Node, relation: Relation) -> Reason | None:
    if not free_variables(key):
        return None
    constant = relation.difference()
    if constant is None:
        return None
    name = _named(constant, _known_constants)
    shown = f" {name}" if name else ""
    return "constant_difference", f"off by an added constant{shown}", {"difference": name or number(constant)}


def _renamed(options: Options, key: Node, given: Node, relation: Relation) -> Reason | None:
    for renaming in _renamings(free_variables(key), free_variables(given)):
        changed = substitute(given, {old: Variable(new) for old, new in renaming.items()})
        if compare(options, key, changed, relation.budget).kind == "agree":
            shown = ", ".join(f"{old} should be {new}" for old, new in renaming.items())
            return "renamed_variable", f"correct except for the names of variables: {shown}", {"renaming": renaming}
    return None


def _renamings(wanted: frozenset[str], used: frozenset[str]) -> Iterator[dict[str, str]]:
    """One variable for another that only the reference has; two swapped; three in a circle."""
    for old in sorted(used - wanted):
        for new in sorted(wanted - used):
            yield {old: new}
    for one, other in list(combinations(sorted(used & wanted), 2))[:15]:
        yield {one: other, other: one}
    for a, b, c in list(permutations(sorted(used & wanted), 3))[:6] if len(used & wanted) == 3 else []:
        if a == min(a, b, c):
            yield {a: b, b: c, c: a}


def _known_factors() -> dict[str, Any]:
    two, ten, pi, e = arb(2).log(), arb(10).log(), arb.pi(), arb(1).exp()
    known = {"ln 2": two, "ln 10": ten, "pi": pi, "2 pi": 2 * pi, "e": e, "sqrt 2": arb(2).sqrt()}
    known |= {
        f"1/{name}" if " " not in name or name.startswith(("ln", "sqrt")) else f"1/({name})": 1 / value
        for name, value in list(known.items())
    }
    for k in (2, 3, 4, 8, 10):
        known |= {str(k): fmpq(k), f"1/{k}": fmpq(1, k)}
    return known | {f"-{name}": -value for name, value in known.items()}


def _known_constants() -> dict[str, Any]:
    known = {
        "1": fmpq(1),
        "2": fmpq(2),
        "1/2": fmpq(1, 2),
        "ln 2": arb(2).log(),
        "pi": arb.pi(),
        "e": arb(1).exp(),
    }
    return known | {f"-{name}": -value for name, value in known.items()}


def _named(value: Any, known: Callable[[], dict[str, Any]]) -> str:
    if not isinstance(value, (fmpq, arb)):
        return ""
    with precision(768):
        return next((name for name, constant in known().items() if same(value, constant)), "")


def number(value: Any, digits: int = 6) -> str:
    """A value as a person reads it."""
    if value is None:
        return "no value"
    if isinstance(value, Infinity):
        return "inf" if value.sign > 0 else "-inf"
    if type(value) is fmpq:
        short = (value.q == 1 and abs(value) < 10**12) or max(abs(value.p), value.q) < 1000
        if short:
            return str(value)
        value = arb(value)
    if value.rel_accuracy_bits() < 20:
        return "a number too large or too close to zero to print"
    return str(value.str(digits, radius=False))


def place(point: dict[str, Any]) -> str:
    """'beta = 3/2, i = 2'."""
    return ", ".join(f"{name} = {number(value)}" for name, value in point.items())


def _witness(sight: Sight) -> str:
    at = f"at {place(sight.point)}: " if sight.point else ""
    for digits in (6, 12, 24, 48):
        got, wanted = number(sight.answer, digits), number(sight.reference, digits)
        if got != wanted:
            break
    return f"{at}your answer gives {got}, expected {wanted}"


def _detail(sight: Sight) -> dict[str, object]:
    return {
        "point": {name: number(value) for name, value in sight.point.items()},
        "value": number(sight.answer),
    }


def _message(finding: Finding) -> str:
    sight = finding.sight
    assert sight is not None
    at = f"at {place(sight.point)} " if sight.point else ""
    if finding.code == "domain" and sight.answer is None:
        return f"{at}your answer has no value: it needs {sight.why}".strip()
    if finding.code == "domain":
        return f"{at}your answer has the value {number(sight.answer)}, where the expected one has none".strip()
    return f"{at}your answer has the value {number(sight.answer)}: that is not the expected one".strip()
