"""When a value is the expected one: a table with near misses on both sides, and the checks that rest on it."""

from fractions import Fraction

import numpy as np
import pytest
import torch

from autograder import close, exactly, form, gradient, holds, unchanged
from autograder.checks.compare import difference, number
from autograder.core import Case
from autograder.errors import AuthorError
from autograder.protocol.answering import question_key
from autograder.protocol.respondents import FunctionRespondent, local

INF, NAN = float("inf"), float("nan")


def t(*entries, dtype=torch.float64):
    """A tensor of these entries."""
    return torch.tensor(entries[0] if len(entries) == 1 else entries, dtype=dtype)


# value, expected, rtol, code (None: the same)
TENSORS = [
    (t(1, 2), t(1, 2), 1e-10, None),
    (t(1, 2 + 1.9e-10), t(1, 2), 1e-10, None),
    (t(1, 2 + 2.1e-10), t(1, 2), 1e-10, "value"),
    (t(1 + 1.9e-10, 2), t(1, 2), 1e-10, None),
    (t(5e-9), t(1e-9), 1e-9, "value"),
    (t(1e-9), t(1e-9), 1e-9, None),
    (t(1e-300), t(0), 1e-9, "value"),
    (t(0), t(0), 1e-9, None),
    (t(-0.0), t(0), 1e-9, None),
    (t([1]), t(1), 1e-9, "shape"),
    (t(1), t([1]), 1e-9, "shape"),
    (t(0), t(0, 0, 0), 1e-9, "shape"),
    (t([[1], [2]]), t(1, 2), 1e-9, "shape"),
    (torch.zeros(0, 3), torch.zeros(0, 3), 1e-9, None),
    (torch.zeros(3, 0), torch.zeros(0, 3), 1e-9, "shape"),
    (t(1, 2, dtype=torch.float32), t(1, 2), 1e-9, "dtype"),
    (t(1, 2, dtype=torch.int64), t(1, 2), 1e-9, "dtype"),
    (t(1, 2), t(1, 2, dtype=torch.int64), 1e-9, "dtype"),
    (t(1, 2, dtype=torch.int64), t(1, 2, dtype=torch.int64), 0.0, None),
    (t(1, 3, dtype=torch.int64), t(1, 2, dtype=torch.int64), 0.5, "value"),
    (t(True, False, dtype=torch.bool), t(True, True, dtype=torch.bool), 0.5, "value"),
    (t(NAN, 1), t(NAN, 1), 1e-9, "finite"),
    (t(NAN, 1), t(0, 1), 1e-9, "finite"),
    (t(INF, 1), t(0, 1), 1e-9, "finite"),
    (t(INF, 1), t(INF, 1), 1e-9, None),
    (t(-INF, 1), t(INF, 1), 1e-9, "value"),
    (t(1, INF), t(INF, 1), 1e-9, "finite"),
    (t(5, 1), t(INF, 1), 1e-9, "value"),
    (t(INF, 1 + 1e-6), t(INF, 1), 1e-9, "value"),
    (t(INF, INF), t(INF, INF), 1e-9, None),
    (t(1, 2).requires_grad_(True), t(1, 2), 1e-9, None),
    ([1.0, 2.0], t(1, 2), 1e-9, "type"),
    (np.array([1.0, 2.0]), t(1, 2), 1e-9, "type"),
    (t(1, 2), np.array([1.0, 2.0]), 1e-9, "type"),
    (np.array([1.0, 2.0]), np.array([1.0, 2.0]), 1e-9, None),
    (None, t(1, 2), 1e-9, "type"),
    (1.0, t(1), 1e-9, "type"),
    (torch.ones(2, dtype=torch.bfloat16), torch.ones(2, dtype=torch.bfloat16), 1e-3, None),
    (torch.tensor([1 + 2j]), torch.tensor([1 + 2j]), 1e-9, None),
    (torch.tensor([1 - 2j]), torch.tensor([1 + 2j]), 1e-9, "value"),
]

