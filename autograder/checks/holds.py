"""`holds(property)`: what must be true of the function, written as a function: "with G = 1 the state is kept"."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from autograder.checks.check import Check, Respondent, lent
from autograder.core import Case, Parameters, Verdict
from autograder.errors import AuthorError

# property(f, inputs, p) -> True, False, or a sentence that says what does not hold
Property = Callable[[Callable[..., Any], dict[str, Any], Parameters], bool | str]


@dataclass(frozen=True, kw_only=True)
class Holds(Check):
    """Runs the author's property in the grader's process; each call of `f` is a question to the student's."""

    statement: Property
    sentence: str

    compares = False

    def run(self, case: Case, student: Respondent, reference: Respondent) -> Verdict:
        """Whether the property holds for one case; the reference is not asked."""
        with lent(self.name, case) as inputs:
            found = self.statement(student.call, inputs, case.parameters)
        if found is True:
            return self.passed()
        return self.failed(
            self.statement.__name__,
            found if isinstance(found, str) and found else f"This does not hold: {self.sentence}",
        )


def holds(statement: Property, *, weight: float = 1.0, name: str = "") -> Holds:
    """Check `statement(f, inputs, p)`; its docstring's first line is what the student reads when it does not hold."""
    sentence = (inspect.getdoc(statement) or "").strip().split("\n")[0]
    if not sentence:
        raise AuthorError(
            "property_without_sentence", f"holds({statement.__name__}): its docstring must say what holds"
        )
    return Holds(
        name=name or statement.__name__.replace("_", " "), weight=weight, statement=statement, sentence=sentence
    )
