"""Derivations, in expressions and in a language of the test's own."""

from __future__ import annotations

import functools
import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from autograder.errors import Unreadable
from autograder.maths import derivation, guard
from autograder.maths.decision import Decision, different, equal, undecided

CASES = Path(__file__).parents[1] / "data" / "cases" / "derivation.jsonl"
ROWS = [json.loads(line) for line in CASES.read_text().splitlines()]

# The exam gives P(i) as the answer of its first part.
EXAM = {"domains": {"beta": "positive"}, "definitions": {"P(i)": "(1-e^(-beta))*e^(-beta*i)"}}
START = "sum(P(i)*(-ln P(i)), i, 0, inf)"
KEY = "-ln(1-e^(-beta))+beta*e^(-beta)/(1-e^(-beta))"


@pytest.mark.parametrize("row", ROWS, ids=[row["note"] for row in ROWS])
def test_case_file(row: dict[str, Any]) -> None:
    """Every row has the first wrong line and the end that it names, with and without the start given."""
    language = derivation.expressions(**EXAM)
    for start in (None, START):
        judged = derivation.judge(row["answer"], row["reference"], language=language, start=start)
        assert {"first_wrong": judged.first_wrong, "final_ok": judged.final.equal} == row["verdict"]
        assert judged.decision.equal == (row["verdict"] == {"first_wrong": None, "final_ok": True})
        assert not judged.undecided


def algebra(lines: str, key: str, **options: Any) -> derivation.Derivation:
    """Lines separated by semicolons, in x and y."""
    language = derivation.expressions(domains={"x": "real", "y": "real"})
    return derivation.judge(lines.split(";"), key, language=language, **options)


def test_the_first_wrong_step_has_a_witness() -> None:
    """The message names the line and the values there."""
    judged = algebra("(x+1)^2;x^2+1;x^2+2x+1", "(x+1)^2")
    assert judged.first_wrong == 1 and judged.decision.code == "step"
    assert "line 2" in judged.decision.message and "x = 3/2" in judged.decision.witness


def test_an_error_is_paid_for_once() -> None:
    """Lines that follow from a wrong one keep their credit, and the end that follows is not charged again."""
    judged = algebra("(x+1)^2;x^2+x+1;x*(x+1)+1;x*x+x+1", "(x+1)^2")
    assert judged.first_wrong == 1 and not judged.final.equal
    assert judged.share == Fraction(3, 4)


def test_a_second_error_that_mends_the_end_costs_twice() -> None:
    """A right end after a wrong line needs a second wrong step."""
    judged = algebra("(x+1)^2;x^2+x+1;x^2+2x+1", "(x+1)^2")
    assert judged.final.equal and judged.share == Fraction(2, 4)


@pytest.mark.parametrize("padding", ["x^2+1", "1+x^2", "(x^2+1)", "x^2+1+0", "1*x^2+1", "x^(2*1)+1", "--(x^2)+1"])
def test_padding_earns_nothing(padding: str) -> None:
    """The same line again counts once, also where only order, parentheses, +0 or *1 differ."""
    plain = algebra("(x+1)^2;x^2+1", "(x+1)^2")
    padded = algebra(f"(x+1)^2;x^2+1;{padding};x^2+1;{padding}", "(x+1)^2")
    assert plain.share == padded.share == Fraction(1, 2)


def test_going_back_and_forth_earns_nothing() -> None:
    """A line that was written before does not count again."""
    judged = algebra("(x+1)^2;x*(x+2)+1;(x+1)^2;x*(x+2)+1;x^2+1", "(x+1)^2")
    assert judged.share == Fraction(2, 3)


def test_harmless_lines_do_not_dilute_an_error() -> None:
    """With the number of steps named, an error costs a step however many lines surround it."""
    padding = ";".join(f"x^2+x+{k}-{k}" for k in range(1, 12))
    lines = f"(x+1)^2;x^2+x;{padding}"
    assert algebra(lines, "(x+1)^2").share > Fraction(9, 10)
    assert algebra(lines, "(x+1)^2", steps=3).share == Fraction(2, 3)
    assert algebra("(x+1)^2;x^2+2x+1", "(x+1)^2", steps=3).share == 1
    assert algebra("x;x+1;x+2;x+3;x+4", "(x+1)^2", steps=2).share == 0


STEP = "sum(P(i)*(ln(Z)+beta*i), i, 0, inf)"
SPLIT = "ln(Z)+beta*sum(i*P(i), i, 0, inf)"
FOUR = {**EXAM, "definitions": {**EXAM["definitions"], "Z": "sum(e^(-beta*i), i, 0, inf)"}}


