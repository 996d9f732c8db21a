"""Each kind of answer: what counts as right, near misses on both sides, what a student reads, and the cells."""

# ruff: noqa: D101, D102 - modules as students write them

import itertools
from fractions import Fraction

import numpy as np
import pytest
import sympy
import torch
from torch import nn

from autograder import Choice, Function, Module, Number, Written, close, gradient, tensors
from autograder.core import Answer, Question
from autograder.errors import AuthorError
from autograder.grading.judge import judge_part
from autograder.protocol.respondents import local

KEY = (1, 2, 3)


def says(value):
    """A student whose notebook holds this value."""
    return lambda question: Answer(value=value)


def fails(failure, detail=""):
    """A student of whom nothing comes back."""
    return lambda question: Answer(failure=failure, detail=detail)


def verdict(part, ask, p=None):
    """Standing and first code."""
    outcome = judge_part(part, p or {}, ask, KEY)
    return outcome.standing, next((item.code for item in outcome.verdicts if not item.ok), "ok")


# Number


def seven_thousand(p):
    """Seven thousand."""
    return 7000


def eight_thousand(p):
    """You counted one too many."""
    return 8000


WHOLE = Number("n", points=2, reference=seven_thousand, mistakes=[eight_thousand])
DRESSES = [
    (7000, "ok"), (7000.0, "ok"), (np.int64(7000), "ok"), (np.float32(7000), "ok"), (torch.tensor(7000), "ok"),
    (torch.tensor(7000.0), "ok"), (np.array(7000), "ok"), ("7000", "ok"), ("7,000", "ok"), ("7 000", "ok"),
    (" 7000 ", "ok"),
    (Fraction(14000, 2), "ok"), (sympy.Integer(7000), "ok"), (sympy.Rational(14000, 2), "ok"), (7e3, "ok"),
    ("7e3", "ok"),
    (7000.0000001, "value"), (6999, "value"), (-7000, "value"), (float("inf"), "value"), ("7.001", "value"),
    ("7.000", "unreadable"),
    (float("nan"), "finite"), (None, "missing"), ("", "missing"), ("  ", "missing"), ([], "missing"), ((), "missing"),
    (True, "unreadable"), ([7000], "unreadable"), ((7000,), "unreadable"), (torch.tensor([7000]), "unreadable"),
    (np.array([[7000]]), "unreadable"), ("7000 parameters", "unreadable"), ("7'000", "unreadable"),
    ("7000,0", "unreadable"), ("7*1000", "unreadable"), ("= 7000", "unreadable"), ("about 7000", "unreadable"),
    ("seven thousand", "unreadable"), ("1e999999999", "unreadable"), ("7,00", "unreadable"),
    ({"n": 7000}, "unreadable"), (7000 + 0j, "unreadable"),
    (8000, "eight_thousand"), ("8,000", "eight_thousand"), (torch.tensor(8000.0), "eight_thousand"),
]  # fmt: skip


@pytest.mark.parametrize(("given", "code"), DRESSES, ids=[f"{type(row[0]).__name__}-{row[0]}" for row in DRESSES])
def test_numbers_in_any_dress(given, code):
    """The value counts, not the dress; a known wrong number gets its own code; what is no number is a person's."""
    from autograder.protocol.codec import plain

    standing, found = verdict(WHOLE, says(plain(given)))
    assert (standing, found) == ({"ok": "earned", "unreadable": "held"}.get(code, "lost"), code)


@pytest.mark.parametrize(
    "subject", [lambda: 7000, object(), sympy, {7000}, len, sympy.Symbol("n"), sympy.Symbol("n") + 7000, range(3)]
)
def test_objects_that_are_no_answer(subject):
    """A function, a module or another object under the part's name is neither right nor wrong: a person looks."""
    for part in (WHOLE, CHOICE):
        assert verdict(part, ask_of(subject, part.name)) == ("held", "unreadable")


def test_a_known_wrong_number_gets_its_hint():
    """The mistake's docstring is what the student reads."""
    outcome = judge_part(WHOLE, {}, says(8000), KEY)
    assert outcome.verdicts[0].message == "You counted one too many." and outcome.points == 0


def third(p):
    """One third."""
    return 1 / 3


