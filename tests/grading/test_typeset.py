"""Answers and references as people read them: MathML and HTML, in which nothing that was typed is markup."""

import re

import pytest

from autograder import Choice, Derivation, Expression, Function, Matrix, Number, Ordering, Selection, Written, close
from autograder.grading import typeset


def right(p):
    """The right option."""
    return "This is it: $x^2$."


def wrong(p):
    """No."""
    return "This is not."


def double(x):
    """Twice x."""
    return 2 * x  # "once" more


def steps(p):
    """Four lines."""
    return {"first": "begin", "then": "go on", "more": "go far", "last": "end"}


DOMAINS = {"beta": "positive", "i": "nat"}
CHOICE = Choice("pick", points=1, reference=right, mistakes=[wrong])
LETTER, OTHER = CHOICE.right({}), "ab".replace(CHOICE.right({}), "")
ORDER = Ordering("order", points=1, reference=steps, after={"then": "first", "more": "then", "last": "more"})
FORMULA = Expression("law", points=1, reference="1/beta", domains=DOMAINS)
MATRIX = Matrix("turn", points=1, reference=[["i", "0"], ["0", "i"]], domains=DOMAINS)
CHAIN = Derivation("chain", points=1, start="beta*i", reference="beta*i\n= i*beta", domains=DOMAINS)

# A part, an answer, what is shown of it, and what is not.
ANSWERS = {
    "a formula": (FORMULA, "e^(-beta i)/2", ["<mfrac", "β", 'alttext="e^(-beta i)/2"', ">e^(-beta i)/2</pre>"], []),
    "lines": (CHAIN, "beta*i\n= i*beta", ["<mtable", 'alttext="beta*i = i*beta"'], ["<mi>&"]),
    "rows": (MATRIX, [["i", "beta"], ["1", "0"]], ["<mtable", ">i, beta\n1, 0</pre>"], []),
    "a number for a formula": (FORMULA, 3.5, ["<mn>3.5</mn>"], []),
    "a name unknown": (FORMULA, "1 + b", ["1 + <mark>b</mark>"], ["<math"]),
    "an end too early": (FORMULA, "(1", ["(1<mark> </mark>"], ["<math"]),
    "markup": (FORMULA, "<b>1</b>", ["&lt;"], ["<b>"]),
    "very much": (FORMULA, "1+" * 2_000 + "1", ["…"], ["<math"]),
    "nothing": (FORMULA, "", ["(nothing)"], []),
    "a letter": (CHOICE, f"({LETTER})", [f"<strong>{LETTER})</strong>", "This is it", "<math"], ["<pre", "alttext"]),
    "the other letter": (CHOICE, OTHER, ["This is not"], ["This is it"]),
    "no letter": (CHOICE, "<i>both</i>", ["&lt;i&gt;both"], ["<i>"]),
    "a number": (Number("n", points=1, reference=lambda p: 7), 7, [">7</pre>"], []),
    "an order": (ORDER, ORDER.right({}), ["begin", "go on", "end"], ["<pre"]),
}


@pytest.mark.parametrize("name", ANSWERS)
def test_an_answer_is_shown_as_it_is_read(name):
    """Formulas are MathML with their typed line, letters have their texts, and the rest stands as it was typed."""
    part, given, there, absent = ANSWERS[name]
    shown = typeset.answer(part, given, {})
    assert [text for text in there if text not in shown] == [], shown
    assert [text for text in absent if text in shown] == [], shown
    assert len(shown) < 6_000


SAID = {
    "one line": "one line.",
    "a sentence?": "a sentence?",
    "f cannot be read:\n1 + b\n    ^\nb is <new>": "f cannot be read: b is &lt;new&gt;.",
    "two\nlines": '<pre class="said">two\nlines</pre>',
    "2 ^ 3\nis no caret": '<pre class="said">2 ^ 3\nis no caret</pre>',
}


@pytest.mark.parametrize("message", SAID, ids=repr)
def test_a_reason_does_not_repeat_the_line_that_is_marked(message):
    """The line with the caret stands in the answer; other lines stay as they are."""
    assert typeset.said(message) == SAID[message]


def test_the_order_of_lines_is_that_of_the_answer():
    """The lines stand as they were put, not as they were shown."""
    shown = typeset.answer(ORDER, ORDER.right({}), {})
    assert shown.index("begin") < shown.index("go on") < shown.index("go far") < shown.index(" end")
    assert typeset.reference(ORDER, {}) == shown


def test_a_reference_is_shown_in_its_kinds_form():
    """Mathematics typeset, code as code, words as words."""
    several = Selection("some", points=1, reference=[right], mistakes=[wrong])
    function = Function("double", points=1, reference=double, inputs=lambda rng, p: {"x": 1.0}, checks=[close()])
    words = Written("why", points=1, reference="Since $x$ is *small*.", rubric="Small: 1.")
    assert "<mfrac" in typeset.reference(FORMULA, {})
    assert "This is it" in typeset.reference(several, {})
    assert '<span class="keyword">return</span> 2 * x' in typeset.reference(function, {})
    assert "<em>small</em>" in typeset.reference(words, {})
    assert not any("SOLUTION" in typeset.reference(part, {}) for part in (FORMULA, several, function, words))


CODE = {
    "return x": [("keyword", "return")],
    "returned = x": [],
    "x = '# if' # if": [("string", "'# if'"), ("comment", "# if")],
    '"""a\nb"""': [("string", '"""a\nb"""')],
    "f'{x}'": [("string", "f'{x}'")],
    "it's": [],
    "a < b": [],
}


@pytest.mark.parametrize("source", CODE, ids=repr)
def test_code_is_marked_and_stays_what_it_is(source):
    """Keywords, texts and comments have their class; the text is that of the source, and none of it is markup."""
    shown = typeset.code(source)
    assert re.findall(r'<span class="(\w+)">((?:.|\n)*?)</span>', shown) == CODE[source]
    assert re.sub(r"</?(?:span|pre)[^>]*>", "", shown).replace("&lt;", "<") == source


@pytest.mark.parametrize(
    "tex", [r"\begin{aligned} a &= b \\ &= c \end{aligned}", r"\begin{cases} a & b \\ c & d \end{cases}"]
)
def test_columns_are_columns(tex):
    """What TeX aligns stands in a table, without the signs that say where."""
    found = typeset.mathml(tex, display=True)
    assert found.count("<mtr>") == 2 and "&<" not in found and "&amp;" not in found


def test_a_formula_that_the_converter_does_not_know_stays_tex():
    """Nothing is lost: the reader has what was typed."""
    assert typeset.mathml(r"\unknown{", display=False) == ""
    assert typeset.mathml(r"\href{javascript:a}{x}", display=False) == ""
    assert r"\href" in typeset.words(r"so $\href{javascript:a}{x}$")
