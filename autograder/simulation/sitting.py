"""`autograder sit`: a command sits an exam, as often as you like, and is graded as a student is.

It gets each notebook as it is handed out, and writes one with answers. All of it happens in a copy of the course, in
which every run is a student: built, released, handed in, repaired, run in the sandbox and judged on the usual road.
Whatever goes wrong with a run of the command costs that run alone.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from autograder.authoring import building, loading
from autograder.authoring.assignment import Assignment, read_assignment
from autograder.authoring.sealing import MINE
from autograder.authoring.source_notebook import answer_id
from autograder.authoring.variants import SECRET_VARIABLE, variant
from autograder.core import Outcome, Parameters, Part
from autograder.course import per_student
from autograder.errors import AutograderError, StaffError
from autograder.grading import report as reports
from autograder.nbgrader.course_api import done, opened
from autograder.simulation import demo

RUN = "AUTOGRADER_RUN"  # the variable that says which run it is, from 1 on
_VARIANTS = re.compile(r"^variants[ \t]*=[^\n]*$", re.MULTILINE)
_SECONDS = 30.0  # of a cell, and of a question
_MOST = 64 * 2**20  # bytes of a notebook


@dataclass(frozen=True, kw_only=True)
class Sat:
    """One notebook of one run; `failure` is why there is none to be graded, in a sentence."""

    run: int
    notebook: str
    failure: str = ""


@dataclass(frozen=True, kw_only=True)
class Answered:
    """What came of one part in one run. `cell` is what stood in the answer's cell, `value` what was read of it."""

    run: int
    slug: str
    seed: int
    part: Part
    p: Parameters
    outcome: Outcome
    cell: str
    value: Any


class Failed(Exception):
    """Why a run of the command gave no notebook."""


class Exam:
    """An assignment in a copy of its course, in the folder `place`, for so many runs.

    Each run has numbers of its own, unless all have the `same`: those of the class.
    """

    def __init__(self, place: Path, course: Path, name: str, *, times: int, same: bool) -> None:
        self.copy, self.name, self.times, self.same = place / "notebooks", name, times, same
        self.root = loading.find_problems(course)
        self._work = place / "runs"
        source = course / "source" / name
        self.copy.mkdir()
        if source.is_dir():  # data beside the notebooks, which are built anew
            shutil.copytree(source, self.copy / "source" / name, ignore=shutil.ignore_patterns("*.ipynb"))
        (self.copy / "nbgrader_config.py").write_text(demo.CONFIG.format(seconds=_SECONDS))
        text = _VARIANTS.sub("", (course / f"{name}.toml").read_text(encoding="utf-8"))
        own = "" if same else 'variants = "student"\n'
        (self.copy / f"{name}.toml").write_text(own + text, encoding="utf-8")
        self.assignment = self._released()

    def _released(self) -> Assignment:
        with _problems(self.root):
            assignment = read_assignment(self.copy, self.name)
            with opened(self.copy) as api:
                building.write(self.copy, assignment)
                done("generate_assignment", api.generate_assignment(self.name))
            if not self.same:
                for _ in per_student.write_own(self.copy, assignment, [student(run) for run in self.runs], force=True):
                    pass
        return assignment

    @property
    def runs(self) -> range:
        """The numbers of the runs."""
        return range(1, self.times + 1)

    def stub(self, run: int, slug: str) -> Path:
        """A notebook as it is handed out to a run."""
        own = self.copy / per_student.FOLDER / student(run) / self.name
        return (self.copy / "release" / self.name if self.same else own) / f"{slug}.ipynb"

    def sit(self, command: Sequence[str], *, seconds: float, jobs: int) -> Iterator[Sat]:
        """Let the command answer each notebook of each run, as each comes to its end."""
        with ThreadPoolExecutor(jobs) as pool:
            futures = [
                pool.submit(self._sit, command, run, slug, seconds)
                for run in self.runs
                for slug in self.assignment.problems
            ]
            try:
                for future in as_completed(futures):
                    yield future.result()
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                raise

    def _sit(self, command: Sequence[str], run: int, slug: str, seconds: float) -> Sat:
        folder = self._work / f"{run}-{slug}"
        data = self.copy / "release" / self.name
        shutil.copytree(data, folder, ignore=shutil.ignore_patterns("*.ipynb"))
        given = self.stub(run, slug)
        shutil.copy(given, folder / given.name)
        try:
            content = written(command, folder / given.name, run, seconds)
        except Failed as error:
            return Sat(run=run, notebook=slug, failure=str(error))
        place = self.copy / "submitted" / student(run) / self.name
        place.mkdir(parents=True, exist_ok=True)
        (place / given.name).write_bytes(content)
        return Sat(run=run, notebook=slug)

    def grade(self, jobs: int) -> None:
        """Grade all runs as a class; StaffError where that cannot be done."""
        words = ["grade", self.name, "--course", str(self.copy), "--no-feedback", "--jobs", str(jobs)]
        surroundings = {name: value for name, value in os.environ.items() if name != SECRET_VARIABLE}
        surroundings["AUTOGRADER_PROBLEMS"] = str(self.root)
        run = subprocess.run(
            [sys.executable, "-m", "autograder", *words], env=surroundings, capture_output=True, text=True, check=False
        )
        if run.returncode:
            raise StaffError("sit", f"the notebooks could not be graded: {run.stderr.strip()[-500:]}")

    def answered(self) -> Iterator[Answered]:
        """What came of each part of each notebook that was graded."""
        for run in self.runs:
            for slug in self.assignment.problems:
                try:
                    report = reports.load(reports.path_of(self.copy, self.name, student(run), slug))
                except AutograderError:
                    continue
                yield from self._of_report(run, slug, report.outcomes)

    def _of_report(self, run: int, slug: str, outcomes: Sequence[Outcome]) -> Iterator[Answered]:
        problem = loading.load(slug, self.root)
        cells = _cells(self.copy / "autograded" / student(run) / self.name / f"{slug}.ipynb")
        seed = int(json.loads(self.stub(run, slug).read_text(encoding="utf-8"))["metadata"][MINE]["seed"])
        p, parts = variant(problem, seed).parameters, {part.name: part for part in problem.parts}
        for outcome in outcomes:
            yield Answered(
                run=run, slug=slug, seed=seed, part=parts[outcome.part], p=p, outcome=outcome,
                cell=cells.get(answer_id(outcome.part), cells.get(outcome.part, "")),
                value=reports.bound_to(outcome.part, outcome.answers),
            )  # fmt: skip


