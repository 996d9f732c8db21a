"""Parts for checking code: a counterexample is judged by running both functions, tests by what they reject."""

import contextlib
import dataclasses
import inspect
import math

import numpy as np
import pytest
import torch

from autograder import parts
from autograder.audit.simulated_answers import handed_in
from autograder.core import Answer, Problem
from autograder.errors import AuthorError, Unreadable
from autograder.grading.judge import judge_part
from autograder.parts.arguments import Takes, Unfit
from autograder.protocol.respondents import local
from autograder.protocol.stand_in import MOST_CALLS
from autograder.student.local_checks import Malformed

KEY = (1, 2)
FORM = {"function": "soft", "takes": {"x": "[B, V] -1000..1000"}, "sizes": {"B": "1..3", "V": "2..5"}}


def soft(x):
    """The softmax of each row."""
    return torch.softmax(x, dim=1)


def soft_by_exp(x):
    """The same to the last digits."""
    e = torch.exp(x - x.max(1, keepdim=True).values)
    return e / e.sum(1, keepdim=True)


def over_columns(x):
    """Over the columns."""
    return torch.softmax(x, dim=0)


def overflowing(x):
    """A hint that would say it all."""
    # and a comment, too
    e = torch.exp(x)
    return e / e.sum(1, keepdim=True)


def stops(x):
    """It gives nothing."""
    raise ValueError("no")


# A counterexample


def large(p):
    """An exponential that is infinite."""
    return {"x": [[1000.0, 0.0]]}


def low(p):
    """Exponentials that are all zero."""
    return {"x": [[-900.0, -900.0]]}


def zero(p):
    """Nothing is large here."""
    return {"x": [[0.0, 0.0]]}


COUNTER = parts.Counterexample(
    "c", points=2, reference=large, code=overflowing, correct=soft, mistakes=[zero], equivalents=[low], **FORM
)


def counter(code, right, **form):
    """A part about two functions of one argument `x`."""
    form = {"takes": {"x": "[V] -1000..1000"}, "sizes": {"V": "1..4"}, **form}
    return parts.Counterexample(
        "c", points=2, reference=lambda p: {"x": [1.0]}, function="f", code=code, correct=right, **form
    )


def judged(part, value):
    """Standing and code for an answer that is a value."""
    outcome = judge_part(part, {}, local(value, part.name, {}), KEY)
    return outcome.standing, outcome.verdicts[0].code


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ({"x": [[1000, 0]]}, ("earned", "ok")),
        ({"x": torch.tensor([[710.0, 0.0]])}, ("earned", "ok")),
        ({"x": np.array([[0.0, 1.0], [-800.0, -801.0]])}, ("earned", "ok")),
        ([[1000, 0]], ("earned", "ok")),  # a function of one argument
        (((1000, 0),), ("earned", "ok")),
        ({"x": [[709.0, 0.0]]}, ("lost", "agrees")),  # exp(709) is a number, exp(710) is not
        ({"x": [[-744.0, -700.0]]}, ("lost", "agrees")),
        ({"x": [[0, 0]]}, ("lost", "zero")),  # the known mistake, in whole numbers
        ({"x": [[1000.5, 0.0]]}, ("lost", "not_admitted")),
        ({"x": [[1000.0]]}, ("lost", "not_admitted")),  # V is at least 2
        ({"x": [1000.0, 0.0]}, ("lost", "not_admitted")),
        ({"x": [[math.inf, 0.0]]}, ("lost", "not_admitted")),
        ({"x": [[math.nan, 0.0]]}, ("lost", "not_admitted")),
        ({"x": [[1000.0, 0.0]] * 4}, ("lost", "not_admitted")),
        ({"y": [[1000.0, 0.0]]}, ("held", "unreadable")),
        ({"x": [[1000.0, 0.0], [1.0]]}, ("held", "unreadable")),
        ({"x": "1000, 0"}, ("held", "unreadable")),
        ({"x": [[True, False]]}, ("held", "unreadable")),
        ("a large number", ("held", "unreadable")),
        (soft, ("held", "unreadable")),
        ({}, ("lost", "missing")),
        ("", ("lost", "missing")),
        (None, ("lost", "missing")),
    ],
)
def test_counterexamples(given, wanted):
    """Near misses on both sides of the overflow, of the bounds, and of what can be read."""
    assert judged(COUNTER, given) == wanted


