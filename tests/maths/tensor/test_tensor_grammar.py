"""Reading: the printed equations, the messages with their columns, the limits, printing and parsing back."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autograder.errors import AuthorError, Unreadable
from autograder.maths.tensor import check, declare, describe, parse, to_latex, to_text
from autograder.maths.tensor.tensor_tree import (
    Call,
    Concat,
    Equation,
    Expr,
    Index,
    IndexTerm,
    Lookup,
    Name,
    Number,
    Opaque,
    Pieces,
    Power,
    Product,
    Softmax,
    Sum,
    Symbol,
    System,
    Tensor,
    Total,
)

SEEDS = [
    json.loads(line) for line in (Path(__file__).parents[2] / "data/seed_equations.jsonl").read_text().splitlines()
]


@pytest.mark.parametrize("row", SEEDS, ids=lambda row: f"{row['source']}: {row['text'][:40]}")
def test_printed_equations(row: dict) -> None:
    """Every well-formed tensor line of the course material has no fault; each misprint is named by its code."""
    declarations = declare(*row.get("shapes", ()), sequences=row.get("sequences", ""), context=row.get("context", ""))
    try:
        codes = {fault.code for fault in check(parse(row["text"]), declarations)}
    except Unreadable as error:
        codes = {error.code}
    assert codes == set(row["faults"])


@pytest.mark.parametrize(
    "row", [row for row in SEEDS if "syntax" not in row["faults"]], ids=lambda row: row["text"][:40]
)
def test_printed_equations_print_and_parse_back(row: dict) -> None:
    """The ASCII of a printed equation is the same system; its LaTeX can be read and has the same ASCII meaning."""
    system = parse(row["text"])
    assert parse(to_text(system)) == system
    again = parse(to_latex(system))
    assert to_text(parse(to_latex(again))) == to_text(again)


# Text, code, a part of the message, and declarations.
SHAPES = ("W^Q[K,U,J]", "h_in[T,J]", "G[T,J]", "L[B,T,I]")
FAULTS = [
    ("Query[k,t,U] = W^Q[k,U,J] h_in[t,j]", "free_right", "index j is free on the right"),
    ("a[i,j] = h[i]", "unused_left", "index j is on the left"),
    ("Query[k,t,j] = W^Q[k,U,J] h_in[t,J]", "cap_open", "capital index U occurs only once"),
    ("h[i] = h_l[I] + sigma(W[i,I] h_l[I])", "cap_open", "nothing to sum it with"),
    ("x[t,k] = sum_{t'} W^Q[k,J,J] h_in[t,J]", "cap_twice", "J_1 and J_2"),
    ("W[J,J] = h[J]", "lhs_repeat", "J_1 and J_2"),
    ("x[b,i] = L[b,i]", "arity", "L has 3 indices [B,T,I], but you wrote 2"),
    ("Query[k,t,U] = W^Q[k,J,U] h_in[t,J]", "axis", "an index of axis"),
    ("alpha[k,t] = softmax[h_in[t,J] W^Q[k,1,J]]", "softmax_noindex", "softmax needs the index"),
    ("alpha[t_1,t_2] = softmax_{t_2}[h_in[t_1,J] h_in[t_1,J]]", "softmax_unbound", "every weight is the same"),
    ("alpha[t] = softmax_{s}[h_in[s,J] h_in[t,J]]", "free_right", "function of s again"),
    ("x[t,C] = h_in[t,1]; h_in[t,2]", "cat_axis", "one whole axis"),
    ("x[t,C] = h_in[t,J] (h_in[t,J]; G[t,J])", "cat_axis", "as a separate equation"),
    ("x[t,j] = G_t[t,j]", "undefined", "G_t is not defined (did you mean G?)"),
    ("x[t,j] = W^{Q,T}[j,t]", "undefined", "W^{Q,T} is not defined"),
    ("x[t,j] = G^T[j,t]", "notation", "write powers and transposes with indices"),
    ("x[t,j] = G^{2}[t,j]", "notation", "write powers and transposes with indices"),
    ("x[t,j] = G[s,J] onehot[s,t]", "notation", "onehot is a common name"),
    ("R[t,j] = tanh(R[t,j])", "cycle", "R is defined by itself"),
    ("x[t] = 1\nx[t] = 2", "twice", "x is defined twice"),
]


@pytest.mark.parametrize(("text", "code", "words"), FAULTS)
def test_faults_have_codes_and_sentences(text: str, code: str, words: str) -> None:
    """Each fault of the language is found without a reference, under its code, in the student's terms."""
    shapes = SHAPES if code in ("arity", "axis", "undefined", "notation") else ()
    found = [fault for fault in check(parse(text), declare(*shapes)) if fault.code == code]
    assert found and words in found[0].message


