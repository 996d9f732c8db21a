"""Characters to tokens: ASCII, LaTeX and the Unicode that a keyboard or a word processor produces.

A run of letters is cut into function names and declared variables (`nlogn` is n log n, `XY` is X*Y), in as few pieces
as possible.
Every token remembers its column and whether a space stood before it: `ln XY` and `ln X Y` are not read alike.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from fractions import Fraction

from autograder.errors import Unreadable, did_you_mean

MAX_LENGTH = 2000
MAX_DIGITS = 40

# Spellings of functions; the value is (function, fixed base of the logarithm).
SPELLINGS: dict[str, tuple[str, int | None]] = {
    "ln": ("ln", None), "log": ("ln", None), "lg": ("ln", None), "ld": ("log", 2), "lb": ("log", 2),
    "log2": ("log", 2), "log10": ("log", 10), "sqrt": ("sqrt", None), "exp": ("exp", None), "max": ("max", None),
    "min": ("min", None), "ceil": ("ceil", None), "floor": ("floor", None),
}  # fmt: skip
_WRAPPERS = ("Theta", "O")
_SYMBOLS = {
    "·": "*", "⋅": "*", "×": "*", "∙": "*", "•": "*", "∗": "*", "−": "-", "–": "-", "÷": "/", "∕": "/",
    "√": "sqrt", "⌈": "ceil(", "⌉": ")", "⌊": "floor(", "⌋": ")", "[": "[", "]": "]",
}  # fmt: skip
_COMMANDS = {
    "cdot": "*", "times": "*", "ast": "*", "div": "/", "lceil": "ceil(", "rceil": ")", "lfloor": "floor(",
    "rfloor": ")", "lbrace": "(", "rbrace": ")",
}  # fmt: skip
_SILENT = {"left", "right", "big", "Big", "bigl", "bigr", "Bigl", "Bigr", "limits", "displaystyle", "quad", "qquad"}
_FONTS = {"mathcal", "mathrm", "mathit", "mathbf", "operatorname", "text", "textrm", "mathop"}
_SUPERSCRIPTS = dict(zip("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789", strict=True))
_NUMBER = re.compile(r"\d+(\.\d+)?|\.\d+", re.ASCII)
_LETTER = r"(?:(?![⁰¹²³⁴⁵⁶⁷⁸⁹])[^\W_])"
_WORD = re.compile(rf"(?!\d){_LETTER}+(_{_LETTER}+)*")


@dataclass(frozen=True, kw_only=True)
class Token:
    """`kind` is number, name, function, wrapper, frac, end, or the operator itself."""

    kind: str
    column: int
    spaced: bool
    text: str = ""
    value: Fraction = Fraction(0)


class Tokeniser:
    """One pass over one text."""

    def __init__(self, text: str, variables: Collection[str]) -> None:
        self.text, self.variables, self.at, self.spaced = text, set(variables), 0, False
        self.words = sorted({*SPELLINGS, *self.variables}, key=len, reverse=True)

    def tokens(self) -> list[Token]:
        """All tokens, an `end` last; raises Unreadable."""
        if len(self.text) > MAX_LENGTH:
            raise Unreadable("too_long", f"The answer is longer than {MAX_LENGTH} characters.", self.text, MAX_LENGTH)
        if "\n" in self.text.strip():
            raise Unreadable("lines", "Write the bound on one line.", self.text, self.text.index("\n"))
        found: list[Token] = []
        while self.at < len(self.text):
            if self.text[self.at].isspace() or self.text[self.at] == "$":
                self.at, self.spaced = self.at + 1, True
                continue
            before = len(found)
            found.extend(self._next())
            self.spaced = self.spaced and len(found) == before
        return [*found, self._token("end")]

    def _token(self, kind: str, column: int | None = None, **fields: object) -> Token:
        at = self.at if column is None else column
        return Token(kind=kind, column=at, spaced=self.spaced, **fields)  # type: ignore[arg-type]

    def _next(self) -> Iterator[Token]:
        character = self.text[self.at]
        if number := _NUMBER.match(self.text, self.at):
            yield self._number(number.group())
        elif character == "\\":
            yield from self._command()
        elif character in _SUPERSCRIPTS:
            yield from self._superscript()
        elif self.text.startswith("**", self.at):
            yield self._token("^")
            self.at += 2
        elif character in "+-*/^(){},_[]":
            yield self._token(character)
            self.at += 1
        elif character in _SYMBOLS:
            yield from self._spelled(_SYMBOLS[character], 1)
        elif character == "!":
            raise self._fault("factorial", "Factorials are not read here: use powers, logarithms and sums.")
        elif word := _WORD.match(self.text, self.at):
            yield from self._word(word.group())
        else:
            raise self._fault("character", f"{character!r} cannot be used in a bound.")

    def _fault(self, code: str, message: str, column: int | None = None) -> Unreadable:
        return Unreadable(code, message, self.text, self.at if column is None else column)

    def _number(self, digits: str) -> Token:
        if len(digits) > MAX_DIGITS:
            raise self._fault("digits", f"A number may have at most {MAX_DIGITS} digits.")
        token = self._token("number", text=digits, value=Fraction(digits))
        self.at += len(digits)
        return token

    def _superscript(self) -> Iterator[Token]:
        yield self._token("^")
        start = self.at
        while self.at < len(self.text) and self.text[self.at] in _SUPERSCRIPTS:
            self.at += 1
        digits = "".join(_SUPERSCRIPTS[c] for c in self.text[start : self.at][:MAX_DIGITS])
        yield self._token("number", start, text=digits, value=Fraction(digits))

    def _spelled(self, spelling: str, length: int) -> Iterator[Token]:
        name = spelling.rstrip("(")
        if name in SPELLINGS:
            yield self._token("function", text=name)
            spelling = spelling[len(name) :]
        if spelling:
            yield self._token(spelling)
        self.at += length

    def _command(self) -> Iterator[Token]:
        found = re.compile(r"\\([A-Za-z]+|.|$)", re.DOTALL).match(self.text, self.at)
        name = found.group(1) if found else ""
        length = len(name) + 1
        if name in _SILENT or name in {",", ";", ":", "!", " ", ""}:
            self.at += length
            self.spaced = True
        elif name in _FONTS:
            yield from self._font(length)
        elif name in {"frac", "dfrac", "tfrac"}:
            yield self._token("frac")
            self.at += length
        elif name in _COMMANDS:
            yield from self._spelled(_COMMANDS[name], length)
        elif name in {"{", "}"}:
            yield self._token("(" if name == "{" else ")")
            self.at += length
        else:
            self.at += 1
            yield from self._word(name, whole=True)

    def _font(self, length: int) -> Iterator[Token]:
        """`\\mathcal{O}`, `\\operatorname{max}`: the letters inside, without their dress."""
        inside = re.compile(r"\s*(?:\{\s*(\w+)\s*\}|(\w))").match(self.text, self.at + length)
        if not inside:
            raise self._fault("latex", "A name in braces is expected after this command.")
        group = 1 if inside.group(1) else 2
        self.at = inside.start(group)
        yield from self._word(inside.group(group))
        self.at = inside.end()

    def _word(self, word: str, *, whole: bool = False) -> Iterator[Token]:
        """A name as it stands, or its letters cut into known names."""
        if word in self.variables:
            yield self._token("name", text=word)
            self.at += len(word)
            return
        if wrapper := {"Θ": "Theta", "theta": "Theta", "𝒪": "O"}.get(word, word if word in _WRAPPERS else ""):
            yield self._token("wrapper", text=wrapper)
            self.at += len(word)
            return
        pieces = [word] if whole and word in SPELLINGS else self._cut(word)
        for piece in pieces:
            yield self._piece(piece)
            self.spaced = False

    def _piece(self, piece: str) -> Token:
        if piece.isdigit():
            return self._number(piece)
        kind = "name" if piece in self.variables else "function" if piece in SPELLINGS else "constant"
        token = self._token(kind, text=piece)
        self.at += len(piece)
        return token

    def _cut(self, word: str) -> list[str]:
        """Split `word` into functions, variables and digits; an underscore is left to the parser."""
        word = word.split("_")[0]
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
        raise self._unknown(word)

    def _unknown(self, word: str) -> Unreadable:
        odd = next((c for c in word if not c.isascii() and "GREEK" not in unicodedata.name(c, "")), None)
        if odd:
            return self._fault("lookalike", f"{odd!r} is {unicodedata.name(odd, 'an unknown character')}, which only "
                               "looks like a letter of the question. Type it again.")  # fmt: skip
        if word in {"Omega", "omega", "o", "Ω", "ω"}:
            return self._fault("wrapper", "A tight bound is asked for: write O(...) or Theta(...).")
        known = ", ".join(sorted(self.variables)) or "none"
        hint = did_you_mean(word, [*self.variables, *SPELLINGS])
        return self._fault("unknown_name", f"{word} is not a variable of this question{hint}. Its variables: {known}.")
