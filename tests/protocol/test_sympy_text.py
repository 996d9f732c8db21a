"""A sympy expression is an answer: what crosses the wall is its text in our language, and nothing else is read."""

import functools

import pytest
import sympy as sp

from autograder import Expression, Matrix
from autograder.core import Question
from autograder.grading.judge import judge_part
from autograder.protocol.answering import answer
from autograder.protocol.codec import plain
from autograder.protocol.sympy_text import in_words

beta, i, n, x, y = sp.symbols("beta i n x y")
P = sp.Function("P")
DOMAINS = {"beta": "positive", "i": "nat", "n": "nat", "x": "real", "y": "real"}
GIVEN = {"P(i)": "(1-e^(-beta))*e^(-beta*i)"}

# An expression, and the reference that it equals; no other row's reference is equal to it.
EQUAL = [
    ((1 - sp.exp(-beta)) * sp.exp(-beta * i), "(1-e^(-beta))*e^(-beta*i)"),
    (P(i) + 1, "1+(1-e^(-beta))*e^(-beta*i)"),
    (-sp.log(1 - sp.exp(-beta)) + beta / (sp.exp(beta) - 1), "beta/(e^beta-1)-ln(1-e^(-beta))"),
    (sp.log(x**2 + 2, 2), "ln(x^2+2)/ln(2)"),
    (sp.Rational(1, 3), "1/3"),
    (sp.Integer(7), "7"),
    (sp.sqrt(2), "sqrt(2)"),
    (sp.pi / 2, "pi/2"),
    (sp.E, "e"),
    (sp.oo, "inf"),
    (-sp.oo, "-inf"),
    (sp.Float(0.1) * x, "x/10"),
    (sp.Float("1e-7") * x, "x*10^(-7)"),
    (-x, "-x"),
    (-(x**2), "-x^2"),
    ((-x) ** 2 + 3, "x^2+3"),
    ((x**2 + 1) ** (y + 1), "(x^2+1)^(y+1)"),
    (x - (y - 1), "x-y+1"),
    (x / (y**2 + 1) / 2, "x/(2*(y^2+1))"),
    (2 ** (-n), "2^(-n)"),
    (sp.Abs(x), "abs(x)"),
    (sp.Max(x, y, 1), "max(x,max(y,1))"),
    (sp.Min(x, y), "min(x,y)"),
    (sp.floor(n / 2), "floor(n/2)"),
    (sp.factorial(n + 2), "(n+2)!"),
    (sp.Sum(sp.exp(-beta * n), (n, 0, sp.oo)), "1/(1-e^(-beta))"),
    (sp.tanh(x) + sp.cos(y), "tanh(x)+cos(y)"),
    (sp.atan(x), "arctan(x)"),
]


def part(reference):
    """A part with that answer."""
    return Expression("a", points=1, domains=DOMAINS, definitions=GIVEN, reference=reference)


def standing(asked, subject, name="a"):
    """What a notebook earns whose name is bound to the subject."""
    outcome = judge_part(asked, {}, functools.partial(answer, namespace={name: subject}), (1,))
    return outcome.standing, outcome.verdicts[0].code


@pytest.mark.parametrize("row", range(len(EQUAL)))
def test_a_sympy_expression_is_read_as_what_it_is(row):
    """It earns where it equals the reference, and is lost against another row's."""
    expression, reference = EQUAL[row]
    assert standing(part(reference), expression) == ("earned", "ok")
    assert standing(part(EQUAL[row - 1][1]), expression)[0] == "lost"


UNREADABLE = [
    sp.Piecewise((x, x > 0), (0, True)),
    sp.Integral(x, x),
    sp.Derivative(P(x), x),
    sp.Eq(x, 1),
    sp.I * x,
    sp.zoo,
    sp.nan,
    sp.Symbol("x+1"),
    sp.Symbol("__import__('os')"),
    sp.Function("f g")(x),
    sp.Symbol,
    sp,
    sp.gamma(x),
    x > 0,
]


@pytest.mark.parametrize("subject", UNREADABLE, ids=str)
def test_what_has_no_text_is_held(subject):
    """A node that the answer language does not have is a person's."""
    assert standing(part("x"), subject) == ("held", "unreadable")


def test_depth_and_size_have_an_end():
    """An expression that is too deep or too large is a person's, and takes no time."""
    deep = x
    for _ in range(3000):
        deep = sp.exp(deep, evaluate=False)
    wide = sp.Add(*(sp.Symbol(f"x{k}") for k in range(6000)))
    for subject in (deep, wide):
        assert standing(part("x"), subject) == ("held", "unreadable")


@pytest.mark.parametrize(
    ("subject", "found"),
    [
        (sp.Matrix([[sp.cos(x), sp.sin(x)], [-sp.sin(x), sp.sqrt(2) / 2]]), ("earned", "ok")),
        (sp.ImmutableMatrix([[sp.cos(x), sp.sin(x)], [-sp.sin(x), sp.sqrt(2) / 2]]), ("earned", "ok")),
        ([[sp.cos(x), "sin(x)"], [-sp.sin(x), 1 / sp.sqrt(2)]], ("earned", "ok")),
        (sp.Matrix([[sp.cos(x), -sp.sin(x)], [sp.sin(x), sp.sqrt(2) / 2]]), ("lost", "entry_sign")),
        (sp.Matrix([[sp.cos(x), sp.sin(x)]]), ("lost", "shape")),
        ([[sp.cos(x), sp.I], [0, 0]], ("held", "unreadable")),
        (sp.MatrixSymbol("A", 2, 2), ("held", "unreadable")),
    ],
)
def test_matrices_of_sympy_are_rows(subject, found):
    """Entries are read one by one, whether the matrix is sympy's or a list."""
    asked = Matrix("a", points=1, domains=DOMAINS, reference=[["cos x", "sin x"], ["-sin x", "sqrt(2)/2"]])
    assert standing(asked, subject)[0] == found[0]
    if found[0] != "lost":
        assert standing(asked, subject) == found


def test_only_text_crosses_the_wall():
    """The reply is a string; what is no sympy object stays as it was."""
    reply = answer(Question(kind="typed", name="a"), {"a": (1 - sp.exp(-beta)) * sp.sqrt(x)})
    assert type(reply.value) is str and reply.failure is None
    for value in (1, 1.5, "x", [1, "x"], ("a",), None, {"a": 1}):
        assert in_words(value) is value and plain(value) == value


def test_a_number_of_sympy_is_still_a_number():
    """Where a number is asked for, its value comes back, not its text."""
    assert answer(Question(kind="value", name="a"), {"a": sp.log(2)}).value == pytest.approx(0.6931471805599453)
