"""Typed questions with several right answers, and the visible check that an equation defines what is asked for."""

import pytest

from autograder import student
from autograder.core import Answer
from autograder.grading.judge import judge_part
from autograder.parts import Equation, Expression


def says(text):
    """A student whose every answer is this text."""
    return lambda question: Answer(value=text)


def other(p):
    """An answer that is right in one variant only."""
    return "x^3" if p["cubes"] else None


@pytest.mark.parametrize(
    ("cubes", "text", "standing"),
    [
        (True, "x^2", "earned"),
        (True, "x*x*x", "earned"),
        (False, "x*x*x", "lost"),
        (True, "-x^4", "earned"),
        (True, "x^4", "lost"),
        (True, "x^", "held"),
    ],
)
def test_each_alternative_earns_everything(cubes, text, standing):
    """The reference, each alternative that the variant has, and nothing else."""
    part = Expression(
        "power", points=1, domains={"x": "real"}, reference="x^2", alternatives=[other, "-x^4"], mistakes=[]
    )
    assert judge_part(part, {"cubes": cubes}, says(text), (0,)).standing == standing


def test_a_mistake_that_is_an_alternative_is_found_by_nobody_else():
    """An alternative comes before the known mistakes."""

    def cube(p):
        """You took the third power."""
        return "x^3"

    part = Expression("power", points=1, domains={"x": "real"}, reference="x^2", alternatives=["x^3"], mistakes=[cube])
    assert judge_part(part, {}, says("x^3"), (0,)).standing == "earned"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("h_{l+1}[i] = 2 h_l[i]", ""),
        ("a[i] = 2 h_l[i] ;; h_{l+1}[i] = a[i]", ""),
        ("h_l[i] = 2 h_{l+1}[i]", "h_{l+1} is not defined"),
        ("a[i] = 2 h_l[i]", "h_{l+1} alone on its left side"),
    ],
)
def test_the_visible_check_says_where_the_target_is_not_defined(text, said, capsys):
    """Whoever wrote another tensor on the left learns it before handing in."""
    part = Equation("layer", points=1, tensors=["h_l[I]"], target="h_{l+1}", reference="h_{l+1}[i] = 2 h_l[i]")
    names = {"form": student, "layer": text}
    if not said:
        exec(part.local_check({}), names)
        return
    with pytest.raises(student.Malformed) as caught:
        exec(part.local_check({}), names)
    assert said in str(caught.value)
