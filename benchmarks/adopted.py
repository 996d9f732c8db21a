"""A class of a course of somebody else's, graded by plain nbgrader and by this package, serially and in parallel.

    python -m benchmarks.adopted COURSE ASSIGNMENT --students 20
    python -m benchmarks.adopted --students 40          a course of three short notebooks that is made for this

Half of the class hands in the solution, a quarter every second answer, a quarter the notebook as it was handed out.
Every cell of every student is compared. Processor time is that of each command and of all that it started.
"""

from __future__ import annotations

import argparse
import json
import shutil
import tempfile
from dataclasses import asdict
from pathlib import Path
from typing import Any

import nbformat
from nbformat.v4 import new_code_cell, new_notebook

from autograder.course import adoption
from benchmarks.grading import Cost, measured
from benchmarks.simulated import command

KERNEL = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
# Exercises as courses with numpy have them: an answer, and tests of it, some of them hidden.
EXERCISES = {
    "mean": (
        "def mean(x):\n    return sum(x) / len(x)",
        "assert mean([1, 3]) == 2",
        "assert mean([2.5]) == 2.5",
    ),
    "norm": (
        "def norm(v):\n    return np.sqrt((v**2).sum())",
        "assert norm(np.ones(4)) == 2",
        "assert np.isclose(norm(np.array([3, 4])), 5)",
    ),
    "solve": (
        "def solve(a, b):\n    return np.linalg.solve(a, b)",
        "np.testing.assert_allclose(solve(np.eye(2), np.ones(2)), 1)",
        "np.testing.assert_allclose(solve(2 * np.eye(3), np.ones(3)), 0.5)",
    ),
    "roll": (
        "def roll(x, n):\n    return np.roll(x, n)",
        "assert (roll(np.arange(3), 1) == [2, 0, 1]).all()",
        "assert (roll(np.arange(5), 5) == np.arange(5)).all()",
    ),
}


def make_course(course: Path, notebooks: int = 3) -> None:
    """A course with an assignment `hw` of some notebooks."""
    source = course / "source/hw"
    source.mkdir(parents=True)
    for number in range(notebooks):
        usual = {"schema_version": 3, "task": False, "locked": False, "grade": False, "solution": False}
        cells = [
            new_code_cell("import numpy as np", metadata={"nbgrader": usual | {"grade_id": "imports", "locked": True}})
        ]
        for name, (answer, shown, hidden) in EXERCISES.items():
            text = f"### BEGIN SOLUTION\n{answer}\n### END SOLUTION"
            tests = f"{shown}\n### BEGIN HIDDEN TESTS\n{hidden}\n### END HIDDEN TESTS"
            marks = usual | {"grade_id": f"{name}-test", "grade": True, "locked": True, "points": 2}
            cells += [
                new_code_cell(text, metadata={"nbgrader": usual | {"grade_id": name, "solution": True}}),
                new_code_cell(tests, metadata={"nbgrader": marks}),
            ]
        nbformat.write(new_notebook(cells=cells, metadata=KERNEL), source / f"exercise{number + 1}.ipynb")


def compare(course: Path, assignment: str, students: int) -> dict[str, Any]:
    """Grade the class three times."""
    with tempfile.TemporaryDirectory() as folder:
        plain, serial = adoption.copies(course, Path(folder))
        people = {f"student{number:03}": (1, 2, 1, 0)[number % 4] for number in range(students)}
        for copy in (plain, serial):
            adoption.prepare(copy, assignment, people)
        parallel = Path(folder) / "parallel"
        shutil.copytree(serial, parallel)
        path = parallel / adoption.CONFIG
        path.write_text(path.read_text().replace(str(serial), str(parallel)))
        costs = {"nbgrader": Cost(), "serial": Cost(), "parallel": Cost()}
        measured(command(plain, "nbgrader", "autograde", assignment), plain, costs["nbgrader"])
        for name, copy, jobs in (("serial", serial, "1"), ("parallel", parallel, "2")):
            words = ("grade", assignment, "--course", str(copy), "--no-feedback", "--jobs", jobs)
            measured(command(copy, "autograder", *words), copy, costs[name])
        lines = [*adoption.lines(plain, serial, assignment), *adoption.lines(plain, parallel, assignment)]
        notebooks = len(list((plain / "release" / assignment).glob("*.ipynb")))
    return {
        "students": students,
        "notebooks": notebooks,
        "cells_compared": len(lines),
        "different": sum(not line.same for line in lines),
        "wall_ratio": round(costs["nbgrader"].wall / costs["parallel"].wall, 2),
        "cpu_ratio": round(costs["nbgrader"].cpu / costs["parallel"].cpu, 2),
        **{name: asdict(cost) for name, cost in costs.items()},
    }


def main() -> None:
    """Measure and show."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("course", type=Path, nargs="?", help="a course folder (default: one that is made)")
    parser.add_argument("assignment", nargs="?", default="hw")
    parser.add_argument("--students", type=int, default=20)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        course = options.course or Path(folder) / "course"
        if not options.course:
            make_course(course)
        print(json.dumps(compare(course.resolve(), options.assignment, options.students), indent=1))


if __name__ == "__main__":
    main()
