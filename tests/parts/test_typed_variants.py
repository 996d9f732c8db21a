"""Typed parts whose declarations differ from variant to variant."""

import pytest

from autograder.core import Answer
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


@pytest.mark.parametrize(("steps", "points"), [(None, 2), (1, 0)])
def test_an_error_costs_a_step_of_the_full_solution(steps, points):
    """With the number of steps named, a line that follows from a wrong one earns nothing by itself."""
    part = Derivation(
        "double", points=4, domains={"x": "real"}, start="sin(2x)", reference="2 sin(x) cos(x)", steps=steps
    )
    outcome = judge_part(part, {}, says("sin(2x)\n2 sin(x)^2\n1 - cos(2x)"), (0,))
    assert (outcome.standing, outcome.points) == ("lost", points)
