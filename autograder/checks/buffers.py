"""`buffers()`: what a module remembers after a call, a running mean for example, is what the reference remembers."""

from __future__ import annotations

from dataclasses import dataclass

from autograder.checks.check import Check, Respondent
from autograder.checks.compare import difference
from autograder.core import Case, Verdict


@dataclass(frozen=True, kw_only=True)
class Buffers(Check):
    """The reference's buffers, by name; further ones are the student's own affair."""

    rtol: float = 1e-10

    def run(self, case: Case, student: Respondent, reference: Respondent) -> Verdict:
        """Compare the buffers after a call."""
        arguments = tuple(case.arguments.values())
        given, wanted = student.buffers(*arguments), reference.buffers(*arguments)
        for name, value in wanted.items():
            if name not in given:
                return self.failed("keys", f"the module has no buffer {name}")
            if found := difference(given[name], value, rtol=self.rtol, where=f"the buffer {name}"):
                return self.failed(found.code, found.message)
        return self.passed()


def buffers(*, rtol: float = 1e-10, weight: float = 1.0, name: str = "buffers") -> Buffers:
    """After the call, the buffers that the reference has agree with its own to `rtol`."""
    return Buffers(name=name, weight=weight, rtol=rtol)
