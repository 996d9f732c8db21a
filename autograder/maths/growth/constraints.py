"""What a question says about its variables, such as `U<=J` or `K*I<=J`: read to ratios that are at least 1."""

from __future__ import annotations

import re
from collections.abc import Iterable

from autograder.errors import AuthorError, Unreadable
from autograder.maths.growth.constant import ONE
from autograder.maths.growth.growth_grammar import parse
from autograder.maths.growth.growth_tree import names
from autograder.maths.growth.monomial import Monomial, atom
from autograder.maths.growth.normal_form import Evaluator
from autograder.maths.growth.regime import Regime
from autograder.maths.growth.terms import Terms


def read_constraints(constraints: Iterable[str], variables: Iterable[str]) -> list[Monomial]:
    """One ratio for each `<=` or `>=` between products of powers of variables; raises AuthorError."""
    declared = tuple(variables)
    return [_ratio(text, declared) for text in constraints]


def _ratio(text: str, variables: tuple[str, ...]) -> Monomial:
    sides = re.split(r"(<=|>=|≤|≥)", text)
    if len(sides) != 3:
        raise AuthorError("constraint", f"A constraint is one <= or >= between two products, not {text!r}.")
    small, large = (sides[0], sides[2]) if sides[1] in {"<=", "≤"} else (sides[2], sides[0])
    return _product(large, text, variables) / _product(small, text, variables)


def _product(side: str, text: str, variables: tuple[str, ...]) -> Monomial:
    try:
        tree = parse(side, variables=variables).tree
    except Unreadable as error:
        raise AuthorError("constraint", f"The constraint {text!r} cannot be read: {error.message}") from error
    used = sorted(set(names(tree)))
    terms: Terms = Evaluator({name: atom(name) for name in used}, Regime(rates=())).ratio(tree).top
    single = next(iter(terms), None)
    if len(terms) != 1 or single is None or terms[single] != ONE or not single.powers:
        raise AuthorError("constraint", f"Each side of a constraint is a product of powers of variables: {text!r}.")
    return single