@pytest.mark.parametrize(
    ("given", "ok"), [(1 / 3, True), (0.333, True), (0.3337, False), ("1/3", True), (0.3323, False)]
)
def test_decimals_within_the_stated_tolerance(given, ok):
    """A relative tolerance, on both sides."""
    assert verdict(Number("n", points=1, reference=third, rtol=2e-3 / 2), says(given))[1] == ("ok" if ok else "value")


@pytest.mark.parametrize(
    ("reference", "given", "code"),
    [
        (7.2, "7.2", "ok"), (7.2, 7.2, "ok"), (7.2, "72/10", "ok"), (7.2, Fraction(36, 5), "ok"), (7.2, "7.20", "ok"),
        (7.2, "7.2000001", "value"), (7.2, "7.19999999999", "value"), (7.2, Fraction(7_200_001, 10**6), "value"),
        (7.2, float(np.float32(7.2)), "value"), (Fraction(36, 5), 7.2, "ok"), (Fraction(36, 5), 7.2000001, "value"),
        (1e22, "10000000000000000000001", "value"), (1e22, "10000000000000000000000", "ok"), (0.1, "1e-1", "ok"),
        (float("inf"), "7.5", "value"),
    ],
)  # fmt: skip
def test_a_typed_decimal_is_the_float_of_its_text(reference, given, code):
    """Without a tolerance, a decimal is right in any dress; one that differs is not, and whole numbers are exact."""
    assert verdict(Number("n", points=1, reference=lambda p: reference), says(given))[1] == code


@pytest.mark.parametrize(("given", "code"), [("7.2", "ok"), ("7,200", "unreadable"), ("7,201", "value")])
def test_a_comma_that_may_be_the_decimal_sign(given, code):
    """Right where a comma is the decimal sign, the text waits for a person; wrong everywhere, it is lost."""
    assert verdict(Number("n", points=1, reference=lambda p: 7.2, rtol=1e-9), says(given))[1] == code


def test_number_cells():
    """The stub says what to assign; the local check asks for a number, and for a whole one where that is the form."""
    cell = WHOLE.solution_cell({})
    assert cell == "# n = ...   (a whole number)\n### BEGIN SOLUTION\nn = 7000\n### END SOLUTION\n"
    assert "a number, in nats)" in Number("h", points=1, reference=third, unit="nats").solution_cell({})
    assert WHOLE.answer_cell(eight_thousand, {}) == "n = 8000\n" and "whole=True" in WHOLE.local_check({})
    assert Number("h", points=1, reference=third).local_check({}) == "form.check_number('h')"


FAILURES = [
    ("missing", "lost"),
    ("raised", "lost"),
    ("timeout", "lost"),
    ("memory", "lost"),
    ("exit", "lost"),
    ("staff", "held"),
]


@pytest.mark.parametrize(("failure", "standing"), FAILURES)
def test_failures_of_values(failure, standing):
    """Of what keeps an answer from coming back, only a fault of ours holds a part; each has its code and sentence."""
    for part in (WHOLE, CHOICE, FUNCTION, MODULE):
        outcome = judge_part(part, {}, fails(failure, "some detail"), KEY)
        assert outcome.standing == standing and outcome.points == 0
        assert outcome.verdicts[0].code == failure and part.name in outcome.verdicts[0].message


# Choice


def yes(p):
    """The right option."""
    return "Yes."


def no(p):
    """Look at the sign."""
    return "No."


def perhaps(p):
    """It can be decided."""
    return "Perhaps."


CHOICE = Choice("c", points=1, reference=yes, mistakes=[no, perhaps])


DRESSED = ["{}", "{}.", "({})", "{})", " {} ", "{}:", "({}) ", "**{})**", "**{}**", "`{}`", "'{}'", "[{}]", "option {}",
           "Option: {}", "answer {})"]  # fmt: skip


@pytest.mark.parametrize("dress", DRESSED)
@pytest.mark.parametrize("case", [str.lower, str.upper])
def test_letters_in_any_dress(dress, case):
    """The right letter, however it is written; as one entry of a list, too."""
    right, wrong = (dress.format(case(CHOICE.letter(option, {}))) for option in (yes, no))
    for given in (right, [right], (right,)):
        assert verdict(CHOICE, says(given)) == ("earned", "ok")
    for given in (wrong, [wrong]):
        assert verdict(CHOICE, says(given)) == ("lost", "no")


