"""One reader of spellings: the table of spelling x language, columns, notes, and random trees in every spelling."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autograder import Equation, Expression, Growth, student
from autograder.core import Answer
from autograder.errors import Unreadable
from autograder.grading.judge import judge_part
from autograder.maths import derivation, expression, growth, spelling, tensor
from autograder.maths.spelling import notation_page
from autograder.maths.spelling.spelling_table import GROUPS, LANGUAGES, Row, cell, read

ROOT = Path(__file__).parents[2]
ROWS = [pytest.param(row, id=f"{group}: {row.text!r}") for group, rows in GROUPS.items() for row in rows]


@pytest.mark.parametrize("row", ROWS)
@pytest.mark.parametrize("language", LANGUAGES)
def test_each_spelling_means_the_same_or_is_refused(row: Row, language: str) -> None:
    """A text is read as its meaning in plain letters is, or refused with the sentence that the table names."""
    right, said = cell(language, row)
    assert right, said


@pytest.mark.parametrize("row", ROWS)
@pytest.mark.parametrize("language", LANGUAGES)
def test_each_refusal_says_something_at_a_place(row: Row, language: str) -> None:
    """Whatever is refused has a sentence and a caret under a column of what was typed."""
    refused = None
    try:
        read(language, row.text)
    except Unreadable as error:
        refused = error
    assert refused is None or len(refused.message) > 12
    assert refused is None or 0 <= (-1 if refused.column is None else refused.column) <= len(refused.text)


def test_the_table_is_printed() -> None:
    """The command prints every row and ends well; a preview and the table load the standard library alone."""
    code = (
        "import sys, runpy; sys.argv = ['spelling', '--table'];"
        "\ntry: runpy.run_module('autograder.maths.spelling', run_name='__main__')"
        "\nexcept SystemExit as end: assert not end.code"
        "\nassert not {'numpy', 'torch', 'flint', 'sympy', 'mpmath'} & set(sys.modules)"
    )
    ran = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert f"{len(ROWS)} spellings, 0 not as the table says" in ran.stdout


def test_the_page_of_notation_is_in_step() -> None:
    """`docs/notation.md` is what the tables make, with the four grammars."""
    page = (ROOT / "docs/notation.md").read_text(encoding="utf-8")
    assert page == notation_page.page()
    assert re.findall(r"^### (Expressions|Growth|Tensor equations|Derivations)$", page, re.MULTILINE) == [
        "Expressions",
        "Growth",
        "Tensor equations",
        "Derivations",
    ]


# -- verdicts: a case on each side -------------------------------------------------------------------------------------

EXPRESSION, GROWTH, EQUATION = (
    lambda reference: Expression("a", points=1, domains={"n": "posint", "s": "positive"}, reference=reference),
    lambda reference: Growth("a", points=1, variables="n d", reference=reference),
    lambda reference: Equation("y", points=1, reference=reference, target="y", tensors=["x[I]"]),
)
VERDICTS = [
    (GROWTH, "O(n^2)", r"O(\frac12 n^2)", True),
    (GROWTH, "O(n)", r"O(\frac12 n^2)", False),
    (GROWTH, "O(n d)", r"O(\frac32 n d)", True),
    (GROWTH, "O(n d)", r"O(\tfrac32 n d)", True),
    (GROWTH, "O(n)", r"O(\sqrt2 n)", True),
    (GROWTH, "O(sqrt(n))", r"O(\sqrt2 n)", False),
    (GROWTH, "O(n^2)", r"O(n^2\frac12)", True),
    (GROWTH, "O(n)", "O(√2 n)", None),
    (GROWTH, "O(n)", "5e-1 n", None),
    (EXPRESSION, "sqrt(2)*n", r"\sqrt2 n", True),
    (EXPRESSION, "sqrt(2*n)", r"\sqrt2 n", False),
    (EXPRESSION, "1/(sqrt(2)*s)", r"\frac{1}{\sqrt2 s}", True),
    (EXPRESSION, "sqrt(n)*s", r"\sqrt n s", True),
    (EXPRESSION, "sqrt(n*s)", r"\sqrt n s", False),
    (EXPRESSION, "sqrt(2)*n", "√2 n", None),
    (EXPRESSION, "sqrt(2*n)", "sqrt 2 n", None),
    (EXPRESSION, "n*(n+1)/2", "1/2 n (n+1)", True),
    (EXPRESSION, "1/(2*n*(n+1))", "1/2 n (n+1)", False),
    (EXPRESSION, "n*(n+1)*2", "n 2 (n+1)", True),
    (EXPRESSION, "n^2*(n+1)", "n 2 (n+1)", False),
    (EXPRESSION, "n/2", "5e-1 n", None),
    (EXPRESSION, "n/s", "\frac{n}{s}", True),
    (EXPRESSION, "s/n", "\frac{n}{s}", False),
    (EQUATION, "y[i] = sqrt(2) x[i]", r"y[i] = \sqrt2 x[i]", True),
    (EQUATION, "y[i] = x[i]/2", r"y[i] = \frac12 x[i]", True),
    (EQUATION, "y[i] = 12/x[i]", r"y[i] = \frac12 x[i]", False),
    (EQUATION, "y[i] = x[i]/2", "y[i] = 5e-1 ⋅ x[i]  # a half", True),
    (EQUATION, "y[i] = sqrt(2) x[i]", "y[i] = √2 x[i]", None),
]


@pytest.mark.parametrize(("part", "reference", "typed", "verdict"), VERDICTS)
def test_verdicts(part: Callable, reference: str, typed: str, verdict: bool | None) -> None:
    """True is earned, False lost, None held for a person: what reads in two ways is never lost."""
    (said,) = judge_part(part(reference), {}, lambda question: Answer(value=typed), (1,)).verdicts
    assert said.ok is verdict, said


# -- columns, notes and lines ------------------------------------------------------------------------------------------

CARETS = [
    ("expression", "½ n + q", 6),
    ("expression", "β⋅n + q", 6),
    ("expression", r"\left(n\right) \, q", 18),
    ("expression", "\frac{n}{q}", 8),
    ("expression", "n² + q", 5),
    ("growth", "½ n + qq", 6),
    ("growth", r"\mathrm{n} + qq", 13),
    ("growth", "n² m₁", 4),
    ("equation", "½ n[i] + (", 15),
    ("equation", "α⋅n[i] + )", 14),
]


@pytest.mark.parametrize(("language", "text", "column"), CARETS)
def test_the_caret_stands_under_what_was_typed(language: str, text: str, column: int) -> None:
    """However long a spelling is in ASCII, the column counts the student's own characters."""
    with pytest.raises(Unreadable) as caught:
        read(language, text)
    assert caught.value.column == column


