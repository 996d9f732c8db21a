"""Text to the tokens of a bound: the shared spellings, with words cut into functions and declared variables.

A run of letters is cut (`nlogn` is n log n, `XY` is X*Y) in as few pieces as possible; a word with a subscript is one
variable or none. Every token remembers whether a space stood before it: `ln XY` and `ln X Y` are not read alike.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

from autograder.errors import Unreadable, did_you_mean
from autograder.maths.spelling import Dialect, Token, scan

MAX_LENGTH = 2000
MAX_DIGITS = 40

# Spellings of functions; the value is (function, fixed base of the logarithm).
SPELLINGS: dict[str, tuple[str, int | None]] = {
    "ln": ("ln", None), "log": ("ln", None), "lg": ("ln", None), "ld": ("log", 2), "lb": ("log", 2),
    "log2": ("log", 2), "log10": ("log", 10), "sqrt": ("sqrt", None), "exp": ("exp", None), "max": ("max", None),
    "min": ("min", None), "ceil": ("ceil", None), "floor": ("floor", None), "factorial": ("factorial", None),
}  # fmt: skip
WRAPPERS = {"Theta": "Theta", "theta": "Theta", "O": "O"}
_BRACKETS = {"ceil(": "ceil", "floor(": "floor"}
_PLAIN = frozenset("+-*/^(){}[],_")
_CLOSED = {"ceil)": ")", "floor)": ")"}
_COMPARED = "write the bound alone, without a comparison or an equals sign"
_COUNTED = "binomials are not read in a bound: write the power that it grows like, such as n^2"

DIALECT = Dialect(
    name="growth",
    longest=MAX_LENGTH,
    what="a bound",
    word=r"[A-Za-z][A-Za-z0-9]*",
    functions=frozenset(SPELLINGS),
    runs_on=True,
    codes={"long_number": "digits", "command": "unknown_name", "font": "latex"},
    refused={
        ".": "a point may only stand inside a number",
        "'": "a variable of this question has no prime",
        "=": _COMPARED,
        "<": _COMPARED,
        ">": _COMPARED,
        **dict.fromkeys(("<=", ">=", "!=", "approx"), _COMPARED),
        "prod": "products over an index are not read in a bound: write what the product grows like",
        **dict.fromkeys(("binom", "choose"), _COUNTED),
        **dict.fromkeys(("mod", "%"), "remainders are not read in a bound"),
        "|": "bars are not read in a bound: its variables are positive",
        "bar(": "bars are not read in a bound: its variables are positive",
        "odot": "⊙ and ∘ are not read here: write * for a product",
        "inf": "a bound is written with the variables of the question, without infinity",
        "sum": "sums over an index are not read in a bound: write what the sum grows like",
        "...": "dots are not read: write the bound of the whole sum",
        "underset": "\\underset is not read in a bound",
        ";": "one bound is wanted: a ; has no meaning in it",
    },
)


class Piece(NamedTuple):
    """`kind` is number, name, function, wrapper, frac, end, or the operator itself."""

    kind: str
    column: int
    spaced: bool
    text: str = ""
    value: Fraction = Fraction(0)


class Tokeniser:
    """One pass over one text."""

    def __init__(self, text: str, variables: tuple[str, ...]) -> None:
        self.text = text
        self.variables, self.words = _known(variables)

    def tokens(self) -> list[Piece]:
        """All tokens, an `end` last; raises Unreadable."""
        waiting = scan(self.text, DIALECT, self.variables.__contains__)[::-1]
        if len(waiting) > 1 and (line := self.text.find("\n", waiting[-1].column, waiting[1].end)) >= 0:
            raise Unreadable("lines", "Write the bound on one line.", self.text, line)
        found: list[Piece] = []
        refused, variables = DIALECT.refused, self.variables
        while waiting:
            token = waiting.pop()
            if token.text in refused:
                DIALECT.refuse(token, self.text)
            if token.text in _PLAIN:
                found.append(Piece(token.text, token.column, token.spaced))
            elif token.text in variables and waiting[-1].text != "_":
                found.append(Piece("name", token.column, token.spaced, variables[token.text]))
            elif token.kind == "word":
                found += self._subscripted(token, waiting) or self._word(token)
            else:
                found += self._other(token)
        return found

    def _other(self, token: Token) -> list[Piece]:
        kind, text = token.kind, token.text
        if kind == "number":
            return [_piece("number", token, text=text, value=Fraction(text))]
        if text in _BRACKETS:
            return [_piece("function", token, text=_BRACKETS[text]), Piece(kind="(", column=token.column, spaced=False)]
        if text == "sqrt":
            return [_piece("function", token, text="sqrt")]
        return [_piece("end" if kind == "end" else _CLOSED.get(text, text), token)]

    def _subscripted(self, token: Token, waiting: list[Token]) -> list[Piece]:
        """The declared variable that a word is together with the subscripts behind it; none where it is none."""
        name, place = token.text, len(waiting) - 1
        while waiting[place].text == "_":
            braced = waiting[place - 1].text == "{"
            inside = waiting[place - 2 if braced else place - 1]
            name = f"{name}_{inside.text}"
            place -= 4 if braced else 2
            if place < 0 or (braced and waiting[place + 1].text != "}"):
                return []
            if name in self.variables and waiting[place].text != "_":
                del waiting[place + 1 :]
                return [_piece("name", token, text=self.variables[name])]
        return []

    def _word(self, token: Token) -> Iterator[Piece]:
        """A name as it stands, or its letters cut into known names."""
        word = token.text
        if word not in self.variables and word in WRAPPERS:
            yield _piece("wrapper", token, text=WRAPPERS[word])
            return
        at, spaced = token.column, token.spaced
        for piece in [word] if token.command and word in SPELLINGS else self._cut(token):
            yield self._cut_piece(piece, at, spaced)
            at, spaced = at + len(piece), False

    def _cut_piece(self, piece: str, column: int, spaced: bool) -> Piece:
        if piece in self.variables:
            return Piece(kind="name", column=column, spaced=spaced, text=self.variables[piece])
        if piece in SPELLINGS:
            return Piece(kind="function", column=column, spaced=spaced, text=piece)
        if not piece.isdigit():
            return Piece(kind="constant", column=column, spaced=spaced, text=piece)
        if len(piece) > MAX_DIGITS:
            raise Unreadable("digits", f"A number may have at most {MAX_DIGITS} digits.", self.text, column)
        return Piece(kind="number", column=column, spaced=spaced, text=piece, value=Fraction(piece))

    def _cut(self, token: Token) -> list[str]:
        """Split a word into functions, variables and digits."""
        word = token.text
        ways: dict[int, list[str]] = {len(word): []}
        for start in range(len(word) - 1, -1, -1):
            pieces = [known for known in self.words if word.startswith(known, start)]
            if digits := re.compile(r"\d+").match(word, start):
                pieces.append(digits.group())
            best = [[piece, *ways[start + len(piece)]] for piece in pieces if start + len(piece) in ways]
            if best:
                ways[start] = min(best, key=len)
        if 0 in ways:
            return ways[0]
        if word == "e":
            return ["e"]
        raise self._unknown(token)

    def _unknown(self, token: Token) -> Unreadable:
        word = token.text
        if word.casefold() in {"omega", "o"}:
            message = "A tight bound is asked for: write O(...) or Theta(...)."
            return Unreadable("wrapper", message, self.text, token.column)
        known = ", ".join(sorted(self.variables.values())) or "none"
        hint = did_you_mean(word, [*self.variables.values(), *SPELLINGS])
        message = f"{word} is not a variable of this question{hint}. Its variables: {known}."
        return Unreadable("unknown_name", message, self.text, token.column)


@lru_cache(maxsize=64)
def _known(variables: tuple[str, ...]) -> tuple[dict[str, str], list[str]]:
    """The declared variables by the name without braces, and all words, the long ones first."""
    plain = {name.replace("{", "").replace("}", ""): name for name in variables}
    return plain, sorted({*SPELLINGS, *plain}, key=len, reverse=True)


def _piece(kind: str, token: Token, *, text: str = "", value: Fraction = Fraction(0)) -> Piece:
    return Piece(kind=kind, column=token.column, spaced=token.spaced, text=text, value=value)
