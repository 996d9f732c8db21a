"""`close()`: the values agree with the reference's to a relative tolerance."""

from __future__ import annotations

from dataclasses import dataclass

from autograder.checks.check import Check, Respondent
from autograder.checks.compare import difference
from autograder.core import Case, Verdict


@dataclass(frozen=True, kw_only=True)
class Close(Check):
    """Type, shape, dtype, finiteness and value of what the function returns."""

    rtol: float = 1e-10
    nan: bool = False  # not-a-number equals itself: only to recognise a known mistake

    def run(self, case: Case, student: Respondent, reference: Respondent) -> Verdict:
        """Compare one call with the reference's."""
        arguments = tuple(case.arguments.values())
        found = difference(student.call(*arguments), reference.call(*arguments), rtol=self.rtol, nan=self.nan)
        return self.failed(found.code, found.message) if found else self.passed()


def close(*, rtol: float = 1e-10, weight: float = 1.0, name: str = "values") -> Close:
    """Values agree to `rtol` of the largest expected entry (float64 inputs: the default 1e-10 leaves room for any order
    of summation)."""
    return Close(name=name, weight=weight, rtol=rtol)
