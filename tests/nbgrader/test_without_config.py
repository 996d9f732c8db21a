"""The same notebooks under nbgrader's stock configuration: `hidden.score` gives an honest student the same marks."""

import json
import os
import sqlite3
import sys
from pathlib import Path

import pytest

from autograder.simulation.personas import personas
from tests import forked

ROOT = Path(__file__).parents[2]
STOCK = "c = get_config()\nc.CourseDirectory.course_id = 'stock'\n"
MARKS = {
    "mistake_centre_detached_mean": (2.0, 3.0, 2.0, 1.0),
    "mistake_Layer_Tanh": (4.0, 0.0, 2.0, 1.0),
    "noise_on_stderr": (4.0, 3.0, 2.0, 1.0),
}


@pytest.fixture(scope="module")
def stock(new_course, tmp_path_factory):
    """A course without our configuration, graded by nbgrader's command; the scores with their types."""
    path = f"{Path(sys.executable).parent}:/usr/bin:/bin"
    with pytest.MonkeyPatch.context() as patch:  # nbgrader calls `alembic` by its bare name
        patch.setenv("PATH", path)
        course = new_course(tmp_path_factory.mktemp("stock") / "course", STOCK)
    for persona in personas(course.problem):
        if persona.name in MARKS:
            course.hand_in(persona.name, persona.make(course.work()))
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PATH": path}
    done = forked.run(["nbgrader", "autograde", "ps1"], cwd=course.path, env=environment)
    assert done.returncode == 0, done.stdout + done.stderr
    with sqlite3.connect(course.path / "gradebook.db") as database:
        found = database.execute(
            "select s.student_id, b.name, g.auto_score, typeof(g.auto_score) from grade g "
            "join base_cell b on b.id = g.cell_id join submitted_notebook n on n.id = g.notebook_id "
            "join submitted_assignment s on s.id = n.assignment_id"
        )
        return course, {(student, part): (score, kind) for student, part, score, kind in found}


@pytest.mark.parametrize("student", MARKS)
def test_marks_are_those_of_our_own_route(stock, student):
    """Full, partial and no marks, as plain floats; standard error costs nothing."""
    _, scores = stock
    parts = ("centre", "Layer", "parameters", "axis")
    assert [scores[student, part] for part in parts] == [(mark, "real") for mark in MARKS[student]]


def test_the_student_reads_why(stock):
    """What was lost is printed under the test cell."""
    course, _ = stock
    notebook = json.loads((course.path / "autograded/mistake_Layer_Tanh/ps1/tiny.ipynb").read_text())
    assert "values: You took tanh as the gate" in json.dumps(notebook)
