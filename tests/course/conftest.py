"""A class that handed in the tiny problem: built and released once, copied for each test."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from autograder.authoring import building, loading
from autograder.authoring.assignment import read_assignment
from autograder.authoring.variants import variant
from autograder.nbgrader.course_api import done, opened
from autograder.simulation.classroom import Work, hand_in
from autograder.simulation.personas import personas
from tests import forked
from tests.made_once import made_once

ROOT = Path(__file__).parents[2]
DATA = ROOT / "tests" / "data" / "course"
# Right, wrong, damaged, forged; and one whose function does not come back.
PEOPLE = (
    "perfect", "untouched", "mistake_centre_over_batch", "mistake_Layer_Tanh", "mistake_parameters_without_bias",
    "equivalent_centre_by_sum", "not_json", "renamed_ids", "doubled_test_cell", "forged_nan", "exit_in_function",
    "a_link", "renamed_file", "prints", "half_done", "missing_notebook",
)  # fmt: skip
MARKS = """
    select student_id, name, auto_score, manual_score, needs_manual_grade from grade
    join submitted_notebook on grade.notebook_id = submitted_notebook.id
    join submitted_assignment on submitted_notebook.assignment_id = submitted_assignment.id
    join base_cell on grade.cell_id = base_cell.id order by 1, 2
"""


@dataclass(frozen=True)
class Classroom:
    """A course folder, and what can be done with it."""

    path: Path

    def start(self, verb: str, *words: str) -> forked.Forked:
        """Begin a command of `autograder` for this course."""
        line = ["autograder", verb, "ps1", "--course", str(self.path), *words]
        return forked.Forked(line, cwd=Path.cwd(), env=environment())

    def call(self, verb: str, *words: str, **options: Any) -> subprocess.CompletedProcess[str]:
        """Run a command to its end; with options of `subprocess.run`, in an interpreter of its own."""
        line = ["autograder", verb, "ps1", "--course", str(self.path), *words]
        if options:
            line[:1] = [sys.executable, "-m", "autograder"]
            streams = {"capture_output": True, "text": True, "timeout": 120}
            return subprocess.run(line, env=environment(), **streams, **options)
        return forked.run(line, cwd=Path.cwd(), env=environment())

    def nbgrader(self, *words: str) -> subprocess.CompletedProcess[str]:
        """Run a command of nbgrader in this course to its end."""
        return forked.run(["nbgrader", *words], cwd=self.path, env=environment())

    def grade(self, *words: str, **options: Any) -> dict[str, Any]:
        """`autograder grade` and its figures."""
        run = self.call("grade", "--json", *words, **options)
        assert run.stdout, run.stderr
        return {**json.loads(run.stdout.splitlines()[-1]), "exit": run.returncode}

    def rows(self, query: str = MARKS) -> list[tuple[Any, ...]]:
        """What the gradebook says."""
        with sqlite3.connect(self.path / "gradebook.db") as database:
            return database.execute(query).fetchall()

    def lines(self) -> list[dict[str, Any]]:
        """The journal."""
        return [json.loads(line) for line in (self.path / "reports/ps1.jsonl").read_text().splitlines()]

    def finished(self) -> list[str]:
        """Who is done by the journal, once for each time."""
        return sorted(line["student"] for line in self.lines() if line["state"] == "done")

    def pages(self, step: str) -> dict[str, bytes]:
        """Every file of a step's folder."""
        folder = self.path / step
        return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def environment() -> dict[str, str]:
    """The environment of a command: this copy of the package."""
    paths = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
    return os.environ | {"PYTHONPATH": paths, "AUTOGRADER_PROBLEMS": ""}


def build(folder: Path, more: str = "", people: Iterable[str] = PEOPLE) -> Classroom:
    """A course with everybody's work in it; `more` is added to its configuration."""
    shutil.copytree(DATA, folder)
    path = folder / "notebooks"
    config = path / "nbgrader_config.py"
    config.write_text(config.read_text() + more)
    problem = loading.load("tiny", folder / "problems")
    with opened(path) as api:
        building.write(path, read_assignment(path, "ps1"))
        done("generate_assignment", api.generate_assignment("ps1"))
    released = json.loads((path / "release/ps1/tiny.ipynb").read_text())
    everybody = {persona.name: persona for persona in personas(problem)}
    for name in people:
        work = Work(released, problem, variant(problem, 7).parameters)
        hand_in(everybody[name].make(work), path / "submitted" / name / "ps1")
    return Classroom(path)


@pytest.fixture(scope="session")
def built(tmp_path_factory) -> Classroom:
    """The course as it was handed in."""

    def make(folder: Path) -> None:
        build(folder / "course")

    folder, _ = made_once(tmp_path_factory, "built", make)
    return Classroom(folder / "course" / "notebooks")


@pytest.fixture
def classroom(built, tmp_path) -> Classroom:
    """A copy of one's own."""
    shutil.copytree(built.path.parent, tmp_path / "course", symlinks=True)
    return Classroom(tmp_path / "course" / "notebooks")


@pytest.fixture(scope="session")
def graded(built, tmp_path_factory) -> Classroom:
    """A copy after an undisturbed run: to be looked at, not to be changed."""

    def grade(folder: Path) -> None:
        shutil.copytree(built.path.parent, folder / "course", symlinks=True)
        assert Classroom(folder / "course" / "notebooks").grade(cwd="/")["exit"] == 0  # started as users start it

    folder, _ = made_once(tmp_path_factory, "graded", grade)
    return Classroom(folder / "course" / "notebooks")


@pytest.fixture(scope="session")
def build_course():
    """Builds a course of another configuration."""
    return build
