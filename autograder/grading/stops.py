"""Cells that did not come to their end, and what that says about an answer that is not there.

An answer may be missing since its own cell stopped, or since a cell above did: what that needs, and the grading machine
has not got, is no fault of the answer's, which is held.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from autograder.authoring.source_notebook import answer_id
from autograder.core import Outcome
from autograder.protocol.lacking import lacking
from autograder.protocol.respondents import lack_verdict

_UNDEFINED = re.compile(r"NameError: name '(\w+)' is not defined")


@dataclass(frozen=True, kw_only=True)
class Stop:
    """A cell, by its name and text, and how it ended."""

    name: str
    source: str
    end: str

    @classmethod
    def of(cls, cell: dict[str, Any], end: str) -> Stop:
        """The stop of a cell."""
        name = (cell["metadata"].get("nbgrader") or {}).get("grade_id", "")
        return cls(name=name, source=cell["source"], end=end)

    def sentence(self, answer: str) -> str:
        """What a student reads; `answer` is the name of the cell of the answer in question."""
        if self.name == answer:
            return f"The cell of this answer {self.end}"
        first = self.source.strip().split("\n")[0][:60]
        where = f"The cell {self.name!r}" if self.name else f"The cell that begins with {first!r}"
        return f"{where} {self.end}"


def with_stops(outcome: Outcome, stops: Sequence[Stop]) -> Outcome:
    """The outcome with a note on each cell whose end explains it, held where one of them needs what is not here.

    A stub says by itself that it is one.
    """
    if outcome.standing == "earned":
        return outcome
    answer = answer_id(outcome.part)
    causes = [stop for stop in _causes(outcome, stops) if "NotImplementedError" not in stop.end]
    outcome = dataclasses.replace(outcome, notes=(*outcome.notes, *(stop.sentence(answer) for stop in causes)))
    lacks = [(lack, stop) for stop in causes if (lack := lacking(stop.end))]
    first = outcome.verdicts[0] if outcome.verdicts else None
    if not lacks or outcome.standing != "lost" or not first or not _is_missing(outcome):
        return outcome
    lack, stop = lacks[0]
    held = lack_verdict(first.check, outcome.part, lack, stop.sentence(answer))
    return dataclasses.replace(outcome, standing="held", points=0.0, verdicts=(held, *outcome.verdicts[1:]))


def _is_missing(outcome: Outcome) -> bool:
    """Whether the answer, or a name that it uses, was never defined."""
    return any(verdict.code == "missing" or _UNDEFINED.search(verdict.staff) for verdict in outcome.verdicts)


def _causes(outcome: Outcome, stops: Sequence[Stop]) -> Iterator[Stop]:
    """The answer's own cell if it stopped, and the cells above that were to define a name that is missing."""
    own = [place for place, stop in enumerate(stops) if stop.name == answer_id(outcome.part)]
    names = {match[1] for verdict in outcome.verdicts if (match := _UNDEFINED.search(verdict.staff))}
    if own:
        yield stops[own[-1]]
        names |= set(_UNDEFINED.findall(stops[own[-1]].end))
    elif any(verdict.code == "missing" for verdict in outcome.verdicts):
        names.add(outcome.part)
    for stop in reversed(stops[: own[-1]] if own else stops):
        if any(re.search(rf"\b{name}\b", stop.source) for name in names):
            yield stop
            names |= set(_UNDEFINED.findall(stop.end))
