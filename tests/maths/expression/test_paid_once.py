"""A comparison that was made before is not made again, and costs what it has cost."""

import pytest

from autograder.maths.expression import comparing, parse
from autograder.maths.expression.budget import UNITS, Budget, Exhausted, Paid
from autograder.maths.expression.options import Options

QUESTION = Options(domains={"x": "positive", "n": "posint"})
LINES = [
    ("(x+1)^2", "x^2 + 2*x + 1", "agree"),
    ("(x+1)^2", "x^2 + 2*x", "refuted"),
    ("sum(x^k, k, 0, n)", "(x^(n+1) - 1)/(x - 1)", "agree"),
]


def compared(one, other, budget):
    """What a comparison of two lines finds."""
    lines = (parse(text, domains=QUESTION.domains).node for text in (one, other))
    return comparing.compare(QUESTION, *lines, budget)


@pytest.fixture(autouse=True)
def forgetting(monkeypatch):
    """Nothing was compared before."""
    monkeypatch.setattr(comparing, "_FOUND", Paid())


@pytest.mark.parametrize(("one", "other", "kind"), LINES)
def test_again_is_free_of_work_and_costs_the_same(one, other, kind, monkeypatch):
    """The second time nothing is computed; finding and budget are those of the first time."""
    budget, again = Budget(), Budget()
    first = compared(one, other, budget)
    monkeypatch.setattr(comparing.Comparison, "find", None)
    assert compared(one, other, again) is first
    assert first.kind == kind and again.left == budget.left < UNITS


@pytest.mark.parametrize("share", [0.3, 0.9, 1.0])
def test_a_budget_that_does_not_suffice_ends_as_it_would(share):
    """Whether it was compared before or not: undecided where it costs more than is left."""
    whole = Budget()
    compared(*LINES[0][:2], whole)
    cost = UNITS - whole.left
    found = compared(*LINES[0][:2], Budget(share * cost))
    comparing._FOUND.kept.clear()
    assert found.kind == compared(*LINES[0][:2], Budget(share * cost)).kind
    assert found.kind == ("agree" if share == 1 else "undecided")


def test_other_domains_are_another_comparison():
    """abs(x) is x among positive numbers alone."""
    assert compared("abs(x)", "x", Budget()).kind == "agree"
    real = Options(domains={"x": "real"})
    lines = (parse(text, domains=real.domains).node for text in ("abs(x)", "x"))
    assert comparing.compare(real, *lines).kind == "refuted"


def test_the_oldest_is_forgotten():
    """No more is kept than may be; what ran out is not kept at all."""

    def runs_out():
        raise Exhausted

    kept: Paid[int] = Paid(2)
    assert [kept.once(key, Budget(), lambda key=key: key) for key in (1, 2, 3)] == [1, 2, 3]
    with pytest.raises(Exhausted):
        kept.once(4, Budget(), runs_out)
    assert list(kept.kept) == [2, 3]
