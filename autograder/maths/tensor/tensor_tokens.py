"""Text or LaTeX to the tokens of tensor equations: the shared spellings, lines and the names of binders."""

from __future__ import annotations

from autograder.maths.spelling import GREEK, Dialect, Token, scan

LONGEST = 6_000
OPENING, CLOSING_BRACKETS = "([{", ")]}"

# Words that are also read with other capitals: Softmax, ReLU.
_ANY_CASE = frozenset(("softmax", "concat", "sigmoid", "tanh", "relu", "silu", "swish"))
_TAKES = frozenset(("frac", "sqrt", "underset"))

DIALECT = Dialect(
    name="equation",
    longest=LONGEST,
    what="an equation",
    word=r"[A-Za-z]+\d*",
    functions=frozenset(("exp", "ln", "log", "tanh", "sinh", "cosh", "sin", "cos", "tan", "max", "min", "sigmoid")),
    codes=dict.fromkeys(("long_number", "character", "command", "font", "control", "ambiguous"), "syntax")
    | {"lookalike": "look_alike"},
    refused={
        ".": "a point may only stand inside a number",
        "approx": "write an equation, not a comparison",
        "prod": "products over an index are not read in an equation",
        **dict.fromkeys(("binom", "choose"), "binomials are not read in an equation: write the number out"),
        "mod": "remainders are not read in an equation",
        "inf": "infinity is not read in an equation: a sum runs over its axis",
        "floor(": "floors are not read in an equation: write the whole number itself",
        "ceil(": "ceilings are not read in an equation: write the whole number itself",
    },
    accents=True,
    lines=True,
    percent=True,
    splits=False,
    e=False,
)


def tokenise(text: str) -> list[Token]:
    """All tokens of a system, ended by one of kind `end`; raises Unreadable.

    A sign that takes arguments (`\\frac`, `\\sqrt`, `\\underset`) is of kind `command`.
    """
    found = []
    for token in scan(text, DIALECT, GREEK.__contains__):
        if token.text in DIALECT.refused:
            DIALECT.refuse(token, text)
        if token.kind == "word":
            if token.text == "ell" and token.command:
                token = token._replace(text="l")
            elif token.text.lower() in _ANY_CASE:
                token = token._replace(text=token.text.lower())
        elif token.text in _TAKES:
            token = token._replace(kind="command")
        elif token.text == "odot":
            token = token._replace(text="*")
        found.append(token)
    return _join_lines(found)


def _join_lines(tokens: list[Token]) -> list[Token]:
    """Drop line breaks inside brackets and beside an operator, and commas at the end of a line."""
    kept: list[Token] = []
    depth = 0
    for position, token in enumerate(tokens):
        if token.kind == "sign":
            depth += (token.text in OPENING) - (token.text in CLOSING_BRACKETS)
        following = tokens[position + 1] if position + 1 < len(tokens) else token
        ends = following.kind in ("line", "end")
        if token.kind == "sign" and token.text == "," and ends and depth <= 0:
            continue
        if token.kind == "line":
            before = kept[-1] if kept else token
            open_ended = before.kind == "line" or (before.kind == "sign" and before.text in "+-*/=;^_|,([{")
            carried_on = following.kind in ("line", "end") or (
                following.kind == "sign" and following.text not in OPENING
            )
            if depth > 0 or open_ended or carried_on:
                continue
        kept.append(token)
    return kept