@pytest.mark.parametrize(
    ("text", "commands"),
    [
        ("\frac{n}{2}", r"\frac"),
        ("\beta + \rho", r"\beta, \rho"),
        ("\alpha", r"\alpha"),
        ("\varphi", r"\varphi"),
        (r"\frac{n}{2}", ""),
        ("n\r\nm", ""),
        ("2 \tau", ""),
        ("2 \nu", ""),
    ],
)
def test_notes_name_what_python_took(text: str, commands: str) -> None:
    """A letter that Python made of a backslash is named; a tab and a line break are left as they are."""
    notes = spelling.notes(text)
    assert (len(notes) == 1 and f"read as {commands}." in notes[0]) if commands else not notes


def test_a_preview_shows_the_notes() -> None:
    """What Python took is said under the formula, and nothing is said under a raw string."""
    student.declare(domains={"n": "posint", "beta": "positive"})
    assert "write r before the quotes" in student.expression("\frac{n}{\beta}")._shown.bundle()["text/plain"]
    assert student.expression(r"\frac{n}{\beta}")._shown.bundle()["text/plain"] == "\\frac{n}{\\beta}"


def test_lines_may_have_comments() -> None:
    """In a derivation a comment ends a line, and a line of a comment alone is none."""
    chain = "x + x  # the question\n# collected\n= 2 x."
    language = derivation.Expressions(reference="2*x", options={"domains": {"x": "real"}})
    found = derivation.judge(chain, start="x+x", reference="2*x", language=language)
    assert found.decision.equal and len(found.links) == 1
    assert len(tensor.parse("a[i] = b[i] # first\nc[i] = a[i].  # second\n# the end").equations) == 2


def test_a_line_break_that_may_be_a_letter() -> None:
    """Where `u` and `nu` are both declared, a line break before u reads in two ways; alone it is a space."""
    with pytest.raises(Unreadable, match="r before the quotes"):
        expression.parse("2 \nu", variables=["u", "nu"])
    assert expression.parse("2 \nu", variables=["u"]).node == expression.parse("2 u", variables=["u"]).node


# -- random trees in every spelling ------------------------------------------------------------------------------------

FULL_WIDTH = str.maketrans("0123456789+-*/()", "０１２３４５６７８９＋－＊／（）")
TYPOGRAPHIC = str.maketrans("-*/", "−⋅∕")
GREEK = {"alpha": "α", "beta": "β", "phi": "ϕ"}