@pytest.mark.parametrize(
    ("lines", "share"),
    [
        ([START], 0),
        ([START, "0"], 0),
        ([START, KEY], 1),
        ([START, STEP], Fraction(1, 4)),
        ([START, STEP, SPLIT], Fraction(1, 2)),
        ([START, STEP, SPLIT, "beta*e^(-beta)-ln(1-e^(-beta))"], Fraction(1, 2)),
        ([START, *(f"{START}+{k}-{k}" for k in range(1, 9))], Fraction(1, 2)),
        ([START, *(f"{START}+{k}-{k}" for k in range(1, 9)), "0"], Fraction(1, 2)),
        (["sum(i, i, 0, 3)", "6"], 0),
        (["sum(P(i), i, 0, inf)", "1"], 0),
        (["sum(P(i)*ln(P(i)), i, 0, inf)", "-ln(Z)-beta*sum(i*P(i), i, 0, inf)", "-ln(Z)-beta/(e^beta-1)",
          "ln(1-e^(-beta))-beta/(e^beta-1)"], Fraction(1, 2)),
        (["1", "2-1", "3-2", "4-3", "5-4", "6-5"], Fraction(1, 2)),
        ([START, STEP, "ln(Z)+sum(i*P(i), i, 0, inf)", "1/(e^beta-1)-ln(1-e^(-beta))"], Fraction(1, 2)),
        ([START, STEP, "ln(Z)+sum(i*P(i), i, 0, inf)", "sum(i*P(i), i, 0, inf)-ln(1-e^(-beta))",
          "1/(e^beta-1)-ln(1-e^(-beta))"], Fraction(3, 4)),
    ],
)  # fmt: skip
def test_a_chain_that_does_not_arrive(lines: list[str], share: Fraction) -> None:
    """Short of the right end the first line earns nothing, each link a step, all at most half without an arrival."""
    language = derivation.expressions(**FOUR)
    requires = ["sum", "no sum", "no P", "no Z"]
    assert derivation.judge(lines, KEY, language=language, requires=requires, steps=4).share == share


def test_a_copy_of_the_question_is_no_step() -> None:
    """The question's own line as the first line earns nothing, and costs nothing either."""
    assert algebra("(x+1)^2", "x^2+2x+1", start="(x+1)^2").share == 1  # already an answer
    wanted = {"start": "(x+y)^2-y^2-2x*y", "requires": ("no y",)}
    assert algebra("(y+x)^2-y^2-2x*y", "x^2", **wanted).share == 0
    assert algebra("(x+y)^2-y^2-2x*y;x^2", "x^2", **wanted).share == 1
    assert algebra("(x+y)^2-y^2-2x*y;x^2-x*y", "x^2", **wanted).share == 0


def test_one_line() -> None:
    """A single right line is right, a single wrong one is wrong, at line 0."""
    assert algebra("x^2+2x+1", "(x+1)^2").decision.equal
    wrong = algebra("x^2+1", "(x+1)^2")
    assert wrong.first_wrong == 0 and wrong.share == 0


def test_milestones() -> None:
    """'no sum' is about the last line, a word about any line."""
    language = derivation.expressions(**EXAM)
    lines = [START, "sum(P(i)*(beta*i-ln(1-e^(-beta))), i, 0, inf)"]
    assert derivation.judge(lines, KEY, language=language).decision.equal
    judged = derivation.judge(lines, KEY, language=language, requires=["no sum"])
    assert judged.missing == ("no sum",) and judged.decision.code == "milestone"
    assert derivation.judge([*lines, KEY], KEY, language=language, requires=["no sum", "sum"]).decision.equal
    assert derivation.judge([KEY], KEY, language=language, requires=["sum"]).missing == ("sum",)


def test_size_of_a_step() -> None:
    """A question may refuse a leap that is right."""
    lines = "(x+1)*(x+2)*(x+3);x^3+6x^2+11x+6"
    assert algebra(lines, "(x+1)*(x+2)*(x+3)").decision.equal
    judged = algebra(lines, "(x+1)*(x+2)*(x+3)", start="(x+1)*(x+2)*(x+3)", cap=6)
    assert judged.leaps == (1,) and judged.decision.code == "leap"
    assert algebra("x+y;y+x", "x+y", start="x+y", cap=6).decision.equal


def test_lines_may_begin_with_an_equals_sign() -> None:
    """So a derivation is written on paper."""
    assert algebra("(x+1)^2;= x^2+2x+1; = 1+2x+x^2", "(x+1)^2").decision.equal


def test_an_unreadable_line_is_named() -> None:
    """The message counts lines from 1; nothing is judged."""
    with pytest.raises(Unreadable) as caught:
        algebra("x;x+", "x")
    assert caught.value.message.startswith("line 2:")
    with pytest.raises(Unreadable):
        algebra(" ; ", "x")


def test_any_language() -> None:
    """The comparison is a parameter: here lines are numbers, and 13 cannot be decided."""

    def decide(before: str, after: str) -> Decision:
        if "13" in (before, after):
            return undecided("superstition")
        return equal() if int(before) == int(after) else different("value", "not the same", witness=after)

    language = derivation.Language(decide=decide)
    assert derivation.judge(["7", "07"], "7", language=language).decision.equal
    assert derivation.judge(["7", "8"], "7", language=language).first_wrong == 1
    held = derivation.judge(["7", "13", "7"], "7", language=language)
    assert held.undecided == (1, 2) and held.decision.outcome == "undecided" and held.first_wrong is None


def test_under_the_guard() -> None:
    """The links of a derivation can be decided in the guarded worker."""
    language = derivation.expressions(decide=functools.partial(guard.decide, "autograder.maths.expression"), **EXAM)
    row = ROWS[2]
    judged = derivation.judge(row["answer"], row["reference"], language=language)
    assert judged.first_wrong == row["verdict"]["first_wrong"]
    guard.close()
