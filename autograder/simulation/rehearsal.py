"""`autograder demo --accidents`: a class to which everything happens, and the command that grades it.

The first run is ended by `kill -9`. Two others go on at once, of which one waits.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from autograder.authoring import building, loading
from autograder.authoring.assignment import read_assignment
from autograder.authoring.source_notebook import build
from autograder.authoring.variants import SECRET_VARIABLE, class_seed, variant
from autograder.core import Outcome as PartOutcome
from autograder.core import Problem, Report
from autograder.course import journal
from autograder.errors import StaffError
from autograder.grading import report as reports
from autograder.nbgrader.course_api import done, opened
from autograder.nbgrader.files import printable
from autograder.nbgrader.handouts import released_form
from autograder.sandbox import linux
from autograder.simulation import demo
from autograder.simulation.accidents import DATA, DATA_TEXT, Accident, Desk, Outcome, accidents
from autograder.simulation.classroom import Work

OTHER_SEED = 12345
_BEFORE_THE_KILL = 3  # submissions
_PATIENCE = 600
_OVERRIDES = (1, 2)  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH


@dataclass(frozen=True, kw_only=True)
class Came:
    """What came of one submission, and what was said about it."""

    accident: Accident
    outcome: Outcome
    points: float
    of: float
    why: str

    @property
    def in_order(self) -> bool:
        """Whether that may come of it."""
        return self.outcome in self.accident.outcomes


@dataclass(frozen=True, kw_only=True)
class Rehearsal:
    """A finished class: what came of each, the last lines of the two runs, their exit codes and figures."""

    came: Sequence[Came]
    summary: str
    exit_code: int
    figures: dict[str, Any]
    waited: bool
    before_the_kill: int


def run(
    place: Path,
    *,
    slugs: Sequence[str] = (),
    seconds: float = 3,
    progress: demo.Progress = lambda step, finished, pieces: None,
) -> Rehearsal:
    """Build, release, hand in and grade, all in `place`."""
    root = demo.problems_around(place)
    problems = [loading.load(slug, root) for slug in slugs or demo.chosen(root)]
    course = demo.make_course(place, root, problems, seconds)
    everybody = accidents(len(problems))
    progress("build and release", 0, 1)
    with opened(course) as api:
        assignment = read_assignment(course, demo.ASSIGNMENT)
        building.write(course, assignment)
        (course / "source" / demo.ASSIGNMENT / DATA).write_text(DATA_TEXT)
        done("generate_assignment", api.generate_assignment(demo.ASSIGNMENT))
    progress("build and release", 1, 1)
    others = _others(root, problems)
    for number, accident in enumerate(everybody, 1):
        accident.make(_desk(course, problems, accident.student, others))
        progress("students hand in", number, len(everybody))
    return _graded(course, everybody, problems, progress)


def _others(root: Path, problems: Sequence[Problem]) -> list[Work]:
    """The notebooks of another variant, solved; nobody changes them."""
    from nbformat import from_dict
    from traitlets.config import Config

    built = [from_dict(build(problem, OTHER_SEED, root=root)) for problem in problems]
    return [
        _solved(released_form(notebook, Config())[0], problem, OTHER_SEED)
        for notebook, problem in zip(built, problems, strict=True)
    ]


def _desk(course: Path, problems: Sequence[Problem], student: str, others: Sequence[Work]) -> Desk:
    assignment = read_assignment(course, demo.ASSIGNMENT)
    released = {
        problem.slug: (course / "release" / demo.ASSIGNMENT / f"{problem.slug}.ipynb").read_text()
        for problem in problems
    }
    return Desk(
        folder=course / "submitted" / student / demo.ASSIGNMENT,
        works=[
            _solved(json.loads(released[problem.slug]), problem, class_seed(assignment, problem))
            for problem in problems
        ],
        released=released,
        others=others,
    )


def _solved(notebook: Any, problem: Problem, seed: int) -> Work:
    return Work(notebook, problem, variant(problem, seed).parameters).solve()


def _graded(
    course: Path, everybody: Sequence[Accident], problems: Sequence[Problem], progress: demo.Progress
) -> Rehearsal:
    lines = journal.path_of(course, demo.ASSIGNMENT)

    def settled() -> int:
        """How many submissions are graded."""
        found = [line for line in journal.read(lines) if line.get("state") in ("done", "failed", "empty")]
        progress("grade", len({line["student"] for line in found}), len(everybody))
        return len([line for line in found if line["state"] == "done"])

    first = _Command(course)
    _wait(lambda: settled() >= _BEFORE_THE_KILL or first.ended())
    first.kill()
    before = settled()
    both = [_Command(course, "--resume"), _Command(course, "--resume")]
    _wait(lambda: settled() >= 0 and all(run.ended() for run in both))
    last = max(both, key=lambda run: run.figures().get("graded", -1))
    return Rehearsal(
        came=[_came(course, accident, journal.read(lines), problems) for accident in everybody],
        summary=last.said(),
        exit_code=last.code,
        figures=last.figures(),
        waited=sum("waiting until it has ended" in run.said() for run in both) == 1,
        before_the_kill=before,
    )


class _Command:
    """`autograder grade`, run by somebody to whom files that are shut are shut: to root they are not."""

    def __init__(self, course: Path, *options: str) -> None:
        words = ["grade", demo.ASSIGNMENT, "--course", str(course), "--json", *options]
        environment = {name: value for name, value in os.environ.items() if name != SECRET_VARIABLE}
        # Beside the course: pipes would be full before they are read.
        self._out, self._err = (Path(f"{course}.{name}.{time.monotonic_ns()}") for name in ("out", "err"))
        with self._out.open("w") as out, self._err.open("w") as err:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "autograder", *words],
                env=environment | {"AUTOGRADER_PROBLEMS": ""},
                stdout=out,
                stderr=err,
                preexec_fn=_no_override if os.geteuid() == 0 else None,
            )

    def ended(self) -> bool:
        """Whether it is over."""
        return self._process.poll() is not None

    @property
    def code(self) -> int:
        """How it ended."""
        return int(self._process.returncode)

    def kill(self) -> None:
        """kill -9."""
        self._process.kill()
        self._process.wait()

    def figures(self) -> dict[str, Any]:
        """The last line, as a script reads it."""
        lines = self._out.read_text(encoding="utf-8").splitlines()
        found: dict[str, Any] = json.loads(lines[-1]) if lines else {}
        return found

    def said(self) -> str:
        """What it said to people."""
        return self._err.read_text(encoding="utf-8").strip()


def _no_override() -> None:
    for capability in _OVERRIDES:
        linux.prctl(linux.PR_CAPBSET_DROP, capability)


def _wait(over: Callable[[], bool]) -> None:
    end = time.monotonic() + _PATIENCE
    while not over():
        if time.monotonic() > end:
            raise StaffError("slow", f"grading took more than {_PATIENCE} s")
        time.sleep(0.1)


def _came(course: Path, accident: Accident, lines: Sequence[dict[str, Any]], problems: Sequence[Problem]) -> Came:
    """What the journal and the reports say of one student."""
    line: dict[str, Any] = next((item for item in reversed(lines) if item.get("student") == accident.student), {})
    places = [reports.path_of(course, demo.ASSIGNMENT, accident.student, problem.slug) for problem in problems]
    found = [reports.load(place) for place in places if place.is_file()]
    why = line.get("why") or "; ".join(line.get("flags", ())) or "; ".join(_reasons(found))
    return Came(
        accident=accident,
        outcome=_outcome(line.get("state", ""), found),
        points=line.get("points", 0.0),
        of=line.get("of", 0.0),
        why=printable(why),
    )


def _outcome(state: str, found: Sequence[Report]) -> Outcome:
    if state != "done":
        return "empty" if state == "empty" else "failed"
    outcomes = [outcome for report in found for outcome in report.outcomes]
    if any(outcome.standing == "lost" for outcome in outcomes):
        return "lost"
    waits = [outcome for outcome in outcomes if outcome.standing == "held" and not _by_nature(outcome)]
    return "waits" if waits else "right"


def _by_nature(held: PartOutcome) -> bool:
    """Whether a part waits for a person whatever happens: one that is written."""
    return all(verdict.code == "person" for verdict in held.verdicts if verdict.ok is None)


def _reasons(found: Sequence[Report]) -> Iterator[str]:
    for report in found:
        for outcome in report.outcomes:
            if outcome.standing == "lost" or (outcome.standing == "held" and not _by_nature(outcome)):
                yield f"{outcome.part} {outcome.standing}: {outcome.verdicts[0].message}"