@pytest.mark.parametrize("dress", ["{1}", "{0}) {1}", "**{0})** {1}", "({0}) {1}", "{0}. {1}", "{0}: **{1}**"])
@pytest.mark.parametrize("text", [str, str.upper, lambda text: text.rstrip("."), lambda text: f" {text}\n"])
def test_the_text_of_an_option_is_its_letter(dress, text):
    """The option's own words count, with its letter or alone, whatever their case and full stop."""
    for option, found in ((yes, ("earned", "ok")), (no, ("lost", "no")), (perhaps, ("lost", "perhaps"))):
        given = dress.format(CHOICE.letter(option, {}), text(option({})))
        assert verdict(CHOICE, says(given)) == found


@pytest.mark.parametrize(
    "given", ["abc", "1", 0, 1, True, "a b", "a or b", "a, b", "not a", "a) or b)", ["a", "b"], torch.tensor(1),
              "Yes, no.", b"a", {"a": 1}, "a) is wrong, b) is right", "Yes. No.", "the first one", "ab)", "é"]
)  # fmt: skip
def test_what_names_no_option_for_sure_is_held(given):
    """No option is chosen for a student who named none, or two; a person looks."""
    assert verdict(CHOICE, says(given)) == ("held", "unreadable")


def test_a_letter_with_the_text_of_another_option_is_held():
    """The two contradict each other, so neither is taken."""
    for option, other in itertools.permutations((yes, no, perhaps), 2):
        given = f"{CHOICE.letter(option, {})}) {other({})}"
        assert verdict(CHOICE, says(given)) == ("held", "unreadable")


@pytest.mark.parametrize(("given", "code"), [("d", "no_option"), ("Z)", "no_option"), ("", "missing"), (" ", "missing"),
                                             (None, "missing"), ([], "missing"), ([""], "missing")])  # fmt: skip
def test_no_option_is_lost(given, code):
    """A letter that no option has is wrong; an answer that is empty is none."""
    assert verdict(CHOICE, says(given)) == ("lost", code)


def test_letters_follow_from_the_variant():
    """The same variant has the same letters; over many variants the right one stands everywhere."""
    assert CHOICE.options({"K": 3}) == CHOICE.options({"K": 3})
    assert {CHOICE.right({"K": number}) for number in range(30)} == {"a", "b", "c"}
    assert CHOICE.statement({"K": 3}).count("- **") == 3


@pytest.mark.parametrize("p", [{}, {"K": 3}, {"K": 3, "kind": "x", "wide": [1, 2]}])
def test_nothing_in_the_order_tells_which_option_is_right(p):
    """Whichever of the options is the reference, the same texts stand under the same letters."""
    shown = {
        Choice("c", points=1, reference=options[0], mistakes=options[1:]).statement(p)
        for options in itertools.permutations((yes, no, perhaps))
    }
    assert len(shown) == 1


def test_the_right_option_stands_everywhere_equally_often():
    """Over 3,000 variants each place has a third of the right ones, to four standard deviations; so it has where the
    order of the texts by another rule (the alphabet) is known, and where the same variant's other part is.
    """
    places, same_as_other, alphabetical = [0] * 3, 0, [0] * 3
    other = Choice("d", points=1, reference=yes, mistakes=[no, perhaps])
    for number in range(3000):
        letters = {function({}): letter for letter, function in CHOICE.options({"K": number}).items()}
        places["abc".index(letters["Yes."])] += 1
        alphabetical["abc".index(letters[min(letters)])] += 1
        same_as_other += letters["Yes."] == other.right({"K": number})
    bound = 4 * (3000 * 1 / 3 * 2 / 3) ** 0.5
    for count in (*places, *alphabetical, same_as_other):
        assert abs(count - 1000) < bound


def only_with_bias(p):
    """There is no bias here."""
    return "With the bias." if p["bias"] else None


def test_an_option_without_text_does_not_stand_in_a_variant():
    """It is neither shown nor chosen, and has no letter; what is left must be a choice."""
    part = Choice("c", points=1, reference=yes, mistakes=[no, only_with_bias])
    assert set(part.options({"bias": True}).values()) == {yes, no, only_with_bias}
    assert set(part.options({"bias": False}).values()) == {yes, no}
    assert part.statement({"bias": False}).count("- **") == 2
    assert part.applies(only_with_bias, {"bias": True}) and not part.applies(only_with_bias, {"bias": False})
    assert part.applies("c", {"bias": False}), "what a student types can always be handed in"
    letters = {letter: verdict(part, says(letter), {"bias": False})[1] for letter in "abc"}
    assert sorted(letters.values()) == ["no", "no_option", "ok"]
    assert letters["c"] == "no_option"


