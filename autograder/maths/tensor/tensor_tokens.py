"""Text or LaTeX -> tokens that keep the column of the student's own text.

LaTeX is read token by token rather than rewritten first, so that a caret always points into what was typed.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from autograder.errors import Unreadable

LONGEST = 6_000
LONGEST_NUMBER = 40

GREEK = [
    "alpha",
    "beta",
    "gamma",
    "delta",
    "epsilon",
    "varepsilon",
    "zeta",
    "eta",
    "theta",
    "iota",
    "kappa",
    "lambda",
    "mu",
    "nu",
    "xi",
    "pi",
    "rho",
    "sigma",
    "tau",
    "upsilon",
    "phi",
    "varphi",
    "chi",
    "psi",
    "omega",
    "Gamma",
    "Delta",
    "Theta",
    "Lambda",
    "Xi",
    "Pi",
    "Sigma",
    "Upsilon",
    "Phi",
    "Psi",
    "Omega",
]
GREEK_LETTERS = dict(
    zip(
        "αβγδεζηθικλμνξπρστυφχψωΓΔΘΛΞΠΣΥΦΨΩ",
        [
            "alpha",
            "beta",
            "gamma",
            "delta",
            "epsilon",
            "zeta",
            "eta",
            "theta",
            "iota",
            "kappa",
            "lambda",
            "mu",
            "nu",
            "xi",
            "pi",
            "rho",
            "sigma",
            "tau",
            "upsilon",
            "phi",
            "chi",
            "psi",
            "omega",
            "Gamma",
            "Delta",
            "Theta",
            "Lambda",
            "Xi",
            "Pi",
            "sum",
            "Upsilon",
            "Phi",
            "Psi",
            "Omega",
        ],
        strict=True,
    )
)


def _table(pairs: str) -> dict[str, str]:
    """`a:x b:y` as a dictionary."""
    return dict(pair.split(":", 1) for pair in pairs.split())


ACCENTS = _table(
    "tilde:tilde widetilde:tilde vec:vec overrightarrow:vec overleftarrow:backvec hat:hat widehat:hat "
    "bar:bar overline:bar dot:dot"
)
SIGNS = _table(
    "cdot:* odot:* times:* ast:* circ:* mid:| vert:| prime:' dots:... ldots:... cdots:... dotsc:... "
    "lbrack:[ rbrack:] lparen:( rparen:)"
)
WORDS = _table("ell:l sum:sum softmax:softmax concat:concat sigmoid:sigmoid ReLU:relu")
SPELLINGS = {
    ".*": "*",
    "**": "^",
    r"\{": "(",
    r"\}": ")",
    "softmax": "softmax",
    "concat": "concat",
    "sigmoid": "sigmoid",
    "tanh": "tanh",
    "relu": "relu",
}  # also with other capitals: Softmax, ReLU
FUNCTION_COMMANDS = frozenset(["exp", "ln", "log", "tanh", "sinh", "cosh", "sin", "cos", "tan", "max", "min"])
IGNORED = frozenset(
    [
        "left",
        "right",
        "big",
        "Big",
        "bigg",
        "Bigg",
        "bigl",
        "bigr",
        "Bigl",
        "Bigr",
        "quad",
        "qquad",
        "displaystyle",
        "textstyle",
        "limits",
        "nolimits",
        "nonumber",
        "notag",
        "text",
        "operatorname",
        "mathrm",
        "mathbf",
        "mathit",
        "mbox",
        "bf",
        "rm",
        "it",
    ]
)
UNICODE = _table("−:- –:- ·:* ⊙:* ×:* ∘:* …:... ⋯:... ’:' ′:' ∑:sum ℓ:l ∣:| ∥:| √:sqrt")
LOOK_ALIKES = dict(zip("АВЕКМНОРСТХаеорсухіѕΑΒΕΖΗΙΚΜΝΟΡΤΧο", "ABEKMHOPCTXaeopcyxisABEZHIKMNOPTXo", strict=True))
OPENING, CLOSING = "([{", ")]}"

_TOKEN = re.compile(
    r"(?P<blank>[ \t\r\f\v\u00a0\u2009&$]+|\\[,;:! >]|%[^\n]*|\.(?=[\s$]*(?:\Z|\n|\\\\))|~(?=[\sA-Za-z\\]))"
    r"|(?P<line>\\\\(?:\[[^\]\n]{0,20}\])?|\n|;;)"
    r"|(?P<environment>\\(?:begin|end)\s*\{[^{}]{0,30}\}(?:\{[lcr|]{1,20}\})?)"
    r"|\\(?:text|operatorname|math[a-z]{2,4}|text[a-z]{2}|mbox)\*?\s*\{(?P<group>[^{}]*)\}"
    r"|(?P<command>\\[A-Za-z]+\*?)"
    r"|(?P<number>\d+(?:\.\d+)?|\.\d+)"
    r"|(?P<word>[A-Za-z]+\d*)"
    r"|(?P<accent>->|<-|~|\.(?:hat|bar|dot|tilde|vec)(?![A-Za-z]))"
    r"|(?P<symbol>\.\.\.|\.\*|\*\*|\\[{}]|[\[\](){},;+\-*/^_='|])"
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Token:
    """`kind` is number, word, symbol, accent, command, line or end; `text` is already in ASCII spelling."""

    kind: str
    text: str
    column: int


def tokenise(text: str) -> list[Token]:
    """All tokens of a system, ended by one of kind `end`; raises Unreadable."""
    if len(text) > LONGEST:
        raise Unreadable("too_long", f"this is longer than {LONGEST} characters", text, LONGEST)
    found: list[Token] = []
    position = 0
    while position < len(text):
        position = _next(text, position, found)
    found.append(Token(kind="end", text="", column=len(text)))
    return _join_lines(found)


def _next(text: str, position: int, found: list[Token]) -> int:
    """Append what starts at `position`; return where the next token starts."""
    match = _TOKEN.match(text, position)
    if match is None:
        found.extend(_unicode(text, position))
        return position + 1
    kind, piece = match.lastgroup or "", match.group()
    if kind in ("blank", "environment"):
        return match.end()
    if kind == "group":
        inner = match.start("group")
        while inner < match.end("group"):
            inner = _next(text, inner, found)
        return match.end()
    if kind == "command":
        token = _command(piece[1:].rstrip("*"), text, position)
        if token is not None:
            found.append(token)
        return match.end()
    if kind == "number" and len(piece) > LONGEST_NUMBER:
        raise Unreadable("syntax", f"a number has at most {LONGEST_NUMBER} digits here", text, position)
    if kind == "accent":
        piece = {"~": "tilde", "->": "vec", "<-": "backvec"}.get(piece, piece.lstrip("."))
    piece = SPELLINGS.get(piece, SPELLINGS.get(piece.lower(), piece))
    found.append(Token(kind=kind, text=piece, column=position))
    return match.end()


def _unicode(text: str, position: int) -> list[Token]:
    """A Greek letter, a sign, or a subscript or superscript digit."""
    character = text[position]
    if character in GREEK_LETTERS:
        return [Token(kind="word", text=GREEK_LETTERS[character], column=position)]
    if character in UNICODE:
        piece = UNICODE[character]
        return [Token(kind="word" if piece.isalpha() else "symbol", text=piece, column=position)]
    for mark, digits in (("_", "₀₁₂₃₄₅₆₇₈₉"), ("^", "⁰¹²³⁴⁵⁶⁷⁸⁹")):
        if character in digits:
            pair = (("symbol", mark), ("number", str(digits.index(character))))
            return [Token(kind=kind, text=piece, column=position) for kind, piece in pair]
    if character in LOOK_ALIKES:
        latin = LOOK_ALIKES[character]
        message = f"this {character!r} is not the Latin letter {latin}: retype it on your keyboard"
        raise Unreadable("look_alike", message, text, position)
    raise Unreadable("syntax", f"the character {character!r} is not read here", text, position)


def _command(name: str, text: str, position: int) -> Token | None:
    """The token for a LaTeX command, or None for one that only sets type."""
    if name in IGNORED:
        return None
    for table, kind in ((SIGNS, "symbol"), (WORDS, "word"), (ACCENTS, "accent")):
        if name in table:
            return Token(kind=kind, text=table[name], column=position)
    if name in GREEK or name in FUNCTION_COMMANDS:
        return Token(kind="word", text=name, column=position)
    if name in ("frac", "dfrac", "tfrac", "sqrt", "underset"):
        return Token(kind="command", text=name.lstrip("dt") if name.endswith("frac") else name, column=position)
    message = f"\\{name} is not read here"
    if name in ("top", "intercal"):
        message = "write the transposed tensor with its indices, such as W[k,j,i], not with a transposition sign"
    raise Unreadable("syntax", message, text, position)


def _join_lines(tokens: list[Token]) -> list[Token]:
    """Drop line breaks inside brackets and beside an operator, and commas at the end of a line."""
    kept: list[Token] = []
    depth = 0
    for position, token in enumerate(tokens):
        if token.kind == "symbol":
            depth += (token.text in OPENING) - (token.text in CLOSING)
        following = tokens[position + 1] if position + 1 < len(tokens) else token
        ends = following.kind in ("line", "end")
        if token.kind == "symbol" and token.text == "," and ends and depth <= 0:
            continue
        if token.kind == "line":
            before = kept[-1] if kept else token
            open_ended = before.kind == "line" or (before.kind == "symbol" and before.text in "+-*/=;^_|,([{")
            carried_on = following.kind in ("line", "end") or (
                following.kind == "symbol" and following.text not in OPENING
            )
            if depth > 0 or open_ended or carried_on:
                continue
        kept.append(token)
    return kept
