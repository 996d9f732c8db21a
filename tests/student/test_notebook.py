"""A notebook in a kernel: it runs to its end, says what is old, where code stopped, and what is answered."""

import contextlib
import json
import os
import sys
import time
from pathlib import Path

import pytest

from autograder.protocol.cell_text import FRAME, PLACE, answered_names, written_text
from autograder.sandbox.shell import Outputs, Shell, Stream
from autograder.student import asked, cells, preview
from autograder.student.cells import as_typed
from autograder.student.local_checks import say, well_formed

OPENING = """
from autograder import student as form
expression = form.expression
form.part('P', 'The probabilities', 5, form.check_expression, domains={'beta': 'positive', 'i': 'nat'})
form.part('n', 'A count', 2, form.check_number, whole=True)
form.part('f', 'A function', 3, form.check, x=1.0, returns=float)
form.part('why', 'In words', 4)
"""


class Kernel:
    """A shell with cells that have ids, and what they show."""

    def __init__(self, shell, outputs):
        self.shell, self.outputs = shell, outputs

    def __call__(self, source, cell=None):
        """Run a cell; what it shows as text, and the error that stops it."""
        self.outputs.clear()
        streams = (Stream(self.outputs, name) for name in ("stdout", "stderr"))
        with contextlib.redirect_stdout(next(streams)), contextlib.redirect_stderr(next(streams)):
            self.shell.run_cell(source, store_history=True, cell_id=cell)
        shown, error = "", ""
        for item in self.outputs.items:
            shown += item.get("text", "") or item.get("data", {}).get("text/plain", "")
            error += "\n".join(item.get("traceback", ()))
        return shown, error

    def page(self):
        """The HTML that the last cell showed."""
        return "".join(item.get("data", {}).get("text/html", "") for item in self.outputs.items)


@pytest.fixture
def kernel(tmp_path, monkeypatch):
    """A fresh kernel whose first cell was run."""
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    monkeypatch.setattr(cells, "_RUNS", [])
    monkeypatch.setattr(asked, "_PARTS", {})
    monkeypatch.setattr(preview, "_DECLARED", [])
    monkeypatch.setattr(preview, "_BY_PART", {})
    for name in ("NBGRADER_EXECUTION", "JPY_SESSION_NAME"):
        monkeypatch.delenv(name, raising=False)
    main, hook = sys.modules["__main__"], sys.displayhook
    outputs = Outputs(10**6)
    shell = Shell.instance(outputs=outputs, colors="nocolor")
    running = Kernel(shell, outputs)
    assert running(OPENING, "opening") == ("", "")
    yield running
    Shell.clear_instance()
    sys.modules["__main__"], sys.displayhook = main, hook


def test_nothing_answered_stops_nothing(kernel):
    """Stubs run, checks say what is missing, the overview counts."""
    stub = "P = expression(r'')\nn = ...\ndef f(x):\n    raise NotImplementedError()"
    assert kernel(stub)[1] == ""
    for name, said in {"P": "not answered yet", "n": "not answered yet", "f": "not written yet"}.items():
        shown, error = kernel(f"form.check('{name}')")
        assert said in shown and shown.startswith("–") and error == ""
    shown, error = kernel("form.overview()")
    assert error == "" and "0 of 4 parts answered, 0 of 14 points tried." in shown
    assert shown.count("– empty") == 3 and "? not seen" in shown


STATES = [
    ("P = expression(r'e^(-beta i)')", "P", "✓ answered"),
    ("P = expression(r'17')", "P", "✓ answered"),
    ("P = expression(r'e^(-beta')", "P", "✗ malformed"),
    ("P = expression(r'gamma')", "P", "✗ malformed"),
    ("n = 5", "n", "✓ answered"),
    ("n = 5.5", "n", "✗ malformed"),
    ("n = None", "n", "– empty"),
    ("def f(x): return 2 * x", "f", "✓ answered"),
    ("def f(x): return 'a'", "f", "✗ malformed"),
    ("def f(x): raise NotImplementedError", "f", "– empty"),
]


@pytest.mark.parametrize(("source", "name", "state"), STATES)
def test_states(kernel, source, name, state):
    """Answered, malformed or empty; whether it is right is not said."""
    kernel(source)
    shown, _ = kernel("form.overview()")
    assert state in next(line for line in shown.splitlines() if line.startswith(name))
    page = kernel.page()
    assert state.split()[1] in page and "<th scope=" in page and "background" not in page
    assert "How to hand in" in shown and "is judged after you hand in" in shown


