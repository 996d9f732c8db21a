"""The same class twice: once in a course of this package, once in one of plain nbgrader with tests of asserts."""

from __future__ import annotations

import inspect
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from autograder.authoring import building, loading
from autograder.authoring.assignment import read_assignment
from autograder.authoring.source_notebook import answer_id
from autograder.nbgrader.course_api import opened

HERE = Path(__file__).parent / "course"
ROOT = Path(__file__).parents[1]
ASSIGNMENT, SLUG = "ps1", "layers"
PLAIN = """c = get_config()
c.CourseDirectory.course_id = 'benchmark'
# nbgrader's own settings, pinned:
c.Execute.timeout = 30
c.Execute.execute_retries = 0
"""
_DISTINCT = """
def {name}(*arguments):
    return _plain_{name}(*arguments) * {factor!r}
"""
TEST = """\
### BEGIN HIDDEN TESTS
{imports}

def _wanted({arguments}):
{body}

torch.manual_seed(7)
for _ in range(3):
    _inputs = [{inputs}]
    _theirs = [x.clone().requires_grad_() for x in _inputs]
    _ours = [x.clone().requires_grad_() for x in _inputs]
    _given, _right = {name}(*_theirs), _wanted(*_ours)
    assert _given.shape == _right.shape
    assert torch.allclose(_given, _right, rtol=1e-10, atol=1e-12)
    _cotangent = torch.randn_like(_right)
    _given = torch.autograd.grad(_given, _theirs, _cotangent)
    for _one, _other in zip(_given, torch.autograd.grad(_right, _ours, _cotangent)):
        assert torch.allclose(_one, _other, rtol=1e-9, atol=1e-11)
### END HIDDEN TESTS"""


def command(course: Path, *words: str) -> list[str]:
    """A command line of this interpreter's."""
    return [sys.executable, "-m", *words]


def environment() -> dict[str, str]:
    """nbgrader looks `alembic` up on PATH; this copy of the package is the one that is measured."""
    programs = str(Path(sys.executable).parent)
    return os.environ | {"PATH": f"{programs}:{os.environ['PATH']}", "PYTHONPATH": str(ROOT)}


def two_courses(place: Path, students: int, distinct: bool = False) -> tuple[Path, Path]:
    """The course folders, built, released, and handed in to."""
    ours, plain = place / "ours", place / "plain"
    for folder in (ours, plain):
        shutil.copytree(HERE, folder)
    problem = loading.load(SLUG, ours / "problems")
    courses = ours / "notebooks", plain / "notebooks"
    with opened(courses[0]):
        building.write(courses[0], read_assignment(courses[0], ASSIGNMENT))
    source = json.loads((courses[0] / f"source/{ASSIGNMENT}/{SLUG}.ipynb").read_text())
    (courses[1] / "nbgrader_config.py").write_text(PLAIN)
    _save(_with_asserts(source, problem), courses[1] / f"source/{ASSIGNMENT}/{SLUG}.ipynb")
    for course in courses:
        run = command(course, "nbgrader", "generate_assignment", ASSIGNMENT)
        subprocess.run(run, cwd=course, env=environment(), check=True, capture_output=True)
        released = json.loads((course / f"release/{ASSIGNMENT}/{SLUG}.ipynb").read_text())
        for number in range(students):
            work = _answered(released, problem, number, distinct)
            _save(work, course / f"submitted/student{number:04}/{ASSIGNMENT}/{SLUG}.ipynb")
    return courses


def _save(notebook: dict[str, Any], path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(notebook, indent=1))


def _with_asserts(source: dict[str, Any], problem: Any) -> dict[str, Any]:
    """The notebook as one writes it for nbgrader alone: each test cell draws, computes, and asserts."""
    notebook: dict[str, Any] = json.loads(json.dumps(source))
    del notebook["metadata"]["autograder"]
    table = sys.modules[type(problem).__module__] and inspect.getmodule(problem.parts[0].reference)
    for cell in notebook["cells"]:
        marks = cell["metadata"]["nbgrader"]
        if marks["grade"]:
            part = problem.part(marks["grade_id"])
            lines = inspect.getsource(part.reference).splitlines()[1:]
            axes = table.ARGUMENTS[part.name]  # type: ignore[union-attr]
            sizes = [", ".join(str(table.SIZES[axis]) for axis in words.split()) for words in axes.values()]  # type: ignore[union-attr]
            inputs = ", ".join(f"torch.randn({size}, dtype=torch.float64)" for size in sizes)
            words = {"arguments": ", ".join(axes), "inputs": inputs, "name": part.name, "body": "\n".join(lines)}
            cell["source"] = TEST.format(imports="import math", **words)
    return notebook


def _answered(released: dict[str, Any], problem: Any, number: int, distinct: bool) -> dict[str, Any]:
    """A student's work: one part in five wrong, by a known mistake; `distinct` from others' in the last digits."""
    notebook: dict[str, Any] = json.loads(json.dumps(released))
    cells = {cell["metadata"]["nbgrader"]["grade_id"]: cell for cell in notebook["cells"]}
    for place, part in enumerate(problem.parts):
        wrong = (3 * number + place) % 5 == 0
        subject = part.mistakes[0] if wrong else part.reference
        text = f"# student {number}\n" + part.answer_cell(subject, {})
        if distinct:
            text += f"\n_plain_{part.name} = {part.name}\n" + _DISTINCT.format(
                name=part.name, factor=1 + number * 2**-52
            )
        cells[answer_id(part.name)]["source"] = text
    return notebook
