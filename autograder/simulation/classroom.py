"""A simulated class: submitted files made from a released notebook and its problem, with what each of them deserves.

A persona is one way of handing in: right in some dress, wrong in a known way, damaged, or out to forge a mark. Who
there is stands in `personas`.
"""

from __future__ import annotations

import copy
import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from autograder.audit.simulated_answers import handed_in
from autograder.authoring.source_notebook import WRITTEN_MARK, answer_id
from autograder.authoring.variants import part_key
from autograder.core import Parameters, Part, Problem, Standing
from autograder.grading.judge import judge_part


@dataclass(frozen=True)
class Link:
    """A symbolic link in place of a file."""

    target: str


# The files of a submission's folder by name; None is a directory. An empty mapping: nothing was handed in.
Files = Mapping[str, "bytes | Link | None"]


class Work:
    """One student's copy of the released notebook. `target` is the part that a persona does something to."""

    def __init__(self, released: Mapping[str, Any], problem: Problem, p: Parameters) -> None:
        self.notebook: dict[str, Any] = copy.deepcopy(dict(released))
        self.problem, self.p = problem, p
        self.released = copy.deepcopy(self.notebook)
        self.target = target_of(problem)

    @property
    def name(self) -> str:
        """The notebook's file name."""
        return f"{self.problem.slug}.ipynb"

    @property
    def cells(self) -> list[dict[str, Any]]:
        """The cells, to be changed at will."""
        cells: list[dict[str, Any]] = self.notebook["cells"]
        return cells

    def place(self, grade_id: str) -> int:
        """Where the cell of that id stands."""
        ids = [cell["metadata"].get("nbgrader", {}).get("grade_id") for cell in self.cells]
        return ids.index(grade_id)

    def cell(self, grade_id: str) -> dict[str, Any]:
        """The cell of that id."""
        return self.cells[self.place(grade_id)]

    def answer_cell(self, part: Part | None = None) -> dict[str, Any]:
        """The cell in which a part (the target, if none is named) is answered."""
        part = part or self.target
        return self.cell(part.name if part.judged_by_person else answer_id(part.name))

    def test_cell(self) -> dict[str, Any]:
        """The target's test cell."""
        return self.cell(self.target.name)

    def answer(self, part: Part, subject: Any) -> None:
        """Answer a part as somebody who hands in `subject`: a reference, a mistake, an equivalent."""
        text: str = part.answer_cell(subject, self.p)
        mark = f"{WRITTEN_MARK.format(name=part.name)}\n" if part.judged_by_person else ""
        self.answer_cell(part)["source"] = mark + text.strip()

    def asks_for_a_number(self, part: Part) -> bool:
        """Whether the part's visible check looks for a number."""
        return "check_number(" in part.local_check(self.p)

    def solve(self) -> Work:
        """Answer every part rightly."""
        for part in self.problem.parts:
            self.answer(part, part.reference)
        return self

    def spoil(self) -> Work:
        """Answer the target wrongly, in a way that runs."""
        name = self.target.name
        self.answer_cell()["source"] = f"def {name}(*arguments, **options):\n    return 0\n"
        return self

    def add(self, place: int, source: str, kind: str = "code") -> None:
        """Put in a cell of the student's own."""
        self.cells.insert(place, own_cell(source, kind))

    def files(self) -> dict[str, bytes | Link | None]:
        """What is handed in: the notebook as a file."""
        return {self.name: self.text().encode()}

    def text(self) -> str:
        """The notebook as JSON; without line ends, which cost Python five times as long and nobody reads."""
        return json.dumps(self.notebook, ensure_ascii=False)


def own_cell(source: str, kind: str = "code") -> dict[str, Any]:
    """A cell without a grade id."""
    cell: dict[str, Any] = {"cell_type": kind, "metadata": {}, "source": source}
    return cell | ({"execution_count": None, "outputs": []} if kind == "code" else {})


def target_of(problem: Problem) -> Part:
    """The first part that runs when it is judged, or else the first that a machine judges, or else the first."""
    machine = [part for part in problem.parts if not part.judged_by_person]
    runs = [part for part in machine if part.runs]
    return [*runs, *machine, *problem.parts][0]


@dataclass(frozen=True, kw_only=True)
class Persona:
    """One way of handing in. `lost` and `held` name the parts that deserve it; every other part is earned.

    `subjects` are the answers that may earn a share of their part (a mistake that loses one check of two).
    """

    name: str
    description: str
    make: Callable[[Work], Files]
    lost: frozenset[str] = frozenset()
    held: frozenset[str] = frozenset()
    subjects: Mapping[str, Any] = field(default_factory=dict)

    def standing(self, part: Part) -> Standing:
        """What a part deserves; a written answer that is there waits for a person."""
        if part.name in self.lost:
            return "lost"
        return "held" if part.name in self.held else part.at_best

    def deserves(self, problem: Problem, p: Parameters) -> dict[str, float]:
        """The points that each part deserves before a person has looked at what is held."""
        return {part.name: self._points(part, problem, p) for part in problem.parts}

    def _points(self, part: Part, problem: Problem, p: Parameters) -> float:
        if part.name in self.subjects:
            # Judged here, without a notebook and without a wall.
            key = part_key(b"any", problem.slug, problem.version, 0, part.name)
            cell = part.answer_cell(self.subjects[part.name], p)
            return judge_part(part, p, handed_in(problem, part, cell), key).points
        return float(part.points) if self.standing(part) == "earned" else 0.0


def hand_in(files: Files, folder: Path) -> None:
    """Write a submission's files into its folder, with the time stamp that nbgrader's exchange writes."""
    if not files:
        return
    folder.mkdir(parents=True)
    for name, content in files.items():
        path = folder / name
        if isinstance(content, Link):
            os.symlink(content.target, path)
        elif content is None:
            path.mkdir()
        else:
            path.write_bytes(content)
