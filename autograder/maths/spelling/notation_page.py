"""`docs/notation.md`, made from the tables: what may be written in each language, what is refused, and the grammars."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator

from autograder.maths import derivation
from autograder.maths.expression import expression_grammar, vocabulary
from autograder.maths.growth import growth_grammar, growth_tokens
from autograder.maths.spelling.spelling_table import GROUPS, LANGUAGES, Row, cell
from autograder.maths.tensor import tensor_grammar

_TITLE = """# Notation

What may be typed in each answer language, and what is refused with what to write instead. The lines of a derivation and
the entries of a matrix are expressions. `python -m autograder.maths.spelling --page docs/notation.md` makes this page
from the tables of the readers, and a test keeps it in step.
"""
_OPERATORS = (
    ("a sum, a difference", "`+` `-`", "`+` `-`", "`+` `-`"),
    ("a product", "`*`, a space or nothing", "`*`, a space or nothing", "`*`, `⊙`, a space"),
    ("a quotient", "`/`, `\\frac{}{}`", "`/`, `\\frac{}{}`", "`/`, `\\frac{}{}`"),
    ("a power", "`^`, `**`", "`^`, `**`", "`^`, `**`; a power of a name stands behind a bracket: `(W)^2`"),
    ("a root", "`sqrt()`, `\\sqrt{}`, `\\sqrt[3]{}`", "`sqrt()`, `\\sqrt{}`, `\\sqrt[3]{}`", "`sqrt()`, `\\sqrt{}`"),
    ("an absolute value", "`abs()`, bars", "refused", "`abs()`"),
    ("a factorial", "`n!`", "refused", "refused"),
    ("an indexed sum", "`sum(term, i, 0, inf)`, `\\sum_{i=0}^{\\infty}`", "refused", "`sum_{i}`, `\\sum_{i=1}^{I}`"),
    ("a bound", "", "`O()`, `Theta()`, `\\Theta()`, `\\mathcal{O}()`, or none", ""),
    ("a softmax, a concatenation", "", "", "`softmax_{i}[]`, `concat_{k}`, `A; B`, `A[1]; ...; A[K]`"),
    ("an index", "`x_1`, `x_{1}`, `x₁`", "`x_1`, `x_{1}`, `x₁`", "`W[i,J]`, `W^Q[k,t-1]`, `h_{l+1}[i]`"),
    ("Euler's number", "`e`", "`e`", "`e^{}`, `exp()`"),
    ("infinity", "`inf`, `∞`", "refused", "refused"),
    ("several lines", "refused", "refused", "one equation a line, or `;;` between them"),
    ("a comment", "`# …`", "`# …`", "`# …`, `% …`"),
)  # fmt: skip


def page() -> str:
    """The whole page."""
    return "\n".join([_TITLE, *_functions(), *_operators(), *_spellings(), *_grammars()]) + "\n"


def _functions() -> Iterator[str]:
    words = (
        ("expression", (*vocabulary.FUNCTIONS, *vocabulary.ALIASES, "sum")),
        ("growth", (*growth_tokens.SPELLINGS, *growth_tokens.WRAPPERS)),
        ("equation", (*tensor_grammar.FUNCTIONS, *tensor_grammar.BINDERS)),
    )
    yield "## Functions\n"
    yield from _table(
        ("language", "words"), ((name, ", ".join(f"`{word}`" for word in known)) for name, known in words)
    )
    yield "`log` is the natural logarithm, unless the question says otherwise; a base stands below: `log_2 n`.\n"


def _operators() -> Iterator[str]:
    yield "## Operators\n"
    yield from _table(("", *LANGUAGES), _OPERATORS)


def _spellings() -> Iterator[str]:
    yield "## Spellings\n"
    yield "What is read stands in plain letters; ✗ and a sentence is what is refused. `n`, `m`, … are declared.\n"
    for group, rows in GROUPS.items():
        yield f"### {group[0].upper()}{group[1:]}\n"
        yield from _table(("typed", *LANGUAGES), ((_code(row.text), *map(_said(row), LANGUAGES)) for row in rows))


def _said(row: Row) -> Callable[[str], str]:
    def said(language: str) -> str:
        text = cell(language, row)[1]
        if text.startswith("refused: "):
            return f"✗ {_escaped(text.removeprefix('refused: '))}"
        return _code(text.removeprefix("read as "))

    return said


def _grammars() -> Iterator[str]:
    yield "## Grammars\n"
    for name, module in (
        ("Expressions", expression_grammar),
        ("Growth", growth_grammar),
        ("Tensor equations", tensor_grammar),
        ("Derivations", derivation),
    ):
        rules = re.findall(r"^    .*$", module.__doc__ or "", re.MULTILINE)
        yield f"### {name}\n"
        yield "\n".join(("```text", *(rule[4:] for rule in rules), "```\n"))


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> Iterator[str]:
    yield f"| {' | '.join(head)} |"
    yield f"| {' | '.join('---' for _ in head)} |"
    for row in rows:
        yield f"| {' | '.join(row)} |"
    yield ""


def _code(text: str) -> str:
    """The text in backquotes; characters that no page shows are written as Python does."""
    shown = "".join(letter if letter.isprintable() else repr(letter)[1:-1] for letter in text)
    return f"`{shown.replace('|', chr(92) + '|')}`"


def _escaped(text: str) -> str:
    return re.sub(r"([|*_<\\`~])", r"\\\1", text)
