"""`Growth`: a Big-O bound in several variables, compared as tight."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from typing import Any

from autograder.core import Parameters
from autograder.errors import AuthorError
from autograder.maths.decision import Decision
from autograder.parts.typed import Typed, guarded, guarded_first
from autograder.student.preview import Shown


@dataclass(frozen=True)
class Growth(Typed):
    """A bound such as `O(U + ln T)`.

    `variables` are those that grow, apart by spaces; all are at least 2, and independent except for `constraints` such
    as `U<=J`, which the statement must print. Both may be functions of p. `definitions` are names that the question
    gives as products of the variables, such as `{"I": "J/K"}`.
    """

    _: KW_ONLY
    variables: str | Callable[[Parameters], str] = ""
    constraints: Sequence[str] | Callable[[Parameters], Sequence[str]] = ()
    definitions: Mapping[str, str] = field(default_factory=dict)

    kind = "growth"
    all_or_nothing = True
    by_hand = (
        "A bound is written as $O(\\ldots)$ and must be tight. Use the letters of the question only; "
        "$\\ln$ and $\\log$ mean the same in a bound."
    )
    told = ("variables",)
    example = 'r"O(...)"'

    @classmethod
    def show(cls, answer: Any, **declared: Any) -> Shown:
        """A bound, typeset."""
        from autograder.maths import growth as language

        return Shown(language.to_latex(language.parse(answer, **declared)))

    def __post_init__(self) -> None:
        super().__post_init__()
        if not callable(self.variables) and not self.variables.split():
            raise AuthorError("variables", f"part {self.name!r}: name the variables that grow, such as variables='T U'")

    def blind_answers(self, p: Parameters, shown: Sequence[str]) -> dict[str, Any]:
        """Constants, unless the bound is one."""
        grows = set(re.findall("[A-Za-z]+", self.right(p))) - {"O"}
        constants = ("0", "1", "O(0)", "O(1)", "O(inf)", "O(sum(0, i, 1, inf))", "O(0*ln(0))") if grows else ()
        return {**super().blind_answers(p, shown), **{text: text for text in constants}}

    def declarations(self, p: Parameters) -> Mapping[str, Any]:
        """The variables that grow, and the names that are given by them."""
        return {"variables": (*self._growing(p), *self.definitions)}

    def _growing(self, p: Parameters) -> tuple[str, ...]:
        return tuple((self.variables(p) if callable(self.variables) else self.variables).split())

    def decide(self, reference: Any, answer: Any, p: Parameters) -> Decision:
        """Tight: too small and too large are both wrong, each with a regime that shows it."""
        return guarded("growth", reference, answer, **self._options(p))

    def first_equal(self, texts: Sequence[Any], answer: Any, p: Parameters) -> int | Decision | None:
        """All texts in one call, without a search for regimes."""
        return guarded_first("growth", texts, answer, **self._options(p))

    def _options(self, p: Parameters) -> dict[str, Any]:
        constraints = self.constraints(p) if callable(self.constraints) else self.constraints
        return {
            "variables": self._growing(p),
            "constraints": tuple(constraints),
            "definitions": dict(self.definitions),
        }