@pytest.mark.parametrize(
    "part",
    [
        Choice("c", points=1, reference=yes, mistakes=[only_with_bias]),
        Choice("c", points=1, reference=only_with_bias, mistakes=[yes, no]),
    ],
)
def test_a_variant_without_a_choice_is_the_authors_fault(part):
    """No wrong option left, or no right one."""
    with pytest.raises(AuthorError, match="one correct option and 1 to 25 wrong ones"):
        part.options({"bias": False})


# Function


def inputs(rng, p):
    """Two tensors of one shape."""
    return tensors(rng, {"B": 3, "K": 5}, x="B K", y="B K")


def total(x, y):
    """x + 2y."""
    return x + 2 * y


def swapped(x, y):
    """You swapped them."""
    return 2 * x + y


def detached(x, y):
    """Nothing flows to y."""
    return x + 2 * y.detach()


FUNCTION = Function(
    "f", points=3, inputs=inputs, reference=total, checks=[close(weight=2), gradient()], mistakes=[swapped, detached]
)

STUDENTS = [
    (lambda x, y: y + x + y, 3.0, "ok"),
    (lambda x, y: y + 2 * x, 0.0, "swapped"),
    (lambda a, b: a + 2 * b, 3.0, "ok"),
    (lambda x, y: x + 2 * y.detach(), 2.0, "detached"),
    (lambda x, y: (x + 2 * y).detach(), 2.0, "detached"),
    (lambda x, y: x + 2 * y + 1e-8, 0.0, "value"),
    (lambda x, y: (x + 2 * y).float(), 0.0, "dtype"),
    (lambda x, y: (x + 2 * y).float().double(), 0.0, "value"),
    (lambda x, y: x + y * torch.sqrt(torch.tensor(2)) ** 2, 3.0, "ok"),
    (lambda x, y: torch.zeros(x.shape).add(x).add(2 * y), 3.0, "ok"),
    (lambda x, y: x + y * torch.sqrt(torch.tensor(2, dtype=torch.float32)) ** 2, 0.0, "value"),
    (lambda x, y: (x + 2 * y)[0], 0.0, "shape"),
    (lambda x, y: (x + 2 * y).numpy(), 0.0, "type"),
    (lambda x, y: x / 0 * y, 0.0, "finite"),
    (lambda x, y: None, 0.0, "type"),
    (lambda x: x, 0.0, "raised"),
    (lambda x, y: open, 0.0, "unreadable"),
    (lambda x, y: exec("raise NotImplementedError"), 0.0, "missing"),
    (lambda x, y: exec("raise SystemExit"), 0.0, "raised"),
    (None, 0.0, "missing"),
    (3, 0.0, "raised"),
]


def ask_of(subject, name="f"):
    """A student who hands in a function, a class or something else."""
    from functools import partial

    from autograder.protocol.answering import answer

    return partial(answer, namespace={name: subject})


@pytest.mark.parametrize(("student", "points", "code"), STUDENTS)
def test_functions(student, points, code):
    """The gate decides about everything, the gradient about its share; a known mistake is named."""
    outcome = judge_part(FUNCTION, {}, ask_of(student), KEY)
    assert outcome.points == points
    assert next((item.code for item in outcome.verdicts if not item.ok), "ok") == code


def test_new_tensors_are_float64_while_nothing_else_is_given():
    """The default dtype is that of the arguments, or float64; after the call, or an error, it is what it was."""
    seen = []
    student = lambda x: seen.append(torch.get_default_dtype()) or exec("raise ValueError")  # noqa: E731
    for dtype in (torch.float64, torch.float32, torch.int64):
        ask_of(student)(Question(kind="call", name="f", arguments=(torch.ones(2, dtype=dtype),)))
        assert torch.get_default_dtype() is torch.float32
    assert seen == [torch.float64, torch.float32, torch.float64]


def test_changing_an_argument_in_place_is_right():
    """In a network what a function is given is no leaf: it may overwrite its argument, gradients or not."""
    outcome = judge_part(FUNCTION, {}, ask_of(lambda x, y: x.add_(y).add_(y)), KEY)
    assert outcome.standing == "earned", outcome.verdicts


