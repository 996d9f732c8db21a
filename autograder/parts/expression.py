"""`Expression` and `Matrix`: closed forms in named variables, compared as mathematics."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from typing import Any

from autograder.core import Parameters
from autograder.errors import Unreadable
from autograder.maths.decision import Decision, different, equal, undecided
from autograder.parts.typed import Typed, guarded
from autograder.student.preview import as_typed

Names = Mapping[str, str]


@dataclass(frozen=True)
class Expression(Typed):
    """A closed form.

    `domains` says where each variable lives (`{"beta": "positive", "i": "nat"}`, or a function of p); only these may
    occur. `definitions` are abbreviations of the question, such as `{"P(i)": "..."}`, or a function of p. `forbid`
    names what the answer must do without (`sum`, a function, an abbreviation): equivalence alone would accept the
    question as its answer.
    `tolerance` is for questions that ask for decimals; `up_to` accepts a `sign`, a `factor` or a `constant`.
    """

    _: KW_ONLY
    domains: Names | Callable[[Parameters], Names] = field(default_factory=dict)
    definitions: Names | Callable[[Parameters], Names] = field(default_factory=dict)
    forbid: Sequence[str] = ()
    require: Sequence[str] = ()
    functions: Sequence[str] | None = None
    tolerance: float | None = None
    up_to: str = ""
    log: str = "ln"

    kind = "expression"
    call = "expression"

    def text(self, value: Any) -> Any:
        """A text; a number counts as its own, so that `math.inf` is infinity."""
        return super().text(as_typed(value))

    def declarations(self, p: Parameters) -> Mapping[str, Any]:
        """The variables, abbreviations and the meaning of log."""
        domains = self.domains(p) if callable(self.domains) else self.domains
        definitions = self.definitions(p) if callable(self.definitions) else self.definitions
        words: dict[str, Any] = {"domains": dict(domains), "definitions": dict(definitions)}
        if self.functions is not None:
            words["functions"] = tuple(self.functions)
        return words if self.log == "ln" else {**words, "log": self.log}

    def decide(self, reference: Any, answer: Any, p: Parameters) -> Decision:
        """Equal as mathematics on the declared domains, and in a form that the question allows."""
        return guarded(
            "expression",
            reference,
            answer,
            **self.declarations(p),
            forbid=tuple(self.forbid),
            require=tuple(self.require),
            tolerance=self.tolerance,
            up_to=self.up_to,
        )


@dataclass(frozen=True)
class Matrix(Expression):
    """A matrix of closed forms, row by row: `[["cos(x)", "sin(x)"], ["-sin(x)", "cos(x)"]]`."""

    kind = "matrix"
    call = "matrix"
    example = '[["...", "..."], ["...", "..."]]'

    def text(self, value: Any) -> Any:
        """Rows of texts; numbers count as their text. A text that holds a matrix of another spelling is a person's."""
        if isinstance(value, str) and ("matrix" in value or "[" in value):
            raise Unreadable("matrix", f"write {self.call}({self.example})", value, 0)
        if not isinstance(value, list | tuple) or not all(isinstance(row, list | tuple) for row in value):
            return None
        rows = [[str(item) for item in row if isinstance(item, str | int | float)] for row in value]
        return rows if all(len(row) == len(given) for row, given in zip(rows, value, strict=True)) else None

    def written(self, value: Any) -> str:
        """The rows as Python lists."""
        return repr([list(row) for row in value])

    def decide(self, reference: Any, answer: Any, p: Parameters) -> Decision:
        """Entry by entry; the first entry that differs is named, without what it should be."""
        if [len(row) for row in answer] != [len(row) for row in reference]:
            rows, columns = len(answer), max(map(len, answer), default=0)
            wanted = f"{len(reference)} by {len(reference[0])}"
            return different("shape", f"The matrix is {rows} by {columns}; {wanted} was wanted.")
        open_entries = []
        for i, (right, given) in enumerate(zip(reference, answer, strict=True), 1):
            for j, (key, entry) in enumerate(zip(right, given, strict=True), 1):
                found = self._entry(key, entry, p, f"row {i}, column {j}")
                if found.outcome == "different":
                    text = f"The entry in row {i}, column {j} is not right. {found.message}"
                    return different(f"entry_{found.code}", text, witness=found.witness)
                open_entries += [found] if found.outcome == "undecided" else []
        return undecided(open_entries[0].code, open_entries[0].message) if open_entries else equal()

    def _entry(self, key: str, entry: str, p: Parameters, where: str) -> Decision:
        try:
            return super().decide(key, entry, p)
        except Unreadable as error:
            raise Unreadable(error.code, f"{where}: {error.message}", error.text, error.column) from error