STRUCTURES = [
    ({"a": 1, "b": 2}, {"b": 2, "a": 1}, 0.0, None),
    ({"a": 1}, {"a": 1, "b": 2}, 0.0, "keys"),
    ({"a": 1, "b": 2, "c": 3}, {"a": 1, "b": 2}, 0.0, "keys"),
    ({"a": {"b": 1}}, {"a": {"b": 2}}, 0.0, "value"),
    ([("a", 1)], {"a": 1}, 0.0, "type"),
    ((1, 2), [1, 2], 0.0, None),
    ([1, 2, 3], [1, 2], 0.0, "length"),
    ([1, 3], [1, 2], 0.0, "value"),
    ("12", [1, 2], 0.0, "type"),
    (t(1, 2), [1, 2], 0.0, "type"),
    (True, True, 0.0, None),
    (1, True, 0.0, "type"),
    (True, 1, 0.0, "type"),
    ("yes", "yes", 0.0, None),
    ("Yes", "yes", 0.0, "value"),
    (None, None, 0.0, None),
    (0, None, 0.0, "type"),
    ((t(1), t(2)), (t(1), t(2)), 1e-9, None),
    ((t(2), t(1)), (t(1), t(2)), 1e-9, "value"),
]

NUMBERS = [
    (7, 7, 0.0, None),
    (7.0, 7, 0.0, None),
    (7.0000001, 7, 0.0, "value"),
    (7 + 6e-9, 7, 1e-9, None),
    (7 + 8e-9, 7, 1e-9, "value"),
    (Fraction(7), 7, 0.0, None),
    (t(7.0), 7, 0.0, None),
    (torch.tensor(7), 7, 0.0, None),
    (np.array(7), 7, 0.0, None),
    (torch.tensor([7]), 7, 0.0, "type"),
    ([7], 7, 0.0, "type"),
    (True, 1, 0.0, "type"),
    (None, 0, 0.0, "type"),
    (NAN, 7, 1.0, "finite"),
    (INF, 7, 1.0, "value"),
    (INF, INF, 0.0, None),
    (-INF, INF, 1.0, "value"),
    (1e308, INF, 1.0, "value"),
    (2**53 + 1, 2**53, 0.0, "value"),
    (1e-300, 0, 1e-3, "value"),
    (Fraction(1, 3), 1 / 3, 1e-12, None),
    ("1/3", Fraction(1, 3), 0.0, None),
]

TYPED = [
    ("7", 7), (" 7 ", 7), ("+7", 7), ("-7", -7), ("7.", 7), (".5", 0.5), ("7.50", 7.5), ("7e2", 700), ("7,000", 7000),
    ("63,045,632", 63_045_632), ("63 045 632", 63_045_632), ("63_045_632", 63_045_632), ("7/2", 3.5),
    ("1,000.5", 1000.5),
    ("", None), (".", None), ("7,5", None), ("7,0000", None), ("70,00", None), ("1 0", None), ("seven", None),
    ("7/0", None),
    ("nan", None), ("inf", None), ("1e999999999", None), ("7" * 101, None), ("0x7", None), ("7 apples", None),
    ("٧", 7), ("２９", 29), ("−5", -5), ("1\u202f234", 1234), ("10²", None), ("½", None), ("1\u202f234,5", None),
]  # fmt: skip


@pytest.mark.parametrize(("value", "expected", "rtol", "code"), TENSORS + STRUCTURES + NUMBERS)
def test_whether_a_value_is_the_expected_one(value, expected, rtol, code):
    """Type before shape before dtype before finiteness before value; a broadcast is no match and nan equals nothing."""
    found = difference(value, expected, rtol=rtol)
    assert (found.code if found else None) == code


@pytest.mark.parametrize(("text", "wanted"), TYPED)
def test_numbers_as_typed(text, wanted):
    """Thousands may be set apart, three digits at a time; a decimal comma is not guessed at; exponents are short."""
    assert number(text) == wanted


