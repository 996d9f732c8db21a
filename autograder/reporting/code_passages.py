"""Passages that two programs share: runs of tokens, whatever the names, comments and spaces.

Fingerprints are chosen by winnowing (Schleimer, Wilkerson and Aiken, *Winnowing: local algorithms for document
fingerprinting*, 2003): every run of `LENGTH + WINDOW - 1` equal tokens is found, and none shorter than `LENGTH`.
"""

from __future__ import annotations

import builtins
import io
import keyword
import re
import tokenize
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

LENGTH = 15  # tokens of a passage
WINDOW = 8
_LIBRARIES = {"torch", "np", "numpy", "math", "F", "nn", "einsum", "self"}
_OWN_VARIANT = re.compile(r"^ *p = \{.*\}$", re.MULTILINE)  # the line that tells a solution its variant
_SKIPPED = {
    tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENCODING,
    tokenize.ENDMARKER,
}  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Passages:
    """The fingerprints of a program: of each, its first token's number, and its passage's first and last line."""

    places: dict[int, tuple[int, int, int]]

    @property
    def found(self) -> frozenset[int]:
        """The fingerprints."""
        return frozenset(self.places)

    def apart(self, marks: Iterable[int]) -> list[int]:
        """Of some fingerprints, as many whose passages do not overlap, in their order."""
        kept: list[int] = []
        for mark in sorted(marks, key=lambda mark: self.places[mark]):
            if not kept or self.places[mark][0] >= self.places[kept[-1]][0] + LENGTH:
                kept.append(mark)
        return kept


def passages(source: str) -> Passages:
    """The passages of a program; none of one that cannot be cut into tokens."""
    tokens = list(_tokens(source))
    hashes = [
        zlib.crc32("\0".join(text for text, _ in tokens[i : i + LENGTH]).encode("utf-8", "replace"))
        for i in range(len(tokens) - LENGTH + 1)
    ]
    chosen: dict[int, tuple[int, int, int]] = {}
    for start in range(max(1, len(hashes) - WINDOW + 1)):
        window = hashes[start : start + WINDOW]
        if window:
            place = start + len(window) - 1 - window[::-1].index(min(window))
            chosen.setdefault(hashes[place], (place, tokens[place][1], tokens[place + LENGTH - 1][1]))
    return Passages(places=chosen)


def _tokens(source: str) -> Iterator[tuple[str, int]]:
    """Tokens with their lines: names that a person chose are one, those of the language and of libraries themselves."""
    before = ""
    try:
        for token in tokenize.generate_tokens(io.StringIO(_OWN_VARIANT.sub("", source)).readline):
            if token.type in _SKIPPED or (token.type == tokenize.STRING and not before):
                before = "" if token.type in (tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT) else before
                continue
            yield _plain(token, before), token.start[0]
            before = token.string
    except (tokenize.TokenError, SyntaxError, ValueError):
        return


def _plain(token: tokenize.TokenInfo, before: str) -> str:
    if token.type != tokenize.NAME or keyword.iskeyword(token.string) or before == ".":
        return token.string
    known = token.string in _LIBRARIES or hasattr(builtins, token.string)
    return token.string if known else "name"
