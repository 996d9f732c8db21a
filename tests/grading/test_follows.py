"""A part that follows another is judged by what was judged at the other's own test, on every route to a mark."""

from __future__ import annotations

import contextlib
import copy
import io
from pathlib import Path
from typing import Any

import pytest

from autograder import hidden
from autograder.authoring import loading, source_notebook
from autograder.course.regrading import again
from autograder.grading.notebook import Graded, mark, run_and_grade
from autograder.grading.plan import grade_task, task_of
from autograder.grading.submission import Submission, load_submission
from autograder.sandbox import Limits
from autograder.sandbox.task import answer

COURSE = Path(__file__).parents[1] / "data" / "typed"
PROBLEM = loading.load("languages", COURSE / "problems")
PARTS = ("softmax", "first")
RIGHT, WRONG = "softmax = '(1-e^(-beta))*e^(-beta*i)'", "softmax = 'e^(-beta*i)'"
SYMPY = "import sympy as sp\nbeta, i = sp.symbols('beta i')\n"

# The cell of `softmax`, a cell of one's own between the two, the cell of `first`, and what the two deserve.
CASES = {
    "both right": (RIGHT, "", "first = '1-e^(-beta)'", ("earned", "ok"), ("earned", "ok")),
    "follows": (WRONG, "", "first = '1'", ("lost", "not_normalised"), ("earned", "carried_forward")),
    "follows from a number": ("softmax = 2", "", "first = '2 e^(beta i)'",
                              ("lost", "value"), ("earned", "carried_forward")),
    "follows from sympy": (f"{SYMPY}softmax = sp.exp(-beta*i)", "", "first = '1'",
                           ("lost", "not_normalised"), ("earned", "carried_forward")),
    "does not follow": (RIGHT, "", "first = '1'", ("earned", "ok"), ("lost", "value")),
    "bound again in the later cell": (RIGHT, "", f"{WRONG}\nfirst = '1'", ("earned", "ok"), ("lost", "value")),
    "bound again in between": (RIGHT, WRONG, "first = '1'", ("earned", "ok"), ("lost", "value")),
    "bound again to what is no answer": (RIGHT, "softmax = ['x']", "first = '1'", ("earned", "ok"), ("lost", "value")),
    "deleted in between": (WRONG, "del softmax", "first = '1'",
                           ("lost", "not_normalised"), ("earned", "carried_forward")),
    "mended in between": (WRONG, RIGHT, "first = '1'", ("lost", "not_normalised"), ("earned", "carried_forward")),
    "bound too late": ("", WRONG, "first = '1'", ("lost", "missing"), ("lost", "value")),
    "a list": ("softmax = ['x']", "", "first = '1'", ("held", "unreadable"), ("lost", "value")),
    "a dict": ("softmax = {'x': 1}", "", "first = '1'", ("held", "unreadable"), ("lost", "value")),
    "a function": ("softmax = lambda: 'e^(-beta*i)'", "", "first = '1'", ("held", "unreadable"), ("lost", "value")),
    "half a bracket": ("softmax = 'e^(-beta*i'", "", "first = '1'", ("held", "unreadable"), ("lost", "value")),
    "two halves": ("softmax = '1) + (e^(-beta*i)'", "", "first = '1'", ("held", "unreadable"), ("lost", "value")),
    "unreadable, then right": ("softmax = '@'", "", "first = '1-e^(-beta)'", ("held", "unreadable"), ("earned", "ok")),
    "None": ("softmax = None", "", "first = '1'", ("lost", "missing"), ("lost", "value")),
}  # fmt: skip


def handed_in(first: str, between: str, later: str) -> Submission:
    """The notebook with two answers and a cell of one's own."""
    notebook = copy.deepcopy(source_notebook.build(PROBLEM, 0, root=COURSE / "problems"))
    answers = {"softmax-answer": first, "first-answer": later}
    for cell in notebook["cells"]:
        cell["source"] = answers.get(cell["metadata"]["nbgrader"]["grade_id"], cell["source"])
    place = next(n for n, cell in enumerate(notebook["cells"]) if cell["id"] == "first-answer")
    own = {"cell_type": "code", "metadata": {}, "source": between, "outputs": [], "execution_count": None}
    notebook["cells"].insert(place, own)
    return load_submission(notebook, course=COURSE, secret=b"a secret of thirty-two characters")


def found(graded: Graded) -> list[tuple[str, str]]:
    """Standing and code of the two parts."""
    outcomes = {outcome.part: outcome for outcome in graded.report.outcomes}
    return [(outcomes[name].standing, outcomes[name].verdicts[0].code) for name in PARTS]


def as_a_task(submission: Submission) -> Graded:
    """As `autograder grade` does: the whole notebook and its questions first, the judge after it."""
    return grade_task(submission, task_of(submission, Limits()), answer)


@pytest.mark.parametrize("case", CASES)
def test_what_was_judged_is_carried(case):
    """nbgrader's route and a class's give the same, and the stored answers again."""
    *cells, softmax, first = CASES[case]
    submission = handed_in(*cells)
    for route in (run_and_grade, as_a_task):
        graded = mark(submission, [route])
        assert found(graded) == [softmax, first], route.__name__
        stored = load_submission(graded.notebook, course=COURSE, secret=b"a secret of thirty-two characters")
        repeated, unasked = again(stored, graded.report)
        assert found(repeated) == [softmax, first] and not unasked


def test_no_question_about_the_earlier_part_is_put_at_the_later_one():
    """What is bound to its name by then is not even asked."""
    submission = handed_in(*CASES["bound again in between"][:3])
    task = task_of(submission, Limits())
    asked = [item.part for items in task.questions.values() for item in items]
    assert sorted(asked) == sorted({part.name for part in PROBLEM.parts})


@pytest.mark.parametrize("case", CASES)
def test_the_hidden_cells_carry_the_same(case, monkeypatch):
    """Where nbgrader runs without our configuration, the points are those of the other routes."""
    *cells, softmax, first = CASES[case]
    monkeypatch.chdir(COURSE)
    names: dict[str, Any] = {"__name__": "__main__"}
    points = {}
    for cell in handed_in(*cells).notebook["cells"]:
        name = cell.get("id", "between")
        if name in PARTS:
            with contextlib.redirect_stdout(io.StringIO()):
                points[name] = hidden.score("languages", name, version=1, seed=0, points=2, names=names)
        elif name in ("softmax-answer", "between", "first-answer"):
            exec(cell["source"], names)
    assert points == {"softmax": 2.0 * (softmax[0] == "earned"), "first": 2.0 * (first[0] == "earned")}
