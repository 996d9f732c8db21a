"""A graded course with typed answers that nobody could decide: two students with the same, others alone."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from autograder.authoring import building, loading
from autograder.authoring.assignment import read_assignment
from autograder.authoring.variants import variant
from autograder.course.deciding import Desk
from autograder.course.run import Options, run
from autograder.nbgrader.course_api import done, opened
from autograder.nbgrader.folder import Folder
from autograder.simulation.classroom import Work, hand_in

PROBLEM = '''
"""A sum, a count and words, for the queue's tests."""

from autograder import Expression, Number, Problem, Written


def draw(rng):
    return {"K": int(rng.choice([2, 3]))}


def total(p):
    return "1/(1-e^(-beta))"


def count(p):
    return 12 * p["K"]


PROBLEM = Problem(
    title="A sum",
    version=1,
    source="the queue's tests",
    draw=draw,
    setup="import math",
    parts=[
        Expression("total", points=4, domains={"beta": "positive"}, reference=total),
        Number("count", points=2, reference=count),
        Written(
            "why",
            points=3,
            reference="The ratio is below one.",
            rubric="- 2 of 3: names the ratio.\\n- 1 of 3: says that it is below one.\\nNothing for luck.",
        ),
    ],
)
'''
STATEMENT = "## A {#total}\nSum it.\n\n## B {#count}\nCount {{K}} dozens.\n\n## C {#why}\nSay why.\n"
CONFIG = """
from pathlib import Path
from autograder.nbgrader import configure
c = get_config()
c.CourseDirectory.course_id = "queue"
configure(c, Path(__file__).parent)
"""
# Who answers what, in other words than the reference's; the rest is the reference.
ANSWERS: dict[str, dict[str, str]] = {
    "ada": {"total": "1/(1-e^(-b))", "count": "{count} terms", "why": "The ratio $e^{-\\beta}$ is below one."},
    "bob": {"total": "1 / (1 - e^(-b))", "count": "{count}  terms", "why": "Luck."},
    "eve": {"total": "1/(1-e^(-c))", "why": "Luck."},
}
LATER = {"zoe": {"total": "1/(1-e^( -b ))", "why": "Something else."}}


def answered(released: dict[str, Any], problem: Any, answers: dict[str, str]) -> dict[str, Any]:
    """A student's files."""
    work = Work(json.loads(json.dumps(released)), problem, variant(problem, 1).parameters)
    work.solve()
    for part in problem.parts:
        if text := answers.get(part.name):
            if part.judged_by_person:
                work.cells[work.place(part.name)]["source"] = text
            else:
                text = text.format(count=12 * work.p["K"]) if part.name == "count" else text
                wrapped = f"expression({text!r})" if part.name == "total" else repr(text)
                work.cells[work.place(f"{part.name}-answer")]["source"] = f"{part.name} = {wrapped}"
    return work.files()


@pytest.fixture(scope="session")
def finished(tmp_path_factory) -> Path:
    """The course, graded."""
    place = tmp_path_factory.mktemp("queue")
    course, folder = place / "notebooks", place / "problems" / "geometric"
    course.mkdir()
    folder.mkdir(parents=True)
    (folder / "problem.py").write_text(PROBLEM)
    (folder / "statement.md").write_text(STATEMENT)
    (course / "nbgrader_config.py").write_text(CONFIG)
    (course / "ps1.toml").write_text('title = "One"\nproblems = ["geometric"]\n[seeds]\ngeometric = 1\n')
    with opened(course) as api:
        building.write(course, read_assignment(course, "ps1"))
        done("generate_assignment", api.generate_assignment("ps1"))
    hand_in_all(course, ANSWERS)
    run(course, Options(assignment="ps1", jobs=1))
    return course


def hand_in_all(course: Path, answers: dict[str, dict[str, str]]) -> None:
    """Put everybody's work into submitted/."""
    problem = loading.load("geometric", course.parent / "problems")
    released = json.loads((course / "release/ps1/geometric.ipynb").read_text())
    for student, own in answers.items():
        folder = course / "submitted" / student / "ps1"
        shutil.rmtree(folder, ignore_errors=True)
        hand_in(answered(released, problem, own), folder)


@pytest.fixture
def course(finished, tmp_path) -> Path:
    """A copy of one's own."""
    shutil.copytree(finished.parent, tmp_path / "course", symlinks=True)
    return tmp_path / "course" / "notebooks"


@pytest.fixture
def desk(course) -> Iterator[Desk]:
    """The held answers of that copy."""
    with opened(course) as api:
        folder = Folder(api, "ps1")
        try:
            yield Desk(folder)
        finally:
            folder.close()
