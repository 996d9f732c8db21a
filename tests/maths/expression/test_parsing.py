"""What a student may write, how it is shown, and what is said where it cannot be read."""

from __future__ import annotations

import string
import subprocess
import sys
import time
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autograder.errors import AuthorError, Unreadable
from autograder.maths import expression
from autograder.maths.expression.syntax import (
    Add,
    Call,
    Constant,
    Div,
    Mul,
    Neg,
    Node,
    Number,
    Pow,
    Sum,
    Variable,
)

DECLARED = {
    "domains": {
        "beta": "positive",
        "i": "nat",
        "x": "real",
        "y": "real",
        "X": "posint",
        "Y": "posint",
        "x_1": "real",
    },
    "definitions": {"P(i)": "(1-e^(-beta))*e^(-beta*i)"},
}

READ = [
    # juxtaposition
    ("2beta", "2*beta"),
    ("(1-x)y", "(1 - x)*y"),
    ("XY", "X*Y"),
    ("x(1-y)", "x*(1 - y)"),
    ("betax", "beta*x"),
    ("xe^(-x)", "x*e^(-x)"),
    ("2e3", "2*e*3"),
    ("2 X Y", "2*X*Y"),
    ("(x)(y)", "x*y"),
    ("2e - 3", "2*e - 3"),
    ("XY^2", "X*Y^2"),
    ("1/(XY)", "1/(X*Y)"),
    ("e^(XY)", "e^(X*Y)"),
    ("e^X Y", "e^X*Y"),
    ("eˣ", "e^x"),
    ("x^2y", "x^2*y"),
    ("2(x-1) 3^y", "2*(x - 1)*3^y"),
    ("e^2 x", "e^2*x"),
    ("e^-x(1-y)", "e^(-x)*(1 - y)"),
    (r"e^x\sin y", "e^x*sin(y)"),
    (r"e^{-\beta}i", "e^(-beta)*i"),
    (r"e^x\,y", "e^x*y"),
    # calls
    ("ln XY", "ln(X*Y)"),
    ("ln XY + 1", "ln(X*Y) + 1"),
    ("ln 2x", "ln(2*x)"),
    ("ln(x)y", "ln(x)*y"),
    ("sin x cos y", "sin(x)*cos(y)"),
    ("ln x^2", "ln(x^2)"),
    ("ln(x)^2", "ln(x)^2"),
    ("sin^2(x) + cos^2 x", "sin(x)^2 + cos(x)^2"),
    ("log(x)", "ln(x)"),
    ("log_2 x", "log2(x)"),
    ("ReLU(x)", "relu(x)"),
    ("sigmoid(x)", "sigma(x)"),
    ("np.exp(-x)", "exp(-x)"),
    ("max(x, y, 0)", "max(x, y, 0)"),
    ("i!", "factorial(i)"),
    # powers and signs
    ("-x^2", "-x^2"),
    ("x^y^2", "x^(y^2)"),
    ("2^-x", "2^(-x)"),
    ("e**(-x)", "e^(-x)"),
    ("x*-y", "x*(-y)"),
    ("+x", "x"),
    # bars
    ("|x+3|", "abs(x + 3)"),
    ("||x|-1|", "abs(abs(x) - 1)"),
    ("|x||y|", "abs(x)*abs(y)"),
    ("2|x|", "2*abs(x)"),
    ("ln|x|", "ln(abs(x))"),
    # numbers
    ("0.5x", "0.5*x"),
    (".25", "0.25"),
    ("1/2*x", "1/2*x"),
    ("1/2 X (X+1)", "1/2*X*(X + 1)"),
    ("x - 3/2 y", "x - 3/2*y"),
    ("x 2", "x*2"),
    ("(x) 2", "x*2"),
    ("(x)2(y)", "x*2*y"),
    ("x 2^y", "x*2^y"),
    ("x^2 3", "x^2*3"),
    # infinity
    ("inf", "inf"),
    ("oo", "inf"),
    ("infinite", "inf"),
    ("-infinity", "-inf"),
    ("math.inf", "inf"),
    ("∞", "inf"),
    # Unicode
    ("β·x²", "beta*x^2"),
    ("x⁻¹", "x^(-1)"),
    ("x − y", "x - y"),
    ("𝛽", "beta"),
    ("√x", "sqrt(x)"),
    ("x₁", "x_1"),
    ("½x", "1/2*x"),
    ("σ(x)", "sigma(x)"),
    # LaTeX
    (r"\frac{1}{2}x", "1/2*x"),
    (r"\frac12 x", "1/2*x"),
    (r"\frac1{x}", "1/x"),
    (r"\frac x2 y", "x/2*y"),
    (r"\frac xy", "x/y"),
    (r"\sqrt2 x", "sqrt(2)*x"),
    (r"\sqrt XY", "sqrt(X)*Y"),
    (r"\sqrt x_1 y", "sqrt(x_1)*y"),
    (r"\sqrt beta", "sqrt(beta)"),
    (r"\sqrt\ln X", "sqrt(ln(X))"),
    (r"\frac{1}{\sqrt2 x}", "1/(sqrt(2)*x)"),
    (r"\beta*-x", "beta*(-x)"),
    (r"\log_20.5", "log2(0.5)"),
    ("√x ln X", "sqrt(x)*ln(X)"),
    ("x. # a half", "x"),
    (r"\sqrt{x}", "sqrt(x)"),
    (r"\sqrt[3]{x}", "x^(1/3)"),
    (r"\left(1-e^{-\beta}\right)e^{-\beta i}", "(1 - e^(-beta))*e^(-beta*i)"),
    (r"\left|x\right|", "abs(x)"),
    (r"\lfloor i/2 \rfloor", "floor(i/2)"),
    ("⌊i/2⌋", "floor(i/2)"),
    (r"\log_2x", "log2(x)"),
    (r"\log_{10} x", "log10(x)"),
    ("ln2", "ln(2)"),
    (r"\ln\left(1-e^{-\beta}\right)", "ln(1 - e^(-beta))"),
    (r"\max\{x,y\}", "max(x, y)"),
    (r"\operatorname{ReLU}(x)", "relu(x)"),
    (r"\mathrm{e}^{x}", "e^x"),
    (r"\infty", "inf"),
    (r"\sum_{i=0}^{\infty} P(i) x + 1", "sum(P(i)*x, i, 0, inf) + 1"),
    (r"x_{1}", "x_1"),
    (r"x\cdot y \, x", "x*y*x"),
    # sums and abbreviations
    ("sum(P(i)*(-ln P(i)), i, 0, inf)", "sum(P(i)*(-ln(P(i))), i, 0, inf)"),
    ("sum(k^2, k, 1, X)", "sum(k^2, k, 1, X)"),
]


