"""The second route: closed forms are read and computed again without anything of ours, and both must agree."""

from __future__ import annotations

import pytest

from autograder import Derivation, Expression, Matrix, Problem
from autograder.audit.part import Findings
from autograder.audit.problem import audit
from autograder.audit.second_route import read_again
from autograder.audit.sympys_reading import tree_of
from autograder.audit.values_again import compiled, value
from autograder.maths.expression import elementary, parsing
from autograder.maths.expression.expression_grammar import Grammar


def found(part):
    """What the second route says about one part."""
    findings = Findings(where="problems/t, part 'f'")
    read_again(part, {}, findings)
    return findings


def expression(reference, *equivalents, **words):
    """A part with its variables."""
    words = {"domains": {"x": "real", "b": "positive", "n": "posint"}, **words}
    return Expression("f", points=1, reference=reference, equivalents=list(equivalents), **words)


READ = [
    ("1/2 n (n+1)", r"\binom{n+1}{2}", r"\sum_{i=1}^{n} i", "sum(i, i, 1, n)"),
    ("ln(1+e^b)", "softplus(b)", r"\ln\left(1+e^{b}\right)", "-ln(sigma(-b))"),
    ("cases(x, x > 0; 0, otherwise)", "relu(x)", "max(x, 0)", "(x+|x|)/2"),
    ("n!", "prod(i, i, 1, n)", r"\prod_{i=1}^{n} i", "factorial(n)"),
    ("n mod 3", "n - 3 floor(n/3)", "n % 3"),
    ("e^(-b)/(1-e^(-b))", "sum(e^(-b i), i, 1, inf)", "1/(e^b-1)"),
    ("e^(-2 b)/((1-e^(-b))(1-e^(-2 b)))", "sum(floor(i/2) e^(-b i), i, 0, inf)"),
    ("1/(1-e^(-b))^2", "sum(sum(e^(-b (i+j)), i, 0, inf), j, 0, inf)"),
]


@pytest.mark.parametrize("texts", READ)
def test_each_closed_form_is_read_again(texts):
    """Both routes agree on texts in ASCII and LaTeX, and every one is read."""
    findings = found(expression(*texts))
    assert not findings.faults and not findings.notes
    assert list(findings.reread.values()) == [""] * len(findings.reread)


def test_matrices_and_derivations_are_read_again():
    """Entry by entry, line by line."""
    domains = {"x": "real"}
    matrix = Matrix("f", points=1, reference=[["cos(x)", "-sin(x)"]], equivalents=[[["sin(x+pi/2)", "sin(-x)"]]],
                    domains=domains)  # fmt: skip
    chain = Derivation("f", points=1, start="(x-1)(x+1)", reference="x^2-1", model="(x-1)(x+1)\n= x^2-1",
                       domains=domains)  # fmt: skip
    for part in (matrix, chain):
        assert not found(part).faults and set(found(part).reread.values()) == {""}


def test_a_misreading_of_ours_is_named(monkeypatch):
    """Where our grammar drops a sign, the sentence shows both readings and a point."""
    term = Grammar.term

    def without_its_sign(self):
        self.accept("-")
        return term(self)

    monkeypatch.setattr(Grammar, "term", without_its_sign)
    parsing.parse_chain.cache_clear()
    try:
        (fault,) = found(expression("-x^2")).faults.values()
    finally:
        parsing.parse_chain.cache_clear()
    assert "the reference '-x^2' is read here as x^2 = " in fault and "sympy reads -x**2 = " in fault


def test_a_wrong_function_of_ours_is_named(monkeypatch):
    """Where our hyperbolic tangent is another function, the values differ."""
    monkeypatch.setitem(elementary.REAL, "tanh", elementary.atan)
    (fault,) = found(expression("tanh(x)")).faults.values()
    assert "the reference 'tanh(x)' is read here as tanh(x) = " in fault


def test_an_equivalent_that_is_none_is_named():
    """Without our own comparison."""
    (fault,) = found(expression("x^2", "x^2 + 10^(-9)*b")).faults.values()
    assert "equivalent" in fault and "where the reference is" in fault


SUMS = [
    ("sum(1/i^2, i, 1, inf)", "pi^2/6"),  # it falls slowly: mpmath extrapolates
    ("sum((-1)^i/(i+1), i, 0, inf)", "ln(2)"),
    ("sum(floor(i/3)/2^i, i, 0, inf)", "2/7"),  # many terms are zero at first
    ("sum(e^(-i/50), i, 0, inf)", "1/(1-e^(-1/50))"),
    ("prod(1-2^(-i), i, 2, inf)", "2*prod(1-2^(-i), i, 1, inf)"),
    ("sum(cases(1, i = 7; 0, otherwise), i, 0, 9)", "1"),
]


@pytest.mark.parametrize(("text", "worth"), SUMS)
def test_endless_sums_and_products(text, worth):
    """They are worth what is known of them to many digits."""
    one, other = (value(compiled(tree_of(each, {"domains": {}})), {}) for each in (text, worth))
    assert abs(one - other) < 1e-20


def test_the_audit_counts_what_it_read_over_all_variants():
    """One of three equivalents is not read in one of the variants."""
    choose = lambda p: r"{2 \\choose 1} n" if p["K"] == 2 else "2 n"  # noqa: E731
    part = expression("2 n", "n+n", "2 n + 0", choose)
    problem = Problem(title="T", version=1, source="s", draw=lambda rng: {"K": int(rng.integers(2, 4))}, parts=[part],
                      slug="t", setup="")  # fmt: skip
    (found,) = audit(problem, "{{K}}\n\n## Part {#f}\n\nDo it.\n", variants=2).parts
    assert found.reread == (2, 3) and sum("is not read a second time" in note for note in found.notes) == 1


def test_what_is_not_read_is_listed_with_its_reason():
    """An equivalent is a note, a reference a fault."""
    findings = found(expression("n", r"{n \choose 1}"))
    (note,) = findings.notes.values()
    assert "is not read a second time (LaTeX's cases and choose are not translated)" in note and not findings.faults
    assert found(expression(r"{n \choose 1}")).faults


def test_values_that_a_question_excludes_are_noted():
    """Negative counts and missing values are noted, unless a constraint excludes them."""
    counts = {"E": "posint", "K": "posint"}
    (note,) = found(expression("E-K", domains=counts)).notes.values()
    assert "the reference is -" in note and "constraints=" in note
    assert not found(expression("E-K", domains=counts, constraints=["K<=E"])).notes
    (note,) = found(expression("sqrt(E-K)", domains=counts)).notes.values()
    assert "no real value at" in note