@pytest.mark.parametrize(
    ("factor", "wanted"),
    [
        (0.0, "agrees"),
        (1e-16, "agrees"),
        (9e-10, "agrees"),
        (1.1e-9, "doubtful"),
        (9e-4, "doubtful"),
        (1.1e-3, "ok"),
        (1.0, "ok"),
    ],
)
def test_how_far_apart(factor, wanted):
    """Of the largest entry: up to a part in 10⁹ equal, from a thousandth on different, between them a person."""
    assert judged(counter(lambda x: x * (1 + factor), lambda x: x), [3.0, 4.0])[1] == wanted


@pytest.mark.parametrize(
    ("code", "right", "given", "wanted"),
    [
        (lambda x: x * 0 + 1e-17, lambda x: x * 0, [1.0], "doubtful"),  # a rounding beside an exact zero
        (lambda x: x * 0 + 1e-6, lambda x: x * 0, [1.0], "ok"),
        (stops, lambda x: x, [1.0], "ok"),
        (lambda x: x[:1], lambda x: x, [1.0, 2.0], "ok"),
        (lambda x: x[:1], lambda x: x, [1.0], "agrees"),
        (lambda x: x.float(), lambda x: x, [1.0], "ok"),
        (lambda x: x / 0, lambda x: x, [1.0], "ok"),
        (lambda x: x, lambda x: x / 0, [1.0], "doubtful"),  # the right function is not finite
        # The sine of 10^15 x hangs on the last digit of x.
        (lambda x: 0 * x, lambda x: torch.sin(1e15 * x), [1.0], "doubtful"),
        # A step exactly where the input lies: with other last digits the code is right, or wrong.
        (lambda x: (x > 1).double(), lambda x: (x >= 1).double(), [1.0], "doubtful"),
        (lambda x: (x > 1).double(), lambda x: torch.ones_like(x), [1.0], "doubtful"),
    ],
)
def test_what_is_an_error(code, right, given, wanted):
    """An error, another shape or dtype, and infinite values are; what hangs on last digits is a person's."""
    assert judged(counter(code, right), given)[1] == wanted


def test_a_right_function_that_stops_is_our_fault():
    """No student is marked for it."""
    assert judged(counter(lambda x: x, stops), [1.0]) == ("held", "staff")


def test_whole_numbers_and_a_bound_by_an_axis():
    """Lengths are whole, and at most the size that the other argument has."""
    form = Takes(arguments={"x": "[B, V] -9..9", "n": "[B] whole 1..V"}, sizes={"B": "1..2", "V": "2..3"})
    read = form.read({"x": [[1, 2]], "n": [2]})
    assert (read["x"].dtype, read["n"].dtype) == (torch.float64, torch.int64)
    for wrong, said in (([3], "from 1 to 2"), ([0], "from 1 to 2"), ([1.5], "whole"), ([1, 1], "B is 1")):
        with pytest.raises(Unfit, match=said):
            form.read({"x": [[1, 2]], "n": wrong})
    with pytest.raises(Unreadable):
        form.read([[1, 2]])


@pytest.mark.parametrize(
    ("takes", "sizes", "said"),
    [
        ({"x": "[B] 1"}, {"B": "1..2"}, "write"),
        ({"x": "[B] 1..2"}, {"B": "2..1"}, "least and the most"),
        ({"x": "[B, C] 1..2"}, {"B": "1..2"}, "axis C"),
        ({"x": "[B] 1..C"}, {"B": "1..2"}, "axis C"),
        ({"x": "[B, C] 1..2"}, {"B": "1..200", "C": "1..200"}, "10,000 entries"),
    ],
)
def test_an_author_s_forms(takes, sizes, said):
    """A form that cannot be read, or would let large inputs in, is the author's fault."""
    with pytest.raises(AuthorError, match=said):
        Takes(arguments=takes, sizes=sizes)


def test_the_printed_code_tells_nothing():
    """Neither the docstring, which is a hint, nor a comment, nor the function's own name."""
    printed = COUNTER.printed({})
    assert printed.splitlines()[0] == "def soft(x):"
    assert not {"hint", "comment", "overflowing"} & set(printed.replace("(", " ").split())
    assert printed in COUNTER.statement({}) and "real numbers from -1,000 to 1,000" in COUNTER.statement({})


