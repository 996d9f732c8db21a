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


def scale(rng, p):
    """Draws hidden arguments: nothing of it may be shown."""
    return {"scale": "hidden"}


def weight(x):
    return 5 * x


def weighted(x):
    return weight(x)


def argument_like_a_function(x, scale):
    return x * scale


def local_like_a_function(x):
    scale = 3
    return x * scale


def inner_like_a_function(x):
    def scale(x):
        return 4 * x

    return scale(x) + sum(weight for weight in (1, 2))


def lambda_like_a_function(x):
    return (lambda scale: scale + 1)(x) + sum(scale + 0 for scale in (1, 0))


def walrus_like_a_function(x):
    return [scale := x, scale][1]


def argument_like_the_function_of_a_helper(x, weight):
    return weighted(x) + weight


def outside_and_inside(x):
    return weight(x) + (lambda weight: weight)(1)


class Argument:
    def __init__(self, scale, *, p):
        self.scale = scale * p["K"]


def abs_(x):
    return -x


class Clamped(int):
    def clamp(self, low):
        return max(self, low)


def clamp(x):
    return 10 * x


def uses_an_attribute_and_a_function(x):
    """clamp, then clamp."""
    # clamp twice
    return Clamped(x).clamp(0) + clamp(x) + len("clamp") + int(f"{clamp(x)}")


def loop(x, eps_inside=False):
    return x + eps_inside


def eps_inside(x):
    """You put eps_inside."""
    return loop(x, eps_inside=True)


def nested_f_string(x):
    return f"{'é'!s:{best(1)}} {best(x)}"


def local_like_the_student(n, fact):
    return 1 if n == 0 else local_like_the_student(n - 1, fact)


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
    (argument_like_a_function, "f", (2, 3), 6),
    (local_like_a_function, "f", (2,), 6),
    (inner_like_a_function, "f", (2,), 11),
    (lambda_like_a_function, "f", (2,), 4),
    (walrus_like_a_function, "f", (2,), 2),
    (argument_like_the_function_of_a_helper, "f", (2, 3), 13),
    (outside_and_inside, "f", (2,), 11),
    (uses_an_attribute_and_a_function, "clamp", (2,), 47),
    (eps_inside, "loop", (2,), 3),
    (eps_inside, "other", (2,), 3),
    (nested_f_string, "best", (2,), "é          20"),
]


@pytest.mark.parametrize("marks", [False, True])
@pytest.mark.parametrize(
    ("subject", "name", "given", "wanted"), CASES, ids=[f"{row[0].__name__} as {row[1]}" for row in CASES]
)
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


@pytest.mark.parametrize(
    "subject",
    [argument_like_a_function, local_like_a_function, inner_like_a_function, lambda_like_a_function,
     walrus_like_a_function, Argument],
)  # fmt: skip
def test_only_global_names_bring_a_helper(subject):
    """An argument or a local variable named like a function of the file brings nothing of that function."""
    cell = answer_source(subject, "f", P, marks=True)
    assert "hidden" not in cell and "rng" not in cell and "5 * x" not in cell


def test_names_of_the_syntax_tree_are_renamed():
    """Attributes, keywords, strings and comments stay, and so does the layout."""
    cell = answer_source(uses_an_attribute_and_a_function, "clamp", P, marks=False)
    assert 'return Clamped(x).clamp(0) + clamp_(x) + len("clamp") + int(f"{clamp_(x)}")' in cell
    assert "    # clamp twice\n" in cell and '"""clamp, then clamp."""' in cell
    assert "return loop_(x, eps_inside=True)" in answer_source(eps_inside, "loop", P, marks=False)


def test_a_recursion_under_a_name_that_is_taken_is_refused():
    """Under the student's name, which is a local one there, the function could not call itself."""
    with pytest.raises(AuthorError, match="is called fact in a notebook, and has a local fact"):
        answer_source(local_like_the_student, "fact", P, marks=False)
    assert run(local_like_the_student, "other")[0](3, 0) == 1


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
