"""Reading a student's text, and the definitions table of a question."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any

from autograder.errors import AuthorError, Unreadable
from autograder.maths.chain import behind_its_name
from autograder.maths.expression.expression_grammar import Grammar
from autograder.maths.expression.expression_printing import to_latex
from autograder.maths.expression.syntax import Compare, Expression
from autograder.maths.expression.vocabulary import Definition, Vocabulary, vocabulary
from autograder.maths.spelling import explained

_HEAD = re.compile(r"\s*([A-Za-z][A-Za-z0-9_{}]*)\s*(?:\(([^()]*)\))?\s*")


def parse(
    text: str,
    *,
    domains: Mapping[str, str] | None = None,
    variables: Iterable[str] = (),
    functions: Iterable[str] | None = None,
    definitions: Mapping[str, str] | None = None,
    log: str = "ln",
    imaginary: str = "",
    constraints: Iterable[str] = (),
) -> Expression:
    """Read `text`; raises `Unreadable` with a code and a column, and nothing else, whatever the text.

    `domains` declares variables with where they live, `variables` real ones; `definitions` maps an
    abbreviation such as `P(i)` to its text; `log` is what log means (ln, log2, log10, or refuse); `imaginary`
    names the imaginary unit. `constraints` may stand beside the domains, and change no reading.
    """
    words = reading(
        domains=domains,
        variables=variables,
        functions=functions,
        definitions=definitions,
        log=log,
        imaginary=imaginary,
    )
    return parse_with(text, words)


def parse_answer(text: str, **declared: Any) -> tuple[Expression, ...]:
    """What an answer may be: one expression, or the members of `a = b = c`; the keywords are those of `parse`."""
    declared.pop("constraints", None)
    return parse_chain(text, reading(**declared))


def answer_latex(text: str, **declared: Any) -> str:
    """An answer typeset, with all members of a chain; raises Unreadable."""
    return " = ".join(map(to_latex, parse_answer(text, **declared)))


def constraint_latex(text: str, **declared: Any) -> str:
    """A constraint such as `K<=E` typeset; raises AuthorError."""
    return " \\land ".join(map(to_latex, read_constraints((text,), reading(**declared))))


@lru_cache(maxsize=256)
def read_constraints(texts: tuple[str, ...], words: Vocabulary) -> tuple[Compare, ...]:
    """The comparisons that an author's constraints are; raises AuthorError."""
    return tuple(comparison for text in texts for comparison in _constraint(text, words))


def _constraint(text: str, words: Vocabulary) -> tuple[Compare, ...]:
    try:
        return Grammar(text, words).comparisons()
    except Unreadable as error:
        raise AuthorError("constraint", f"the constraint {text!r} cannot be read: {error.message}") from error


def reading(*, definitions: Mapping[str, str] | None = None, **declared: Any) -> Vocabulary:
    """The vocabulary that the keywords of `parse` declare; a definition may use those before it."""
    words = vocabulary(**declared)
    if not definitions:
        return words
    return _with_definitions(words, tuple(definitions.items()))


@lru_cache(maxsize=64)
def _with_definitions(words: Vocabulary, definitions: tuple[tuple[str, str], ...]) -> Vocabulary:
    known: list[Definition] = []
    for head, text in definitions:
        known.append(_definition(head, text, _extended(words, known, ())))
    return _extended(words, known, ())


def _extended(words: Vocabulary, known: Iterable[Definition], parameters: Iterable[str]) -> Vocabulary:
    return vocabulary(
        domains=dict(words.domains) | dict.fromkeys(parameters, "real"),
        functions=words.functions,
        definitions=known,
        log=words.log,
        imaginary=words.imaginary,
    )


def _definition(head: str, text: str, words: Vocabulary) -> Definition:
    match = _HEAD.fullmatch(head)
    if match is None:
        raise AuthorError("definition", f"{head!r} is no head of a definition: write 'Z' or 'P(i)'")
    parameters = tuple(part.strip() for part in match[2].split(",")) if match[2] else ()
    inner = _extended(words, words.definitions, parameters)
    try:
        body = parse_with(text, inner).node
    except Unreadable as error:
        raise AuthorError("definition", f"the definition of {head} cannot be read: {error.message}") from error
    return Definition(name=match[1], parameters=parameters, body=body)


@lru_cache(maxsize=1024)
def parse_chain(text: str, words: Vocabulary) -> tuple[Expression, ...]:
    """The members of `a = b = c`, or one expression; their name may stand before them: `H(P) =`, `dH/dx =`."""
    members = behind_its_name(text, lambda text: Grammar(text, words).chain())
    return tuple(Expression(text=text, node=node, domains=words.domains) for node in members)


@lru_cache(maxsize=1024)
def parse_with(text: str, words: Vocabulary) -> Expression:
    """`parse` with a vocabulary that was made before."""
    try:
        return Expression(text=text, node=Grammar(text, words).read(), domains=words.domains)
    except Unreadable as error:
        raise explained(error) from None
