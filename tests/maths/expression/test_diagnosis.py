"""What a student is told after a refusal."""

from __future__ import annotations

import pytest

from autograder.errors import AuthorError
from autograder.maths import expression

NAMES = {"b": "positive", "k": "nat", "i": "nat", "x": "real", "y": "real", "J": "posint", "I": "posint"}
CROSS = "b*k-ln(1-e^(-b))"

REASONS = [
    (CROSS, "b*i-ln(1-e^(-b))", "renamed_variable", "renaming", {"i": "k"}),
    ("e^x/(e^x+e^y)", "e^y/(e^x+e^y)", "renamed_variable", "renaming", {"x": "y", "y": "x"}),
    (CROSS, "-b*k+ln(1-e^(-b))", "sign", None, None),
    (CROSS, f"({CROSS})/ln 2", "unit", "factor", "1/ln 2"),
    ("-ln(1-e^(-b))", "-log2(1-e^(-b))", "unit", "factor", "1/ln 2"),
    ("log2 J", "ln J", "unit", "factor", "ln 2"),
    ("ln 2", "1", "unit", "factor", "1/ln 2"),
    ("2*I*J", "I*J", "constant_factor", "factor", "1/2"),
    ("x^2", "-x^2/2", "constant_factor", "factor", "-1/2"),
    ("x^2", "7x^2/5", "constant_factor", "factor", "7/5"),
    ("x^2", "x^2+1", "constant_difference", "difference", "1"),
    ("ln(2x^2)", "ln(x^2)", "constant_difference", "difference", "-ln 2"),
    ("J^2", "2*I*J", "value", None, None),
    ("ln(x^2)", "2 ln(x)", "domain", None, None),
    ("62683136", "31341568", "value", None, None),  # no ratio of plain numbers: it would give the number away
    ("inf", "0", "value", None, None),
    ("inf", "-inf", "sign", None, None),
]


@pytest.mark.parametrize(("reference", "answer", "code", "key", "value"), REASONS)
def test_reasons(reference: str, answer: str, code: str, key: str | None, value: object) -> None:
    """The reason has its code, and what feedback computes with."""
    decision = expression.decide(reference, answer, domains=NAMES)
    assert decision.outcome == "different" and decision.code == code
    if key is not None:
        assert decision.detail is not None and decision.detail[key] == value


@pytest.mark.parametrize(("reference", "answer"), [(row[0], row[1]) for row in REASONS])
def test_messages_hide_the_reference(reference: str, answer: str) -> None:
    """A message shows the student's own value at most; the witness has both, for staff and later feedback."""
    decision = expression.decide(reference, answer, domains=NAMES)
    assert decision.message and reference not in decision.message
    assert "expected " not in decision.message.replace("expected one", "")
    assert "your answer gives" in decision.witness and "expected" in decision.witness


def test_values_are_told_apart() -> None:
    """A witness prints as many digits as it takes to see the difference."""
    decision = expression.decide("sin(x)", "sin(x)+10^(-20)", domains=NAMES)
    mine, theirs = decision.witness.split(": ")[1].split(", expected ")
    assert mine.removeprefix("your answer gives ") != theirs


def test_no_factor_from_a_far_piece() -> None:
    """A relation must hold where the difference was found too."""
    assert expression.decide("x", "x+relu(x-1000)", domains=NAMES).code == "value"


def test_known_mistakes() -> None:
    """An answer equal to a known mistake carries its name; other wrong answers do not."""
    mistakes = {"no_normaliser": "b*k", "sign_of_the_log": "b*k+ln(1-e^(-b))"}
    for answer, name in [("k b", "no_normaliser"), ("b k + ln(1-1/e^b)", "sign_of_the_log")]:
        decision = expression.decide(CROSS, answer, domains=NAMES, mistakes=mistakes)
        assert decision.code == "mistake" and decision.detail is not None and decision.detail["mistake"] == name
    assert expression.decide(CROSS, "b*k+1", domains=NAMES, mistakes=mistakes).code != "mistake"
    assert expression.decide(CROSS, CROSS, domains=NAMES, mistakes=mistakes).equal


def test_slips_of_authors() -> None:
    """A reference or mistake that cannot be read is the author's error, not the student's."""
    with pytest.raises(AuthorError):
        expression.decide("x+", "x", domains=NAMES)
    with pytest.raises(AuthorError):
        expression.decide("x", "y", domains=NAMES, mistakes={"typo": "x+"})


def test_undefined_says_why() -> None:
    """Where the answer has no value, the message names the place and the reason."""
    decision = expression.decide("x", "sqrt(x)^2", domains={"x": "real"})
    assert decision.code == "domain"
    assert "x = -5/2" in decision.message and "square root of a negative number" in decision.message