OLD = [
    ("n = 5", "n = undefined_name", "was to define n and stopped with NameError"),
    ("n = 5", "n = = 5", "was to define n and stopped with SyntaxError"),
    ("def f(x): return x", "def f(x: return x", "was to define f and stopped with SyntaxError"),
    ("n = 5", "m = 5", "which no longer stands so: run again as"),
    ("n = 5", "n = 6", ""),
    ("n = 5", "n = 6\nraise ValueError", ""),
    ("n = 5", "n = 5", ""),
]


@pytest.mark.parametrize(("first", "second", "said"), OLD)
def test_old_definitions_are_named(kernel, first, second, said):
    """What is bound by a cell that stopped, or no longer stands so, is looked at with a word of warning."""
    name = "f" if "def" in first else "n"
    kernel(first, "answer")
    kernel(second, "answer")
    shown, _ = kernel(f"form.check('{name}')")
    assert said in shown and ("↻" in shown) is bool(said), shown
    assert ("↻ changed" in kernel("form.overview()")[0]) is bool(said)


def test_a_cell_changed_after_it_was_run(kernel, tmp_path, monkeypatch):
    """Where the notebook's file is known, it is compared with what was run; an older file says nothing."""
    path = tmp_path / "ps1.ipynb"
    monkeypatch.setenv("JPY_SESSION_NAME", str(path))

    def save(code, words, when):
        marks = {"nbgrader": {"grade_id": "why"}}
        text = {"cell_type": "markdown", "metadata": marks, "source": f"<!-- your answer: why -->\n{FRAME}\n\n{words}"}
        path.write_text(json.dumps({"cells": [{"cell_type": "code", "metadata": {}, "source": code}, text]}))
        os.utime(path, (when, when))
        return kernel("form.overview()")[0]

    kernel("n = 5", "answer")
    later, earlier = time.time() + 60, time.time() - 60
    assert "↻ changed: its cell was changed after it was run" in save("n = 6", PLACE, later)
    assert "↻" not in save("n = 6", PLACE, earlier)
    assert "↻" not in save("n  =  5", PLACE, later)
    assert "ps1.ipynb: keep its name" in save("n = 5", PLACE, later)
    assert "– empty: as the notebook was saved last" in save("n = 5", PLACE, later)
    assert "✓ answered: as the notebook was saved last" in save("n = 5", "Since rows are independent.", later)


def test_a_traceback_has_the_frames_of_the_notebook(kernel):
    """Cell, line, function and text of each frame that the student wrote, and none of ours."""
    kernel("def helper(a):\n    return a.reshape(3, -1)")
    kernel("def f(x):\n    return helper(x)")
    shown, error = kernel("form.check('f')")
    assert error == ""
    said, outer, inner = shown.splitlines()
    assert said == "✗ f stopped with AttributeError: 'float' object has no attribute 'reshape'."
    assert outer == "  cell [3], line 2, in f: return helper(x)"
    assert inner == "  cell [2], line 2, in helper: return a.reshape(3, -1)"


def test_validate_passes_no_notebook(kernel, monkeypatch):
    """While nbgrader validates, what is malformed or missing stops its check, and the last check stops in any case."""
    monkeypatch.setenv("NBGRADER_EXECUTION", "validate")
    kernel("P = expression(r'17')\nn = 5.5")
    assert kernel("form.check('P')")[1] == ""
    assert "n is no whole number" in kernel("form.check('n')")[1]
    assert "f is not defined yet" in kernel("form.check('f')")[1]
    kernel("def f(x): return x")
    stopped = kernel("form.check('f')")[1]
    assert "no fault of yours" in stopped and "2 of 4 parts answered" in stopped and "Traceback" not in stopped
    assert kernel("form.overview()")[1] == ""
    monkeypatch.setenv("NBGRADER_EXECUTION", "autograde")
    assert kernel("form.overview()") == ("", "")


def test_nbgraders_validate(tmp_path, monkeypatch):
    """nbgrader itself: well-formed nonsense, and right answers, are not said to pass."""
    nbformat, validator = pytest.importorskip("nbformat"), pytest.importorskip("nbgrader.validator")
    from autograder.authoring import loading
    from autograder.authoring.source_notebook import build

    problems = Path(__file__).parents[1] / "data" / "typed" / "problems"
    problem = loading.load("languages", problems)
    notebook = build(problem, 1, root=problems)
    for cell in notebook["cells"]:
        cell["source"] = cell["source"].split("### BEGIN HIDDEN")[0]
    path = tmp_path / "languages.ipynb"
    nbformat.write(nbformat.from_dict(notebook), path)
    found = validator.Validator().validate(str(path))
    assert [cell["source"].split("\n")[-1] for cell in found["failed"]] == [f"form.check({problem.parts[-1].name!r})"]
    assert "no fault of yours" in found["failed"][0]["error"] and "6 of 6 parts" in found["failed"][0]["error"]


