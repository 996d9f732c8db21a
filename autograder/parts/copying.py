"""What somebody hands in who copies a displayed text: the text itself, its lines, and what stands beside its `=`."""

from __future__ import annotations

import re
from collections.abc import Iterator

_LINES = re.compile(r"\\q?quad(?![A-Za-z])|\\\\(?![A-Za-z])|\n|;(?= )")
_OPEN, _CLOSE = "([{", ")]}"
_BARE = re.compile(r"[(\[]*(\\?[A-Za-z]+(_\{?\w+\}?)?'?|\d+)[)\]]*")
_NUMBER = re.compile(r"(?<![\w.])\d[\d,_]*(?:\.\d+)?(?![\w])")


def lines(text: str) -> Iterator[str]:
    """The text as it stands, and each of the formulas in it."""
    yield text
    parts = [piece for line in _LINES.split(text) for piece in _apart(line, ",")]
    if len(parts) > 1:
        yield from (stripped for part in parts if (stripped := part.strip(" ,.;&")))


def sides(line: str) -> list[str]:
    """What stands between the signs of equality of a line."""
    return [found for part in _apart(line.replace("&=", "="), "=") if (found := part.strip(" ,.;&"))]


def bare(line: str) -> bool:
    """Whether a line is a name or a number, or gives a name to a number: such stand in every statement."""
    return all(_BARE.fullmatch(side) for side in sides(line))


def numbers(text: str) -> list[str]:
    """The numbers of a text, as they are written in Python."""
    plain = re.sub(r"\{,\}|\\,", "", text)
    return [found.replace(",", "") for found in _NUMBER.findall(plain)]


def _apart(text: str, sign: str) -> list[str]:
    """The pieces between the signs that stand in no bracket, and in no relation such as `<=`."""
    pieces, depth, start = [], 0, 0
    for place, letter in enumerate(text):
        depth += (letter in _OPEN) - (letter in _CLOSE)
        if letter == sign and depth == 0 and text[place - 1 : place] not in tuple("<>!:\\"):
            pieces.append(text[start:place])
            start = place + 1
    return [*pieces, text[start:]]
