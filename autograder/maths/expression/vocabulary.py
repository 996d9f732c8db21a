"""The names that one question's expressions may use, and the domains of its variables."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from typing import Any

from autograder.errors import AuthorError, did_you_mean
from autograder.maths.expression.syntax import Node

# name: (fewest arguments, most arguments)
FUNCTIONS: dict[str, tuple[int, int]] = {
    **dict.fromkeys(("exp", "ln", "log", "lg", "log2", "log10", "sqrt", "abs", "floor", "ceil"), (1, 1)),
    "factorial": (1, 1),
    **dict.fromkeys(("sin", "cos", "tan", "tanh", "sinh", "cosh", "coth", "sech", "asinh", "atan"), (1, 1)),
    **dict.fromkeys(("sigma", "relu", "softplus"), (1, 1)),
    **dict.fromkeys(("max", "min"), (2, 12)),
    **dict.fromkeys(("binom", "mod"), (2, 2)),
}
ALIASES = {
    "ReLU": "relu", "RELU": "relu", "sigmoid": "sigma", "arsinh": "asinh", "arcsinh": "asinh",
    "arctan": "atan", "fabs": "abs", "Abs": "abs", "Max": "max", "Min": "min",
    "binomial": "binom", "comb": "binom", "nCr": "binom", "ceiling": "ceil", "lb": "log2", "ld": "log2",
}  # fmt: skip
INFINITY_WORDS = frozenset(("inf", "oo", "infty", "infinity", "infinite"))
LOGS = {"ln": "ln", "log2": "log2", "log10": "log10", "refuse": ""}
DOMAINS = ("positive", "real", "unit", "posint", "nat", "int", "gt1", "complex")

_NAME = re.compile(r"([A-Za-z]+)([0-9]*)(?:_\{?([A-Za-z0-9]+)\}?)?")
_STEPS = re.compile(r"\{\s*(-?\d+)\s*,\s*(-?\d+)\s*(,\s*\.\.\.\s*(?:,\s*(-?\d+)\s*)?)?\}")
_INTERVAL = re.compile(r"\[\s*([^,\s]+)\s*,\s*([^,\s]+)\s*\]")


@dataclass(frozen=True, kw_only=True)
class Domain:
    """Where a variable lives: `unit` is (0,1), `gt1` (1,oo), both open; intervals are sampled inside.

    `steps` are the integers low, low + step, ..., high, or without end where `high` is not above `low`.
    """

    kind: str
    low: Fraction = Fraction(0)
    high: Fraction = Fraction(1)
    step: int = 1

    @property
    def count(self) -> int:
        """How many integers there are in steps; 0 where they do not end."""
        return int((self.high - self.low) // self.step) + 1 if self.high > self.low else 0


@dataclass(frozen=True, kw_only=True)
class Definition:
    """`name(parameters)` is given in the question and stands for `body`."""

    name: str
    parameters: tuple[str, ...]
    body: Node


@dataclass(frozen=True, kw_only=True)
class Vocabulary:
    """What may be named. A declared variable wins over a function or constant of the same name."""

    domains: tuple[tuple[str, str], ...] = ()
    functions: frozenset[str] = frozenset(FUNCTIONS)
    definitions: tuple[Definition, ...] = ()
    log: str = "ln"
    imaginary: str = ""
    variables: dict[str, str] = field(compare=False, default_factory=dict)
    given: dict[str, Definition] = field(compare=False, default_factory=dict)

    def known(self) -> list[str]:
        """Every name a student may write, for suggestions."""
        return [*self.variables.values(), *self.given, *sorted(self.functions), "pi", "inf", "sum", "prod", "cases"]


def canonical(name: str) -> str:
    """One spelling for one name: `x_1`, `x_{1}` and `x1` are the same, `beta_i` is not `betai`."""
    match = _NAME.fullmatch(name)
    if match is None:
        raise AuthorError("name", f"{name!r} cannot be a name: letters, then digits or a subscript")
    letters, digits, subscript = match.groups()
    subscript = digits + (subscript or "")
    return f"{letters}_{subscript}" if subscript else letters


@lru_cache(maxsize=256)
def domain(text: str) -> Domain:
    """The domain that `text` names: one of `DOMAINS`, `[a,b]` with numbers, or integers in equal steps.

    The steps are written `{0,2,...}`, `{1,3,...,9}` or, where there are two of them, `{0,1}`.
    """
    if text in DOMAINS:
        return Domain(kind=text)
    if match := _STEPS.fullmatch(text.strip()):
        first, second = int(match[1]), int(match[2])
        last = second if match[3] is None else first if match[4] is None else int(match[4])
        endless = match[3] is not None and match[4] is None
        if second > first and (endless or (last >= second and (last - first) % (second - first) == 0)):
            return Domain(kind="steps", low=Fraction(first), high=Fraction(last), step=second - first)
    if match := _INTERVAL.fullmatch(text.strip()):
        low, high = (Fraction(bound) for bound in match.groups())
        if low < high:
            return Domain(kind="interval", low=low, high=high)
    raise AuthorError(
        "domain", f"{text!r} is not a domain{did_you_mean(text, DOMAINS)}: {', '.join(DOMAINS)}, [a,b] or {{0,2,...}}"
    )


def vocabulary(
    *,
    domains: Mapping[str, str] | None = None,
    variables: Iterable[str] = (),
    functions: Iterable[str] | None = None,
    definitions: Iterable[Definition] = (),
    log: str = "ln",
    imaginary: str = "",
) -> Vocabulary:
    """Check an author's declarations; `variables` without a domain are real."""
    declared: dict[str, Any] = {**dict.fromkeys(variables, "real"), **(domains or {})}
    for name, text in declared.items():
        if not isinstance(text, str):
            shown = str(text).replace(" ", "")
            raise AuthorError("domain", f'the domain of {name} is {shown}, no text; write "{shown}" or "real"')
    allowed = frozenset(FUNCTIONS if functions is None else functions)
    return _vocabulary(tuple(declared.items()), allowed, tuple(definitions), log, imaginary)


@lru_cache(maxsize=256)
def _vocabulary(
    domains: tuple[tuple[str, str], ...],
    functions: frozenset[str],
    definitions: tuple[Definition, ...],
    log: str,
    imaginary: str,
) -> Vocabulary:
    if unknown := sorted(functions - set(FUNCTIONS)):
        raise AuthorError("function", f"{unknown[0]!r} is not a function{did_you_mean(unknown[0], FUNCTIONS)}")
    if log not in LOGS:
        raise AuthorError("log", f"log policy {log!r}{did_you_mean(log, LOGS)}: one of {', '.join(LOGS)}")
    for _, text in domains:
        domain(text)
    variables = {canonical(name): name for name, _ in domains}
    if len(variables) < len(domains):
        raise AuthorError("name", "two variables have the same name, up to the way a subscript is written")
    if imaginary and imaginary in variables:
        raise AuthorError("name", f"{imaginary!r} is both a variable and the imaginary unit")
    given = {canonical(definition.name): definition for definition in definitions}
    if clash := sorted(set(given) & set(variables)):
        raise AuthorError("name", f"{clash[0]!r} is both a variable and a definition")
    return Vocabulary(
        domains=domains,
        functions=functions,
        definitions=definitions,
        log=log,
        imaginary=imaginary,
        variables=variables,
        given=given,
    )
