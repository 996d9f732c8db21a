"""Typed parts whose declarations differ from variant to variant."""

import pytest

from autograder import Milestone
from autograder.core import Answer
from autograder.errors import AuthorError
from autograder.grading.judge import judge_part
from autograder.parts import Derivation, Equation, Growth


def says(text):
    """A student whose every answer is this text."""
    return lambda question: Answer(value=text)


def axes(p):
    """The image's axes."""
    return "X Y Z J" if p["volume"] else "X Y J"


def bound(p):
    """A bound in these axes."""
    return "ln X + ln Y + ln Z + ln J" if p["volume"] else "ln X + ln Y + ln J"


def no_larger(p):
    """No axis is larger than J, in the volume."""
    return ["X<=J", "Y<=J", "Z<=J"] if p["volume"] else []


@pytest.mark.parametrize(
    ("volume", "text", "standing"),
    [(True, "ln(X Y Z J)", "earned"), (True, "ln J", "earned"), (False, "ln J", "lost"), (False, "ln Z", "held")],
)
def test_variables_and_constraints_may_follow_from_the_variant(volume, text, standing):
    """A variable is known, and a constraint holds, in the variants that say so."""
    part = Growth("time", points=1, variables=axes, constraints=no_larger, reference=bound)
    assert judge_part(part, {"volume": volume}, says(text), (0,)).standing == standing


@pytest.mark.parametrize(
    ("text", "standing"),
    [
        ("ln I + ln K", "earned"),
        ("ln(I K)", "earned"),
        ("ln J + ln I", "earned"),
        ("ln K + ln J + ln I", "earned"),
        ("ln I", "lost"),
        ("I", "lost"),
        ("ln(J I)/ln(I K)", "lost"),
    ],
)
def test_a_name_may_stand_for_others(text, standing):
    """With I = J/K, what is written with I is compared as written with J and K."""
    part = Growth("time", points=1, variables="J K", constraints=["K<=J"], definitions={"I": "J/K"}, reference="ln J")
    assert judge_part(part, {}, says(text), (0,)).standing == standing
    assert "'I'" in part.local_check({})


def heads(p):
    """J is a product, in one of the variants with a fixed number of heads."""
    return {"J": "K*I", "K": 2} if p["two"] else {"J": "K*I"}


@pytest.mark.parametrize(("two", "standing"), [(True, "earned"), (False, "held")])
def test_sizes_may_follow_from_the_variant(two, standing):
    """Two pieces are all heads where there are two heads; elsewhere a person looks at them."""
    part = Equation(
        "joined", points=1, tensors=["Out[K,T,I]"], sizes=heads, target="h", reference="h[t,J] = concat_k Out[k,t,I]"
    )
    assert judge_part(part, {"two": two}, says("h[t,J] = Out[1,t,I]; Out[2,t,I]"), (0,)).standing == standing


THEOREM = Milestone("waves of x alone", has=["x in cos", "x in sin"], weight=2)
CHAINS = [
    ("cos(x)^2 - sin(x)^2", 6), ("cos(x) cos(x) - sin(x) sin(x)\n1 - 2sin(x)^2", 6), ("1 - 2 sin(x)^2", 0),
    ("cos(x)^2 + sin(x)^2", 0), ("(cos(x)-sin(x))*(cos(x)+sin(x))\n1 - sin(x)^2", 4),
]  # fmt: skip


@pytest.mark.parametrize(("lines", "points"), CHAINS)
def test_points_of_a_derivation_are_divided_by_weight(lines, points):
    """The milestone counts twice as much as the end; the statement says so, with the variant's given line."""
    part = Derivation(
        "double", points=6, domains={"x": "real"}, start=lambda p: "cos(2x)", reference="1 - 2 sin(x)^2",
        forbid=["cos"], milestones=[THEOREM], end="without a cosine",
    )  # fmt: skip
    if "1 -" not in lines:
        lines += "\n1 - 2 sin(x)^2"
    outcome = judge_part(part, {}, says(f"cos(2x)\n{lines}"), (0,))
    assert outcome.points == points
    rule = part.statement({})
    assert all(
        text in rule for text in ("`cos(2x)`", "4 points for a line", "waves of x alone", "2 points for the last")
    )


def test_a_derivation_of_tensor_equations():
    """Lines are right sides of one equation; the milestone and the end are earned."""
    part = Derivation(
        "scores", points=2, tensors=["A[I,J]", "B[J,K]", "x[K]"],
        given_equations="C[i,k] = A[i,J] B[J,k]\nv[j] = B[j,K] x[K]", start="y[i] = C[i,K] x[K]",
        reference="y[i] = A[i,J] v[J]", milestones=[Milestone("B is written", has=["B"])], forbid=["C", "B"],
    )  # fmt: skip
    told = "y[i] = C[i,K] x[K]\n= A[i,J] B[J,K] x[K]\n= A[i,J] v[J]"
    assert judge_part(part, {}, says(told), (0,)).standing == "earned"
    assert judge_part(part, {}, says("y[i] = C[i,K] x[K]\n= A[i,J] v[J]"), (0,)).points == 0
    assert r"\begin{aligned}" in part.show(told, **part.declarations({})).latex


def test_a_derivation_has_a_start():
    """Without a line to begin with there is no chain."""
    with pytest.raises(AuthorError, match="start"):
        Derivation("d", points=1, reference="1")