def test_an_answer_is_shown_by_the_names_of_its_own_part(kernel):
    """What another part declares is as strange in the preview as in the check under it; a stub shows nothing."""
    kernel("form.part('other', 'Another', 1, form.check_expression, domains={'x': 'real'})")
    assert kernel("P = expression(r'')") == ("", "")
    assert "x is not declared" in kernel("P = expression(r'beta x')")[0]
    assert "x is not declared" not in kernel("other = expression(r'2 x')")[0]
    assert "is not declared" not in kernel("P = expression(r'beta')\nother = expression(r'2 x')")[0]


TYPED = [
    (r'P = expression(r"e^(-beta "i")")', 'e^(-beta "i")'),
    ('P = expression(r"\ne^(-beta\n* i)\n")', "\ne^(-beta\n* i)\n"),
    ('P = expression(r"\\beta\\")', "\\beta\\"),
    (r'P = expression("\xi")  # my answer', r"\xi"),
    (r"P = expression(r'f'(x)')", "f'(x)"),
    ('P = expression(r"""a "" b""")', 'a "" b'),
    (r'P = expression(r"\frac{1}{\beta}")', r"\frac{1}{\beta}"),
    (r'P = "e^(-beta)"', "e^(-beta)"),
    ('P = expression("beta"\n  "+1")', "beta+1"),
]


@pytest.mark.parametrize(("source", "text"), TYPED)
def test_quotes_lines_and_backslashes_are_kept(kernel, source, text):
    """What Python cannot read for what stands in an answer's quotes is the text that was typed."""
    assert kernel(source)[1] == ""
    assert str(kernel.shell.user_ns["P"]) == text


@pytest.mark.parametrize(
    "source", ["P = expression(r''", "P = (", "P = expression(r'a') +", "if True:\nP = expression(r'a')", "%time 1"]
)
def test_other_faults_stay(source):
    """Nothing but quotes is mended, and what Python can read is left alone."""
    assert as_typed(source) == source


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("P = expression(r'')", set()),
        ("# todo\nP = expression('  ')", set()),
        ("P = matrix([['', ''], ['', '']])", set()),
        ("P = ...", set()),
        ("P = ''", set()),
        ("P = None", set()),
        ("P = expression(r'')\nP = expression('1')", {"P"}),
        ("P = 0", {"P"}),
        ("P = matrix([['', 'x']])", {"P"}),
        ("P = f()", {"P"}),
        ("def P(x): raise NotImplementedError", {"P"}),
    ],
)
def test_a_stub_answers_nothing(source, names):
    """An answer that stands elsewhere counts where the stub was left empty."""
    assert answered_names(source) == names


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (f"{FRAME}\n\n{PLACE}", ""),
        ("YOUR ANSWER HERE", ""),
        (f"{FRAME}\n", ""),
        (PLACE, ""),
        (f"{FRAME}\n\nRows.", "Rows."),
        (f"{FRAME}\n\n{PLACE}\n\nRows.", "Rows."),
        ("Rows.", "Rows."),
        (f"{FRAME} Rows.", "Rows."),
    ],
)
def test_written_answers_without_their_frame(text, said):
    """The frame and the place that is written over are no words of the student's."""
    assert written_text(text) == said


def test_long_messages_are_broken_between_words(capsys):
    """A notebook breaks lines within words: no line is longer than a usual window, and short ones stay as they are."""
    say(f"✗ P cannot be read:\n{'x + y  + ' * 7}\n{' ' * 60}^\n{'a number after a factor: ' * 9}")
    well_formed("P", "this is a number")
    well_formed("P", f"read as {', '.join(['12.75'] * 9)}")
    first, line, caret, *more, short, long, form = capsys.readouterr().out.splitlines()
    assert (first, line, caret) == ("✗ P cannot be read:", ("x + y  + " * 7).rstrip(), " " * 60 + "^")
    assert len(more) == 3 and max(map(len, more)) <= 80
    assert " ".join(map(str.strip, more)) == ("a number after a factor: " * 9).strip()
    assert short == "P: this is a number. (This cell does not check whether it is correct.)"
    assert long.endswith("12.75.") and form == "(This cell does not check whether it is correct.)"


def test_the_course_says_where_to_hand_in(kernel):
    """In its own words where it has some; else what is usual."""
    said = kernel("form.overview('Upload it in Moodle, \"PS 1\" & so on.')")[0]
    assert '3. Upload it in Moodle, "PS 1" & so on.' in said and "Assignments page" not in said
    assert "&amp; so on" in kernel.page()
    assert "Assignments page" in kernel("form.overview()")[0]
