"""The nouns: equality, what is refused on construction, and what importing them costs."""

import pickle
import subprocess
import sys
from dataclasses import replace

import pytest

from autograder import Choice, Number, Problem
from autograder.core import Outcome, Part, Question, Report, Variant, Verdict, in_points
from autograder.errors import AuthorError, StaffError, Unreadable, did_you_mean


def seven(p):
    """Seven."""
    return 7


def test_importing_the_vocabulary_imports_no_torch():
    """An author's vocabulary and a student's checks are light: neither torch nor nbgrader is loaded."""
    code = "import autograder, autograder.student, sys; print([m for m in ('torch', 'nbgrader') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_variants_are_equal_where_their_parameters_are():
    """The seed says where a variant came from, not what it is."""
    one, same = (
        Variant(slug="a", version=1, parameters={"K": 2}, seed=1),
        Variant(slug="a", version=1, parameters={"K": 2}),
    )
    assert one == same
    assert one != Variant(slug="a", version=1, parameters={"K": 3}, seed=1)
    assert one != Variant(slug="a", version=2, parameters={"K": 2}, seed=1)


def test_a_report_sums_its_parts():
    """Held parts count nothing until a person has looked."""
    outcomes = tuple(
        Outcome(part=name, standing=standing, points=points, max_points=3.0)
        for name, standing, points in [("a", "earned", 3.0), ("b", "held", 0.0), ("c", "lost", 1.5)]
    )
    assert Report(slug="s", version=1, parameters={}, outcomes=outcomes).points == 4.5


def test_what_is_data_cannot_be_changed():
    """Questions, verdicts and parts are frozen."""
    for item in (
        Question(kind="call", name="f"),
        Verdict(check="c", ok=True, code="ok"),
        Number("n", points=1, reference=seven),
    ):
        with pytest.raises(AttributeError):
            item.name = "other"


def test_a_part_of_a_problem_by_name():
    """A wrong name is answered with the one that was meant."""
    problem = Problem(title="T", version=1, source="s", parts=[Number("seven", points=1, reference=seven)])
    assert problem.part("seven").points == 1 and problem.points == 1
    with pytest.raises(AuthorError, match=r"no part 'sevn' \(did you mean seven\?\)"):
        problem.part("sevn")


def eight(p):
    """One too many."""
    return 8


def six(p):
    """One too few."""
    return 6


def unexplained(p):  # noqa: D103 - which is the slip
    return 5


def by_table(**tables):
    """A problem whose lists stand in tables."""
    parts = [Number("seven", points=1, reference=seven), Number("other", points=3, reference=seven, mistakes=[eight])]
    return Problem(title="T", version=1, source="s", parts=parts, **tables)


def test_tables_are_handed_to_the_parts_in_their_order():
    """A line of a table is the part's own list from then on; what has no line keeps its list; copies keep both."""
    problem = by_table(mistakes={"seven": [six, eight]}, equivalents={"seven": [seven], "other": [seven]})
    for copy in (problem, replace(problem, slug="t"), problem.worth(8)):
        assert [list(part.mistakes) for part in copy.parts] == [[six, eight], [eight]]
        assert [list(part.equivalents) for part in copy.parts] == [[seven], [seven]]
    assert by_table().parts[0].mistakes == ()


def test_what_a_table_holds_is_checked_as_a_part_checks_it():
    """A mistake without a hint is heard from a table as from a part."""
    with pytest.raises(AuthorError, match="part 'seven': mistake 'unexplained' has no docstring"):
        by_table(mistakes={"seven": [unexplained]})


def test_the_first_argument_of_a_part_is_its_name_and_the_rest_have_names():
    """A second positional argument is a slip that is heard."""
    with pytest.raises(AuthorError) as caught:
        Number("seven", 1, reference=seven)
    assert caught.value.code == "arguments" and "Number('seven')" in caught.value.message


@pytest.mark.parametrize("kind", [Choice, Number])
def test_a_part_names_itself_when_an_argument_is_unknown(kind):
    """The message lists the arguments that there are."""
    with pytest.raises(AuthorError, match="the arguments are name, points, reference, mistakes"):
        kind("seven", points=1, referenze=seven)


def test_a_kind_without_a_judge_says_so():
    """The bare part is no kind of answer."""
    part = Part("bare", points=1)
    for method in (lambda: part.judge({}, lambda question: None, (0,)), lambda: part.solution_cell({})):
        with pytest.raises(NotImplementedError, match="Part has no"):
            method()
    assert part.local_check({}) == "" and part.statement({}) == ""


@pytest.mark.parametrize(
    "error", [AuthorError("a", "b"), StaffError("a", "b"), Unreadable("a", "b", text="x + ", column=4)]
)
def test_errors_cross_process_borders_whole(error):
    """Code, message and column survive pickling."""
    back = pickle.loads(pickle.dumps(error))
    assert type(back) is type(error) and back.__dict__ == error.__dict__ and str(back) == str(error)


@pytest.mark.parametrize(
    ("text", "column", "caret"),
    [
        ("x + ", 4, "x + \n    ^\nm"),
        ("a\nbc d", 4, "bc d\n  ^\nm"),
        ("a", 99, "a\n ^\nm"),
        ("\x0crac{\x08eta} + u", 12, "\\frac{\\beta} + u\n              ^\nm"),
        ("a", None, "m"),
        ("", 0, "m"),
    ],
)
def test_a_caret_stands_under_the_column(text, column, caret):
    """The line that holds the fault, and the caret under it."""
    assert Unreadable("c", "m", text=text, column=column).caret() == caret


def test_suggestions():
    """Only close names are suggested."""
    assert did_you_mean("bacth", ["batch", "time"]) == " (did you mean batch?)"
    assert did_you_mean("zzz", ["batch", "time"]) == ""


@pytest.mark.parametrize(
    ("number", "said"),
    [(0, "0 points"), (0.5, "0.5 points"), (1, "1 point"), (1.0, "1 point"), (1.004, "1 point"), (1.25, "1.25 points"),
     (2, "2 points"), (100, "100 points"), (8 / 3, "2.67 points")],
)  # fmt: skip
def test_points_in_words(number, said):
    """One is singular; two decimals are shown."""
    assert in_points(number) == said
