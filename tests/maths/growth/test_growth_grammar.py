"""What may be typed as a growth bound, how it is read, and what is said about the rest."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autograder.errors import Unreadable
from autograder.maths import growth

VARIABLES = "nmdkTJKXYLU"

READ = [
    ("1/2 n", "1/2*n"), ("n 2 (n+1)", "n*2*(n + 1)"), ("(2^L-1)2(d-1)", "(2^L - 1)*2*(d - 1)"),
    ("\\frac12 n^2", "1/2*n^2"),    ("\\frac32 n d", "3/2*n*d"), ("n^2\\frac12", "n^2*(1/2)"),
    ("\\sqrt2 n", "sqrt(2)*n"), ("\\sqrt n d", "sqrt(n)*d"),
    ("O[n+m]", "n + m"), ("\\lnT", "ln(T)"),
    ("ln XY", "ln(X*Y)"), ("\\ln XY + \\ln J", "ln(X*Y) + ln(J)"), ("ln X ln Y", "ln(X)*ln(Y)"), ("ln X * Y",
    "ln(X)*Y"),
    ("ln XY^2", "ln(X*Y^2)"), ("ln 2T", "ln(2*T)"), ("nlogn", "n*ln(n)"), ("n log n", "n*ln(n)"), ("lnln n",
    "ln(ln(n))"),
    ("loglogn", "ln(ln(n))"), ("\\ln\\ln n", "ln(ln(n))"), ("n log_2 n", "n*log2(n)"), ("log2n", "log2(n)"),
    ("log_{10} T", "log(T, 10)"), ("log10(T)", "log(T, 10)"), ("log_k n", "log(n, k)"), ("\\log_k(n)", "log(n, k)"),
    ("log(n, k)", "log(n, k)"), ("lg n", "ln(n)"), ("ld n", "log2(n)"), ("ln^2 n", "ln(n)^2"), ("\\ln^2(T)", "ln(T)^2"),
    ("ln(n)^2", "ln(n)^2"), ("ln n^2", "ln(n^2)"), ("ln(T)J", "ln(T)*J"), ("n(n+1)", "n*(n + 1)"),
    ("O(n)", "n"), ("Theta(n)", "n"), ("\\Theta(n)", "n"), ("Θ(n)", "n"), ("θ(n)", None), ("\\mathcal{O}(n)", "n"),
    ("\\Theta\\left(n^2\\,d\\right)", "n^2*d"), ("$O(n)$", "n"), (" O ( n ) ", "n"), ("n", "n"), ("1", "1"),
    ("2^L", "2^L"), ("2**L", "2^L"), ("T/2**L", "T/2^L"), ("2^-L", "2^(-L)"), ("n**2**2", "n^(2^2)"), ("n^2 d",
    "n^2*d"),
    ("n^{1.5}", "n^1.5"), ("n²d", "n^2*d"), ("n × d − 1", "n*d - 1"), ("n·d", "n*d"), ("n\\cdot d", "n*d"),
    ("3^(log2 n)", "3^(log2(n))"), ("3^log2 n", "3^(log2(n))"), ("n^{\\log_2 3}", "n^(log2(3))"),
    ("\\frac{n-1}{k-1}", "(n - 1)/(k - 1)"), ("\\sqrt{n m}", "sqrt(n*m)"), ("\\sqrt[3]{n}", "n^(1/3)"), ("√n",
    "sqrt(n)"),
    ("sqrt n", "sqrt(n)"), ("⌈log2 T⌉", "ceil(log2(T))"), ("\\lfloor T/2 \\rfloor", "floor(T/2)"),
    ("\\max\\{n,d\\}", "max(n, d)"), ("\\operatorname{max}(n, d)", "max(n, d)"), ("max(n,d,k)", "max(n, d, k)"),
    ("a/b", None), ("n/k*m", "n/k*m"), ("n ln n/ln k", "n*ln(n)/ln(k)"), ("-n", "-n"), ("n - (m - d)", "n - (m - d)"),
    ("time = O(n)", "n"), ("T_1(n) = n", "n"), ("f \\in O(n)", "n"), ("f(q) ∈ O(n)", "n"), ("= O(n)", "n"),
    ("\\boxed{time = O(n)}", "n"), ("O(n),", "n"),
    (".5n", "0.5*n"), ("0.25", "0.25"), ("e^n", "exp(1)^n"), ("exp(n)", "exp(n)"), ("TL", "T*L"), ("{n}", "n"),
]  # fmt: skip

REFUSED = [
    ("1/k n", "ambiguous", 1), ("2 3", "ambiguous", 2), ("10 000 n", "ambiguous", 3), ("√2 n", "ambiguous", 3),
    ("sqrt n m", "ambiguous", 7),
    ("\\sqrt12 n", "ambiguous", 6), ("5e-1 n", "ambiguous", 0), ("ln X 2", "ambiguous", 5),
    ("", "empty", 0), ("  ", "empty", 2), ("O()", "syntax", 2), ("O(n", "syntax", 3), ("n)", "syntax", 1),
    ("O(n)+O(m)", "syntax", 4), ("O(O(n))", "wrapper", 2), ("n + O(m)", "wrapper", 4), ("Omega(n)", "wrapper", 0),
    ("o(n)", "wrapper", 0), ("Ω(n)", "wrapper", 0), ("n!", "factorial", 1), ("N", "unknown_name", 0),
    ("q + n", "unknown_name", 0), ("foo(n)", "unknown_name", 0), ("n_1", "unknown_name", 1), ("2e3", "unknown_name", 1),
    ("inf", "unknown_name", 0), ("О(n)", "lookalike", 0), ("2 * н", "lookalike", 4), ("n = 2", "character", 2),
    ("O(n) = O(n)", "character", 5), ("q, r = n", "unknown_name", 0), ("time = O(n", "syntax", 10),
    ("|n|", "character", 0), ("n % 2", "character", 2), ("∞", "character", 0), ("n'", "character", 1),
    ("ln X Y", "ambiguous", 5), ("n log n m", "ambiguous", 8), ("ln T(ln J)", "ambiguous", 4), ("ln T (J+1)",
    "ambiguous", 5),
    ("n/2k", "ambiguous", 1), ("n/k ln n", "ambiguous", 1), ("1/2n", "ambiguous", 1), ("n2", "ambiguous", 1),
    ("ln X2", "ambiguous", 4), ("n^1/2", "ambiguous", 3), ("ln^-1 n", "ambiguous", 3), ("1.5.2", "ambiguous", 3),
    ("n^^2", "syntax", 2), ("--n", "syntax", 1), ("n*-2", "syntax", 2), ("n,d", "syntax", 1), ("max n", "syntax", 4),
    ("max(n,)", "syntax", 6), ("ln_2 n", "syntax", 0), ("ln(n, m, d)", "arity", 0), ("sqrt(n, m)", "arity", 0),
    ("ln", "syntax", 2),
    ("n\nm", "lines", 1), ("\\frac{n}", "syntax", 8), ("\\mathcal(n)", "latex", 0), ("1" * 41, "digits", 0),
    ("n+" * 700 + "n", "too_long", 0), ("n" * 2001, "too_long", 2000), ("(" * 61 + "n" + ")" * 61, "too_deep", 61),
    ("n^" * 61 + "n", "too_deep", 122), ("ln " * 61 + "n", "too_deep", 183),
    ("__import__('os').system('x')", "unknown_name", 2), ("n.__class__", "character", 1), ("n if n else m",
    "unknown_name", 2),
]  # fmt: skip


@pytest.mark.parametrize(("typed", "read"), [row for row in READ if row[1]])
def test_reading(typed: str, read: str) -> None:
    """Every spelling is read as the same tree as its plain form, which prints back to itself."""
    found = growth.parse(typed, variables=VARIABLES)
    assert growth.to_text(found) == read
    assert growth.parse(read, variables=VARIABLES) == found


@pytest.mark.parametrize(("typed", "code", "column"), REFUSED, ids=lambda value: str(value)[:30])
def test_refusals(typed: str, code: str, column: int) -> None:
    """What cannot be read, or could be read in two ways, is refused with its code and column."""
    with pytest.raises(Unreadable) as caught:
        growth.parse(typed, variables=VARIABLES)
    assert (caught.value.code, caught.value.column) == (code, column), caught.value.caret()


def test_hints_name_the_variables() -> None:
    """An unknown name is answered with the question's own names and a near one."""
    with pytest.raises(Unreadable) as caught:
        growth.parse("O(width)", variables=("widths", "T"))
    assert "did you mean widths?" in caught.value.message and "T, widths" in caught.value.message