def test_messages_hold_no_expected_number():
    """A student reads shapes and kinds, never what is right."""
    for found in (
        difference(8, 7123, rtol=0.0),
        difference(t(8.0), t(7123.0), rtol=0.0),
        difference("8", "7123", rtol=0.0),
    ):
        assert "7123" not in found.message and "8" not in found.message


def case(**arguments):
    """A case of these arguments."""
    return Case(parameters={}, arguments=arguments, rng_key=(5,))


def run(check, student, reference, **arguments):
    """The verdict's code; `ok` where it passes."""
    one = case(**arguments)
    return check.run(one, answering(one, student), answering(one, reference)).code


def answering(one, f):
    """Who answers for a function in a case."""
    return FunctionRespondent(name="f", ask=local(f, "f", {}), case=one)


X = torch.linspace(-1, 2, 5, dtype=torch.float64)


def softmax(x):
    """The reference."""
    return torch.softmax(x, 0)


def by_exp(x):
    """The same by another route."""
    return torch.exp(x) / torch.exp(x).sum()


GRADIENTS = [
    (softmax, by_exp, "ok"),
    (softmax, lambda x: torch.softmax(2 * x, 0), "gradient_value"),
    (softmax, lambda x: softmax(x) + 1, "ok"),
    (softmax, lambda x: softmax(x.detach()), "detached"),
    (softmax, lambda x: torch.tensor(softmax(x).tolist(), dtype=x.dtype), "detached"),
    (lambda x: 1e-9 * x, lambda x: 5e-9 * x, "gradient_value"),
    (lambda x: torch.ones_like(x), lambda x: torch.ones_like(x) + 0 * x, "ok"),
    (lambda x: torch.ones_like(x), lambda x: torch.ones_like(x) + x, "gradient_value"),
    (lambda x: (x, 2 * x), lambda x: (x, 2 * x), "ok"),
    (lambda x: (x, 2 * x), lambda x: (2 * x, x), "gradient_value"),
]


@pytest.mark.parametrize(("reference", "student", "code"), GRADIENTS)
def test_gradients(reference, student, code):
    """A random cotangent sees what a sum does not, a cut graph has a code of its own, and no path means none."""
    assert run(gradient(), student, reference, x=X) == code


def test_what_rounding_leaves_of_a_zero_gradient_is_zero():
    """The softmax of one entry is 1 whatever it is: terms that cancel to 1e-17, or no path at all, are no fault."""
    one = torch.tensor([0.3], dtype=torch.float64)
    for student in (by_exp, lambda x: softmax(x) + 1e-17 * x, lambda x: x * 0 + 1, lambda x: torch.ones_like(x)):
        assert run(gradient(), student, softmax, x=one) == "ok"
    for student in (lambda x: softmax(x) + 1e-9 * x, lambda x: 1 + x * NAN):
        assert run(gradient(), student, softmax, x=one) == "gradient_value"


def test_gradients_by_every_floating_argument():
    """The second argument's gradient is looked at too; whole numbers have none."""
    arguments = {"x": X, "n": torch.arange(5), "y": X + 2}
    assert run(gradient(), lambda x, n, y: x * y * n, lambda x, n, y: x * n * y, **arguments) == "ok"
    assert run(gradient(), lambda x, n, y: x * y.detach() * n, lambda x, n, y: x * n * y, **arguments) == "detached"
    one = case(**arguments)
    found = gradient().run(
        one, answering(one, lambda x, n, y: x * n * y * y / y.detach()), answering(one, lambda x, n, y: x * n * y)
    )
    assert found.code == "gradient_value" and "by y" in found.message


def test_cotangents_are_the_same_for_everybody():
    """They follow from the case: judging again asks the same question, and by another case another."""
    asked = []

    def student(question):
        asked.append(question)
        return local(softmax, "f", {})(question)

    for one in (case(x=X), case(x=X), Case(parameters={}, arguments={"x": X}, rng_key=(6,))):
        gradient().run(one, FunctionRespondent(name="f", ask=student, case=one), answering(one, softmax))
    keys = [question_key(question) for question in asked]
    assert keys[0] == keys[1] != keys[2]
    assert not torch.equal(asked[0].options["cotangent"][0], torch.ones(5))


