"""Answers of somebody who does not know it: a part that pays for one is a fault, a part that holds it is not."""

from pathlib import Path

import pytest

from autograder import Choice, Equation, Expression, Growth, Matrix, Number, Problem
from autograder.audit import part as examined
from autograder.audit.problem import audit
from autograder.authoring.loading import load, statement_text

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
    problem = Problem(title="T", version=1, source="s", parts=[part], slug="t", setup="")
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
    assert ["part 'first'" in fault and "softmax = '1'" in fault for fault in said()][-1:] == [True]
