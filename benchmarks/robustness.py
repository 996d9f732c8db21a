"""What students do to notebooks, graded three ways: through this package, and by plain nbgrader with two kinds of test.

    python -m benchmarks.robustness            writes docs/robustness.md (about four minutes on two cores)

The class is `autograder.simulation.personas.personas` of the small problem of the tests. Plain nbgrader runs with its
stock configuration and the same released answer cells; its hidden tests are asserts as a teacher would write them,
or the `hidden.score` that our source notebooks hold.
"""

from __future__ import annotations

import json
import logging
import shutil
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from autograder.authoring import building, loading
from autograder.authoring.assignment import read_assignment
from autograder.authoring.source_notebook import HIDDEN_BEGIN, HIDDEN_END
from autograder.authoring.variants import variant
from autograder.grading import report
from autograder.grading.feedback import headline
from autograder.nbgrader.course_api import done, opened
from autograder.simulation.classroom import Persona, Work, hand_in
from autograder.simulation.personas import personas

ROOT = Path(__file__).parents[1]
COURSE = ROOT / "tests" / "data" / "course"
PAGE = ROOT / "docs" / "robustness.md"
SECONDS = 5
STOCK = f"c = get_config()\nc.CourseDirectory.course_id = 'plain'\nc.ExecutePreprocessor.timeout = {SECONDS}\n"

ASSERTS = {
    "centre": """
x = torch.arange(12, dtype=torch.float64).reshape(3, 4) ** 2
y = centre(x)
assert torch.allclose(y, (x - x.mean(-1, keepdim=True)) * {scale})
""",
    "Layer": """
layer, x = Layer(4, 3).double(), torch.arange(8, dtype=torch.float64).reshape(2, 4)
assert torch.allclose(layer(x), torch.sigmoid(layer.W(x)) * x.mean(-1, keepdim=True))
""",
    "parameters": "assert parameters == {parameters}",
    "axis": "assert axis.strip().lower() == {axis!r}",
}


@dataclass(frozen=True, kw_only=True)
class Result:
    """What became of one submission: the marks of the parts that a machine judges, and what was said."""

    marks: dict[str, float | None] | None
    words: str = ""
    without: str = "held"  # what a part without a mark is called

    def __str__(self) -> str:
        if self.marks is None:
            return self.words
        held = [name for name, mark in self.marks.items() if mark is None]
        total = f"{sum(mark or 0 for mark in self.marks.values()):g}"
        if len(held) == len(self.marks):
            return self.without
        return f"{total}, {len(held)} {self.without}" if held else total


class Route:
    """One way of grading: a course of its own in a temporary folder."""

    def __init__(self, folder: Path, *, ours: bool, asserts: bool = False) -> None:
        shutil.copytree(COURSE, folder)
        self.course, self.ours = folder / "notebooks", ours
        self.problem = loading.load("tiny", folder / "problems")
        if not ours:
            (self.course / "nbgrader_config.py").write_text(STOCK)
        with opened(self.course) as api:
            assignment = read_assignment(self.course, "ps1")
            ((source, _),) = building.write(self.course, assignment)
            self.p = variant(self.problem, assignment.seed).parameters
            if asserts:
                self._write_asserts(source)
            done("generate_assignment", api.generate_assignment("ps1"))

    def _write_asserts(self, source: Path) -> None:
        """Ordinary tests in place of the cells that ask our judge."""
        values: dict[str, Any] = dict(self.p)
        for part in self.problem.parts:
            if part.kind == "number":
                values[part.name] = part.reference(self.p)
            if part.kind == "choice":
                values[part.name] = part.right(self.p)  # type: ignore[attr-defined]
        notebook = json.loads(source.read_text())
        for cell in notebook["cells"]:
            name = cell["metadata"]["nbgrader"]["grade_id"]
            if name in ASSERTS:
                test = ASSERTS[name].format(**values).strip()
                cell["source"] = f"# Hidden tests follow.\n{HIDDEN_BEGIN}\n{test}\n{HIDDEN_END}"
        source.write_text(json.dumps(notebook))

    def grade(self, persona: Persona) -> Result:
        """Hand in, autograde, and read the gradebook."""
        released = json.loads((self.course / "release/ps1/tiny.ipynb").read_text())
        files = persona.make(Work(released, self.problem, self.p))
        hand_in(files, self.course / "submitted" / persona.name / "ps1")
        with opened(self.course) as api:
            outcome = api.autograde("ps1", persona.name)
            if not outcome["success"]:
                return Result(marks=None, words=_failure(str(outcome["error"]), files))
            with api.gradebook as gradebook:
                (notebook,) = gradebook.find_submission("ps1", persona.name).notebooks
                marks = {grade.name: grade.auto_score for grade in notebook.grades if grade.name in ASSERTS}
        if not self.ours:
            return Result(marks=marks, without="unscored")
        return Result(marks=marks, words=self._said(persona))

    def _said(self, persona: Persona) -> str:
        """What was mended, and what was said about the first part that was lost."""
        found = report.load(report.path_of(self.course, "ps1", persona.name, "tiny"))
        lost = [
            f"{headline(outcome)}: {' '.join([verdict.message, *outcome.notes])}"
            for outcome in found.outcomes
            for verdict in outcome.verdicts
            if verdict.ok is False and outcome.standing == "lost" and verdict.code != "not_reached"
        ]
        return " · ".join([*found.flags[:1], *lost[:1]])