UNREADABLE = [
    ("y[i = x[i]", "syntax", 4),
    ("y[i] = x[i] +", "syntax", 13),
    ("y[i] = (x[i]", "syntax", 12),
    ("y[i] = x[i])", "syntax", 11),
    ("y[i]", "syntax", 4),
    ("y[i] = W[ij]", "syntax", 9),
    ("y[i] = x[i] @ z[i]", "syntax", 12),
    ("y[i] = х[i]", "look_alike", 7),
    ("y[i] = sum x[i]", "syntax", 11),
    (r"y[i] = \top x[i]", "syntax", 7),
    (r"y[i] = \frac{1} x[i]", "syntax", 17),
    (r"y[i] = \sqrt x[i]", "syntax", 14),
    (r"y[i] = \exp x[i] z[i]", "syntax", 7),
    ("y[i] = ln x[i] / z[i]", "syntax", 7),
    ("y[i] = ln x[i]^2", "syntax", 7),
    ("y[i] = ln x[i] * z[i]", "syntax", 7),
    ("y[i] = L[b,2(t+1,i]", "syntax", 16),
    ("", "empty", 0),
    ("  \n ;; ", "empty", None),
    ("y[i] = 1 2", "syntax", 9),
    ("y[i] = max(1)", "syntax", None),
    ("y[i] = W_{a}_{b}[i]", "syntax", 12),
]


@pytest.mark.parametrize(("text", "code", "column"), UNREADABLE)
def test_unreadable_text_has_a_caret(text: str, code: str, column: int | None) -> None:
    """What cannot be read is refused at a column of the student's own text."""
    with pytest.raises(Unreadable) as caught:
        parse(text)
    assert caught.value.code == code
    assert column is None or caught.value.column == column
    assert not text.strip() or "^" in caught.value.caret()


def test_limits() -> None:
    """Length, depth and number of parts are bounded, each with its code, in well under two seconds."""
    start = time.process_time()
    for text, code in (
        ("y = " + "(" * 500 + "1" + ")" * 500, "too_deep"),
        ("y = " + "-" * 2000 + "1", "syntax"),
        ("y = x" + "[w" * 700 + "]" * 700, "too_deep"),
        ("y = 1" + " + 1" * 1400, "too_many"),
        ("y = " + "x" * 7000, "too_long"),
        ("y=1\n" * 100, "too_many"),
        ("y = " + "sqrt(" * 200, "too_deep"),
        (r"y = " + r"\frac{1}{" * 200, "too_deep"),
        ("y = " + "softmax_i " * 300, "too_deep"),
        ("y = " + "sum_i " * 300, "too_deep"),
        ("y = " + "x^{" * 300, "too_deep"),
        ("y = x_" + "{" * 300, "syntax"),
    ):
        with pytest.raises(Unreadable) as caught:
            parse(text)
        assert caught.value.code in (code, "too_deep", "syntax"), (text[:30], caught.value.code)
    assert time.process_time() - start < 2


def test_deep_products_are_read_in_no_time() -> None:
    """Nesting up to the limit costs no more than its length: scopes are resolved once a level."""
    start = time.process_time()
    text = "a[I]"
    for number in range(12):
        text = f"({text} b_{number}[I,J] + c[I]) sigma(d[I])"
    check(parse(f"y = {text}"))
    check(parse("y[i] = " + "sigma(a[i,J] " * 12 + "b[J]" + ")" * 12))
    check(parse("y[i] = " + "(a[i,J] " * 18 + "b[J]" + ")" * 18))
    assert time.process_time() - start < 2


ALPHABET = "abijJKTtw_^'[](){}|,;=+-*/.0123 \n\\$&~<>" + "αΣ²х"
PIECES = st.sampled_from(
    [
        "\\frac{",
        "}{",
        "softmax_{t}",
        "sum_{j}",
        "\\sum",
        "sigma(",
        "W^Q[k,j]",
        "concat_k ",
        "...",
        ";;",
        "\\left(",
        "_{l+1}",
        "\\text{",
        "x[i]",
        " = ",
        "\\underset{",
        "\\tilde{",
        "CELL(",
        "[w[b,t],",
        "^{-1/2}",
        "h->",
        "\\begin{aligned}",
    ]
)


