"""What a question says about its answers: how they are read, and what counts as equal."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Literal

from autograder.maths.expression.parsing import read_constraints, reading
from autograder.maths.expression.syntax import Compare
from autograder.maths.expression.vocabulary import Domain, Vocabulary, domain

if TYPE_CHECKING:
    from autograder.maths.expression.budget import Budget

UpTo = Literal["", "sign", "factor", "constant"]


@dataclass(frozen=True, kw_only=True)
class Options:
    """How the answers of one question are read and compared.

    `domains`, `variables`, `functions`, `definitions`, `log` and `imaginary` are those of `parse`. `tolerance` is
    relative, for questions that ask for decimals. `up_to` accepts a sign, a constant factor or an added constant.
    `forbid` names functions, `sum` or abbreviations that the answer must not use, `require` symbols it must, `allow`
    the only variables it may. `mistakes` maps names to wrong answers that feedback recognises.
    `constraints` such as `K<=E` say where the variables live together. `budget` is for all comparisons with these
    options together; each has one of its own where none is given.
    """

    domains: Mapping[str, str] | None = None
    variables: Iterable[str] = ()
    functions: Iterable[str] | None = None
    definitions: Mapping[str, str] | None = None
    log: str = "ln"
    imaginary: str = ""
    tolerance: float | str | Fraction | None = None
    up_to: UpTo = ""
    forbid: Iterable[str] = ()
    require: Iterable[str] = ()
    allow: Iterable[str] | None = None
    mistakes: Mapping[str, str] | None = None
    constraints: Iterable[str] = ()
    budget: Budget | None = None

    @cached_property
    def words(self) -> Vocabulary:
        """What an answer may name."""
        return reading(
            domains=self.domains,
            variables=self.variables,
            functions=self.functions,
            definitions=self.definitions,
            log=self.log,
            imaginary=self.imaginary,
        )

    @cached_property
    def comparisons(self) -> tuple[Compare, ...]:
        """The constraints, read."""
        return read_constraints(tuple(self.constraints), self.words)

    @cached_property
    def lives(self) -> dict[str, Domain]:
        """Where each declared variable lives."""
        return {name: domain(text) for name, text in self.words.domains}
