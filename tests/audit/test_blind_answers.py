"""Answers of somebody who does not know it: a part that pays for one is a fault, a part that holds it is not."""

import re
from dataclasses import fields
from pathlib import Path

import pytest
import torch
from torch import nn

from autograder import (
    Choice,
    Derivation,
    Equation,
    Expression,
    Function,
    Growth,
    Matrix,
    Module,
    Number,
    Problem,
    close,
    tensors,
)
from autograder.audit import part as examined
from autograder.audit.problem import audit
from autograder.authoring.loading import load, statement_text
from autograder.core import Verdict
from autograder.maths.derivation import Milestone

SETUP = "import torch\nfrom torch import nn\n"
SUM = "$$\\sum_{n=0}^{\\infty} x^n$$"


def seven(p):
    """Seven."""
    return 7


def yes(p):
    """Yes."""
    return "Yes."


def no(p):
    """No."""
    return "No."


def faults(part, shown="Do it."):
    """What the audit says of answers without knowledge to one part."""
    problem = Problem(title="T", version=1, source="s", parts=[part], slug="t", setup=SETUP)
    report = audit(problem, f"T.\n\n## Part {{#{part.name}}}\n\n{shown}\n", variants=1)
    assert all("without knowledge" in fault for fault in report.faults), report.faults
    return len(report.faults)


