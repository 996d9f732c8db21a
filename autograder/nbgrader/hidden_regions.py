"""What students are not shown of an instructor's own tests: the hidden regions, by the course's own delimiters."""

from __future__ import annotations

import copy
import re
from collections.abc import Iterable, Iterator
from typing import Any

from nbgrader.preprocessors import ClearHiddenTests, ClearMarkScheme
from traitlets.config import Config

LEFT_OUT = "(a line of a hidden test)"
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
_NUMBER = re.compile(r"^[-\s>]*\d*\s")
_SHORT = 8  # characters: so short a line is hidden only where it stands alone


class Hidden:
    """The hidden lines of one notebook; `config` is the course's."""

    def __init__(self, cells: Iterable[Any], config: Any) -> None:
        told = Config({name: config[name] for name in ("ClearHiddenTests", "ClearMarkScheme")})  # without nbconvert's
        self._tests, self._scheme = ClearHiddenTests(config=told), ClearMarkScheme(config=told)
        self._lines: set[str] = set()
        for cell in cells:
            shown = {_squeezed(line) for line in self.visible(cell).split("\n")}
            self._lines |= {_squeezed(line) for line in cell.source.split("\n")} - shown - {""}

    def visible(self, cell: Any) -> str:
        """A cell's text without what is hidden in it; all of it is, where the delimiters do not fit together."""
        shown = copy.copy(cell)
        try:
            self._tests._remove_hidden_test_region(shown)
            self._scheme._remove_mark_scheme_region(shown)
        except RuntimeError:
            return ""
        return str(shown.source)

    def without(self, text: str) -> str:
        """A text, a traceback it may be, without the lines that quote what is hidden."""
        return "\n".join(self._kept(text)) if self._lines else text

    def _kept(self, text: str) -> Iterator[str]:
        before = ""
        for line in text.split("\n"):
            plain = _COLOUR.sub("", line)
            whole, numbered = _squeezed(plain), _squeezed(_NUMBER.sub("", plain))
            hidden = {whole, numbered} & self._lines or any(
                len(secret) >= _SHORT and secret in whole for secret in self._lines
            )
            now = LEFT_OUT if hidden else line
            if not (now == before == LEFT_OUT):
                yield now
            before = now


def _squeezed(text: str) -> str:
    return "".join(text.split())
