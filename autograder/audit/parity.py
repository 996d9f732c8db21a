"""Whether a problem's variants ask for the same amount of work.

The measure is the length of the whole solution, in words and signs, with the variant's parameters left out: more steps,
more terms and more cases make it longer. Variants are at par where the longest is at most `Problem.par` times the
shortest.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from autograder.core import Parameters, Problem

LOOKED_AT = 60  # variants of a problem; the lengths of more would tell nothing new
_TOKEN = re.compile(r"\w+|[^\w\s]")


def length(problem: Problem, p: Parameters) -> int:
    """Words and signs in the solutions of all parts under one variant."""
    shown = f"p = {p!r}"
    cells = (part.solution_cell(p).replace(shown, "") for part in problem.parts)
    return sum(len(_TOKEN.findall(cell)) for cell in cells)


def band(problem: Problem, drawn: Sequence[Parameters]) -> tuple[int, int]:
    """The shortest and the longest solution among the first variants drawn."""
    lengths = [length(problem, p) for p in drawn[:LOOKED_AT]]
    return min(lengths), max(lengths)
