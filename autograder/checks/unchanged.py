"""`unchanged()`: a call leaves its arguments as they were. Only where the statement says so: elsewhere it may."""

from __future__ import annotations

from dataclasses import dataclass

from autograder.checks.check import Check, Respondent, chosen
from autograder.checks.compare import difference
from autograder.core import Case, Verdict


@dataclass(frozen=True, kw_only=True)
class Unchanged(Check):
    """Entries, shapes and dtypes of the arguments, and that none has been made to require gradients."""

    names: tuple[str, ...] = ()

    compares = False
    alone = False  # a function that does nothing changes nothing

    def run(self, case: Case, student: Respondent, reference: Respondent) -> Verdict:
        """Compare the arguments after a call with those before it; the reference is not asked."""
        left = student.after(*case.arguments.values())
        after = dict(zip(case.arguments, zip(left["arguments"], left["marked"], strict=True), strict=True))
        for name in chosen(self.name, self.names, case.arguments):
            value, marked = after[name]
            if difference(value, case.arguments[name], rtol=0.0, nan=True):
                return self.failed("changed", f"the call changes {name}, which it was to leave as it is")
            if marked:
                return self.failed("changed", f"after the call {name} requires gradients, which it did not before")
        return self.passed()


def unchanged(names: str = "", *, weight: float = 1.0, name: str = "arguments unchanged") -> Unchanged:
    """The arguments named, or all, are after a call what they were before it: `unchanged("W")`."""
    return Unchanged(name=name, weight=weight, names=tuple(names.split()))
