"""How many different answers a part has over the variants: parameters that differ need not ask for anything else."""

from __future__ import annotations

from autograder.authoring.variants import variant
from autograder.core import Parameters, Part, Problem
from autograder.protocol.codec import encode

CODE = 24  # variants in which code is run; of what is typed, all are looked at


def distinct_answers(problem: Problem) -> dict[str, int]:
    """By part: how many right answers differ, among the distinct draws of the seeds that an audit looks at."""
    drawn: dict[bytes, Parameters] = {}
    for number in range(10 * problem.variants + 20):
        p = variant(problem, number).parameters
        drawn.setdefault(encode(p), p)
    return {part.name: _distinct(part, list(drawn.values())) for part in problem.parts}


def _distinct(part: Part, drawn: list[Parameters]) -> int:
    return len({encode(part.answer_under(p)) for p in (drawn[:CODE] if part.runs else drawn)})
