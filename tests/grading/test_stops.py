"""Cells that stop, run as a submission is: what they need and the grading machine lacks is no fault of an answer."""

from pathlib import Path

import pytest

from autograder import Function, Number, close, tensors
from autograder.grading.notebook import run_and_grade
from autograder.grading.submission import Paper, Submission


def inputs(rng, p):
    """A matrix."""
    return tensors(rng, {}, x="3 5")


def twice(x):
    """Two times x."""
    return 2 * x


def four(p):
    """A number."""
    return 4


PARTS = [
    Function("f", points=2, inputs=inputs, reference=twice, checks=[close()]),
    Number("n", points=1, reference=four),
]


def cell(source, **marks):
    """A code cell."""
    return {"cell_type": "code", "source": source, "metadata": {"nbgrader": marks} if marks else {}, "outputs": []}


def outcomes(answer, *above, number="n = 4"):
    """The outcomes of f and of n for an answer cell, a cell with the number, and cells above them."""
    cells = [*(cell(source) for source in above), cell(answer, grade_id="f-answer", solution=True)]
    cells += [cell("", grade_id="f", grade=True, points=2), cell(number, grade_id="n-answer", solution=True)]
    cells += [cell("", grade_id="n", grade=True, points=1)]
    paper = Paper(folder=Path(), slug="s", version=1, seed=1, secret=b"secret", parts=PARTS)
    notebook = {"cells": cells, "metadata": {}}
    submission = Submission(notebook=notebook, paper=paper, files={}, held={}, flags=())
    return run_and_grade(submission).report.outcomes


RIGHT = "import torch\ndef f(x):\n    return 2 * x"
NUMPY = "import numpy as np\ndef f(x):\n    return x * np.full(1, 2.0).item()"
ROWS = [
    # what stands above, the answer, standing, code of the first verdict, what a note says
    ([], RIGHT, "earned", "ok", ""),
    (["import seaborn"], RIGHT, "earned", "ok", ""),
    ([], "import seaborn\n" + RIGHT, "held", "no_module", "The cell of this answer stopped with ModuleNotFoundError"),
    ([], RIGHT + "\nimport seaborn", "earned", "ok", ""),
    ([], "%matplotlib widget\n" + RIGHT, "held", "no_module", "The cell of this answer stopped with RuntimeError"),
    ([], RIGHT + "\nf(torch.ones(2).cuda())", "earned", "ok", ""),
    ([], "import torch\ntorch.ones(2).cuda()\n" + RIGHT, "held", "no_device", "The cell of this answer"),
    ([], "open('words.txt')\n" + RIGHT, "held", "file_left_out", "The cell of this answer"),
    ([], "def f(x):\n    import seaborn\n    return 2 * x", "held", "no_module", ""),
    ([], "def f(x):\n    return 2 * x.cuda()", "held", "no_device", ""),
    ([], "import torch\ntorch.set_default_device('cuda')\ndef f(x):\n    return 2 * x", "earned", "ok", ""),
    (["import seaborn\nnp_ = 2"], "def f(x):\n    return np_ * x", "held", "no_module", "begins with 'import seaborn'"),
    (["1 / 0\nnp_ = 2"], "def f(x):\n    return np_ * x", "lost", "raised", "begins with '1 / 0' stopped with Zero"),
    (["import seaborn\ntwo = 2", "three = two + 1"], "def f(x, k=three):\n    return (k - 1) * x", "held", "no_module",
     "begins with 'three = two + 1'"),
    (["import seaborn"], "def f(x):\n    return np_ * x", "lost", "raised", ""),
    (["import seaborn"], "def f(x):\n    return 3 * x", "lost", "value", ""),
    ([], "def f(x):\n    return 3 * x\nimport seaborn", "lost", "value", "The cell of this answer stopped with Module"),
    ([], "import torhc\n" + NUMPY, "held", "no_module", "The cell of this answer"),
    ([], "import torch.nm\n" + NUMPY, "lost", "missing", "The cell of this answer"),
    ([], "def f(x):\n    raise NotImplementedError", "lost", "missing", ""),
    ([], "import torch\n@torch.compile\ndef f(x):\n    return 2 * x", "earned", "ok", ""),
]  # fmt: skip


@pytest.mark.parametrize(("above", "answer", "standing", "code", "note"), ROWS)
def test_what_a_cell_lacks(above, answer, standing, code, note):
    """What is not here is held; what is wrong is lost, with the cell that stopped named where that explains it."""
    found, other = outcomes(answer, *above)
    assert (found.standing, found.verdicts[0].code) == (standing, code), found
    assert note in "\n".join(found.notes) and bool(note) == bool(found.notes)
    assert other.standing == "earned" and other.notes == ()


def test_typed_answers_too():
    """A number whose cell stops before it is held for the same reason."""
    _, found = outcomes(RIGHT, number="import seaborn\nn = 4")
    assert (found.standing, found.verdicts[0].code) == ("held", "no_module")