def test_a_question_about_the_case_is_made_once():
    """What a whole class is asked is one object; what somebody changed meanwhile is asked anew."""
    asked = []

    def student(question):
        asked.append(question)
        return local(softmax, "f", {})(question)

    one = case(x=X.clone())
    for _ in range(2):
        respondent = FunctionRespondent(name="f", ask=student, case=one)
        close().run(one, respondent, answering(one, softmax))
        gradient().run(one, respondent, answering(one, softmax))
    assert asked[0] is asked[2] and asked[1] is asked[3] and asked[0] is not asked[1]
    own = X.clone()
    first = respondent.call(own)
    own += torch.arange(5)
    assert not torch.equal(first, respondent.call(own))


def two_paths(x, y):
    """Differentiable by both."""
    return x * y


def by_x_alone(x, y):
    """Not differentiable by y."""
    return x * y.detach()


NAMED = [
    ("", by_x_alone, "detached"),
    ("x y", by_x_alone, "detached"),
    ("y", by_x_alone, "detached"),
    ("x", by_x_alone, "ok"),
    ("x", two_paths, "ok"),
]


@pytest.mark.parametrize(("names", "student", "code"), NAMED)
def test_gradients_by_some_arguments(names, student, code):
    """`gradient("x")` asks for the gradient by x only."""
    assert run(gradient(names), student, two_paths, x=t(1, 2), y=t(3, 5)) == code


def test_a_gradient_by_an_argument_that_there_is_not():
    """A misspelt name is the author's slip."""
    with pytest.raises(AuthorError, match="there is no 'z'; there are x, y"):
        run(gradient("z"), two_paths, two_paths, x=t(1, 2), y=t(3, 5))


def test_rounding_beside_a_large_cotangent():
    """A saturated tanh has next to no gradient: two ways to write it differ by last digits; a factor shows as ever."""

    def by_sigmoid(x):
        return 2 * torch.sigmoid(2 * x) - 1

    def by_tanh(x):
        return torch.tanh(x)

    for x in (1.0, 8.0, 12.0, 30.0):
        assert run(gradient(), by_sigmoid, by_tanh, x=t(x)) == "ok"
    assert run(gradient(), lambda x: torch.tanh(x) * 1.0000001, by_tanh, x=t(1.0)) == "gradient_value"
    assert run(gradient(), lambda x: 5e-9 * x, lambda x: 1e-9 * x, x=t(1.0)) == "gradient_value"


LEFT = [
    ("", lambda x, y: x + y, "ok"),
    ("", lambda x, y: x.clone().add_(y), "ok"),
    ("", lambda x, y: x.clone().requires_grad_() + y, "ok"),
    ("", lambda x, y: x.add_(y), "changed"),
    ("", lambda x, y: x.requires_grad_() + y, "changed"),
    ("", lambda x, y: x.resize_(1) + y, "changed"),
    ("y", lambda x, y: x.add_(y), "ok"),
    ("x", lambda x, y: x.add_(y), "changed"),
    ("x", lambda x, y: x.add_(y).sub_(y), "ok"),
]


@pytest.mark.parametrize(("names", "student", "code"), LEFT)
def test_arguments_that_must_stay_as_they_are(names, student, code):
    """Entries, shapes, and that no gradient is required; a copy may be changed."""
    assert run(unchanged(names), student, two_paths, x=t(1, 2), y=t(3, 5)) == code


def test_close_and_exactly():
    """`exactly` has no tolerance; `close` has the one it is given."""
    off = lambda x: x * (1 + 1e-12)  # noqa: E731
    assert run(close(), off, lambda x: x, x=X) == "ok"
    assert run(exactly(), off, lambda x: x, x=X) == "value"
    assert run(close(rtol=1e-13), off, lambda x: x, x=X) == "value"


