"""`Interval`: two typed numbers, `[a, b]`. Tests put this file into `autograder/parts`, and nothing else."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from autograder.core import Parameters
from autograder.errors import Unreadable
from autograder.maths.decision import Decision, different, equal
from autograder.parts.typed import Typed
from autograder.student.preview import Shown

NUMBER = r"\s*(-?\d+(?:\.\d+)?(?:/\d+)?)\s*"


@dataclass(frozen=True)
class Interval(Typed):
    """A closed interval with rational ends."""

    kind = "interval"
    example = '"[a, b]"'

    @classmethod
    def show(cls, answer: Any, **declared: Any) -> Shown:
        """The ends in brackets."""
        low, high = ends(answer)
        return Shown(rf"\left[{low}, {high}\right]")

    def decide(self, reference: Any, answer: Any, p: Parameters) -> Decision:
        """Both ends are the same numbers."""
        if ends(answer) == ends(reference):
            return equal()
        return different("ends", "At least one end is not right.")

    def trivial_answers(self, p: Parameters) -> dict[str, Any]:
        """Everything, and next to nothing."""
        return {**super().trivial_answers(p), "a wide interval": "[-1000, 1000]", "a point": "[0, 0]"}


def ends(text: str) -> tuple[Fraction, Fraction]:
    """The two numbers in a text; Unreadable for any other text, and where the first is above the second."""
    match = re.fullmatch(rf"\s*\[{NUMBER},{NUMBER}\]\s*", text)
    if match is None:
        raise Unreadable("interval", "write two numbers in brackets, such as [0, 1]", text, 0)
    low, high = map(Fraction, match.groups())
    if low > high:
        raise Unreadable("order", "the first number is above the second", text, text.index(","))
    return low, high
