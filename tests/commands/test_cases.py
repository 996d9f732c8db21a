"""Tables of cases: a faulty row is counted and named, and stops no other; every typed kind can be a row."""

import json

import pytest
from click.testing import CliRunner

from autograder.cli import main
from autograder.commands.cases import decide

# kind, reference, answer, what else the row says, result, words
ROWS = [
    ("expression", "1/factorial(3)", "1/6", {}, "right", ""),
    ("expression", "1/factorial(204)", "1/factorial(205)", {"verdict": False}, "right", ""),
    ("expression", "floor(x)", "floor(x)", {}, "right", ""),
    ("expression", "atan(x) + log_2(y) + log10(z)", "log10(z) + arctan(x) + log2(y)", {}, "right", ""),
    ("expression", r"\frac{\beta}{2}", "beta/2", {}, "right", ""),
    ("expression", "x + 1", "x + 2", {}, "false_reject", ""),
    ("expression", "x + 1", "1 + x", {"verdict": False}, "false_accept", ""),
    ("expression", "x + 1", "1 + ) x", {}, "unreadable", ""),
    ("expression", "x +", "x", {}, "faulty", "cannot be read"),
    ("expression", "x", "x", {"domains": {"x": [-5, -0.5]}}, "faulty", "the domain of x is [-5,-0.5], no text"),
    ("expression", "x", "x", {"domains": {"x": "[-5,-0.5]"}}, "right", ""),
    ("expression", "x", "x", {"domains": ["x"]}, "faulty", "write a table"),
    ("expression", "x", "x", {"domains": {"x": "rael"}}, "faulty", "did you mean real?"),
    ("expression", 7, "7", {}, "faulty", ""),
    ("matrix", [["1", "x"]], [["1", "x + 0"]], {"domains": {"x": "real"}}, "right", ""),
    ("matrix", [["1", "x"]], [["1", "2 x"]], {"domains": {"x": "real"}}, "false_reject", ""),
    ("expresion", "x", "x", {}, "faulty", "did you mean expression?"),
    ("choice", "a", "a", {}, "faulty", "there is no typed answer of kind 'choice'"),
]


@pytest.mark.parametrize(("kind", "reference", "answer", "more", "result", "words"), ROWS)
def test_rows(kind, reference, answer, more, result, words):
    """Functions are no variables; what the row's author wrote wrongly is a sentence."""
    case = decide({"kind": kind, "reference": reference, "answer": answer, "verdict": True, **more})
    assert case.result == result, case.said
    assert words in case.said


@pytest.mark.parametrize("left_out", ["reference", "answer", "verdict"])
def test_a_row_that_lacks_something(left_out):
    """It says what is missing."""
    row = {"kind": "expression", "reference": "x", "answer": "x", "verdict": True}
    del row[left_out]
    assert decide(row).said == f"the row has no {left_out}"


def test_a_faulty_row_stops_no_other():
    """The figures of the others are printed, the faulty row with its line and reason, and the command ends with 1."""
    good = {"kind": "expression", "reference": "x", "answer": "x", "verdict": True}
    rows = [good, {**good, "reference": "x +"}, {}, good]
    text = "\n".join(json.dumps(row) if row else "" for row in rows)
    run = CliRunner().invoke(main, ["decide", "--cases", "-", "--json"], input=text, env={"COLUMNS": "200"})
    figures = next(json.loads(line) for line in run.stdout.splitlines() if line.startswith("{"))
    assert (figures["right"], figures["faulty"], run.exit_code) == (2, 1, 1)
    assert "line 2: faulty (expression): x" in run.output and "cannot be read" in run.output
    run = CliRunner().invoke(main, ["decide", "--cases", "-"], input=json.dumps(good))
    assert run.exit_code == 0
