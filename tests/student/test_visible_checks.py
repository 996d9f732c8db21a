"""What grading will call a fault of form, the check under the answer says first; it never says what is right."""

import functools

import numpy as np
import pytest
import sympy
import torch

from autograder import Derivation, Equation, Expression, Matrix, Module, Number
from autograder import student as form
from autograder.errors import AuthorError, Unreadable
from autograder.grading.judge import judge_part
from autograder.protocol.answering import answer
from autograder.student import Malformed, preview

REAL = {"x": "real", "y": "real"}


def said(cell, **names):
    """What stops the visible check, or what it prints."""
    names = {"form": form, **names}
    try:
        exec(cell, names)
    except Malformed as error:
        return error.code, error.message
    return "ok", ""


RULES = [
    (Expression, {"forbid": ("sum",)}, "sum(x, i, 1, 3)", "form", "e: write the answer without sum."),
    (Expression, {"forbid": ("sum",)}, "3 x", "ok", ""),
    (Expression, {"forbid": ("sum",)}, "17 y", "ok", ""),
    (Expression, {"forbid": ("exp",)}, "exp(x)", "form", "without exp"),
    (Expression, {"forbid": ("P",), "definitions": {"P": "x + 1"}}, "P + 1", "form", "without P"),
    (Expression, {"forbid": ("P",), "definitions": {"P": "x + 1"}}, "x + 2", "ok", ""),
    (Expression, {"require": ("y",)}, "x", "form", "must contain y"),
    (Expression, {"require": ("y",)}, "x y", "ok", ""),
    (Expression, {"functions": ("ln",)}, "exp(x)", "undeclared", "exp"),
    (Expression, {"functions": ("exp",)}, "exp(x)", "ok", ""),
    (Expression, {"forbid": ("sum",)}, "sum(x, i, 1,", "syntax", "^"),
    (Expression, {"forbid": ("sum",)}, "sum(x, i, 1, 3) = 3 x", "ok", ""),
    (Expression, {"forbid": ("sum",)}, "3 x = sum(x, i, 1, 3)", "form", "without sum"),
    (Expression, {"forbid": ("sum",)}, "ln(prod(e^x, i, 1, 3))", "form", "without prod"),
    (Derivation, {"forbid": ("sum",), "start": "x + y"}, "sum(x, i, 1, 3)", "ok", ""),
    (Derivation, {"start": "x + y"}, "x + y\n<= y + x", "form", "line 2: the question asks for equality, not for <="),
    (Derivation, {"start": "x + y", "direction": "<="}, "x + y\n<= y + x", "ok", ""),
    (Derivation, {"start": "x + y", "direction": "<="}, "x + y >= y + x", "form", "only = and <=, not for >="),
    (Matrix, {}, [], "missing", "e is not answered yet"),
    (Matrix, {}, [["", ""], ["", ""]], "missing", "e is not answered yet"),
    (Matrix, {}, [["x", "y"]], "shape", "e: The matrix is 1 by 2, but it should be 2 by 2."),
    (Matrix, {}, [["x", "y"], ["1"]], "shape", "2 by 2, but it should be 2 by 2"),
    (Matrix, {}, [["x", "y"], ["0", "7"]], "ok", ""),
    (Matrix, {"forbid": ("exp",)}, [["exp(x)", "0"], ["0", "y"]], "form", "row 1, column 1: write the answer without"),
    (Matrix, {"forbid": ("sum",)}, [["S = x", "0"], ["0", "sum(x, i, 1, 3)"]], "form", "row 2, column 2"),
    (Matrix, {"alternatives": [[["x"]]]}, [["x"]], "ok", ""),
]


@pytest.mark.parametrize(("kind", "told", "answer", "code", "words"), RULES)
def test_rules_on_the_form(kind, told, answer, code, words):
    """What is forbidden or asked for, and how many rows and columns: grading's words, before anything is handed in."""
    reference = [["x", "0"], ["0", "y"]] if kind is Matrix else "x + y"
    part = kind("e", points=1, domains=REAL, reference=reference, **told)
    found, message = said(part.local_check({}), e=answer)
    assert (found, words in message) == (code, True), message
    if code in ("form", "shape") and kind is not Derivation:
        decision = part.decide(reference, answer, {})
        assert decision.outcome == "different" and decision.code in (code, f"entry_{code}")


READ_ALIKE = [
    ("x + y", True),
    ("a = x + y", True),
    ("f(x) = x + y = y + x", True),
    (r"S_2 = \frac{x}{1} + y.", True),
    (r"\boxed{x + y}", True),
    ("x + y,", True),
    (r"x + y \\", True),
    ("x + = y", False),
    ("x + y = ", False),
    ("x <= y", False),
    ("x + z", False),
]