@pytest.mark.parametrize(("text", "shown"), READ)
def test_what_may_be_written(text: str, shown: str) -> None:
    """A spelling is read as the canonical text says, which reads back to the same tree, as does the LaTeX."""
    read = expression.parse(text, **DECLARED)
    assert expression.to_text(read) == shown
    assert expression.parse(shown, **DECLARED).node == read.node
    assert expression.parse(expression.to_latex(read), **DECLARED).node == read.node


UNREADABLE = [
    ("", "empty", 0),
    ("  ", "empty", 2),
    ("betta", "undeclared", 0),
    ("x + Beta", "undeclared", 4),
    ("x2", "undeclared", 0),
    ("zz", "undeclared", 0),
    ("softmax(x)", "undeclared", 0),
    ("2 3", "juxtaposed_number", 2),
    ("x^2 000", "juxtaposed_number", 4),
    ("ln x 2", "juxtaposed_number", 5),
    (r"\beta2", "juxtaposed_number", 5),
    ("½2", "ambiguous", 1),
    ("2½", "ambiguous", 1),
    ("sqrt 2 x", "ambiguous", 7),
    ("√2x", "ambiguous", 2),
    (r"\sqrt12", "ambiguous", 6),
    (r"\frac123", "ambiguous", 7),
    (r"\sqrt x!", "ambiguous", 7),
    ("1/2 3", "ambiguous", 4),
    ("1/2(x+1)", "ambiguous", 3),
    ("1/2π", "ambiguous", 3),
    ("x/2 y", "ambiguous", 4),
    ("2^3/4 x", "ambiguous", 6),
    ("1/2x", "ambiguous", 3),
    ("x/y(x+1)", "ambiguous", 3),
    ("1/XY", "ambiguous", 4),
    ("ln x/y", "ambiguous", 5),
    ("e^XY", "ambiguous", 4),
    ("1e-7", "ambiguous", 0),
    ("e^2x", "ambiguous", 3),
    ("e^-βi", "ambiguous", 4),
    ("xᵇ", "character", 1),
    ("①", "character", 0),
    ("x=1", "equation", 1),
    ("P(i) = x", "equation", 5),
    ("x, y", "syntax", 1),
    ("0,5", "syntax", 1),
    ("(x", "syntax", 2),
    ("x)", "syntax", 1),
    ("|x", "syntax", 2),
    ("e^", "syntax", 2),
    ("x'", "character", 1),
    ("x < y", "character", 2),
    ("x.y", "character", 1),
    ("sin^-1 x", "function_power", 3),
    ("ln", "call", 0),
    ("ln -x", "call", 0),
    ("max(x)", "arity", 0),
    ("exp(x, y)", "arity", 0),
    ("P", "call", 0),
    ("P(i, i)", "arity", 0),
    ("sum(x)", "sum", 3),
    ("sum(P(i (i+1), i, 0, 1)", "syntax", 3),
    ("sum(i, i, 0)", "syntax", 11),
    ("sum(i, 2, 0, 1)", "sum", 7),
    (r"\foo", "command", 0),
    ("x + а", "lookalike", 4),  # Cyrillic
    ("Χ", "lookalike", 0),  # Greek capital chi
    ("x☃", "character", 1),
    ("1" * 41, "long_number", 0),
    ("(" * 61 + "x" + ")" * 61, "too_deep", 61),
    ("-" * 200 + "x", "too_deep", 61),
    ("x+" * 700 + "x", "too_long", 1201),
    ("x" * 2001, "too_long", 2000),
]