def visible(part, value, name):
    """What the visible check says, as it is called in a notebook."""
    from autograder import student as form

    names = {"__name__": "__main__", "form": form, name: value}
    exec(part.local_check({}), names)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ([[1.0]], "V is from 2 to 5; yours is 1"),
        ([[2000.0, 1.0]], "from -1000 to 1000"),
        ("x", "cannot be read"),
        ([[1.0], [1.0, 2.0]], "different lengths"),
        (None, "not answered yet"),
    ],
)
def test_the_visible_check_of_an_input(given, said):
    """It says what is malformed, and nothing of what is right."""
    with pytest.raises(Malformed, match=said):
        visible(COUNTER, given, "c")


def test_the_visible_check_lets_every_admitted_input_pass(capsys):
    """A wrong one, too."""
    visible(COUNTER, [[0.0, 0.0]], "c")
    assert "does not check whether it is correct" in capsys.readouterr().out


# Tests


def suite(soft):
    """Assertions on soft."""
    x = torch.tensor([[0.0, 1.0], [3.0, 900.0]])
    found = soft(x)
    assert torch.allclose(found.sum(1), torch.ones(2))
    assert torch.allclose(found[0], torch.tensor([1 / (1 + torch.e), torch.e / (1 + torch.e)]))


def rows_alone(soft):
    """You test sums alone."""
    assert torch.allclose(soft(torch.ones(2, 3)).sum(1), torch.ones(2))


TESTS = parts.Tests(
    "t",
    points=4,
    reference=suite,
    mistakes=[rows_alone],
    code=soft,
    correct=[soft_by_exp],
    wrong=[over_columns, overflowing],
    **FORM,
)


def by_expectation(f):
    """By numbers that are known."""
    assert abs(f(x=torch.tensor([[0.0, 0.0, 0.0]]))[0, 1] - 1 / 3) < 1e-9
    assert f(torch.tensor([[800.0, 0.0]]))[0, 0] == 1


def small_numbers(f):
    """The formula, at small numbers."""
    x = torch.randn(2, 3)
    assert torch.allclose(f(x), x.exp() / x.exp().sum(1, keepdim=True))


def by_errors(f):
    """By an error that is no assertion."""
    found = f(torch.tensor([[1.0, 2.0], [900.0, 0.0]]))
    found = found[found[:, 0] < 0.5]
    torch.allclose(found, torch.softmax(torch.tensor([[1.0, 2.0]]), 1)) or found.reshape(7)


def results_fed_in(f):
    """Arguments that follow from results."""
    x = torch.tensor([[800.0, 0.0], [1.0, 2.0]])
    assert (f(f(x)).sum(1) - 1).abs().max() < 1e-9


def exact(f):
    """To the last bit."""
    x = torch.linspace(-3, 3, 15).reshape(3, 5)
    assert torch.equal(f(x), torch.softmax(x, 1))


def wrong_itself(f):
    """What is asserted is wrong."""
    assert f(torch.ones(1, 2))[0, 0] == 1


def a_list(f):
    """No tensor."""
    f([[1.0, 2.0]])


def too_large(f):
    """More rows than are admitted."""
    f(torch.ones(4, 5))


def out_of_bounds(f):
    """A number that is not admitted."""
    f(torch.full((1, 2), 1001.0))


def two_arguments(f):
    """One argument too many."""
    f(torch.ones(1, 2), 3)


def caught_and_called(f):
    """A call in the place of another one that was stopped."""
    with contextlib.suppress(BaseException):
        f(torch.ones(1, 2))
    assert abs(f(torch.ones(1, 2))[0, 0] - 0.5) < 1e-9


def many_calls(f):
    """One call too many."""
    for number in range(9):
        f(torch.full((1, 2), float(number)))


def eight_calls(f):
    """As many as there may be."""
    for number in range(8):
        assert abs(f(torch.full((2, 2), float(number)))[0, 0] - 0.5) < 1e-9


def repeated(f):
    """One call over and over."""
    for _ in range(MOST_CALLS):
        f(torch.ones(1, 2))


def for_ever(f):
    """The same, without an end."""
    while True:
        f(torch.ones(1, 2))


def unseeded(f):
    """Numbers from a generator that nobody seeds."""
    x = torch.from_numpy(np.random.default_rng().standard_normal((1, 2)))
    assert abs(f(x).sum() - 1) < 1e-9