def _words(change: Callable[[str], str]) -> Callable[[str], str]:
    return lambda text: re.sub(r"(?<![A-Za-z\\])(alpha|beta|phi)(?![A-Za-z])", lambda word: change(word[0]), text)


# Of the ASCII of a tree.
TEXTS: dict[str, Callable[[str], str]] = {
    "as printed": str,
    "Greek letters": _words(GREEK.__getitem__),
    "LaTeX letters": _words(lambda word: f"\\{word} "),
    "set upright": _words(lambda word: f"\\mathrm{{{word}}}"),
    "full width": lambda text: text.translate(FULL_WIDTH),
    "typographic signs": lambda text: text.translate(TYPOGRAPHIC),
    "wide brackets": lambda text: re.sub(r"\)", r"\\right)", re.sub(r"\(", r"\\left(", text)),
    "wider signs": lambda text: re.sub(r"([-+])", r"\\, \1 \\; ", text),
    "cdot": lambda text: text.replace("*", r" \cdot "),
    "in dollars, with a full stop": lambda text: f"$ {text} $.",
    "with a comment": lambda text: f"{text}  # as in the lecture",
    "displayed": lambda text: rf"\[ {text}. \]",
}
# Of its LaTeX: other fractions, and no braces where one digit stands alone.
LATEX: dict[str, Callable[[str], str]] = {
    "as shown": str,
    "continued fractions": lambda text: text.replace(r"\frac", r"\cfrac"),
    "no braces around a digit": lambda text: re.sub(r"\\(frac|sqrt)\{(\d)\}(?=[{\s)]|$)", r"\\\1\2", text),
    "small": lambda text: r"\textstyle " + text.replace(r"\frac", r"\tfrac"),
}
NAMES = ("alpha", "beta", "phi", "n", "m", "n_1")
LEAVES = st.sampled_from([*NAMES, "1", "2", "12", "0.5"])


def _grown(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    pair = st.tuples(inner, inner)
    shapes = ["({})+({})", "({})-({})", "({})*({})", "({})/({})", "({})^({})", "max({}, {})"]
    return st.one_of(
        st.tuples(pair, st.sampled_from(shapes)).map(lambda drawn: drawn[1].format(*drawn[0])),
        st.tuples(inner, st.sampled_from(["ln({})", "sqrt({})", "exp({})", "-({})"])).map(
            lambda drawn: f"({drawn[1].format(drawn[0])})"
        ),
    )


TREES = st.recursive(LEAVES, _grown, max_leaves=10)


@given(TREES, st.sampled_from(sorted(TEXTS)), st.sampled_from(sorted(LATEX)))
@settings(max_examples=400, deadline=None, derandomize=True)
def test_expressions_in_every_spelling(text: str, how: str, shown: str) -> None:
    """A random expression is the same tree in each spelling of its text and of its LaTeX."""
    tree = expression.parse(text, variables=NAMES).node
    assert expression.parse(TEXTS[how](expression.to_text(tree)), variables=NAMES).node == tree
    assert expression.parse(LATEX[shown](expression.to_latex(tree)), variables=NAMES).node == tree


@given(TREES, st.sampled_from(sorted(TEXTS)), st.sampled_from(sorted(LATEX)))
@settings(max_examples=400, deadline=None, derandomize=True)
def test_growth_in_every_spelling(text: str, how: str, shown: str) -> None:
    """A random bound is the same tree in each spelling of its text; its LaTeX has the same LaTeX again."""
    found = growth.parse(text, variables=NAMES)
    assert growth.parse(TEXTS[how](growth.to_text(found)), variables=NAMES) == found
    again = growth.parse(LATEX[shown](growth.to_latex(found)), variables=NAMES)
    assert growth.to_latex(again) == growth.to_latex(found)


@given(TREES, st.sampled_from(sorted(TEXTS.keys() - {"displayed"})), st.sampled_from(sorted(LATEX)))
@settings(max_examples=400, deadline=None, derandomize=True)
def test_equations_in_every_spelling(text: str, how: str, shown: str) -> None:
    """A random right side, with indices, is the same system in each spelling of its text and of its LaTeX."""
    indexed = re.sub(r"\b(alpha|beta|n|m)\b(?!_)", r"\1[i,t_1]", text)
    system = tensor.parse(f"y = {indexed}")
    assert tensor.parse(TEXTS[how](tensor.to_text(system))) == system
    again = tensor.parse(LATEX[shown](tensor.to_latex(system)))
    assert tensor.to_text(again) == tensor.to_text(tensor.parse(tensor.to_latex(system)))