@pytest.mark.parametrize(("text", "code", "column"), UNREADABLE)
def test_what_cannot_be_read(text: str, code: str, column: int) -> None:
    """Each fault has its code and the column where reading stopped."""
    with pytest.raises(Unreadable) as caught:
        expression.parse(text, **DECLARED)
    assert (caught.value.code, caught.value.column) == (code, column)


@pytest.mark.parametrize(
    ("text", "phrase"),
    [
        ("betta", "did you mean beta?"),
        ("Beta", "capitals matter"),
        ("а", "CYRILLIC SMALL LETTER A"),
        ("x2", "x*2 or x^2"),
        ("softmax(x)", "write it out"),
        ("0,5", "with a point"),
        ("1/2x", "(a/b)*c or a/(b*c)"),
        (r"\fracc{1}{2}", "did you mean frac?"),
    ],
)
def test_messages_help(text: str, phrase: str) -> None:
    """A message says what to do, in the student's terms."""
    with pytest.raises(Unreadable) as caught:
        expression.parse(text, **DECLARED)
    assert phrase in caught.value.message


def test_pi_beside_p_and_i() -> None:
    """Where p and i are both variables, 'pi' is refused and the Greek letter is not."""
    with pytest.raises(Unreadable) as caught:
        expression.parse("2pi", variables=["p", "i"])
    assert caught.value.code == "undeclared" or caught.value.code == "ambiguous"
    assert expression.parse(r"2\pi", variables=["p", "i"]).node == Mul((Number(Fraction(2)), Constant("pi")))


def test_words_are_not_torn_apart() -> None:
    """Where all letters of a function or Greek name are variables, the run of letters is refused."""
    for text, names in [("sinx", "sinx"), ("lnx", "lnx"), ("expx", "expx"), ("eta", "eta"), ("maxy", "maxy")]:
        with pytest.raises(Unreadable) as caught:
            expression.parse(text, variables=list(names))
        assert caught.value.code == "ambiguous"
    assert expression.to_text(expression.parse("s i n x", variables=list("sinx"))) == "s*i*n*x"


def test_ordinary_names() -> None:
    """Names that other systems reserve are variables once declared, and then no functions."""
    names = ["lambda", "beta", "gamma", "N", "S", "Q", "E", "I", "sigma", "e", "pi"]
    for name in names:
        assert expression.parse(name, variables=names).node == Variable(name)
    assert isinstance(expression.parse("sigma(N)", variables=names).node, Mul)


def test_log_policy() -> None:
    """`log` means what the question says, or is refused."""
    for policy, name in (("ln", "ln"), ("log2", "log2"), ("log10", "log10")):
        assert expression.parse("log(2)", log=policy).node == Call(name, (Number(Fraction(2)),))
    with pytest.raises(Unreadable) as caught:
        expression.parse("log(2)", log="refuse")
    assert caught.value.code == "log"


@pytest.mark.parametrize(
    "declared",
    [
        {"domains": {"x": "postive"}},
        {"domains": {"x": "[2,1]"}},
        {"domains": {"x": [1, 2]}},
        {"domains": {"x-y": "real"}},
        {"functions": ["sine"]},
        {"log": "lg"},
        {"variables": ["i"], "imaginary": "i"},
        {"variables": ["x_1", "x1"]},
        {"definitions": {"P(": "1"}},
        {"definitions": {"P(i)": "1+"}},
        {"variables": ["P"], "definitions": {"P(i)": "i"}},
    ],
)
def test_slips_of_authors(declared: dict[str, object]) -> None:
    """A slip in the declarations is an author's error, before any student writes."""
    with pytest.raises(AuthorError):
        expression.parse("1", **declared)


def test_definitions_nest_and_do_not_capture() -> None:
    """A definition may use earlier ones, and the index of its own sum is not the argument's."""
    given = {"S(n)": "sum(i, i, 1, n)", "T(n)": "S(n)+S(2*n)"}
    verdict = expression.decide("n*(n+1)/2 + n*(2*n+1)", "T(n)", domains={"n": "nat"}, definitions=given)
    assert verdict.equal
    nested = expression.decide("sum(i*(i+1)/2, i, 1, 5)", "sum(S(i), i, 1, 5)", definitions=given)
    assert nested.equal


