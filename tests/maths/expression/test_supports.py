"""Variables that live on some integers only, and sums over all integers or with |i| and floor(i/2)."""

import pytest

from autograder.errors import AuthorError
from autograder.maths import expression
from autograder.maths.expression import points
from autograder.maths.expression.vocabulary import domain

SOME_INTEGERS = [
    ("{0,1}", "1-i", "cos(pi*i/2)^2", True),
    ("{0,1}", "1-i", "(1-i)^2+i/9", False),
    ("{0,1}", "e^(-b*i)/(1+e^(-b))", "sigma(b*(1-2*i))", True),
    ("nat", "e^(-b*i)/(1+e^(-b))", "sigma(b*(1-2*i))", False),
    ("{0,2,...}", "b", "b*(1+(-1)^i)/2", True),
    ("{1,3,...}", "b", "b*(1-(-1)^i)/2", True),
    ("{1,3,...}", "b", "b*(1+(-1)^i)/2", False),
    ("nat", "b", "b*(1+(-1)^i)/2", False),
    ("{0,3,...}", "b", "b*cos(2*pi*i/3)", True),
    ("{0,2,...}", "b", "b*cos(2*pi*i/3)", False),
    ("{0,1,...,3}", "b", "b+i*(i-1)*(i-2)*(i-3)", True),
    ("{0,1,...,4}", "b", "b+i*(i-1)*(i-2)*(i-3)", False),
]


@pytest.mark.parametrize(("where", "reference", "answer", "equal"), SOME_INTEGERS)
def test_answers_are_compared_where_the_variable_lives(where, reference, answer, equal):
    """What an answer says elsewhere does not matter; what it says at every one of these integers does."""
    decision = expression.decide(reference, answer, domains={"b": "positive", "i": where})
    assert decision.outcome == ("equal" if equal else "different")


@pytest.mark.parametrize(
    ("text", "inside", "outside"),
    [
        ("{0,1}", (0, 1), (-1, 2)),
        ("{1,3,...}", (1, 3, 99), (-1, 0, 2)),
        ("{0,3,...,9}", (0, 9), (1, 12, -3)),
    ],
)
def test_membership(text, inside, outside):
    """The integers in equal steps, from the first to the last."""
    where = domain(text)
    for number in inside:
        assert points.inside(points.rational(str(number)), where)
    for number in (*outside, "1/2"):
        assert not points.inside(points.rational(str(number)), where)


@pytest.mark.parametrize("text", ["{1,0}", "{0,2,...,5}", "{0}", "{0,2,...,0}", "{a,b}", "{0,0,...}"])
def test_what_is_no_support(text):
    """A slip in the steps is the author's."""
    with pytest.raises(AuthorError) as error:
        domain(text)
    assert error.value.code == "domain"


SUMS = [
    ("(1+e^(-b))/(1-e^(-b))", "sum(e^(-b*abs(n)), n, -inf, inf)", "equal"),
    ("(1+e^(-b))/(1-e^(-b))", r"\sum_{n=-\infty}^{\infty} e^{-b|n|}", "equal"),
    ("(1+e^(-b))/(1-e^(-b))", "sum(e^(-b*abs(n)), n, -inf, 0)", "different"),
    ("1/(1-e^(-b))", "sum(e^(b*n), n, -inf, 0)", "equal"),
    ("e^(-b)/(1-e^(-b))", "sum(e^(b*n), n, -inf, -1)", "equal"),
    ("2/(1-e^(-b))", "sum(e^(-b*floor(n/2)), n, 0, inf)", "equal"),
    ("1/(1-e^(-b))", "sum(e^(-b*floor(n/2)), n, 0, inf)", "different"),
    ("2/(1-e^(-b))-1", "sum(e^(-b*floor(n/2)), n, 1, inf)", "equal"),
    ("1+1+e^(-b)", "sum(e^(-b*floor(n/2)), n, 0, 2)", "equal"),
    ("2+2*e^(-b)", "sum(e^(-b*floor(n/2)), n, 0, 3)", "equal"),
    ("1", "sum(e^(b*n), n, -inf, inf)", "different"),
    ("1", "sum(e^(-n^2), n, -inf, inf)", "undecided"),
]


@pytest.mark.parametrize(("reference", "answer", "outcome"), SUMS)
def test_sums_with_a_bend(reference, answer, outcome):
    """Summed in closed form on both sides of the bend, at large and small b alike."""
    assert expression.decide(reference, answer, domains={"b": "positive"}).outcome == outcome
