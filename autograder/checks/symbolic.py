"""`symbolic()`: the same code on numbers of a hundred digits, so that a rounded constant shows.

Floats hide what a formula says: 0.7071 for the root of one half, 1e-9 under a root, a mask of -100 are all close. Code
that has no counterpart on such numbers is not wrong; it is held for a person.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from autograder.checks.check import Check, Respondent
from autograder.core import Case, Verdict


@dataclass(frozen=True, kw_only=True)
class Symbolic(Check):
    """Exact agreement of the formulas behind two functions, as far as a hundred digits tell."""

    def run(self, case: Case, student: Respondent, reference: Respondent) -> Verdict:
        """Compare the digits of one call with the reference's."""
        from autograder.maths.symbolic import compare

        arguments = tuple(case.arguments.values())
        wanted, given = reference.precise(*arguments), student.precise(*arguments)
        if "unsupported" in wanted:
            raise RuntimeError(f"the reference cannot be run on exact numbers: {wanted['unsupported']}")
        if isinstance(given, dict) and "unsupported" in given:
            text = f"This code could not be run on exact numbers ({given['unsupported']}). A grader will check this."
            return Verdict(check=self.name, ok=None, code="not_symbolic", message=text)
        decision = compare(_digits(wanted), _digits(given))
        if decision.equal:
            return self.passed()
        return Verdict(check=self.name, ok=False, code=decision.code, message=decision.message, staff=decision.witness)


def symbolic(*, weight: float = 1.0, name: str = "exact formula") -> Symbolic:
    """The function on numbers of a hundred digits agrees with the reference on the same numbers."""
    return Symbolic(name=name, weight=weight)


def _digits(reply: Any) -> list[Any]:
    """The results in a reply; one that has not their form becomes a result that is malformed."""
    from autograder.maths.symbolic import Digits

    try:
        return [Digits(shape=tuple(shape), entries=tuple(entries)) for shape, entries in reply["digits"]]
    except (TypeError, KeyError, ValueError):
        return [Digits(shape=(), entries=())]