def test_abbreviations_cannot_explode() -> None:
    """Abbreviations within abbreviations are bounded by what they stand for."""
    with pytest.raises(Unreadable) as caught:
        expression.parse("D(" * 40 + "1" + ")" * 40, definitions={"D(x)": "x+x"})
    assert caught.value.code == "too_long"


def test_reading_is_light() -> None:
    """A preview loads neither flint nor sympy, numpy or torch."""
    code = (
        "import sys; from autograder.maths import expression as e;"
        "e.to_latex(e.parse('x^2', variables=['x']));"
        "import autograder.maths.derivation, autograder.maths.guard;"
        "assert not {'flint', 'sympy', 'numpy', 'torch', 'mpmath'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


NAMES = ("x", "y", "beta", "X", "Y", "i", "x_1")
ATOMS = st.one_of(
    st.sampled_from(NAMES).map(Variable),
    st.sampled_from(["e", "pi", "inf"]).map(Constant),
    st.integers(0, 10**6).map(lambda n: Number(Fraction(n))),
    st.decimals(0, 99, places=3).map(lambda d: Number(Fraction(d))),
)


def _called(name: str, argument: Node) -> Node:
    return Call(name, (argument,))


def _grown(inner: st.SearchStrategy[Node]) -> st.SearchStrategy[Node]:
    several = st.lists(inner, min_size=2, max_size=3).map(tuple)
    return st.one_of(
        several.map(Add),
        several.map(Mul),
        inner.map(Neg),
        st.builds(Div, inner, inner),
        st.builds(Pow, inner, inner),
        st.builds(_called, st.sampled_from(["ln", "exp", "abs", "sigma", "sqrt", "sin"]), inner),
        several.map(lambda arguments: Call("max", arguments)),
        st.builds(lambda body, upper: Sum(body, "k", Number(Fraction(0)), upper), inner, inner),
    )


def _no_nested_sum(node: Node, inside: bool = False) -> bool:
    from autograder.maths.expression.syntax import children

    if isinstance(node, Sum):
        return not inside and all(_no_nested_sum(child, True) for child in children(node))
    return all(_no_nested_sum(child, inside) for child in children(node))


TREES = st.recursive(ATOMS, _grown, max_leaves=14).filter(_no_nested_sum)


@settings(max_examples=300, deadline=None, derandomize=True)
@given(TREES)
def test_printing_reads_back(node: Node) -> None:
    """Reading a printed tree gives the tree again, from ASCII and from LaTeX."""
    assert expression.parse(expression.to_text(node), variables=NAMES).node == node
    assert expression.parse(expression.to_latex(node), variables=NAMES).node == node


PIECES = st.one_of(
    st.sampled_from([*"+-*/^()[]{}|,!=_.;'\"\\ $&", "**", "^{", "\\frac", "\\sqrt", "\\left", "\\right|", "\\sum_{"]),
    st.sampled_from(
        ["x", "beta", "ln", "sum(", "P(i)", "max(", "e", "pi", "inf", "12", "0.5", "β", "²", "∞", "а", "√"]
    ),
    st.text(alphabet=string.printable, max_size=4),
    st.text(max_size=3),
)


@settings(max_examples=400, deadline=None, derandomize=True)
@given(st.lists(PIECES, max_size=25).map("".join))
def test_any_text_is_read_or_refused(text: str) -> None:
    """No text raises anything but `Unreadable`, and what is read can be shown and read again."""
    try:
        read = expression.parse(text, **DECLARED)
    except Unreadable as refused:
        error = refused
    else:
        assert expression.parse(expression.to_text(read), **DECLARED).node == read.node
        return
    assert error.column is not None and 0 <= error.column <= len(text)
    assert error.caret()


@pytest.mark.parametrize(
    "text",
    [
        "(" * 10**5,
        "x" * 10**6,
        "-" * 1999,
        "^" * 1999,
        "|" * 1999,
        "sum(" * 400,
        "√" * 1999,
        "\\frac" * 300,
        "x^" * 900,
        "((x)^" * 300,
        "ln " * 600,
        "P(" * 600,
        "{" * 1999,
        "abcdefghij" * 190,
        "\\left|" * 300,
        "1/" * 900,
        "x!" * 900,
    ],
)
def test_hostile_texts_are_refused_quickly(text: str) -> None:
    """Depth and length are bounded before they cost anything."""
    start = time.process_time()
    with pytest.raises(Unreadable):
        expression.parse(text, **DECLARED)
    assert time.process_time() - start < 2