@given(st.lists(st.one_of(st.text(ALPHABET, max_size=6), PIECES), max_size=40))
@settings(max_examples=400, deadline=2000, derandomize=True)
def test_any_text_is_read_or_refused(parts: list[str]) -> None:
    """No text raises anything but Unreadable, and none takes two seconds; what is read can be checked and shown."""
    text = "y[i] = " + "".join(parts)
    try:
        system = parse(text)
    except Unreadable:
        return
    check(system)
    describe(system)
    to_latex(system)


# -- printing and parsing back, on trees as the parser makes them ------------------------------------------------------

SYMBOLS = st.builds(
    Symbol,
    letter=st.sampled_from(["i", "j", "t", "J", "K", "Dt", "tau"]),
    label=st.sampled_from(["", "", "1", "in", "t"]),
    primes=st.integers(0, 2),
)
NAMES = st.builds(
    Name,
    base=st.sampled_from(["W", "x", "Query", "beta", "h"]),
    lower=st.sampled_from(["", "l+1", "in", "0,in"]),
    upper=st.sampled_from(["", "Q", "h,R", "FF1"]),
    accents=st.sampled_from([(), ("tilde",), ("vec",), ("hat",)]),
    primes=st.integers(0, 1),
)
TERMS = st.one_of(
    st.builds(IndexTerm, coefficient=st.sampled_from([1, -1, 2]), atom=SYMBOLS),
    st.builds(IndexTerm, coefficient=st.sampled_from([0, 1, -3, 7]), atom=st.none()).filter(lambda t: True),
    st.builds(
        IndexTerm,
        coefficient=st.just(1),
        atom=st.builds(
            Lookup,
            name=NAMES,
            indices=st.tuples(
                st.builds(Index, terms=st.tuples(st.builds(IndexTerm, coefficient=st.just(1), atom=SYMBOLS)))
            ),
        ),
    ),
)
INDICES = st.builds(Index, terms=st.lists(TERMS, min_size=1, max_size=2).map(tuple))
TENSORS = st.builds(Tensor, name=NAMES, indices=st.lists(INDICES, min_size=1, max_size=3).map(tuple))
NUMBERS = st.builds(Number, value=st.sampled_from([Fraction(2), Fraction(1, 4), Fraction(0), Fraction(35, 2)]))
SCALARS = st.builds(Tensor, name=NAMES)


def _grown(inside: st.SearchStrategy[Expr]) -> st.SearchStrategy[Expr]:
    signed = st.tuples(st.sampled_from([1, -1]), inside)
    factor = st.tuples(st.sampled_from("**/"), inside)
    symbols = st.lists(SYMBOLS, min_size=1, max_size=2, unique=True).map(tuple)
    return st.one_of(
        st.lists(signed, min_size=2, max_size=3).map(lambda pairs: Sum(terms=tuple(pairs))),
        st.lists(factor, min_size=2, max_size=3).map(lambda pairs: Product(factors=(("*", pairs[0][1]), *pairs[1:]))),
        st.builds(Power, base=inside, exponent=NUMBERS),
        st.builds(Total, symbols=symbols, body=inside),
        st.builds(Softmax, symbols=symbols, body=inside),
        st.builds(Concat, symbols=symbols, body=inside),
        st.builds(Call, function=st.sampled_from(["sigma", "tanh", "sqrt"]), arguments=st.tuples(inside)),
        st.builds(Call, function=st.just("max"), arguments=st.tuples(inside, inside)),
        st.lists(inside, min_size=2, max_size=3).map(lambda parts: Pieces(parts=tuple(parts))),
        st.builds(
            Opaque,
            name=st.just(Name(base="CELL", lower="Phi")),
            arguments=st.tuples(st.just(parse("y = h[t-1,J]").equations[0].right), inside),
        ),
    )


EXPRESSIONS = st.recursive(st.one_of(TENSORS, NUMBERS, SCALARS), _grown, max_leaves=8)


@given(TENSORS.filter(lambda t: True), st.lists(EXPRESSIONS, min_size=1, max_size=2))
@settings(max_examples=300, deadline=None, derandomize=True)
def test_print_then_parse_is_the_identity(left: Tensor, links: list[Expr]) -> None:
    """Parsing the ASCII of any tree gives the tree back."""
    system = System(equations=(Equation(left=left, links=tuple(links)),))
    assert parse(to_text(system)) == system


