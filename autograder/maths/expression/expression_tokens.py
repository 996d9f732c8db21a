"""Text to tokens: ASCII and LaTeX come out the same, so that the grammar knows one notation only.

A LaTeX command becomes the name or sign that it stands for; spacing and sizing commands vanish. Columns count
characters of what the student typed.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from autograder.errors import Unreadable, did_you_mean
from autograder.maths.expression.letters import to_ascii
from autograder.maths.expression.vocabulary import FUNCTIONS, GREEK

CHARACTERS = 2000
DIGITS = 40

# What a command stands for; "" vanishes. `bar(` and `bar)` are bars that say which side they are.
_COMMANDS: dict[str, str] = {
    **{name: name for name in (*GREEK, *FUNCTIONS, "ell", "sum")},
    "varepsilon": "epsilon", "varphi": "phi", "vartheta": "theta", "varrho": "rho",
    "infty": "inf", "arsinh": "asinh", "arctan": "atan",
    "cdot": "*", "times": "*", "ast": "*", "div": "/", "lvert": "bar(", "rvert": "bar)", "vert": "|",
    "mid": "|",
    "lfloor": "floor(", "rfloor": "floor)",
    "left": "", "right": "", "big": "", "Big": "", "bigl": "", "bigr": "", "Bigl": "", "Bigr": "",
    "limits": "",
    "displaystyle": "", "quad": "", "qquad": "", "frac": "frac", "dfrac": "frac", "tfrac": "frac",
}  # fmt: skip
_WORDS = frozenset(("text", "mathrm", "operatorname", "mathit", "mathbf", "mathsf", "rm"))

_SPACE = re.compile(r"\s+|\\[,;:! ]|~|&|\$")
_NUMBER = re.compile(r"\d+(?:\.\d+)?|\.\d+")
_SCIENTIFIC = re.compile(r"[eE][-+]\d")
_MODULE = re.compile(r"(?:math|np|numpy|torch)\.(?=[A-Za-z])")
_NAME = re.compile(r"ln(?=\d)|[A-Za-z][A-Za-z0-9]*")  # ln2 is ln 2
_SUBSCRIPT = re.compile(r"\s*_\s*(?:\{\s*([A-Za-z0-9]+)\s*\}|\\[a-z]+|([A-Za-z0-9]+))")
_BASE = re.compile(r"\s*_\s*(?:\{\s*([0-9]+)\s*\}|\\[a-z]+|(10|[0-9]))")
_COMMAND = re.compile(r"\\(left|right)\s*(\\[|{}]|\|)|\\([A-Za-z]+)\*?(?:\s*\{\s*([A-Za-z0-9]+)\s*\})?|\\([{}|])")
_SIGN = re.compile(r"\*\*|[-+*/^_(){}\[\]|,!=]")


@dataclass(frozen=True, slots=True)
class Token:
    """`kind` is number, name, sign or end; a name carries its subscript as `name_sub`."""

    kind: str
    text: str
    column: int


def tokens(text: str) -> list[Token]:
    """All tokens of `text`, closed by one of kind `end`."""
    if len(text) > CHARACTERS:
        raise Unreadable(
            "too_long", f"an expression of more than {CHARACTERS} characters is not read", text, CHARACTERS
        )
    plain, columns = to_ascii(text)
    found: list[Token] = []
    position = 0
    while position < len(plain):
        if match := _SPACE.match(plain, position) or _MODULE.match(plain, position):
            position = match.end()
            continue
        token, position = _next(text, plain, position, columns[position])
        if token is not None:
            found.append(token)
    found.append(Token("end", "", len(text)))
    return found


def _next(text: str, plain: str, position: int, column: int) -> tuple[Token | None, int]:
    if match := _NUMBER.match(plain, position):
        if len(match[0]) > DIGITS:
            raise Unreadable("long_number", f"a number of more than {DIGITS} digits is not read", text, column)
        if _SCIENTIFIC.match(plain, match.end()):
            message = "e is the number 2.718…: write 10^(-7) for a power of ten, or a space before the sign"
            raise Unreadable("ambiguous", message, text, column)
        return Token("number", match[0], column), match.end()
    if match := _NAME.match(plain, position):
        return _named(plain, match[0], match.end(), column)
    if match := _COMMAND.match(plain, position):
        return _command(text, plain, match, column)
    if match := _SIGN.match(plain, position):
        return Token("sign", "^" if match[0] == "**" else match[0], column), match.end()
    raise Unreadable("character", _complaint(plain[position]), text, column)


def _complaint(letter: str) -> str:
    special = {
        ".": "a point may only stand inside a number",
        "'": "derivatives with ' are not read: write the derivative out",
        "<": "write an expression, not a comparison",
        ">": "write an expression, not a comparison",
        "\\": "a lone backslash",
    }
    return special.get(letter, f"{letter!r} has no meaning in an expression")


def _named(plain: str, name: str, position: int, column: int) -> tuple[Token, int]:
    pattern = _BASE if name == "log" else _SUBSCRIPT
    match = None if name == "sum" else pattern.match(plain, position)
    if match and (subscript := match[1] or match[2] or match[0].split("\\")[-1]):
        return Token("name", f"{name}_{subscript}", column), match.end()
    return Token("name", name, column), position


def _command(text: str, plain: str, match: re.Match[str], column: int) -> tuple[Token | None, int]:
    side, bar, name, braced, brace = match.groups()
    if side:
        bar = bar.removeprefix("\\")
        sign = {"|": "bar(" if side == "left" else "bar)", "{": "(", "}": ")"}[bar]
        return Token("sign", sign, column), match.end()
    if brace:
        return Token("sign", {"{": "(", "}": ")", "|": "|"}[brace], column), match.end()
    if name in _WORDS:
        if braced is None:
            raise Unreadable("command", f"\\{name} needs a word in braces", text, column)
        return _named(plain, braced, match.end(), column)
    end = match.start() + 1 + len(name)
    if name not in _COMMANDS:
        hint = did_you_mean(name, _COMMANDS)
        raise Unreadable("command", f"the LaTeX command \\{name} is not read here{hint}", text, column)
    meaning = _COMMANDS[name]
    if not meaning:
        return None, end
    if meaning == "frac" or not meaning.isalnum():
        return Token("sign", meaning, column), end
    # \\pi is the number also where p and i are declared.
    return _named(plain, "\\pi" if name == "pi" else meaning, end, column)
