"""A derivation as people write it: which lines it has, and how each is related to the one before it.

`H(P) = …` under it `= …`, or `a = b = c` on one line; relations are `=`, `<=`, `<`, `>=`, `>` in any usual spelling.
What LaTeX needs to set lines under each other is dropped: `align`, `&`, a double backslash, a full stop at the end.
`#` begins a comment.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TypeVar

from autograder.errors import Unreadable
from autograder.maths.spelling import explained

_RELATIONS = [
    (re.compile(r"\\(?:leqslant|leq|le)(?![A-Za-z])|≤|⩽|=<"), "<="),
    (re.compile(r"\\(?:geqslant|geq|ge)(?![A-Za-z])|≥|⩾|=>"), ">="),
    (re.compile(r"\\lt(?![A-Za-z])"), "<"),
    (re.compile(r"\\gt(?![A-Za-z])"), ">"),
    (re.compile(r"==|:="), "="),
]
_RELATION = re.compile(r"<=|>=|<|>|=")
_SETTING = re.compile(
    r"(?:\\begin|\x08egin|\\end)\s*\{(?:align|aligned|alignat|equation|gather|gathered|split|eqnarray)\*?\}"
    r"|\\\[|\\\]|\$\$?"
)
_NEW_LINE = re.compile(r"\\\\\s*(?:\[[^\]]*\])?")
_COMMENT = re.compile(r"#.*")
_TRAILING = re.compile(r"(?:\\[,;!]|\\(?=\s*$)|\\q?quad(?![A-Za-z])|[.,;\s])+$")
_BRACKETS = r"(?:\s*(?:\\left\s*)?[(\[](?:[^()\[\]]|[(\[][^()\[\]]*[)\]])*[)\]])?"  # what a function is applied to
_NAME = (
    r"(?:\\(?:math[a-z]+|text[a-z]*|operatorname|hat|bar|tilde|dot)\s*(?:\{[^{}]*\}|[A-Za-z])|\\?[^\W\d_]\w*)'*"
    r"(?:[_^]\{[^{}]*\}|[_^]\\?\w+)*"
)
_GROUP = r"\s*\{(?:[^{}]|\{[^{}]*\})*\}"
_D = r"(?:d|∂|\\(?:partial|mathrm\s*\{\s*d\s*\}))\s*"
_DERIVATIVE = (
    rf"(?:\\[dt]?frac(?=\s*\{{\s*{_D}){_GROUP}(?=\s*\{{\s*{_D}){_GROUP}"
    rf"|\(?\s*{_D}(?:{_NAME}{_BRACKETS})?\s*/\s*{_D}{_NAME}\s*\)?|(?:∂|\\(?:partial|nabla))_(?:\{{[^{{}}]*\}}|\\?\w+))"
)
_LABEL = re.compile(rf"{_NAME}{_BRACKETS}|{_DERIVATIVE}\s*(?:{_NAME})?{_BRACKETS}")
_LEFT_SIDE = re.compile(
    r"((?:[\s$]|\\[\[(]|\\(?:boxed|fbox)\s*\{|\\begin\s*\{(?!.?cases)[^{}]*\})*)([^=<>!:#∈≡]*?)[\s&]*"
    r"(?::?=(?!=)|==|≡|∈|\\in(?![A-Za-z]))"
)
_OPENING, _CLOSING = "([{", ")]}"

Read = TypeVar("Read")


@dataclass(frozen=True, kw_only=True)
class Line:
    """One expression of a chain, its `relation` to the one before it, and the `number` of the line that it is on."""

    text: str
    number: int
    relation: str = "="


def lines(text: str) -> list[Line]:
    """The expressions in order; the first has a relation of its own only where the text begins with one."""
    found: list[Line] = []
    for number, line in enumerate(_plain(text), 1):
        pending = "" if found else "first"
        for relation, piece in _pieces(line):
            pending = relation or pending
            if piece:
                found.append(Line(text=piece, number=number, relation=pending or _left(found)))
                pending = ""
        if pending and pending != "first":  # the line ends with a relation: the next one begins with it
            found.append(Line(text="", number=number, relation=pending))
    return _joined(found)


def is_label(text: str) -> bool:
    """Whether this can be a left side that only names what is derived: `H(P)`, `S`, `dH/dbeta`."""
    return _LABEL.fullmatch(text.strip()) is not None


def behind_its_name(text: str, read: Callable[[str], Read]) -> Read:
    """What `read` makes of a text, or of what stands behind `H(P) =`, `dH/dx =`, `f(n) ∈` where it cannot read that.

    Such a left side says what an answer is called, where the name is none of the question's. Blanks in its place keep
    the columns of faults.
    """
    try:
        return read(text)
    except Unreadable as error:
        left = _LEFT_SIDE.match(text)
        if left is None or not _is_name(left[2], read):
            raise explained(error) from None
        try:
            return read(left[1] + " " * (left.end() - left.end(1)) + text[left.end() :])
        except Unreadable as other:
            late = error.column is not None and error.column >= left.end()
            found = error if late else Unreadable(other.code, other.message, text, other.column)
            raise explained(found) from None


def _is_name(text: str, read: Callable[[str], object]) -> bool:
    """Whether a left side is a name, and one that could not be an answer itself."""
    if not is_label(text) and text.strip():
        return False
    try:
        read(text)
    except Unreadable:
        return True
    return False


def written_out(text: str, operators: Mapping[str, str]) -> str:
    """`text` with each `E[…]` replaced by what the question says it is.

    An operator is `{"E[f(i)]": "sum(P(n)*f(n), n, 0, inf)"}`: what stands in the brackets is `f(i)`. A subscript of
    one letter, as in `E_n[…]` or `E_{n ~ P}[…]`, renames `i`.
    """
    for head, body in operators.items():
        name, argument = re.fullmatch(r"\s*(\w+)\[\w\((\w+)\)\]\s*", head).groups()  # type: ignore[union-attr]
        begins = re.compile(
            rf"(?:\\math(?:bb|rm|cal)\s*\{{{name}\}}|(?<![A-Za-z\\]){name})\s*(?:_\{{([^{{}}]*)\}}|_(\w))?\s*"
            r"(?:\\(?:left|big|Big)l?)?\["
        )
        while found := begins.search(text):
            end = _closed(text, found.end())
            if end is None:
                break
            inner = re.sub(r"\\(?:right|big|Big)r?\s*$", "", text[found.end() : end])
            letter = re.match(r"\s*([A-Za-z])\s*(?:$|\\sim|~)", found[1] or found[2] or "")
            term = _applied(body, inner, letter[1] if letter else argument)
            text = f"{text[: found.start()]}({term}){text[end + 1 :]}"
    return text


def _applied(body: str, inner: str, argument: str) -> str:
    """The operator's text with `f(…)` replaced by what stands in the brackets, at that number."""
    place = re.search(r"(?<![A-Za-z\\])f\(", body)
    assert place is not None
    end = _closed(body, place.end())
    number = body[place.end() : end]
    letter = re.compile(rf"(?<![A-Za-z\\_]){argument}(?![A-Za-z_])")
    there = letter.sub(lambda _: f"({number})" if not number.isalpha() else f" {number} ", inner)
    assert end is not None
    return f"{body[: place.start()]}({there}){body[end + 1 :]}"


