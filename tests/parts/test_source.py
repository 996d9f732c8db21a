"""From an author's function to an answer cell: what is kept, what is cut out, and that the cell runs."""

# ruff: noqa: D101, D102, D103 - functions without a docstring are cases too

import re

import pytest

from autograder.core import BEGIN, END
from autograder.errors import AuthorError
from autograder.parts.source import answer_source, argument_names
from autograder.protocol.respondents import takes_parameters

TWO = 2


def twice(x):
    return 2 * x


def four_times(x):
    """Four times."""
    # by doubling
    return twice(twice(x))  # twice


def scaled(x, *, p):
    """Scaled by
    what p says.
    """
    # a comment at the start

    y = x * p["K"]  # a comment at the end of a line

    return y


# fmt: off
def over_lines(
    x,  # a comment in the signature
    y: dict[str, int] = {"a": 1}, *,  # noqa: B006
    p
) -> dict[str, int]:  # and after it
    # first
    return {"x": x, **y, "K": p["K"]}


def one_line(x): return x + 1


def one_line_with_parameters(x, *, p): return x + p["K"]
# fmt: on


def other_keywords(x, *, bias=1, p):
    return x + bias + p["K"]


def factorial(n):
    """n!"""
    return 1 if n == 0 else n * factorial(n - 1)


def e(x):
    """A name that stands in the word def."""
    return x


def better(x):
    """You used better too often."""
    return best(x) + 1


def best(x):
    return x * 10


def even(n):
    return True if n == 0 else odd(n - 1)


def odd(n):
    return False if n == 0 else even(n - 1)


class Base:
    def __init__(self, size, *, p):
        self.size = size * p["K"]


class Inherits(Base):
    """Takes p from its base."""

    def double(self):
        return 2 * self.size


class Own:
    """A class with p."""

    def __init__(self, size, *, p):
        # kept
        self.size = size + p["K"]


def decorated(function):
    return function


@decorated
def with_decorator(x, *, p):
    """Decorated."""
    return x + p["K"]


def only_docstring(x):
    """Nothing else."""


P = {"K": 3}


def run(subject, name, **changes):
    """What the cell defines under that name."""
    cell = answer_source(subject, name, P, **{"marks": False, **changes})
    names = {}
    exec(cell, names)
    return names[name], cell


CASES = [
    (four_times, "f", (3,), 12),
    (scaled, "f", (2,), 6),
    (over_lines, "f", (1,), {"x": 1, "a": 1, "K": 3}),
    (one_line, "f", (1,), 2),
    (one_line_with_parameters, "f", (1,), 4),
    (other_keywords, "f", (1,), 5),
    (factorial, "fact", (5,), 120),
    (e, "f", (1,), 1),
    (better, "best", (1,), 11),
    (even, "is_even", (4,), True),
    (with_decorator, "f", (1,), 4),
]


@pytest.mark.parametrize("marks", [False, True])
@pytest.mark.parametrize(("subject", "name", "given", "wanted"), CASES, ids=[row[0].__name__ for row in CASES])
def test_the_cell_runs_under_the_students_name(subject, name, given, wanted, marks):
    """With and without marks, the cell alone gives what the author's function gives."""
    function, cell = run(subject, name, marks=marks)
    assert function(*given) == wanted
    assert (BEGIN in cell) is marks and "*, p" not in cell


@pytest.mark.parametrize("marks", [False, True])
def test_classes_run_too(marks):
    """A constructor's parameters are filled in, its own or an inherited one's."""
    assert run(Own, "Mine", marks=marks)[0](2).size == 5
    assert run(Inherits, "Mine", marks=marks)[0](2).double() == 12


def test_a_function_has_one_gap():
    """Helpers and parameters stand within the body's marks: what a student gets is a signature and one gap."""
    cell = answer_source(four_times, "f", P, marks=True)
    assert cell.count(BEGIN) == cell.count(END) == 1
    released = re.sub(f"{BEGIN}.*{END}", "raise NotImplementedError()", cell, flags=re.DOTALL)
    assert released == 'def f(x):\n    """Four times."""\n    raise NotImplementedError()\n'
    released = re.sub(f"{BEGIN}.*{END}", "...", answer_source(scaled, "f", P, marks=True), flags=re.DOTALL)
    assert "K" not in released and "def f(x):" in released


def test_comments_are_kept():
    """What the author wrote to explain is shown after the deadline."""
    cell = answer_source(scaled, "f", P, marks=True)
    for comment in ("# a comment at the start", "# a comment at the end of a line"):
        assert comment in cell
    assert "# by doubling" in answer_source(four_times, "f", P, marks=False)
    assert "# first" in answer_source(over_lines, "f", P, marks=False)
    assert "# kept" in answer_source(Own, "Own", P, marks=False)


def test_only_the_head_is_renamed():
    """A docstring that uses the function's name as a word is left alone."""
    assert '"""You used better too often."""' in answer_source(better, "other", P, marks=False)


def test_a_helper_of_the_students_name_steps_aside():
    """A mistake that calls the reference does not call itself."""
    _, cell = run(better, "best")
    assert "def best_(x)" in cell and "return best_(x) + 1" in cell


def test_what_takes_parameters():
    """Only a keyword-only p counts, in a function or a constructor."""
    assert takes_parameters(scaled) and takes_parameters(Own) and takes_parameters(Inherits)
    assert not takes_parameters(twice) and not takes_parameters(lambda p: p)
    assert argument_names(scaled) == ["x"] and argument_names(other_keywords) == ["x", "bias"]


@pytest.mark.parametrize("subject", [lambda x: x, len, only_docstring], ids=["lambda", "builtin", "docstring"])
def test_what_cannot_be_shown_is_refused(subject):
    """A notebook needs a def or class with a body."""
    with pytest.raises(AuthorError) as caught:
        answer_source(subject, "f", P, marks=True)
    assert caught.value.code == "source"