FORMS = [
    (lambda x: x * 0, "ok"),
    (lambda x: x[:4], "shape"),
    (lambda x: x.float(), "dtype"),
    (lambda x: [x], "type"),
    (lambda x: x * NAN, "finite"),
    (lambda x: x / 0, "finite"),
    (lambda x: None, "type"),
]


@pytest.mark.parametrize(("student", "code"), FORMS)
def test_form(student, code):
    """Type, shape, dtype and finiteness, and nothing about the values; worth nothing by itself."""
    assert run(form(), student, lambda x: x, x=X) == code
    assert form().weight == 0


def test_form_of_structures():
    """Tuples, dicts and numbers by their kinds."""
    reference = lambda x: {"a": (x, 3), "b": "word"}  # noqa: E731
    assert run(form(), lambda x: {"a": [x + 1, 2.5], "b": "word"}, reference, x=X) == "ok"
    assert run(form(), lambda x: {"a": (x, None), "b": "word"}, reference, x=X) == "type"
    assert run(form(), lambda x: {"a": (x, NAN), "b": "word"}, reference, x=X) == "finite"
    assert run(form(), lambda x: {"a": (x,), "b": "word"}, reference, x=X) == "length"


def keeps_sign(f, inputs, p):
    """The result has the argument's sign.

    More about it."""
    return bool((f(inputs["x"]) * inputs["x"] >= 0).all())


def says(f, inputs, p):
    """Something holds."""
    return "a sentence of its own"


def test_properties():
    """True passes, a sentence is what the student reads, and anything else fails with the docstring's first line."""
    ask = answering(case(x=X), lambda x: -x)
    assert run(holds(keeps_sign), lambda x: 3 * x, lambda x: x, x=X) == "ok"
    verdict = holds(keeps_sign).run(case(x=X), ask, ask)
    assert verdict.code == "keeps_sign" and verdict.message == "This does not hold: The result has the argument's sign."
    assert holds(says).run(case(x=X), ask, ask).message == "a sentence of its own"
    assert holds(keeps_sign).name == "keeps sign" and holds(keeps_sign, name="other").name == "other"


def test_a_property_cannot_change_the_inputs_of_others():
    """Each call gets its own copies, and so does each property its arrays; a tensor that one changes is named."""

    def meddles(f, inputs, p):
        """Nothing."""
        f(inputs["x"])
        inputs["n"] += 1
        return True

    def changes(f, inputs, p):
        """Nothing."""
        inputs["x"] += 1
        return True

    one = case(x=X.clone(), n=np.ones(2))
    ask = answering(one, lambda x: x.zero_())
    holds(meddles).run(one, ask, ask)
    assert torch.equal(one.arguments["x"], X) and one.arguments["n"].tolist() == [1, 1]
    with pytest.raises(AuthorError, match="changes the input x"):
        holds(changes).run(one, ask, ask)


def test_a_case_asks_everybody_the_same_question():
    """What is the case's own is put in the same question again; a property's own tensors are not remembered."""
    asked = []

    def ask(question):
        asked.append(question)
        return local(lambda x: 2 * x, "f", {})(question)

    one = case(x=X.clone())
    for _ in range(2):
        respondent = FunctionRespondent(name="f", ask=ask, case=one)
        gradient().run(one, respondent, respondent)
        respondent.call(X.clone())
    first, again = asked[: len(asked) // 2], asked[len(asked) // 2 :]
    assert [question.kind for question in first] == ["call", "gradient", "gradient", "call"]
    assert [old is new for old, new in zip(first, again, strict=True)] == [True, True, True, False]
    assert first[1] is first[2] and len({question_key(question) for question in first[1:]}) == 2


@pytest.mark.parametrize("weight", [-1, NAN, INF])
def test_weights(weight):
    """A weight is a finite number that is not negative."""
    with pytest.raises(AuthorError, match="weight"):
        close(weight=weight)