def _closed(text: str, start: int) -> int | None:
    """Where the bracket closes that was opened before `start`."""
    depth = 1
    for place in range(start, len(text)):
        depth += (text[place] in _OPENING) - (text[place] in _CLOSING)
        if not depth:
            return place
    return None


def _plain(text: str) -> list[str]:
    """The lines without comments and LaTeX's setting, with relations in one spelling.

    Other characters that end a line for Python stay: in a string without r they are what is left of a backslash.
    """
    text = "\n".join(_COMMENT.sub("", line) for line in text.replace("\r\n", "\n").split("\n"))
    text = _SETTING.sub("\n", _NEW_LINE.sub("\n", text)).replace("&", " ")
    for spelling, relation in _RELATIONS:
        text = spelling.sub(relation, text)
    return [line for line in (_TRAILING.sub("", line) for line in text.split("\n")) if line.strip()]


def _pieces(line: str) -> Iterator[tuple[str, str]]:
    """The relations that stand outside all brackets, each with what follows it; the first one is empty."""
    depth, start, relation, place = 0, 0, "", 0
    while place < len(line):
        depth += (line[place] in _OPENING) - (line[place] in _CLOSING)
        sign = _RELATION.match(line, place) if depth <= 0 else None
        if sign is None:
            place += 1
            continue
        yield relation, line[start:place].strip()
        relation, start = sign[0], sign.end()
        place = start
    yield relation, line[start:].strip()


def _left(found: list[Line]) -> str:
    """The relation of a line that names none: that which ended the line before, else equality."""
    return found[-1].relation if found and not found[-1].text else "="


def _joined(found: list[Line]) -> list[Line]:
    """Without the places where a line ended with a relation."""
    return [line for line in found if line.text]