def test_other_gradients_are_not_taken_for_a_mistake_that_has_none():
    """A gradient that is wrong by y is not explained by a mistake that cuts the path to y."""

    def odd(x, y):
        return x + 4 * y - 2 * y.detach()

    outcome = judge_part(FUNCTION, {}, ask_of(odd), KEY)
    assert outcome.verdicts[1].code == "gradient_value"


def test_each_of_several_inputs_is_drawn():
    """The first one `trials` times, every other once, each from a stream of its own."""

    def one(rng, p):
        return tensors(rng, {}, x="1 1", y="1 1")

    part = Function("f", points=1, inputs=[inputs, one], reference=total, checks=[close()], trials=4)
    cases = part.cases({}, KEY)
    drawn = [case for case in cases if case.drawn_by]
    assert [tuple(case.arguments["x"].shape) for case in drawn] == [(3, 5)] * 4 + [(1, 1)]
    assert len({case.rng_key for case in cases}) == len(cases)
    assert not torch.equal(cases[0].arguments["x"], cases[1].arguments["x"])
    # Right on all but the edge case is not right.
    assert verdict(part, ask_of(lambda x, y: x + 2 * y if x.numel() > 1 else x)) == ("lost", "value")


def test_a_fault_of_ours_is_held():
    """A reference that raises never costs a student points."""

    def broken(x, y):
        raise ZeroDivisionError

    part = Function("f", points=1, inputs=inputs, reference=broken, checks=[close()])
    outcome = judge_part(part, {}, ask_of(total), KEY)
    assert outcome.standing == "held" and "ZeroDivisionError" in outcome.verdicts[0].staff


def test_function_cells():
    """The local check shows shapes, dtypes and kinds, no values."""
    assert (
        FUNCTION.local_check({})
        == "form.check('f', x=form.tensor(3, 5), y=form.tensor(3, 5), returns=form.tensor(3, 5))"
    )
    assert "def f(x, y):" in FUNCTION.answer_cell(swapped, {})


# Module


def module_inputs(rng, p):
    """Sizes, and four vectors."""
    return {"init": {"J": 3, "K": 2}, "call": tensors(rng, {}, x="4 2")}


class Linear(nn.Module):
    """W x - B."""

    def __init__(self, J, K):
        super().__init__()
        self.W = nn.Parameter(torch.zeros(J, K))
        self.B = nn.Parameter(torch.zeros(J))

    def forward(self, x):
        return x @ self.W.T - self.B


class Added(Linear):
    """You added B."""

    def forward(self, x):
        return x @ self.W.T + self.B


class NoBias(Linear):
    """B gets no gradient."""

    def forward(self, x):
        return x @ self.W.T - self.B.detach()


class OtherArguments(Linear):
    def __init__(self, hidden, inputs):
        super().__init__(hidden, inputs)


class Exchanged(Linear):
    def __init__(self, K, J):
        super().__init__(J, K)


class SinglePrecision(Linear):
    def forward(self, x):
        result = torch.zeros(len(x), len(self.B))
        for row, vector in enumerate(x):
            result[row] = (self.W * vector).sum(1) - self.B
        return result / torch.sqrt(torch.tensor(3)) * torch.tensor(3**0.5)


class OtherNames(nn.Module):
    def __init__(self, J, K):
        super().__init__()
        self.linear = nn.Linear(K, J)


class MoreParameters(Linear):
    def __init__(self, J, K):
        super().__init__(J, K)
        self.extra = nn.Parameter(torch.zeros(1))


class WithBuffer(Linear):
    def __init__(self, J, K):
        super().__init__(J, K)
        self.register_buffer("calls", torch.zeros(1))

    def forward(self, x):
        self.calls += 1
        return super().forward(x)


class Remembers(Linear):
    def forward(self, x):
        self.x = getattr(self, "x", x)
        return super().forward(self.x)


class RemembersInTraining(Linear):
    def forward(self, x):
        self.x = getattr(self, "x", x) if self.training else x
        return super().forward(self.x)


class OnlyInTraining(Linear):
    def forward(self, x):
        return super().forward(x if self.training else 2 * x)


class Overwrites(Linear):
    def forward(self, x):
        return super().forward(x.mul_(2).div_(2))


class Reordered(nn.Module):
    def __init__(self, J, K):
        super().__init__()
        self.B = nn.Parameter(torch.ones(J, dtype=torch.float64))
        self.W = nn.Parameter(torch.ones(J, K))

    def forward(self, x):
        return torch.einsum("jk,bk->bj", self.W, x) - self.B