def test_longer_names() -> None:
    """Declared names of several letters win over juxtaposed one-letter names and over functions' letters."""
    assert growth.to_text(growth.parse("T_1 d_model + lnd", variables=("T_1", "d_model", "d"))) == "T_1*d_model + ln(d)"
    assert growth.to_text(growth.parse("\\alpha O", variables=("alpha", "O"))) == "alpha*O"
    assert growth.to_text(growth.parse("e e", variables=("e",))) == "e*e"


@pytest.mark.parametrize(
    ("typed", "latex"),
    [
        ("n^2 d", r"\Theta\left({n}^{2} \cdot d\right)"),
        ("ln XY", r"\Theta\left(\ln\left(X \cdot Y\right)\right)"),
        ("(n-1)/(k-1)", r"\Theta\left(\frac{n - 1}{k - 1}\right)"),
        ("log_k n", r"\Theta\left(\log_{k}\left(n\right)\right)"),
        ("(n+m)^2", r"\Theta\left({\left(n + m\right)}^{2}\right)"),
        ("e^n - 2", r"\Theta\left({e}^{n} - 2\right)"),
        ("max(n, sqrt(d))", r"\Theta\left(\max\left(n, \sqrt{d}\right)\right)"),
        ("n-(m-d)", r"\Theta\left(n - \left(m - d\right)\right)"),
    ],
)
def test_latex(typed: str, latex: str) -> None:
    """The preview shows how the text was read."""
    assert growth.to_latex(growth.parse(typed, variables=VARIABLES)) == latex