def test_spellings_of_one_thing() -> None:
    """LaTeX, ASCII and Unicode spellings, labels in any order and round index lists are one tree."""
    for group in (
        (
            r"\alpha[k,t_1,t_2] = \text{softmax}_{t_2} q[k,t_1,U] \cdot p[k,t_2,U]",
            "alpha[k,t1,t2] = softmax_{t_2}[q[k,t_1,U] * p[k,t_2,U]]",
            "α[k,t_{1},t_{2}]=softmax_{t_2} q(k,t_1,U)⊙p(k,t_2,U)",
        ),
        (r"x[t] = \tilde{W}_{\ell+1}^{Q}[t]", "x[t] = W~^Q_{l+1}[t]", r"x(t) = \tilde W^Q_{\ell + 1}(t)"),
        (
            r"x[i] = \sum_{\Delta t} y[2t + \Delta t, i']",
            "x[i] = sum_{Dt} y[2t+Dt,i']",
            "x[i] = Σ_Dt y[2*t+Dt,i^{\\prime}]",
        ),
        (r"\vec{h}[t] = e(w_t)[I] \, x[I]", "h->[t] = e[w_t,I] x[I]", r"$\overrightarrow{h}[t] &= e[w_t,I]\;x[I]$."),
        (
            r"s[t_1] = \operatorname*{Softmax}_{t_1} \left\{ q[t_1] / \sqrt U \right\}",
            "s[t₁] = softmax_{t_1}(q[t_1] / sqrt(U))",
            r"s[t_1] = \underset{t_1}{\text{softmax}} \big[ \frac{q[t_1]}{\sqrt{U}} \big]",
        ),
        ("a[t] = b[t] +\n c[t]", "a[t] = b[t]\n + c[t]", r"a[t] = b[t] \\ &+ c[t]"),
        (
            "a[t] = b[t];; c[t] = d[t]",
            "a[t] = b[t]\nc[t] = d[t]",
            r"\begin{aligned} a[t] &= b[t] \\ c[t] &= d[t] \end{aligned}",
        ),
    ):
        assert len({parse(text) for text in group}) == 1, group


def test_scope_warnings() -> None:
    """A softmax that swallows a plus, or that stops at a round bracket, says so."""
    assert [w.code for w in parse("P[w] = softmax_w a[w] + b[w]").warnings] == ["softmax_scope"]
    assert [w.code for w in parse("P[w] = softmax_w(a[w]) + b[w]").warnings] == ["softmax_scope"]
    assert not parse("P[w] = softmax_w[a[w]] + b[w]").warnings
    assert "softmax_{w}[a[w] + b[w]]" in to_text(parse("P[w] = softmax_w a[w] + b[w]"))


def test_a_preview_describes_the_reading() -> None:
    """Free, summed and normalised indices, and the tensors that an answer takes as given."""
    described = describe(parse("alpha[k,s,t] = softmax_t[q[k,s,U] p[k,t,U]]\no[k,s,I] = sum_t alpha[k,s,t] v[k,t,I]"))
    first, second = described.equations
    assert (first.free, first.summed, first.normalised) == (("k", "s", "t"), ("U",), ("t",))
    assert (second.free, second.summed) == (("k", "s", "I"), ("t",))
    assert dict(described.inputs) == {"q": 3, "p": 3, "v": 3}


def test_declarations_are_the_author_s() -> None:
    """A declaration that cannot be read, or a size in terms of itself, is an author's error."""
    for make in (lambda: declare("W[K,"), lambda: declare("W[k+1]"), lambda: declare(sizes={"J": "J*K"})):
        with pytest.raises(AuthorError):
            make()


def test_reading_imports_nothing_heavy() -> None:
    """Parsing, checking, describing and showing load neither numpy nor flint, sympy or torch."""
    code = (
        "import sys; from autograder.maths import tensor as t; s = t.parse('y[i] = W[i,J] x[J]');"
        "t.check(s); t.describe(s); t.to_latex(s); t.to_text(s);"
        "heavy = {'numpy', 'flint', 'sympy', 'torch', 'scipy'} & set(sys.modules); assert not heavy, heavy"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=Path(__file__).parents[3])