@pytest.mark.parametrize(("text", "readable"), READ_ALIKE)
@pytest.mark.parametrize("kind", [Expression, Matrix])
def test_preview_check_and_grading_read_alike(kind, text, readable):
    """What one of the three reads, the others read: there is one reader, and one list of variables."""
    answer, reference = (text, "x + y") if kind is Expression else ([[text]], [["x + y"]])
    part = kind("e", points=1, domains=REAL, reference=reference, constraints=["x<=y"])
    doors = {
        "preview": lambda: kind.show(answer, **part.declarations({})),
        "grading": lambda: part.decide(reference, answer, {}),
    }
    for read in doors.values():
        if readable:
            read()
        else:
            with pytest.raises(Unreadable):
                read()
    assert (said(part.local_check({}), e=answer)[0] == "ok") == readable


@pytest.mark.parametrize(
    ("reference", "rtol", "given", "code"),
    [
        (7, 0.0, 8, "ok"),
        (7, 0.0, 8.0, "ok"),
        (7, 0.0, "8", "ok"),
        (7, 0.0, torch.tensor(8.0), "ok"),
        (7, 0.0, 7.5, "whole"),
        (7, 0.0, "7.5", "whole"),
        (7, 0.0, float("nan"), "whole"),
        (7, 0.0, float("inf"), "whole"),
        (7, 0.01, 7.5, "ok"),
        (7.5, 0.0, 7.25, "ok"),
        (7, 0.0, [7], "type"),
    ],
)
def test_whole_numbers(reference, rtol, given, code):
    """Where the stub asks for a whole number, another one is malformed, and any whole one is not."""
    part = Number("n", points=1, rtol=rtol, reference=lambda p: reference)
    assert said(part.local_check({}), n=given)[0] == code


class Cell(torch.nn.Module):
    """Two matrices."""

    def __init__(self, size):
        super().__init__()
        self.W_h = torch.nn.Parameter(torch.zeros(size, size))
        self.W_x = torch.nn.Parameter(torch.zeros(size, size))

    def forward(self, x):
        """Once each."""
        return x @ self.W_h + x @ self.W_x


class Misnamed(Cell):
    """One letter."""

    def __init__(self, size):
        super().__init__(size)
        self.W_H = self.W_h
        del self.W_h

    def forward(self, x):
        """Once each."""
        return x @ self.W_H + x @ self.W_x


def of_a_module(rng, p):
    """One row."""
    return {"init": {"size": 3}, "call": {"x": torch.ones(1, 3, dtype=torch.float64)}}


def test_the_names_of_a_modules_parameters():
    """What the statement calls them, what is missing, and what is there beside."""
    from autograder import close

    part = Module("Cell", points=1, inputs=of_a_module, reference=Cell, checks=[close()])
    assert said(part.local_check({}), Cell=Cell) == ("ok", "")
    code, message = said(part.local_check({}), Cell=Misnamed)
    assert code == "parameters"
    assert message == "Cell: the parameters are called W_h, W_x; it has no W_h and it has W_H beside."


@pytest.mark.parametrize(
    ("given", "what", "read"),
    [
        (sympy.Symbol("x") * 2, "a Mul", True),
        (np.array([1.0]), "a numpy array", False),
        (lambda x: 2 * x, "a function", False),
        ("2*x", "", True),
        (2, "", True),
        (0.5, "", True),
    ],
)
def test_a_formula_outside_quotes(given, what, read, monkeypatch, capsys):
    """It is kept, read where it can be, and the student reads that it belongs in quotes; a text does not."""
    monkeypatch.setattr(preview, "_DECLARED", [{"domains": REAL}])
    answer = form.expression(given)
    told = capsys.readouterr().out
    assert isinstance(answer, str) and ("cannot be read" not in told) is read
    assert (f"This is {what}" in told and "put the formula in quotes" in told) is bool(what)


@pytest.mark.parametrize("given", [lambda x: x, ["x"]])
def test_an_answer_without_its_word_outside_quotes(given):
    """The check under it says the same."""
    part = Expression("e", points=1, domains=REAL, reference="x")
    code, message = said(part.local_check({}), e=given)
    assert code == "type" and "put the formula in quotes" in message