@pytest.mark.parametrize("typed", [typed for typed, read in READ if read])
def test_latex_reads_back(typed: str) -> None:
    """The preview's own LaTeX is a bound with the same meaning."""
    found = growth.parse(typed, variables=VARIABLES)
    again = growth.parse(growth.to_latex(found), variables=VARIABLES)
    assert growth.to_latex(again) == growth.to_latex(found)


_LEAVES = st.sampled_from([*VARIABLES, "1", "2", "0.5", "3.25", "log2(n)", "e"])


def _compound(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    pairs = st.tuples(inner, inner)
    return st.one_of(
        st.tuples(pairs, st.sampled_from(["{}+({})", "({})-({})", "({})*({})", "({})/({})", "({})^({})", "max({}, {})",
                                          "log({}, {})", "min({},{})", "-({})*({})",
                                          "({})({})"])).map(lambda t: t[1].format(*t[0])),
        st.tuples(inner, st.sampled_from(["ln({})", "sqrt({})", "exp({})", "ceil({})",
        "-({})"])).map(lambda t: t[1].format(t[0])),
    )  # fmt: skip


@given(st.recursive(_LEAVES, _compound, max_leaves=12))
@settings(max_examples=300, deadline=None, derandomize=True)
def test_printing_is_the_inverse_of_parsing(text: str) -> None:
    """parse(to_text(tree)) is the tree."""
    found = growth.parse(text, variables=VARIABLES)
    assert growth.parse(growth.to_text(found), variables=VARIABLES) == found


_SCRAPS = st.sampled_from([*"nmTLO()[]{}^*/+-_,.!|$\\ \n\t0123456789²√⌈⌉·−Θо'\"#@%&=<>~`;:?",
                           "ln", "log", "log_", "max(", "sqrt", "exp(", "O(", "\\frac", "\\ln", "\\left(",
                           "\\mathcal", "\\text{",
                           "**", "^{", "Theta", "lambda", "__class__", "\x00", "\ud7ff", "１", "𝒪"])  # fmt: skip


@given(st.one_of(st.lists(_SCRAPS, max_size=40).map("".join), st.text(max_size=60)))
@settings(max_examples=1500, deadline=None, derandomize=True)
def test_fuzz(text: str) -> None:
    """Whatever is typed is read or refused: no other exception, no long wait; what is read prints back to itself."""
    start = time.process_time()
    refusal = found = None
    try:
        found = growth.parse(text, variables=VARIABLES)
    except Unreadable as error:
        refusal = error
    if found is not None:
        assert growth.parse(growth.to_text(found), variables=VARIABLES) == found
    else:
        assert refusal is not None and refusal.column is not None and refusal.caret()
    assert time.process_time() - start < 2


@pytest.mark.parametrize("text", [
    "(" * 10**6, ")" * 10**6, "n" * 10**6, "ln" * 900, "\\" * 2000, "^" * 2000, "2^" * 900 + "n",
    "\\frac" * 390, "{" * 2000,
    "ln(" * 600, "-" * 2000, "n^-" * 600 + "n",
    "1" * 2000, "nmd" * 660, "log_" * 500, "\\mathcal{" * 200, "√" * 2000, "⌈" * 2000,
    "log_{" * 400, "\\sqrt[" * 300, "max(" * 500, "lnn" * 600, "O(" * 900, "²" * 2000, "." * 2000, "_" * 2000,
])  # fmt: skip
def test_hostile_sizes(text: str) -> None:
    """Deep nesting and huge input are refused at once."""
    start = time.process_time()
    with pytest.raises(Unreadable):
        growth.parse(text, variables=VARIABLES)
    assert time.process_time() - start < 2
