"""A course with the tiny problem, and a whole class that handed it in, graded once for all tests of this folder."""

from __future__ import annotations

import hashlib
import json
import logging
import shutil
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from autograder.authoring import building, loading
from autograder.authoring.assignment import read_assignment
from autograder.authoring.variants import variant
from autograder.grading import report
from autograder.nbgrader.course_api import done, opened
from autograder.simulation.classroom import Persona, Work, hand_in
from autograder.simulation.personas import personas
from tests.made_once import made_once

DATA = Path(__file__).parents[1] / "data" / "course"


@dataclass(kw_only=True)
class Course:
    """A copy of the test course in a temporary folder, built and released; `log` is what grading said."""

    path: Path
    problem: Any
    p: Any
    log: str = ""
    grades: dict[str, dict[str, Any]] = field(default_factory=dict)

    @property
    def released(self) -> dict[str, Any]:
        """The students' notebook."""
        return json.loads((self.path / "release/ps1/tiny.ipynb").read_text())

    def work(self) -> Work:
        """A student's fresh copy."""
        return Work(self.released, self.problem, self.p)

    def hand_in(self, student: str, files: Any) -> None:
        """Put a submission where nbgrader collects them, in place of an earlier one."""
        folder = self.path / "submitted" / student / "ps1"
        shutil.rmtree(folder, ignore_errors=True)
        hand_in(files, folder)

    def autograde(self, student: str = "*") -> dict[str, Any]:
        """Grade in this process and read the gradebook again; returns nbgrader's result."""
        with opened(self.path) as api:
            result = api.autograde("ps1", student)
            self.grades = read_grades(api)
        return result

    def feedback(self, student: str) -> str:
        """The student's feedback page."""
        with opened(self.path) as api:
            done("generate_feedback", api.generate_feedback("ps1", student))
        return (self.path / f"feedback/{student}/ps1/tiny.html").read_text()

    def report(self, student: str) -> Any:
        """The report beside the gradebook."""
        return report.load(report.path_of(self.path, "ps1", student, "tiny"))


def read_grades(api: Any) -> dict[str, dict[str, Any]]:
    """Student -> part -> (auto score, whether a person must look, the comment)."""
    grades: dict[str, dict[str, Any]] = {}
    with api.gradebook as gradebook:
        for submission in gradebook.assignment_submissions("ps1"):
            rows = grades.setdefault(submission.student.id, {})
            for notebook in submission.notebooks:
                comments = {item.name: item.comment for item in notebook.comments}
                for grade in notebook.grades:
                    comment = comments.get(f"{grade.name}-answer", comments.get(grade.name))
                    rows[grade.name] = (grade.auto_score, grade.needs_manual_grade, comment)
    return grades


def _released(folder: Path, config: str) -> str:
    """Build and release the course in a folder that is not there yet; what nbgrader said."""
    shutil.copytree(DATA, folder)
    path = folder / "notebooks"
    (path / "nbgrader_config.py").write_text(config)
    with opened(path) as api:
        building.write(path, read_assignment(path, "ps1"))
        return done("generate_assignment", api.generate_assignment("ps1"))


@pytest.fixture(scope="session")
def new_course(tmp_path_factory):
    """Makes a course of one's own in a folder that is not there yet: a copy, released once for each configuration."""

    def make(folder: Path, config: str | None = None) -> Course:
        config = (DATA / "notebooks/nbgrader_config.py").read_text() if config is None else config
        name = f"released-{hashlib.sha256(config.encode()).hexdigest()[:16]}"
        first, log = made_once(tmp_path_factory, name, lambda first: _released(first / "course", config))
        shutil.copytree(first / "course", folder)
        problem = loading.load("tiny", folder / "problems")
        return Course(path=folder / "notebooks", problem=problem, p=variant(problem, 7).parameters, log=log)

    return make


@pytest.fixture(scope="session")
def crowd(new_course, tmp_path_factory) -> tuple[Course, dict[str, Persona]]:
    """The course after one autograde run over every persona."""
    logging.getLogger("autograder").setLevel(logging.ERROR)
    course = new_course(tmp_path_factory.mktemp("crowd") / "course")
    everybody = {persona.name: persona for persona in personas(course.problem)}
    for name, persona in everybody.items():
        course.hand_in(name, persona.make(course.work()))
    course.log = str(course.autograde())
    return course, everybody