GEOMETRIC = {"points": 1, "domains": {"x": "unit"}, "reference": "1/(1-x)"}
CASES = {
    "the question is its own answer": (Expression("a", **GEOMETRIC), SUM, 1),
    "it is forbidden": (Expression("a", **GEOMETRIC, forbid=["sum"]), SUM, 0),
    "it asks for something else": (Expression("a", points=1, domains={"x": "unit"}, reference="1/(1+x)"), SUM, 0),
    "far and single points": (Expression("a", points=1, domains={"x": "real", "n": "nat"}, reference="x+n"), "", 0),
    "a tolerance that admits zero": (
        Expression("a", points=1, domains={"x": "real"}, reference="x^2+1", tolerance=1.0), "", 3),
    "a tolerance that does not": (
        Expression("a", points=1, domains={"x": "real"}, reference="x^2+1", tolerance=0.5), "", 0),
    "a constant is right": (Expression("a", points=1, domains={"x": "real"}, reference="0"), "", 0),
    "a number within its tolerance of zero": (Number("a", points=1, reference=seven, rtol=1.0), "", 2),
    "a number": (Number("a", points=1, reference=seven, rtol=0.01), "", 0),
    "a choice": (Choice("a", points=1, reference=yes, mistakes=[no]), "", 0),
    "a bound": (Growth("a", points=1, variables="n d", reference="O(n d)"), "$$n + d$$", 0),
    "a bound that the statement shows": (Growth("a", points=1, variables="n d", reference="O(n d)"), "$$n d$$", 1),
    "a bound that is one": (Growth("a", points=1, variables="n d", reference="O(1)"), "", 0),
    "a matrix": (Matrix("a", points=1, domains={"x": "real"}, reference=[["x", "1"], ["0", "x"]]), "", 0),
    "an equation": (
        Equation("a", points=1, tensors=["W[J,K]", "x[K]"], target="y", reference="y[j] = tanh(W[j,K] x[K])"), "", 0),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_what_pays_is_a_fault(case):
    """Each row that pays stands beside one that does not."""
    part, shown, number = CASES[case]
    assert faults(part, shown) == number


def test_an_earlier_name_bound_again(monkeypatch):
    """It carries nothing; where it did, the audit would say so."""
    root = Path(__file__).parents[1] / "data" / "typed" / "problems"
    problem, text = load("languages", root), statement_text("languages", root)

    def said():
        return [fault for fault in audit(problem, text, variants=1).faults if "before it" in fault]

    assert said() == []
    monkeypatch.setattr(examined, "carrying", lambda part, ask, before: ask)
    shown = said()
    assert all("part 'first'" in fault for fault in shown) and any("softmax = '1'" in fault for fault in shown)


def doubled(x):
    """Double x."""
    return 2 * x


def numbers(rng, p):
    """One vector."""
    return tensors(rng, {"N": 3}, x="N")


class Same(nn.Module):
    """A scale for each entry."""

    def __init__(self, N):
        super().__init__()
        self.scale = nn.Parameter(torch.zeros(N))

    def forward(self, x):
        """Scale x."""
        return self.scale * x


def modules(rng, p):
    """One vector, and how many entries it has."""
    return {"init": {"N": 3}, "call": tensors(rng, {"N": 3}, x="N")}


def paying(kind, *arguments, **words):
    """A part of that kind which pays for whatever is handed in."""

    class Paying(kind):
        def judge(self, p, ask, key):
            return [Verdict(check=self.kind, ok=True, code="ok")]

        def judging(self, p, ask, key):
            yield from self.judge(p, ask, key)

        def weights(self, verdicts):
            return [1.0]

    return Paying(*arguments, points=1, **words)


FORMULA = "$$\\tanh(x)$$ where $x + 1$ and $x$."
COPIED = {"a formula of the statement, '\\\\tanh(x)'", "a formula of the statement, 'x + 1'"}
CONSTANT = {"0", "1", "sum(0, n, 0, inf)", "0*ln(0)"}
FAR = {"+ floor(1/(1+(x-12345)^2))", "+ 0^abs(x-123456789)", "+ relu(x-10^50)", "+ 0*ln(0)", "+ ln(0) - ln(0)"}
OF_TENSORS = {"tensors": ["x[K]", "W[J,K]"], "target": "y", "reference": "y[j] = tanh(sum_k W[j,k] x[k])",
              "given_equations": "z[j] = sum_k W[j,k] x[k]"}  # fmt: skip
NOWHERE = {"the given line", "the end alone", "given, end"}
# For each kind: a part that pays for everything, and the doors that the audit must find open.
OPEN = {
    "expression": (
        paying(Expression, "a", domains={"x": "real"}, reference="x^2", definitions={"S": "x+x"}),
        {*COPIED, *CONSTANT, *(f"the answer {text}" for text in FAR),
         *(f"an abbreviation of the question, {text!r}" for text in ("S", "x+x"))}),
    "matrix": (
        paying(Matrix, "a", domains={"x": "real"}, reference=[["x", "x^2"]]),
        {*(f"{text} everywhere" for text in CONSTANT), *(f"the answer, its last entry {text}" for text in FAR)}),
    "equation": (
        paying(Equation, "a", **OF_TENSORS),
        {*COPIED, "the question's own equations",
         *(f"{text} everywhere" for text in ("0", "1", "y[j]", "0*ln(0)", "ln(0)-ln(0)", "y[j] - y[j]")),
         "the answer + 0*ln(0)", "the answer + ln(0) - ln(0)"}),
    "growth": (
        paying(Growth, "a", variables="n d", reference="O(n d)"),
        {*COPIED, "0", "1", "O(0)", "O(1)", "O(inf)", "O(sum(0, i, 1, inf))", "O(0*ln(0))"}),
    "derivation": (
        paying(Derivation, "a", domains={"x": "real"}, start="cos(x+x)", reference="1 - 2*sin(x)^2",
               model="cos(x+x)\n= cos(x)*cos(x) - sin(x)*sin(x)\n= 1 - 2*sin(x)^2",
               milestones=[Milestone("waves of x alone", has=["x in cos", "x in sin"])]),
        {*COPIED, "0", "1", "0 = 0", "given, 0 = 0", "an empty sum", "an empty sum, the end",
         "given, an empty sum, the end", *(f"given, given {text}" for text in ("+0", "*1", "+ 0*ln(0)")),
         *(f"given, the end {text}" for text in FAR), *NOWHERE, "lines about constants", "the given line padded",
         "given, lines about constants", "given, wrong, wrong rewritten",
         *(f"given, …{text}, end" for text in ("+0", "*1", "+ln(1)", "+sin(0)"))}),
    "derivation of tensors": (
        paying(Derivation, "a", tensors=["A[I,J]", "B[J,K]", "x[K]"], start="y[i] = C[i,K] x[K]",
               given_equations="C[i,k] = A[i,J] B[J,k]\nv[j] = B[j,K] x[K]", reference="y[i] = A[i,J] v[J]",
               milestones=[Milestone("B is written", has=["B"])], forbid=["C", "B"],
               model="y[i] = C[i,K] x[K]\n= A[i,J] B[J,K] x[K]\n= A[i,J] v[J]"),
        {*COPIED, "0", "1", "0 = 0", "given, 0 = 0", *NOWHERE}),
    "number": (paying(Number, "a", reference=seven), {"0", "1", "-1", "inf"}),
    "choice": (paying(Choice, "a", reference=yes, mistakes=[no]),
               {"all letters at once", "a list of all letters", "a number"}),
    "function": (
        paying(Function, "a", reference=doubled, inputs=numbers, checks=[close()]),
        {"ones of the right shape", "infinity of the right shape", "not a number of the right shape",
         "zeros of the right shape", "the first argument", "a function that returns None"}),
    "module": (
        paying(Module, "a", reference=Same, inputs=modules, checks=[close()]),
        {"ones of the right shape", "infinity of the right shape", "not a number of the right shape",
         "zeros of the right shape", "the first argument", "a module that returns None"}),
}  # fmt: skip


@pytest.mark.parametrize("kind", OPEN)
def test_every_door_is_tried_on_every_kind(kind):
    """A part that pays for everything is told of each door that there is to its kind."""
    part, doors = OPEN[kind]
    problem = Problem(title="T", version=1, source="s", parts=[part], slug="t", setup=SETUP)
    report = audit(problem, f"T.\n\n## Part {{#{part.name}}}\n\n{FORMULA}\n", variants=1)
    said = [re.split(r"an answer without knowledge, |a trivial answer, ", fault)[-1] for fault in report.faults]
    found = {sentence.rsplit(", earns ", 1)[0] for sentence in said}
    assert doors <= found, sorted(doors - found)


@pytest.mark.parametrize("kind", OPEN)
def test_no_door_is_open(kind):
    """The same part, marked as it is, pays for none of them."""
    part, _ = OPEN[kind]
    words = {item.name: getattr(part, item.name) for item in fields(part) if item.init and item.name != "name"}
    assert faults(type(part).__mro__[1](part.name, **words), FORMULA.replace("x + 1", "x + 2")) == 0
