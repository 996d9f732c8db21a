"""Notebooks that were handed out long ago go on running: each word that they name is still there, and says the same."""

import contextlib
import io
import json
import re
from pathlib import Path

import pytest

from autograder.student import Malformed, preview

ROOT = Path(__file__).parents[2]
RELEASED = ROOT / "tests" / "data" / "released"
THEN = json.loads((RELEASED / "answers.json").read_text(encoding="utf-8"))
WORDS = re.compile(r"\bform\.(\w+)|from autograder\.student import (\w+)")


def code_cells(slug):
    """Grade id and source of each code cell, in order."""
    notebook = json.loads((RELEASED / f"{slug}.ipynb").read_text(encoding="utf-8"))
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            yield cell["metadata"]["nbgrader"]["grade_id"], "".join(cell["source"])


def run(slug, answers):
    """A student's namespace after all cells, what they showed, and what stopped each; the first cells start afresh."""
    names, shown, stopped = {"__name__": "__main__"}, io.StringIO(), {}
    for grade_id, source in code_cells(slug):
        with contextlib.redirect_stdout(shown):
            try:
                exec(answers.get(grade_id, source), names)
            except Exception as error:
                stopped[grade_id] = error
    return names, shown.getvalue(), stopped


@pytest.fixture(autouse=True)
def fresh(monkeypatch):
    """A kernel in which nothing is declared yet, in the folder of the course."""
    monkeypatch.setattr(preview, "_DECLARED", [])
    monkeypatch.chdir(ROOT)


def test_every_word_of_then_is_named():
    """Between them the notebooks call each check and write each kind of typed answer."""
    text = "\n".join(source for slug in THEN for _, source in code_cells(slug)).replace("form\n", "")
    named = {word for pair in WORDS.findall(text) for word in pair if word}
    kinds = {"derivation", "equation", "expression", "growth", "matrix"}
    others = {"check_choice", "check_module", "check_number", "check", "declare", "tensor"}
    assert named == kinds | others | {f"check_{kind}" for kind in kinds}


@pytest.mark.parametrize("slug", THEN)
def test_as_handed_out(slug):
    """An empty notebook stops at its gaps and says what is missing; no word is unknown."""
    _, _, stopped = run(slug, {})
    for grade_id, error in stopped.items():
        if grade_id.endswith("-answer"):
            assert isinstance(error, NotImplementedError), grade_id
        else:
            assert isinstance(error, Malformed), (grade_id, error)
            assert error.code in ("missing", "raised"), (grade_id, error)
    assert set(THEN[slug]["hidden"]) <= set(stopped)


@pytest.mark.parametrize("slug", THEN)
def test_answered(slug):
    """Right answers of then are shown as they are read, and every check says that the form is right."""
    _, shown, stopped = run(slug, THEN[slug]["answers"])
    assert stopped == {}
    assert "cannot be read" not in shown
    assert shown.count("does not check whether it is correct") == len(THEN[slug]["hidden"])


@pytest.mark.parametrize("slug", THEN)
def test_the_hidden_lines_mark_it(slug):
    """What nbgrader puts back into the test cells gives full marks as plain floats."""
    names, _, _ = run(slug, THEN[slug]["answers"])
    exec("from autograder import hidden", names)
    for part, line in THEN[slug]["hidden"].items():
        points = float(re.search(r"points=([\d.]+)", line)[1])
        with contextlib.redirect_stdout(io.StringIO()):
            assert eval(line, names) == points, part
