"""`exactly()`: whole numbers, words and structures that must be equal, entry by entry."""

from __future__ import annotations

from dataclasses import dataclass

from autograder.checks.check import Check
from autograder.checks.close import Close


@dataclass(frozen=True, kw_only=True)
class Exactly(Close):
    """Equality: a tolerance of zero."""


def exactly(*, weight: float = 1.0, name: str = "exact value") -> Check:
    """Every number, word and entry equals the reference's."""
    return Exactly(name=name, weight=weight, rtol=0.0)
