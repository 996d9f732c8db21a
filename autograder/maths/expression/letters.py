"""Characters beyond ASCII: which are read, and which only look like what they should be."""

from __future__ import annotations

import unicodedata

from autograder.errors import Unreadable
from autograder.maths.expression.vocabulary import GREEK

_GREEK_LETTERS = {
    unicodedata.lookup(f"GREEK {'CAPITAL' if name[0].isupper() else 'SMALL'} LETTER "
                       f"{'LAMDA' if name.lower() == 'lambda' else name.upper()}"): name
    for name in GREEK
} | {"ϵ": "epsilon", "ϕ": "phi", "ϑ": "theta", "ς": "sigma", "ϱ": "rho", "ℓ": "ell"}  # fmt: skip

_SIGNS = {
    "−": "-", "–": "-", "—": "-", "‐": "-", "‑": "-", "＋": "+", "·": "*", "×": "*", "⋅": "*", "∙": "*",
    "•": "*",
    "∗": "*", "÷": "/", "∕": "/", "⁄": "/", "∞": " inf ", "√": "\\sqrt ", "½": "(1/2)", "¼": "(1/4)",
    "¾": "(3/4)",
    "⌊": "\\lfloor ", "⌋": "\\rfloor ",
    "∣": "|", "｜": "|", "（": "(", "）": ")", "［": "[", "］": "]", "，": ",",
    "\u00a0": " ", "\u2009": " ", "\u202f": " ", "\u2061": " ", "\u2062": " ", "\u200b": "", "\ufeff": "",
}  # fmt: skip

_SUPERSCRIPTS = dict(zip("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁽⁾ⁿⁱˣʲᵏᵗᵐ", "0123456789+-()nixjktm", strict=True))
_SUBSCRIPTS = dict(zip("₀₁₂₃₄₅₆₇₈₉ᵢⱼₖₘₙₜₓ", "0123456789ijkmntx", strict=True))

# Letters of other alphabets that print like a Latin one. The message names both.
_LOOK_ALIKES = dict(zip("АВЕЅІЈКМНОРСТХУаеѕіјорсухһԁԛԝ", "ABESIJKMHOPCTXYaesijopcyxhdqw", strict=True))
_LOOK_ALIKES |= dict(zip("ΑΒΕΖΗΙΚΜΝΟΡΤΥΧο", "ABEZHIKMNOPTYXo", strict=True))
_LOOK_ALIKES |= {"ı": "i", "‚": ",", "’": "'", "‘": "'", "“": '"', "”": '"'}


def to_ascii(text: str) -> tuple[str, list[int]]:
    """`text` in ASCII, and for each of its characters the column of the original that it came from."""
    out: list[str] = []
    columns: list[int] = []
    position = 0
    while position < len(text):
        piece, width = _piece(text, position)
        out.append(piece)
        columns.extend([position] * len(piece))
        position += width
    columns.append(len(text))
    return "".join(out), columns


def _piece(text: str, position: int) -> tuple[str, int]:
    letter = text[position]
    if letter.isascii():
        return letter, 1
    for table, opening in ((_SUPERSCRIPTS, "^("), (_SUBSCRIPTS, "_{")):
        if letter in table:
            end = position
            while end < len(text) and text[end] in table:
                end += 1
            inner = "".join(table[raised] for raised in text[position:end])
            return opening + inner + (")" if opening == "^(" else "}"), end - position
    return _letter(text, position), 1


def _letter(text: str, position: int) -> str:
    letter = text[position]
    plain = unicodedata.normalize("NFKC", letter)  # the italic letters of formula editors, micro, ohm
    if unicodedata.decomposition(letter).startswith(("<super>", "<sub>", "<circle>", "<square>")):
        plain = letter  # a raised letter is no factor
    for candidate in (letter, plain):
        if candidate in _SIGNS:
            return _SIGNS[candidate]
        if candidate in _GREEK_LETTERS:
            return f"\\{_GREEK_LETTERS[candidate]} "
    name = unicodedata.name(letter, "a character without a name")
    if letter in _LOOK_ALIKES:
        like = _LOOK_ALIKES[letter]
        message = f"{letter!r} is not the {like!r} of the keyboard but {name}: type {like!r}"
        raise Unreadable("lookalike", message, text, position)
    if len(plain) == 1 and plain.isascii() and plain.isalnum():
        return plain
    raise Unreadable("character", f"{letter!r} ({name}) has no meaning in an expression", text, position)