def leaves(f):
    """It ends the program."""
    raise SystemExit


@pytest.mark.parametrize(
    ("given", "points", "code"),
    [
        (suite, 4, "ok"),
        (by_expectation, 4, "ok"),
        (small_numbers, 2, "rows_alone"),  # it rejects the same
        (by_errors, 2, "rows_alone"),
        (results_fed_in, 4, "ok"),
        (caught_and_called, 2, "rows_alone"),
        (rows_alone, 2, "rows_alone"),
        (exact, 0, "rejects_equivalent"),
        (wrong_itself, 0, "rejects_right"),
        (a_list, 0, "arguments"),
        (too_large, 0, "arguments"),
        (out_of_bounds, 0, "arguments"),
        (two_arguments, 0, "rejects_right"),
        (eight_calls, 0, "passes_over_columns"),
        (many_calls, 0, "many_calls"),
        (repeated, 0, "passes_over_columns"),
        (for_ever, 0, "many_calls"),
        (leaves, 0, "left"),
        (lambda f: None, 0, "no_call"),
        (lambda: None, 0, "rejects_right"),
        (3, 0, "rejects_right"),
    ],
    ids=lambda item: getattr(item, "__name__", None),
)
def test_suites(given, points, code):
    """What each suite earns, and what its first verdict that is not right says."""
    outcome = judge_part(TESTS, {}, local(given, "t", {}), KEY)
    said = next((verdict.code for verdict in outcome.verdicts if not verdict.ok), "ok")
    assert (outcome.standing != "held", outcome.points, said) == (True, points, code)


def test_calls_that_differ_each_time_are_held():
    """By a generator that nobody seeds, the same calls are never made again."""
    outcome = judge_part(TESTS, {}, local(unseeded, "t", {}), KEY)
    assert (outcome.standing, outcome.verdicts[0].code) == ("held", "unsteady")


def test_right_functions_that_differ_are_a_doubt():
    """Where an equivalent is another function on the student's input, nobody loses for it."""
    part = dataclasses.replace(TESTS, correct=[overflowing], wrong=[over_columns])
    outcome = judge_part(part, {}, local(suite, "t", {}), KEY)
    assert (outcome.standing, outcome.verdicts[0].code) == ("held", "doubtful")
    assert judge_part(part, {}, local(small_numbers, "t", {}), KEY).standing == "earned"


def test_a_wrong_function_that_cannot_be_told_apart_is_not_rejected():
    """On one column, or equal entries, both give the same: whoever rejects it did not see it."""

    def seen(f):
        assert abs(f(torch.zeros(2, 2))[0, 0] - 0.5) < 1e-9

    outcome = judge_part(TESTS, {}, local(seen, "t", {}), KEY)
    assert [verdict.ok for verdict in outcome.verdicts] == [True, False, False]


class Recorder:
    """Answers for a suite, and keeps every question."""

    def __init__(self, subject):
        self.asked, self._answer = [], local(subject, "t", {})

    def __call__(self, question):
        """The suite's own answer."""
        self.asked.append(question)
        return self._answer(question)


def test_one_function_in_each_run():
    """Until the last question, none has two functions in it, so no run can compare them; and none says which it is."""
    ask = Recorder(suite)
    TESTS.judge({}, ask, KEY)
    *alone, last = ask.asked
    assert all(len(question.options["tables"]) == 1 for question in alone)
    assert len(last.options["tables"]) == 1 + len(TESTS.wrong)
    words = {word for question in ask.asked for word in question.options}
    assert words == {"function", "names", "seed", "tables"}
    assert len({question.options["seed"] for question in ask.asked}) == 1


def test_only_a_repeated_verdict_counts():
    """Who says otherwise in the last run, in which there are several functions, is held."""

    class Turning(Recorder):
        def __call__(self, question):
            reply = super().__call__(question)
            if len(question.options["tables"]) > 1:
                return Answer(value=[{**one, "ended": "passed"} for one in reply.value])
            return reply

    outcome = judge_part(TESTS, {}, Turning(suite), KEY)
    assert (outcome.standing, outcome.verdicts[0].code) == ("held", "unsteady")


