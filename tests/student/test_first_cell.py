"""The first cell on any machine: the package installed, beside the notebook, not there, or somebody else's."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from autograder.authoring import loading, wheel
from autograder.authoring.source_notebook import build

ROOT = Path(__file__).parents[2]
PROBLEMS = ROOT / "tests" / "data" / "typed" / "problems"
RUN = """
import contextlib, io, json, os, sys
names, stopped, shown = {"__name__": "__main__", **json.loads(os.environ["NAMES"])}, [], io.StringIO()
for cell in json.load(sys.stdin):
    try:
        with contextlib.redirect_stdout(shown):
            exec(compile(cell, "cell", "exec"), names)
    except BaseException as error:
        stopped.append(f"{type(error).__name__}: {error}")
print(json.dumps({
    "stopped": stopped,
    "found": getattr(sys.modules.get(getattr(names["form"], "__name__", "")), "__file__", ""),
    "shown": shown.getvalue(),
    "typed": {name: str(names.get(name)) for name in ("softmax", "time")},
    "declared": names["form"].part("again", "Again", 1),
}))
"""
STRANGER = {
    "of the same name": {"__init__.py": "VERSION = '3.7.7'"},
    "with a module student": {"__init__.py": "", "student.py": "def check(name): print('PASSED')"},
    "that ends the kernel": {"__init__.py": "raise SystemExit(1)"},
}
ANSWERS = {"softmax": 'expression(r"(1-e^(-beta)) e^(-beta i)")', "time": 'growth(r"O(ln T + ln U)")'}


@pytest.fixture(scope="module")
def cells():
    """The code cells of a notebook with two answers; its other parts are as they were handed out."""
    problem = loading.load("languages", PROBLEMS)
    parts = {part.name: part for part in problem.parts}
    found = []
    for cell in build(problem, 1, root=PROBLEMS)["cells"]:
        name = cell["metadata"]["nbgrader"]["grade_id"]
        part = name.removesuffix("-answer")
        if cell["cell_type"] == "code" and name.endswith("-answer"):
            stub = parts[part].stub_cell({"scaled": True})
            found.append(f"{part} = {ANSWERS[part]}" if part in ANSWERS else stub)
        elif cell["cell_type"] == "code":
            found.append(cell["source"].split("### BEGIN HIDDEN")[0])
    assert len(found) > 8
    return found


@pytest.fixture(scope="module")
def packages(tmp_path_factory):
    """Folders: one with the wheel that students get, and one for each stranger."""
    folder = tmp_path_factory.mktemp("machines")
    made = {"wheel": folder / "course", "nothing": folder / "empty"}
    for place in made.values():
        place.mkdir()
    wheel.write_wheel(made["wheel"], for_students=True)
    for name, files in STRANGER.items():
        made[name] = folder / name.replace(" ", "_")
        (made[name] / "autograder").mkdir(parents=True)
        for file, text in files.items():
            (made[name] / "autograder" / file).write_text(text)
    return made


# Where the kernel runs, what is installed, what the editor tells the kernel; and whether the package is found.
MACHINES = {
    "nothing": ("nothing", None, {}, False),
    "the wheel beside it, as on Colab": ("wheel", None, {}, True),
    "a stranger's package": ("nothing", "of the same name", {}, False),
    "a stranger's, with a student module": ("nothing", "with a module student", {}, False),
    "a stranger's that ends the kernel, and the wheel": ("wheel", "that ends the kernel", {}, True),
    "VS Code in another folder": ("nothing", None, {"__vsc_ipynb_file__": "{wheel}/ps1.ipynb"}, True),
    "JupyterLab in another folder": ("nothing", None, {"JPY_SESSION_NAME": "{wheel}/ps1.ipynb"}, True),
}


@pytest.mark.parametrize("machine", MACHINES)
def test_every_cell_runs(cells, packages, machine):
    """With the package or without it; without it, answers are kept as text, and each check says so in one line."""
    here, installed, told, found = MACHINES[machine]
    names = {name: path.format(**packages) for name, path in told.items()}
    environment = {"PATH": os.environ["PATH"], "NAMES": json.dumps(names), **names, "PYTHONDONTWRITEBYTECODE": "1"}
    if installed:
        environment["PYTHONPATH"] = str(packages[installed])
    words = [sys.executable, "-S", "-c", RUN]  # -S: nothing that is installed here is there
    run = subprocess.run(
        words, cwd=packages[here], env=environment, input=json.dumps(cells), capture_output=True, text=True
    )
    assert run.returncode == 0, run.stderr
    said = json.loads(run.stdout.splitlines()[-1])
    assert said["stopped"] == [] and said["declared"] is None  # a notebook shows what a cell's last line gives
    assert said["typed"] == {"softmax": "(1-e^(-beta)) e^(-beta i)", "time": "O(ln T + ln U)"}
    assert (wheel.FILE in said["found"]) is found
    lines = said["shown"].splitlines()
    unchecked = [line for line in lines if "was not checked" in line]
    if found:
        assert not unchecked and "is not here" not in said["shown"]
        assert sum("this is how your answer is read" in line for line in lines) == len(ANSWERS)
    else:
        assert max(map(len, lines)) <= 88  # so that a notebook does not break it within a word
        assert "PASSED" not in said["shown"]
        assert len(unchecked) == sum("form.check(" in cell for cell in cells)
        assert all(line.endswith("Your answer is graded all the same.") for line in unchecked)


COUNTED = """
import json, sys
from autograder import student as form
before = set(sys.modules)
kind, answer, words = json.loads(sys.argv[1])
form.part("P", "The first part", 1, getattr(form, f"check_{kind}"), **words)
P = getattr(form, kind)(answer) if hasattr(form, kind) else answer
form.check("P")
print(json.dumps([sorted(before), sorted(set(sys.modules) - before)]))
"""
FIRST = {
    "expression": ("e^(-beta i) (1-e^(-beta))", {"domains": {"beta": "positive", "i": "nat"}}),
    "matrix": ([["x", "1"], ["0", "x^2"]], {"domains": {"x": "real"}, "shape": [2, 2]}),
    "growth": ("O(T^2 + T U)", {"variables": "T U"}),
    "equation": ("y[i] = W[i,J] x[J]", {"tensors": ["W[I,J]", "x[J]"], "target": "y"}),
    "derivation": ("x + x = 2 x", {"domains": {"x": "real"}}),
}
# Of the standard library, and soon there.
LIGHT = {
    "_compat_pickle", "_decimal", "_heapq", "_pickle", "_struct", "decimal", "difflib", "fractions", "heapq", "math",
    "numbers", "pickle", "struct",
}  # fmt: skip


@pytest.mark.parametrize("kind", FIRST)
def test_the_first_typed_part_is_answered_at_once(kind):
    """Declared, shown and checked, a tenth of a second after the import: by few of our modules, and by no others."""
    answer, words = FIRST[kind]
    run = subprocess.run(
        [sys.executable, "-c", COUNTED, json.dumps([kind, answer, words])], cwd=ROOT, capture_output=True, text=True
    )
    assert run.returncode == 0, run.stderr
    *said, counted = run.stdout.splitlines()
    assert "(This cell does not check whether it is correct.)" in said[-1], said
    before, more = json.loads(counted)
    ours = [name for name in more if name.startswith("autograder.")]
    rooms = {name.split(".")[1] for name in (*before, *more) if name.startswith("autograder.")}
    assert {name.split(".")[0] for name in more} - {"autograder"} <= LIGHT
    assert len(ours) <= 35 and rooms <= {"core", "errors", "maths", "parts", "protocol", "student", "checks"}, ours
    assert not {"numpy", "torch", "sympy", "IPython", "rich", "click"} & {name.split(".")[0] for name in before}