def student(run: int) -> str:
    """What a run is called as a student."""
    return f"run-{run:04d}"


def written(command: Sequence[str], stub: Path, run: int, seconds: float) -> bytes:
    """The notebook that the command makes of a stub: what it prints, or else the stub's file as it has changed it.

    It has the file's path as its last argument and its content as standard input. Failed says what went wrong.
    """
    before = stub.read_bytes()
    printed = _run([*command, str(stub)], before, stub.parent, run, seconds)
    if not printed.strip():
        if not stub.is_file():
            raise Failed("it printed nothing, and the file is gone")
        printed = stub.read_bytes()
    try:
        found = json.loads(printed) if len(printed) <= _MOST else None
    except (ValueError, RecursionError) as error:
        raise Failed(f"what it wrote is no notebook: {error}") from error
    if not isinstance(found, dict) or not isinstance(found.get("cells"), list):
        raise Failed("what it wrote is no notebook: it has no list of cells")
    return printed


def _run(words: list[str], given: bytes, folder: Path, run: int, seconds: float) -> bytes:
    """What a command prints; it and all that it started end with it."""
    surroundings = os.environ | {RUN: str(run)}
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err, tempfile.TemporaryFile() as stdin:
        stdin.write(given)
        stdin.seek(0)
        try:
            process = subprocess.Popen(
                words, stdin=stdin, stdout=out, stderr=err, cwd=folder, env=surroundings, start_new_session=True
            )
        except OSError as error:
            raise Failed(f"{words[0]} cannot be run: {error.strerror}") from error
        try:
            code = process.wait(seconds)
        except subprocess.TimeoutExpired:
            raise Failed(f"it took longer than {seconds:g} s, and was stopped") from None
        finally:
            _end(process)
        if code:
            err.seek(0)
            lines = err.read(2**20).decode("utf-8", "replace").strip().splitlines() or ["it said nothing"]
            raise Failed(f"it ended with {code}: {lines[-1][:300]}")
        out.seek(0)
        return out.read(_MOST + 1)


def _end(process: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _cells(path: Path) -> dict[str, str]:
    """The text of each cell that has an id of ours."""
    try:
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    except (OSError, ValueError, KeyError):
        return {}
    found = {(cell["metadata"].get("nbgrader") or {}).get("grade_id", ""): cell["source"] for cell in cells}
    return {name: text if isinstance(text, str) else "".join(text) for name, text in found.items()}


class _problems:  # noqa: N801 - a context
    """Within this, problems are found in a folder, wherever the course lies."""

    def __init__(self, root: Path) -> None:
        self._root, self._before = root, os.environ.get("AUTOGRADER_PROBLEMS")

    def __enter__(self) -> None:
        os.environ["AUTOGRADER_PROBLEMS"] = str(self._root)

    def __exit__(self, *_: object) -> None:
        if self._before is None:
            os.environ.pop("AUTOGRADER_PROBLEMS", None)
        else:
            os.environ["AUTOGRADER_PROBLEMS"] = self._before