MODULE = Module(
    "M",
    points=3,
    inputs=module_inputs,
    reference=Linear,
    checks=[close(weight=2), gradient()],
    mistakes=[Added, NoBias],
)
MODULES = [
    (Linear, 3.0, "ok"),
    (Reordered, 3.0, "ok"),
    (Added, 0.0, "Added"),
    (NoBias, 2.0, "NoBias"),
    (OtherArguments, 3.0, "ok"),
    (Exchanged, 3.0, "ok"),
    (SinglePrecision, 3.0, "ok"),
    (OtherNames, 0.0, "parameters"),
    (MoreParameters, 0.0, "parameters"),
    (nn.Linear, 0.0, "parameters"),
    (WithBuffer, 3.0, "ok"),
    (Remembers, 0.0, "value"),
    (RemembersInTraining, 0.0, "value"),
    (OnlyInTraining, 0.0, "value"),
    (Overwrites, 3.0, "ok"),
    (lambda J, K: Linear(J, K), 3.0, "ok"),
    (None, 0.0, "missing"),
]


@pytest.mark.parametrize(("student", "points", "code"), MODULES)
def test_modules(student, points, code):
    """The parameters are loaded strictly by name, and gradients reach them; nothing is kept from call to call."""
    outcome = judge_part(MODULE, {}, ask_of(student, "M"), KEY)
    assert outcome.points == points
    assert next((item.code for item in outcome.verdicts if not item.ok), "ok") == code


def test_a_module_that_takes_parameters():
    """The reference's constructor gets the variant's parameters; a student's does not."""

    class Scaled(Linear):
        """Scaled."""

        def __init__(self, J, K, *, p):
            super().__init__(J, K)
            self.scale = p["scale"]

        def forward(self, x):
            return self.scale * super().forward(x)

    part = Module("M", points=1, inputs=module_inputs, reference=Scaled, checks=[close()])
    assert verdict(part, local(Scaled, "M", {"scale": 2}), {"scale": 2}) == ("earned", "ok")
    assert verdict(part, local(Scaled, "M", {"scale": 3}), {"scale": 2}) == ("lost", "value")
    assert verdict(part, ask_of(Linear, "M"), {"scale": 1}) == ("earned", "ok")


def test_module_inputs_and_subjects():
    """Slips of a module's author are heard."""
    with pytest.raises(AuthorError, match="is not a class"):
        Module("M", points=1, inputs=module_inputs, reference=total, checks=[close()])
    part = Module("M", points=1, inputs=inputs, reference=Linear, checks=[close()])
    with pytest.raises(AuthorError, match=r"must return 'init' and 'call', .*, not \['x', 'y'\]"):
        part.cases({}, KEY)


def test_module_cells():
    """The local check names the parameters with their shapes."""
    cell = MODULE.local_check({})
    assert cell.startswith(
        "form.check_module('M', init={'J': 3, 'K': 2}, state={'W': form.tensor(3, 2), 'B': form.tensor(3)}, "
    )
    assert cell.endswith(", x=form.tensor(4, 2), returns=form.tensor(4, 3))")


# Written

WRITTEN = Written("w", points=2, reference="Because of the sign.", rubric="The sign: 2.")


@pytest.mark.parametrize(
    ("text", "standing", "code"),
    [("Since x < 0.", "held", "person"), ("", "lost", "missing"), (" \n\t", "lost", "missing")],
)
def test_texts_are_held_for_a_person(text, standing, code):
    """Nobody's text is judged by us; an empty one needs no person."""
    assert verdict(WRITTEN, says(text)) == (standing, code)


def test_the_rubric_is_for_graders():
    """It stands, with the model answer, where the student does not read."""
    found = judge_part(WRITTEN, {}, says("x"), KEY).verdicts[0]
    assert (
        found.staff == "Rubric:\n\nThe sign: 2.\n\nA model answer:\n\nBecause of the sign."
        and "sign" not in found.message
    )


def test_written_cells():
    """The model answer stands between the marks."""
    assert WRITTEN.solution_cell({}) == "### BEGIN SOLUTION\nBecause of the sign.\n### END SOLUTION\n"
    by_variant = Written("w", points=2, reference=lambda p: f"K is {p['K']}.", rubric="r")
    assert by_variant.model_answer({"K": 3}) == "K is 3."