@pytest.mark.parametrize(
    ("answer", "number", "line", "column"),
    [
        ("x + y\n= x + ) y", 2, "= x + ) y", 6),
        ("\n  x + y\n\n    =   x + ) y  \n= x", 2, "    =   x + ) y  ", 12),
        ("x + ) y", 1, "x + ) y", 4),
        ("x + ) y\r\nx", 1, "x + ) y", 4),
    ],
)
def test_the_caret_of_a_derivation(answer, number, line, column):
    """It stands under the fault in the student's own line, blanks and equals sign included."""
    part = Derivation("d", points=1, domains=REAL, start="x + y", reference="x + y")
    code, message = said(part.local_check({}), d=answer)
    shown, caret, sentence = message.splitlines()[1:4]
    assert shown.rstrip() == line.rstrip() and caret.index("^") == column, message
    assert sentence.startswith(f"line {number}: ") and code != "ok"


@pytest.mark.parametrize("given", [42, "42", np.int64(42), np.array(42), torch.tensor(42), sympy.Integer(42), 42.0])
def test_a_number_in_any_dress(given):
    """What grading takes for a number, the check takes for one."""
    part = Number("n", points=1, reference=lambda p: 42)
    assert said(part.local_check({}), n=given)[0] == "ok"
    assert judge_part(part, {}, functools.partial(answer, namespace={"n": given}), (1,)).standing == "earned"


GIVEN = "z[j] = W[j,K] x[K]\nv[j] = tanh(z[j])"
NAMED = [
    (GIVEN, "y[j] = tanh(z[j])", "ok", "earned"),
    (GIVEN, "y[j] = v[j]", "ok", "earned"),
    (GIVEN, "z[j] = W[j,K] x[K]\ny[j] = tanh(z[j])", "ok", "earned"),
    (GIVEN, "z[j] = 2 W[j,K] x[K]\ny[j] = tanh(z[j]/2)", "ok", "earned"),
    (GIVEN, "y[j] = tanh(W[j,K] x[K])", "ok", "earned"),
    (GIVEN, "y[j] = z[j]", "ok", "lost"),
    (GIVEN, "y[j] = tanh(u[j])", "undefined", "lost"),
    (GIVEN, "y[j] = sum_k tanh(z[j,k])", "arity", "lost"),
    (GIVEN, "u[j] = tanh(z[j])", "no_target", "lost"),
    (GIVEN, "y[j] = tanh(z[j]", "syntax", "held"),
    ("", "y[j] = tanh(z[j])", "undefined", "lost"),
    ("", "z[j] = W[j,K] x[K]\ny[j] = tanh(z[j])", "ok", "earned"),
]


@pytest.mark.parametrize(("given", "answer_text", "code", "standing"), NAMED)
@pytest.mark.parametrize("function", [False, True])
def test_names_that_the_question_defines_by_equations(
    given, answer_text, code, standing, function, monkeypatch, capsys
):
    """Check, preview and grading know them alike, and no others; an answer may define them anew."""
    part = Equation(
        "y", points=1, tensors=["W[J,K]", "x[K]"], target="y", reference="y[j] = tanh(W[j,K] x[K])",
        given_equations=(lambda p: given) if function else given,
    )  # fmt: skip
    assert said(part.local_check({}), y=answer_text)[0] == code
    assert judge_part(part, {}, functools.partial(answer, namespace={"y": answer_text}), (1,)).standing == standing
    monkeypatch.setattr(preview, "_DECLARED", [part.declarations({}), {"tensors": ("A[I,J]",)}])
    capsys.readouterr()
    shown = form.equation(answer_text)._shown
    assert bool(shown.fault) is (code not in ("ok", "no_target"))
    if not shown.fault and "\n" not in answer_text:
        assert [note.split()[0] for note in shown.notes] == [answer_text[0]]


def test_given_equations_of_several_parts(monkeypatch):
    """Each part's are known in its notebook; where two define one name otherwise, an answer is read by one of them."""
    one = Equation("a", points=1, tensors=["x[K]"], target="a", reference="a = 2 s", given_equations="s = sum_k x[k]")
    other = Equation("b", points=1, tensors=["x[K]"], target="b", reference="b[k] = s[k]", given_equations="s[k]=2x[k]")
    monkeypatch.setattr(preview, "_DECLARED", [one.declarations({}), other.declarations({})])
    assert not form.equation("a = 2 s")._shown.fault
    assert not form.equation("b[k] = s[k]")._shown.fault
    assert form.equation("b[k] = t[k]")._shown.fault


def test_an_open_question_gives_no_equations():
    """Its demands see an answer's own equations alone, which its author hears."""
    with pytest.raises(AuthorError, match="'y' has demands"):
        Equation("y", points=1, reference="y = 1", target="y", given_equations="z = 1", demands=lambda answer, p: [])
