"""Typed answers in a notebook: what the grader understood, or a caret under the fault; never whether it is right."""

import pytest

from autograder import student as form
from autograder.sandbox import Session
from autograder.student import preview

SETUP = """
from autograder import student as form
from autograder.student import *
form.declare(domains={"beta": "positive", "i": "nat"}, variables=("T", "U"), tensors=("W[J,K]", "x[K]"))
"""


@pytest.fixture(scope="module")
def shown():
    """What a cell shows in a real IPython shell, by kind of content."""
    with Session() as session:
        session.run(SETUP)

        def show(source):
            result = session.run(source)
            bundles = [output["data"] for output in result.outputs if "data" in output]
            text = "".join(output.get("text", "") for output in result.outputs)
            trace = "\n".join(line for output in result.outputs for line in output.get("traceback", ()))
            return (bundles[0] if bundles else {}), text, trace

        yield show


@pytest.mark.parametrize(
    ("source", "latex"),
    [
        ('P = expression("(1-e^(-beta)) e^(-beta i)")', r"\beta"),
        (r'P = expression(r"\frac{1}{1+e^{-\beta}}")', r"\frac"),
        ('t = growth("O(ln T + ln U)")', r"\ln"),
        ('y = equation("y[j] = W[j,K] x[K]")', "y"),
        ('m = matrix([["1", "beta"], ["-beta", "1"]])', "pmatrix"),
        (r'm = matrix(r"\begin{bmatrix} 1 & \beta \\ -\beta & 1 \end{bmatrix}")', "pmatrix"),
        ("m = matrix(\"[['1', 'beta']]\")", "pmatrix"),
        ('d = derivation("beta*i\\ni*beta")', "aligned"),
    ],
)
def test_an_answer_is_shown_as_mathematics(shown, source, latex):
    """An assignment alone shows the answer typeset, though nothing is its last expression."""
    bundle, _, trace = shown(source)
    assert trace == ""
    assert latex in bundle["text/latex"]
    assert bundle["text/markdown"].startswith("$$")


def test_the_indices_of_an_equation_are_named(shown):
    """The preview says which indices are free and which are summed."""
    bundle, _, _ = shown('y = equation("y[j] = W[j,K] x[K]")')
    assert "free: j" in bundle["text/markdown"]
    assert "summed: K" in bundle["text/markdown"]


@pytest.mark.parametrize(
    ("source", "fault"),
    [
        ('P = expression("(1-e^(-beta) e^(-beta i)")', "^"),
        ('P = expression("1-e^(-bta)")', "beta"),
        ('y = equation("y[j] = W[j,k] x[K]")', "k"),
        ('t = growth("O(T + ")', "^"),
        ('m = matrix("cos beta")', "write matrix"),
        ("m = matrix(5)", "write matrix"),
        ("m = matrix(['1', 'beta'])", "write matrix"),
    ],
)
def test_a_fault_has_a_caret_and_the_answer_is_kept(shown, source, fault):
    """What cannot be read is shown with where and why; the name is bound all the same, so that a person can see it."""
    bundle, _, trace = shown(source)
    assert trace == ""
    assert fault in bundle["text/plain"]
    name = source.split(" ")[0]
    assert shown(f"print({name})")[1].strip() in source


def test_the_visible_check_shows_the_reading_and_no_verdict(shown):
    """The cell under the answer reads it with the question's own names, right or wrong alike."""
    for typed in ("(1-e^(-beta)) e^(-beta i)", "beta"):
        shown(f'P = expression("{typed}")')
        bundle, text, trace = shown('form.check_expression("P", domains={"beta": "positive", "i": "nat"})')
        assert trace == ""
        assert "text/latex" in bundle
        assert "does not check whether it is correct" in text


def test_the_visible_check_stops_at_a_fault(shown):
    """It raises without a traceback of ours, with the caret."""
    shown('P = "1-e^(-beta"')
    _, _, trace = shown('form.check_expression("P", domains={"beta": "positive", "i": "nat"})')
    assert "P cannot be read" in trace
    assert "^" in trace
    assert "Traceback" not in trace


def test_without_declarations_nothing_is_guessed(capsys, monkeypatch):
    """Outside a notebook whose first cell was run, an answer says so instead of showing a fault of its own."""
    monkeypatch.setattr(preview, "_DECLARED", [])
    assert form.expression("x+1") == "x+1"
    assert "first cells" in capsys.readouterr().out


def test_what_several_parts_declare_is_united(monkeypatch):
    """A later part's variables and tensors do not take away an earlier part's."""
    monkeypatch.setattr(preview, "_DECLARED", [])
    preview.declare(variables=("n", "d"))
    preview.declare(variables=("n", "k"), tensors=("W[J,K]",), sequences="w")
    preview.declare(tensors=("x[K]", "W[J,K]"), sequences="s w", domains={"n": "posint"})
    assert not form.growth("O(n d + k)")._shown.fault
    assert not form.equation("y[j] = W[j,K] x[K]")._shown.fault
    assert preview.declared_together("sequences") == {"sequences": "w s"}
    assert form.growth("O(m)")._shown.fault
