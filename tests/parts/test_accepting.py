"""Further answers that are correct: by kind, beside the official one, and with near misses on the other side."""

import pytest

from autograder import Choice, Derivation, Expression, Function, Growth, Number, Written, close
from autograder.core import Answer
from autograder.errors import AuthorError
from autograder.grading.judge import judge_part


def red(p):
    """The right one."""
    return "Red."


def blue(p):
    """Blue is wrong."""
    return "Blue."


def green(p):
    """Green is wrong."""
    return "Green."


def twice(x):
    """A function."""
    return 2 * x


def inputs(rng, p):
    """A number."""
    return {"x": 1.0}


REAL = {"x": "real"}
CASES = [
    (Expression("a", points=2, domains=REAL, reference="x^2"), ["x^3", "2x"], ["x^2", "x x x", "x+x"], ["x^4", "3x"]),
    (Growth("a", points=2, variables="n", reference="O(n)"), ["O(n^2)"], ["O(n)", "O(3 n^2)"], ["O(n^3)", "O(1)"]),
    (Number("a", points=2, reference=lambda p: 24), ["20", 21.5], [24, 20, 21.5], [21, 22, 23]),
    (Number("a", points=2, reference=lambda p: 24.0, rtol=0.01), [10], [24.1, 10.05], [10.2, 25]),
    (Choice("a", points=2, reference=red, mistakes=[blue, green]), ["Blue."], ["Red.", "Blue."], ["Green."]),
]  # fmt: skip


@pytest.mark.parametrize(("part", "further", "right", "wrong"), CASES, ids=lambda item: getattr(item, "kind", ""))
def test_further_answers(part, further, right, wrong):
    """The official answer and those that are listed earn all, in any form; others are lost as before."""
    taking = part.accepting(further)

    def standing(answer):
        return judge_part(taking, {}, lambda question: Answer(value=answer), (0,), ()).standing

    assert [standing(answer) for answer in right] == ["earned"] * len(right)
    assert [standing(answer) for answer in wrong] == ["lost"] * len(wrong)


@pytest.mark.parametrize(
    ("part", "answer"),
    [
        (Function("f", points=1, inputs=inputs, reference=twice, checks=[close()]), "3*x"),
        (Written("w", points=1, reference="Yes.", rubric="1: yes"), "No."),
        (Derivation("d", points=1, domains={"x": "real"}, start="x+x", reference="2x"), "x+x\n2x"),
        (Number("n", points=1, reference=lambda p: 1), "many"),
    ],
    ids=lambda item: getattr(item, "kind", ""),
)  # fmt: skip
def test_what_has_no_further_answers(part, answer):
    """Code, words and chains are given to everybody or dropped; a number takes numbers."""
    with pytest.raises(AuthorError):
        part.accepting([answer])