def _failure(error: str, files: Any) -> str:
    """What a failed run means: nbgrader goes on after some errors, and says so in the end; others end the batch."""
    if not any(name.endswith(".ipynb") for name in files):
        return "no submission"
    return "not graded" if "on the specific errors on the above failures" in error else "stops the whole batch"


def deserved(persona: Persona, route: Route) -> Result:
    """The marks that the persona's answers are worth."""
    points = persona.deserves(route.problem, route.p)
    marks = {
        part.name: None if persona.standing(part) == "held" else points[part.name]
        for part in route.problem.parts
        if part.name in ASSERTS
    }
    return Result(marks=marks)


def row(persona: Persona, wanted: Result, ours: Result, plain: list[Result]) -> str:
    """One line of the table; marks that are not as expected stand in bold."""
    cells = [str(result) for result in (ours, *plain)]
    right = str(wanted) if ours.marks is not None or persona.name == "no_submission" else "no submission"
    shown = [cell if cell in (right, "no submission") else f"**{cell}**" for cell in cells]
    words = ours.words.replace("|", "\\|").replace("\n", " ") if ours.marks is not None else ""
    texts = [f"`{persona.name}`", persona.description.replace("\n", " "), str(wanted), *shown, words]
    return f"| {' | '.join(texts)} |"


def page(rows: list[str]) -> str:
    """The page with its explanation."""
    return f"""# Submission faults and the marks that result

Each line is one submission of the small problem in `tests/data/course`. A machine judges ten points of it; the written
part is held for a grader on every route and is left out. *Expected* is the mark that the answers deserve. *Ours* is
`nbgrader autograde` with `autograder.nbgrader.configure`. The two *plain* columns are nbgrader's stock configuration
(with {SECONDS} s a cell) on the same answer cells: once with hidden asserts as a teacher would write them, once with
the `hidden.score` of our source notebooks. Marks in bold are not as expected.

*Held* waits for a grader. *Unscored* is a part whose cell was not found, and *not graded* is an error for this student;
nbgrader exports both as 0. The asserts check values only, so a lost gradient costs nothing there. An answer cell that
does not end counts as not run; plain nbgrader interrupts it and keeps what it defined.

What happens to files on their way (copied, cut, renamed, locked, lost) is shown by `autograder demo --accidents`: fifty
submissions, honest ones among them, graded by a command that is killed and continued by two at once. It ends with exit
code 1 if a deserved mark was lost; `tests/simulation/test_accidents.py` runs it.

Reproduce with `python -m benchmarks.robustness`; `tests/simulation/test_robustness.py` keeps the page in step with the
class.

| student | what was handed in | expected | ours | plain, asserts | plain, `hidden.score` | what ours says |
| --- | --- | --- | --- | --- | --- | --- |
{chr(10).join(rows)}
"""


def main() -> None:
    """Grade everybody three ways and write the page."""
    logging.disable(logging.CRITICAL)
    with tempfile.TemporaryDirectory(prefix="autograder-robustness-") as place:
        ours = Route(Path(place, "ours"), ours=True)
        plain = [Route(Path(place, f"plain{asserts}"), ours=False, asserts=asserts) for asserts in (True, False)]
        rows = []
        for persona in personas(ours.problem):
            results = [route.grade(persona) for route in plain]
            rows.append(row(persona, deserved(persona, ours), ours.grade(persona), results))
            print(rows[-1], file=sys.stderr, flush=True)
        PAGE.parent.mkdir(exist_ok=True)
        PAGE.write_text(page(rows))


if __name__ == "__main__":
    main()
