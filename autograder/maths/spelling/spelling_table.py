r"""Spelling x language: what each way of typing a thing means in each language, or the sentence that refuses it.

A row has one text and its meaning in plain ASCII. A language reads the text as it reads the meaning, or is named in
`refused` with words of the sentence that it says. The table is the test of the reader and makes `docs/notation.md`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields, is_dataclass

from autograder.errors import Unreadable
from autograder.maths import expression, growth, tensor
from autograder.maths.tensor.tensor_tree import Product

LANGUAGES = ("expression", "growth", "equation")
NAMES = ("n", "m", "x", "T", "L", "D", "alpha", "beta", "epsilon", "phi", "rho", "n_1")


@dataclass(frozen=True)
class Row:
    """`text` means `meaning` in every language but those in `refused`, which say those words."""

    text: str
    meaning: str = ""
    refused: Mapping[str, str] = field(default_factory=dict)


def only(*languages: str, says: str = "") -> dict[str, str]:
    """The refusals of all languages but these."""
    return {language: says for language in LANGUAGES if language not in languages}


def nowhere(says: str) -> dict[str, str]:
    """The same refusal in every language."""
    return dict.fromkeys(LANGUAGES, says)


TWO = "two ways"
GROUPS: dict[str, tuple[Row, ...]] = {
    "Greek letters": (
        Row("alpha n", "alpha*n"),
        Row("α n", "alpha*n"),
        Row("αn", "alpha*n"),
        Row(r"\alpha n", "alpha*n"),
        Row("𝛼 n", "alpha*n"),
        Row("𝜶 n", "alpha*n"),
        Row(r"\varepsilon n", "epsilon*n"),
        Row("ϵ n", "epsilon*n"),
        Row(r"\epsilon n", "epsilon*n"),
        Row(r"\varphi n", "phi*n"),
        Row("ϕ n", "phi*n"),
        Row("φ n", "phi*n"),
        Row(r"\mathbf{\alpha} n", "alpha*n"),
        Row(r"\boldsymbol{\alpha} n", "alpha*n"),
        Row(r"{\alpha} n", "alpha*n"),
    ),
    "signs": (
        Row("n·m", "n*m"),
        Row("n⋅m", "n*m"),
        Row("n∙m", "n*m"),
        Row("n•m", "n*m"),
        Row("n×m", "n*m"),
        Row("n∗m", "n*m"),
        Row("n＊m", "n*m"),
        Row(r"n \cdot m", "n*m"),
        Row(r"n \times m", "n*m"),
        Row(r"n \ast m", "n*m"),
        Row("n m", "n*m"),
        Row("n\u2062m", "n*m"),
        Row("n\u00a0m", "n*m"),
        Row("n\u2009m", "n*m"),
        Row("n ⊙ m", "n*m", only("equation", says="write *")),
        Row(r"n \odot m", "n*m", only("equation", says="write *")),
        Row(r"n \circ m", "n*m", only("equation", says="write *")),
        Row("n/m", "n/m"),
        Row("n÷m", "n/m"),
        Row("n∕m", "n/m"),
        Row("n⁄m", "n/m"),
        Row(r"n \div m", "n/m"),
        Row("n : m", "", nowhere("write /")),
        Row("n − m", "n-m"),
        Row("n – m", "n-m"),
        Row("n — m", "n-m"),
        Row("n ‐ m", "n-m"),
        Row("n ‑ m", "n-m"),
        Row("n ‒ m", "n-m"),
        Row("n ﹣ m", "n-m"),
        Row("n － m", "n-m"),
        Row("n ＋ m", "n+m"),
        Row("n ± m", "", nowhere("")),
        Row("n % m", "mod(n, m)", {"growth": "remainders", "equation": ""}),
    ),
    "powers and indices": (
        Row("n^2", "n^2"),
        Row("n**2", "n^2"),
        Row("n²", "(n)^2"),
        Row("n^{2}", "(n)^2"),
        Row("(n+m)^{2}", "(n+m)^2"),
        Row("(n+m)²", "(n+m)^2"),
        Row("(n+m)¹²", "(n+m)^12"),
        Row("(n+m)⁻¹", "(n+m)^(-1)"),
        Row("n₁ m", "n_1*m"),
        Row("n_1 m", "n_1*m"),
        Row("n_{1} m", "n_1*m"),
        Row("n1 m", "n_1*m", {"growth": TWO}),
        Row("2beta n", "2*beta*n"),
        Row("eˣ", "e^x", only("expression")),
        Row("n2", "n_2", {"expression": "n*2 or n^2", "growth": TWO}),
    ),
    "numbers": (
        Row("0.5 n", "0.5*n"),
        Row(".5 n", "0.5*n"),
        Row("１２ n", "12*n"),
        Row("𝟏𝟐 n", "12*n"),
        Row("½ n", "(1/2)*n"),
        Row("½n", "(1/2)*n"),
        Row("n ½", "n*(1/2)"),
        Row("⅓ n", "(1/3)*n"),
        Row("2½ n", "", nowhere(TWO)),
        Row("5e-1 n", "0.5*n", {"expression": "5*e - 1", "growth": "5*e - 1"}),
        Row("1E-3 n", "0.001*n", {"expression": TWO, "growth": TWO}),
        Row("0,5 n", "", nowhere("point")),
        Row("1/2 T (T+1)", "(1/2)*T*(T+1)"),
        Row("T (T+1)/2", "T*(T+1)/2"),
        Row("3/2 n", "(3/2)*n"),
        Row("1/2 (n+1)", "(1/2)*(n+1)"),
        Row("7/4 n^2", "(7/4)*n^2", {"equation": ""}),
        Row("m + 1/2 (n+1)", "m + (1/2)*(n+1)"),
        Row("1/2n", "(1/2)*n", {"expression": TWO, "growth": TWO}),
        Row("n/m x", "(n/m)*x", {"expression": TWO, "growth": TWO}),
        Row("1/m x", "(1/m)*x", {"expression": TWO, "growth": TWO}),
        Row("n 2 (n+1)", "n*2*(n+1)"),
        Row("(2^L-1)2(D-1)", "(2^L-1)*2*(D-1)", {"equation": ""}),
        Row("(n+1)2", "(n+1)*2"),
        Row("(n+1) 2", "(n+1)*2"),
        Row("n 2", "n*2"),
        Row("2 3 n", "", nowhere("")),
        Row("10 000 n", "", nowhere("")),
    ),
    "fractions": (
        Row(r"\frac{1}{2} n", "(1/2)*n"),
        Row(r"\dfrac{1}{2} n", "(1/2)*n"),
        Row(r"\tfrac{1}{2} n", "(1/2)*n"),
        Row(r"\cfrac{1}{2} n", "(1/2)*n"),
        Row(r"\frac12 n", "(1/2)*n"),
        Row(r"\frac 1 2 n", "(1/2)*n"),
        Row(r"\frac12n", "(1/2)*n"),
        Row(r"\tfrac32 n", "(3/2)*n"),
        Row(r"\dfrac32 n m", "(3/2)*n*m"),
        Row(r"\frac n2", "n/2"),
        Row(r"\frac nm", "n/m", {"equation": "braces"}),
        Row(r"\frac nm x", "(n/m)*x", {"equation": "braces"}),
        Row(r"\frac n m x", "(n/m)*x"),
        Row(r"\frac1n", "1/n"),
        Row(r"\frac1{n m}", "1/(n*m)"),
        Row(r"\frac{n}2", "n/2"),
        Row(r"\frac{n}2 m", "(n/2)*m"),
        Row(r"\frac\alpha2", "alpha/2"),
        Row(r"\frac\alpha\beta", "alpha/beta"),
        Row(r"\frac{n}\beta", "n/beta"),
        Row(r"n\frac12", "n*(1/2)"),
        Row(r"n^2\frac12", "n^2*(1/2)", {"equation": ""}),
        Row(r"\frac12\sqrt2 n", "(1/2)*sqrt(2)*n"),
        Row(r"\frac{1}{\sqrt2 n}", "1/(sqrt(2)*n)"),
        Row(r"\frac{\frac12 n}{m}", "((1/2)*n)/m"),
        Row(r"\frac123", "", nowhere("braces")),
        Row(r"\frac12{n}", "(1/2)*n", {"equation": "braces"}),
        Row(r"\frac{n}", "", nowhere("")),
        Row(r"{n \over m}", "", nowhere("frac")),
    ),
    "roots": (
        Row("sqrt(n)", "sqrt(n)"),
        Row(r"\sqrt{n}", "sqrt(n)"),
        Row(r"\sqrt n", "sqrt(n)"),
        Row(r"\sqrt{n m}", "sqrt(n*m)"),
        Row(r"\sqrt2 n", "sqrt(2)*n"),
        Row(r"\sqrt 2 n", "sqrt(2)*n"),
        Row(r"\sqrt2\,n", "sqrt(2)*n"),
        Row(r"\sqrt2n", "sqrt(2)*n"),
        Row(r"\sqrt n m", "sqrt(n)*m"),
        Row(r"\sqrt nm", "sqrt(n)*m", {"equation": "braces"}),
        Row(r"\sqrt2\sqrt n", "sqrt(2)*sqrt(n)"),
        Row(r"\sqrt\alpha n", "sqrt(alpha)*n"),
        Row(r"\sqrt\frac12 n", "sqrt(1/2)*n"),
        Row(r"\sqrt{2}n", "sqrt(2)*n"),
        Row(r"\sqrt[3]{n}", "n^(1/3)", {"equation": ""}),
        Row(r"\sqrt12 n", "", nowhere("braces")),
        Row(r"\sqrt2.5 n", "", nowhere("braces")),
        Row("√n", "sqrt(n)"),
        Row("√(n) m", "sqrt(n)*m"),
        Row("√(n+m)", "sqrt(n+m)"),
        Row("√2", "sqrt(2)"),
        Row("m√2", "m*sqrt(2)"),
        Row("√2·n", "sqrt(2)*n"),
        Row("sqrt n", "sqrt(n)"),
        Row("√2 n", "", nowhere("sqrt(2)*n")),
        Row("√2n", "", nowhere("sqrt(2)*n")),
        Row("sqrt 2 n", "", nowhere("sqrt(2)*n")),
        Row("sqrt n m", "", nowhere("sqrt(")),
        Row("√n m", "", nowhere("sqrt(")),
        Row("√T (L+1)", "", nowhere("sqrt(")),
    ),
    "functions": (
        Row("ln(n)", "ln(n)"),
        Row(r"\ln(n)", "ln(n)"),
        Row(r"\ln\left(n\right)", "ln(n)"),
        Row(r"\ln{n}", "ln(n)"),
        Row("ln n", "ln(n)"),
        Row(r"\ln n", "ln(n)"),
        Row("log(n)", "ln(n)"),
        Row("exp(n)", "exp(n)"),
        Row(r"\exp(n)", "exp(n)"),
        Row("np.log(n)", "ln(n)"),
        Row("math.sqrt(n)", "sqrt(n)"),
        Row(r"\operatorname{max}(n,m)", "max(n, m)"),
        Row(r"\max(n,m)", "max(n, m)"),
        Row(r"\max\{n,m\}", "max(n, m)"),
        Row(r"\max\left\{n,m\right\}", "max(n, m)"),
        Row(r"\mathrm{max}(n,m)", "max(n, m)"),
        Row(r"\text{max}(n,m)", "max(n, m)"),
        Row(r"\log_2 n", "log2(n)", {"equation": ""}),
        Row(r"\log_2(n)", "log2(n)", {"equation": ""}),
        Row("log₂(n)", "log2(n)", {"equation": ""}),
        Row("log2(n)", "log2(n)", {"equation": ""}),
        Row("⌊n/2⌋", "floor(n/2)", {"equation": ""}),
        Row(r"\lfloor n/2 \rfloor", "floor(n/2)", {"equation": ""}),
        Row(r"\left\lfloor n/2 \right\rfloor", "floor(n/2)", {"equation": ""}),
        Row("⌈n/2⌉", "ceil(n/2)", {"equation": "ceilings"}),
        Row(r"\lceil n/2 \rceil", "ceil(n/2)", {"equation": "ceilings"}),
        Row("ceiling(n/2)", "ceil(n/2)", only("expression")),
        Row("|n|", "abs(n)", only("expression")),
        Row(r"\left|n\right|", "abs(n)", only("expression")),
        Row(r"\lvert n \rvert", "abs(n)", only("expression")),
        Row(r"\mathrm e^n", "e^n"),
        Row(r"\mathrm{e}^n", "e^n"),
        Row(r"\mathrm{e}^{n}", "e^n"),
        Row("∞", "inf", only("expression")),
        Row(r"\infty", "inf", only("expression")),
        Row("π n", "pi*n", only("expression")),
        Row("lb n", "log2(n)", {"equation": ""}),
        Row("lg n", "lg(n)", {"equation": ""}),
        Row("log(n, m)", "log_m(n)", {"equation": ""}),
        Row(r"\log_{m} n", "log(n, m)", {"equation": ""}),
        Row("n!", "factorial(n)", {"growth": "only ln n! is read", "equation": ""}),
        Row("ln(n!)", "ln(factorial(n))", {"equation": ""}),
    ),
    "counting": (
        Row(r"\binom{n}{m}", "binom(n, m)", only("expression", says="binomials")),
        Row(r"\binom n m", "binom(n, m)", only("expression", says="binomials")),
        Row(r"\binom n2", "binom(n, 2)", only("expression", says="")),
        Row(r"\binom nm", "binom(n, m)", only("expression", says="")),
        Row(r"\tbinom{n}{m}", "binom(n, m)", only("expression", says="binomials")),
        Row(r"\dbinom{n}{m}", "binom(n, m)", only("expression", says="binomials")),
        Row(r"{n \choose m}", "binom(n, m)", only("expression", says="binomials")),
        Row("binomial(n, m)", "binom(n, m)", only("expression")),
        Row("comb(n, m)", "binom(n, m)", only("expression")),
        Row("math.comb(n, m)", "binom(n, m)", only("expression")),
        Row("sympy.binomial(n, m)", "binom(n, m)", only("expression")),
        Row("C(n, m)", "binom(n, m)", {"growth": "", "equation": ""}),
        Row(r"\prod_{i=1}^{n} i", "prod(i, i, 1, n)", only("expression", says="products")),
        Row("∏_{i=1}^{n} i", "prod(i, i, 1, n)", only("expression", says="products")),
        Row("product(i, i, 1, n)", "prod(i, i, 1, n)", only("expression")),
        Row(r"\prod_{i=1}^{n} i x", "", nowhere("")),
        Row("mod(n, m)", "n mod m", only("expression")),
        Row(r"n \bmod m", "mod(n, m)", only("expression", says="remainders")),
        Row("n mod m", "mod(n, m)", only("expression")),
        Row("2n mod m", "mod(2*n, m)", only("expression")),
        Row("n + x mod m", "", nowhere("")),
        Row("(n + x % m)/2", "(n + mod(x, m))/2", {"growth": "remainders", "equation": ""}),
        Row("n - x % m + 1", "n - mod(x, m) + 1", {"growth": "remainders", "equation": ""}),
        Row("n % m * x", "", nowhere("")),
        Row("-n % m", "", nowhere("")),
        Row("n mod m * x", "", nowhere("")),
        Row(r"n \pmod m", "", nowhere("mod(a, b)")),
    ),
    "one where": (
        Row("n 1[x=n]", "n 1(x=n)", only("equation")),
        Row(r"n \mathbb{1}[x \le n]", "n 1[x<=n]", only("equation")),
        Row(r"n \mathbb{1}\{x \neq n\}", "n 1[x!=n]", only("equation")),
        Row("n 1[x ≥ n]", "n 1[n<=x]", only("equation")),
        Row("n 𝟙[x=n]", "n 1[x=n]", only("equation")),
        Row(r"\delta_{xn}", "delta[x,n]", only("equation")),
        Row(r"\delta_{x,n}", "delta[x,n]", only("equation")),
        Row("δ_{xn}", "delta[x,n]", only("equation")),
    ),
    "cases": (
        Row("cases(1, n = 0; n, otherwise)", "cases(1, n = 0; n)", only("expression")),
        Row(
            r"\begin{cases} 1 & n=0 \\ n & \text{otherwise} \end{cases}",
            "cases(1, n = 0; n)",
            only("expression", says="cases"),
        ),
        Row(
            r"\begin{cases} 1, & \text{if } n \le m \\ n, & n > m \end{cases}",
            "cases(1, n <= m; n, n > m)",
            only("expression", says="cases"),
        ),
        Row("cases(1, n >= 2 and m != 3; n)", r"cases(1, 2 \le n \land m \ne 3; n)", only("expression")),
        Row("cases(1, 0 < n <= 3; n)", "cases(1, 0 < n and n <= 3; n)", only("expression")),
        Row("cases(1 : n = 0; n : otherwise)", "cases(1, n = 0; n)", only("expression")),
        Row(
            r"\begin{cases} 1: & n=0 \\ n &: \text{otherwise} \end{cases}",
            "cases(1, n = 0; n)",
            only("expression", says="cases"),
        ),
        Row("cases(n : m, n = 0; n)", "", nowhere("")),
        Row("cases(1 :: n = 0; n)", "", nowhere("")),
        Row("cases(1; n, n = 0)", "", nowhere("")),
        Row("n ≤ m", "", nowhere("comparison")),
    ),
    "fonts": (
        Row(r"\mathrm{n} m", "n*m"),
        Row(r"\mathrm n m", "n*m"),
        Row(r"\mathsf{n} m", "n*m"),
        Row(r"\mathbf{n} m", "n*m"),
        Row(r"\mathit{n} m", "n*m"),
        Row(r"\mathcal{D} m", "D*m"),
        Row(r"\mathtt{n} m", "n*m"),
        Row(r"\text{n} m", "n*m"),
        Row(r"\textbf{n} m", "n*m"),
        Row(r"\operatorname{ln}(n)", "ln(n)"),
        Row("𝑛 𝑚", "n*m"),
        Row("𝐧𝗆", "n*m", {"equation": ""}),
        Row("ｎ m", "n*m"),
    ),
    "spacing, sizes and brackets": (
        Row(r"n\,m", "n*m"),
        Row(r"n\;m", "n*m"),
        Row(r"n\ m", "n*m"),
        Row(r"n\!m", "n*m"),
        Row("n~m", "n*m"),
        Row(r"n\quad m", "n*m"),
        Row(r"n\hspace{1em} m", "n*m"),
        Row(r"\displaystyle n m", "n*m"),
        Row(r"\textstyle n m", "n*m"),
        Row(r"\scriptstyle n m", "n*m"),
        Row("n &+ m", "n+m"),
        Row("n\u200b m", "n*m"),
        Row("\ufeffn m", "n*m"),
        Row(r"\left(n+m\right)", "(n+m)"),
        Row(r"\left( n+m \right) x", "(n+m)*x"),
        Row(r"\bigl(n+m\bigr)", "(n+m)"),
        Row(r"\Bigl(n+m\Bigr)", "(n+m)"),
        Row(r"\bigg(n+m\bigg)", "(n+m)"),
        Row("{n+m}", "(n+m)"),
        Row(r"\{n+m\}", "(n+m)"),
        Row(r"\lbrace n+m \rbrace", "(n+m)"),
        Row("（n＋m）", "(n+m)"),
        Row("[n+m]", "(n+m)"),
        Row(r"\left[n+m\right] x", "(n+m)*x"),
    ),
    "around the answer": (
        Row("n m.", "n*m"),
        Row("n m .", "n*m"),
        Row("2.", "2"),
        Row("$n m$", "n*m"),
        Row("$n m$.", "n*m"),
        Row("$$n m$$", "n*m"),
        Row(r"\[ n m \]", "n*m"),
        Row(r"\[ n m. \]", "n*m"),
        Row(r"\( n m \)", "n*m"),
        Row("$$\n n m \n$$", "n*m"),
        Row("n m  # first\n# second", "n*m"),
        Row(r"\begin{equation} n m \end{equation}", "n*m"),
        Row(r"\begin{align*} n m \end{align*}", "n*m"),
        Row("n m # as above", "n*m"),
        Row("n m. # as above", "n*m"),
        Row("n m  # 2 n", "n*m"),
        Row(r"n m \\", "n*m"),
        Row("n m,", "n*m"),
        Row("n m;", "n*m"),
        Row("n, m", "", nowhere("")),
        Row(r"\boxed{n m}", "n*m"),
        Row(r"\[ \boxed{n m}. \]", "n*m"),
        Row(r"\fbox{$n m$}", "n*m"),
        Row(r"x \boxed{n+m}", "x*(n+m)"),
        Row(r"\boxed{n m", "", nowhere("")),
    ),
    "a text without r before the quotes": (
        Row("\frac{n}{m}", "n/m"),
        Row("\frac12 n", "(1/2)*n"),
        Row("\beta n", "beta*n"),
        Row("\rho n", "rho*n"),
        Row("\alpha n", "alpha*n"),
        Row("\varphi n", "phi*n"),
        Row("\x07lpha + \x08eta", "alpha+beta"),
        Row("n \right)", "", nowhere("")),
        Row("(n+m\right)", "(n+m)"),
        Row("2 \nu", "", {"expression": "r before the quotes", "growth": "r before the quotes", "equation": ""}),
        Row("2 \tau", "", {"expression": "r before the quotes", "growth": "r before the quotes", "equation": ""}),
        Row("2 \times n", "", nowhere("r before the quotes")),
        Row("2 \text{n}", "", nowhere("r before the quotes")),
        Row("\tfrac12 n", "", nowhere("r before the quotes")),
    ),
    "letters that only look right": (
        Row("а n", "", nowhere("CYRILLIC")),
        Row("Χ n", "", nowhere("GREEK CAPITAL LETTER CHI")),
        Row("n ☃", "", nowhere("☃")),
        Row(r"\foo n", "", nowhere("foo")),
        Row(r"\hat{n} m", "n.hat*m", only("equation", says="write the name alone")),
        Row("n' m", "n'*m", only("equation", says="")),
        Row("n < m", "", nowhere("")),
        Row("n = m", "n = m", only("equation", says="write")),
        Row(r"\int n", "", nowhere("integrals")),
    ),
}


def rows() -> Iterator[tuple[str, Row]]:
    """Every row with its group."""
    for group, found in GROUPS.items():
        for row in found:
            yield group, row


def _equation(text: str) -> str:
    """The text as the right side of an equation."""
    return re.sub(r"^ *(?:\\\[|\\\(|\$+|\\begin\{[a-z*]+\})?", lambda before: f"{before[0]} y = ", text, count=1)


def read(language: str, text: str) -> object:
    """The tree that a language reads in a text over `NAMES`; raises Unreadable."""
    match language:
        case "expression":
            return expression.parse(text, domains=dict.fromkeys(NAMES, "posint")).node
        case "growth":
            return growth.parse(text, variables=NAMES).tree
        case _:
            return flat(tensor.parse(_equation(text)).equations)


def shown(language: str, text: str) -> str:
    """The text as the language prints it back."""
    match language:
        case "expression":
            return expression.to_text(expression.parse(text, domains=dict.fromkeys(NAMES, "posint")))
        case "growth":
            return growth.to_text(growth.parse(text, variables=NAMES))
        case _:
            return tensor.to_text(tensor.parse(_equation(text))).removeprefix("y = ")


def flat(node: object) -> object:
    """A tree of equations with products inside products opened, as `1/2 n` and `(1/2)*n` are one thing."""
    if isinstance(node, tuple):
        return tuple(map(flat, node))
    if isinstance(node, Product):
        factors: list[tuple[str, object]] = []
        for sign, factor in node.factors:
            inner = flat(factor)
            factors += (
                inner[1] if isinstance(inner, tuple) and inner[:1] == ("product",) and sign == "*" else [(sign, inner)]
            )
        return ("product", factors)
    if is_dataclass(node):
        return (type(node).__name__, *(flat(getattr(node, f.name)) for f in fields(node) if f.compare))
    return node


def cell(language: str, row: Row) -> tuple[bool, str]:
    """Whether a language treats a row as the table says, and what it makes of it."""
    try:
        tree = read(language, row.text)
    except Unreadable as refusal:
        expected = row.refused.get(language)
        return expected is not None and expected in refusal.message, f"refused: {refusal.message}"
    if language in row.refused or not row.meaning:
        return language in row.refused and not row.refused[language], f"read as {shown(language, row.text)}"
    if tree != read(language, row.meaning):
        return False, f"read as {shown(language, row.text)}"
    return True, f"read as {shown(language, row.meaning)}"


def faults() -> list[tuple[str, str, str]]:
    """What is not as the table says: the text, the language and what it says."""
    cells = ((row.text, language, cell(language, row)) for _, row in rows() for language in LANGUAGES)
    return [(text, language, said) for text, language, (right, said) in cells if not right]


def lines(groups: Iterable[str] = GROUPS) -> Iterator[str]:
    """The table as text, one line a row; `!` marks what is not as the table says."""
    for group in groups:
        yield f"\n{group}"
        for row in GROUPS[group]:
            cells = [cell(language, row) for language in LANGUAGES]
            marks = " | ".join(f"{' ' if right else '!'}{said}" for right, said in cells)
            yield f"  {row.text!r:36} {marks}"