@pytest.mark.parametrize(
    "value",
    [
        None,
        [],
        [{}],
        [{"ended": "earned", "detail": "", "calls": 1, "wanted": None}],
        [{"ended": "passed", "detail": "", "calls": "1", "wanted": None}],
        [{"ended": "left", "detail": "", "calls": 1, "wanted": 3}],
    ],
)
def test_a_reply_that_is_no_run_is_held(value):
    """Whatever a process sends in the place of one."""
    outcome = judge_part(TESTS, {}, lambda question: Answer(value=value), KEY)
    assert (outcome.standing, outcome.verdicts[0].code) == ("held", "unreadable")


@pytest.mark.parametrize("wanted", [[1, 2], [None], ["x"], [[torch.ones(1, 2)]]])
def test_a_call_of_anything_is_not_run(wanted):
    """Arguments come from the student's process: what is not admitted reaches no function."""
    reply = Answer(value=[{"ended": "left", "detail": "", "calls": 1, "wanted": wanted}])
    outcome = judge_part(TESTS, {}, lambda question: reply, KEY)
    assert (outcome.standing, outcome.verdicts[0].code) == ("lost", "arguments")


def test_questions_have_the_same_keys_where_last_digits_differ():
    """A report is judged again on another machine: what is computed there rounds otherwise."""
    from autograder.parts.tests import Interrogation
    from autograder.protocol.answering import question_key

    asking = Interrogation(part=TESTS, p={}, ask=local(suite, "t", {}), key=KEY)
    value = torch.tensor([1.0, 1 / 3, 1e-17], dtype=torch.float64)

    def key(number, label="right"):
        return question_key(asking.question([label], [{"a": {"value": number}}]))

    assert key(value) == key(value * (1 + 2e-16)) == key(value.round(decimals=14))
    assert len({key(value), key(value * 1.001), key(value[:2]), key(value, "wrong 0")}) == 4


def test_the_reference_s_cell_earns_all_and_the_stub_nothing():
    """By the cells of a notebook."""
    problem = Problem(title="T", version=1, source="s", parts=[TESTS])
    full, none = (
        judge_part(TESTS, {}, handed_in(problem, TESTS, cell), KEY)
        for cell in (TESTS.solution_cell({}), TESTS.stub_cell({}))
    )
    assert (full.points, none.points, none.verdicts[0].code) == (4, 0, "missing")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (3, "not a function"),
        (lambda: None, "one argument"),
        (lambda f: None, "does not call soft"),
        (too_large, "otherwise than the statement says"),
        (a_list, "should be a torch tensor"),
    ],
)
def test_the_visible_check_of_tests(given, said):
    """It looks at the first call, and never at what is asserted."""
    with pytest.raises(Malformed, match=said):
        visible(TESTS, given, "t")


def test_the_visible_check_lets_wrong_tests_pass(capsys):
    """They call the function as they may."""
    visible(TESTS, wrong_itself, "t")
    assert "first call of soft" in capsys.readouterr().out


def test_the_statement_says_how_partial_credit_is_formed():
    """The number of wrong functions and what each is worth."""
    assert "2 wrong functions" in TESTS.statement({}) and "1/2 of the points" in TESTS.statement({})


def test_a_stand_in_says_nothing_of_the_function():
    """It has a name, and neither a docstring nor a source nor anything else of the function under test."""
    found = []

    def looking(f):
        found.append((f.__name__, f.__doc__, str(inspect.signature(f)), inspect.getmodule(f).__name__))
        f(torch.ones(1, 2))

    for code in (soft, overflowing):
        part = dataclasses.replace(TESTS, code=code, correct=[])
        judge_part(part, {}, local(looking, "t", {}), KEY)
    assert set(found) == {("soft", None, "(x)", "autograder.protocol.stand_in")}


def test_a_weaker_suite_is_not_harmless():
    """A slip in a suite is harmless only if it rejects what the reference rejects of slips in the function."""
    part = dataclasses.replace(TESTS, code=soft_by_exp, correct=[soft])
    assert len(list(part.mutants({}))) > 10
    asked = []
    part.harmless(lambda part: asked.append(part) or True)
    ours = asked[0].judge({}, local(suite, "t", {}), KEY)
    assert len(ours) > 1 and all(verdict.ok for verdict in ours)
    weak = asked[0].judge({}, local(rows_alone, "t", {}), KEY)
    assert not all(verdict.ok for verdict in weak)
