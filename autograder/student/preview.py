"""Typed answers in a notebook: shown as the mathematics that the grader understood, or with a caret under the fault.

They never say whether an answer is right. An answer that cannot be read is kept all the same: a person will see it.
How an answer is read, each kind says in its own file.
"""

from __future__ import annotations

import contextlib
import io
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from autograder.errors import Unreadable
from autograder.maths.spelling import notes
from autograder.protocol.respondents import filled
from autograder.student.local_checks import the_shell

# What the notebook's first cell has declared, part by part: names with where they live, abbreviations, tensors.
_DECLARED: list[dict[str, Any]] = []
_BY_PART: dict[str, dict[str, Any]] = {}  # the same by the names of parts
_BOUND_NOW: set[str] = set()  # the names that the cell binds which is run now
_LAST = ("log",)  # a text that is one word, not a list of names: the last one counts
_FIRST_CELL = "Run the first cells of the notebook again: they declare the names that an answer may use."


class TypedText(str):
    """The text of an answer; in a notebook it shows itself as mathematics."""

    _shown: Shown

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        return self._shown.bundle()


class TypedRows(list[list[str]]):
    """The rows of a matrix of typed entries."""

    _shown: Shown

    def __init__(self, rows: Iterable[Iterable[Any]]) -> None:
        super().__init__([str(entry) for entry in row] for row in rows)

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        return self._shown.bundle()


_TYPED = "font-family:var(--jp-code-font-family,monospace);white-space:pre-wrap"  # a caret stands under its sign


class Shown:
    """What a typed answer shows: LaTeX with notes, or the fault with a caret."""

    def __init__(self, latex: str = "", notes: Sequence[str] = (), fault: str = "") -> None:
        self.latex, self.notes, self.fault = latex, tuple(notes), fault

    def bundle(self) -> dict[str, str]:
        """The MIME bundle for a notebook."""
        if self.fault:
            import html

            page = f"<p>This cannot be read yet:</p><pre style='{_TYPED}'>{html.escape(self.fault)}</pre>"
            return {"text/plain": f"This cannot be read yet:\n{self.fault}", "text/html": page}
        notes = "".join(f"\n\n{note}" for note in self.notes)
        return {
            "text/plain": f"{self.latex}{notes}",
            "text/markdown": f"$$\n{self.latex}\n$${notes}",
            "text/latex": f"$${self.latex}$$",
        }


def declare(**words: Any) -> None:
    """Say what typed answers of this notebook may use; called by the notebook's first cell.

    `domains` (name to where it lives), `definitions`, `operators` of derivations, `functions`, `log`, `constraints`,
    `variables` (of growth), `tensors`, `sizes`, `sequences`, `context`, `same`, `zero`, `positive`, `open`
    (equations may have parameters of one's own).
    """
    _DECLARED.append(words)


def declare_part(name: str, **words: Any) -> None:
    """The same for the answer to one part."""
    declare(**words)
    _BY_PART[name] = words


def bound_now(names: Iterable[str]) -> None:
    """The names that the cell binds which is run now."""
    _BOUND_NOW.clear()
    _BOUND_NOW.update(names)


def declared_together(*names: str) -> dict[str, Any]:
    """What the part whose answer is being bound has declared of these words, or all parts together where that is not
    known; Unreadable where it is nothing.
    """
    found: dict[str, Any] = {}
    own = [words for part, words in _BY_PART.items() if part in _BOUND_NOW and any(name in words for name in names)]
    declared = own if len(own) == 1 else _DECLARED
    for name, value in ((name, words[name]) for words in declared for name in names if name in words):
        found[name] = _united(found[name], value) if name in found and name not in _LAST else value
    if names and not found:
        raise Unreadable("undeclared", _FIRST_CELL)
    return found


def declared_by_each(*names: str) -> list[dict[str, Any]]:
    """What each part has declared of these words, one after the other."""
    chosen = ({name: words[name] for name in names if name in words} for words in _DECLARED)
    return [words for words in chosen if words]


def _united(before: Any, more: Any) -> Any:
    """The names of both, each once: several parts of a notebook declare what they need."""
    if isinstance(more, Mapping):
        return {**before, **more}
    if isinstance(more, str):
        return " ".join(dict.fromkeys(before.split() + more.split()))
    return tuple(dict.fromkeys((*before, *more)))


Kept = TypeVar("Kept", bound=TypedText | TypedRows)


def keep(answer: Kept, read: Callable[[Kept], Shown], instead: str = "") -> Kept:
    """The answer itself, after it was shown as it is read, or with the fault that stops reading.

    `instead` is what was given in the place of a text.
    """
    if not filled(answer):  # a stub
        answer._shown = Shown(fault="it is empty")
        return answer
    try:
        answer._shown = read(answer)
    except Unreadable as error:
        answer._shown = Shown(fault=error.caret())
    if instead:
        quotes = f"This is {instead}, not text: put the formula in quotes."
        answer._shown.notes += (quotes,)
        answer._shown.fault = answer._shown.fault and f"{quotes}\n{answer._shown.fault}"
    noted(answer._shown, answer)
    present(answer._shown.bundle())
    return answer


def noted(shown: Shown, answer: str | list[list[str]]) -> Shown:
    """What is shown, with a note on characters that Python made of a backslash."""
    shown.notes += notes(answer if isinstance(answer, str) else " ".join(" ".join(row) for row in answer))
    return shown


@contextlib.contextmanager
def in_silence() -> Iterator[None]:
    """Nothing is shown or printed meanwhile."""
    global _silent
    before, _silent = _silent, True
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            yield
    finally:
        _silent = before


_silent = False


def present(bundle: dict[str, str]) -> None:
    """Show a MIME bundle in a notebook; print its text elsewhere."""
    if _silent:
        return
    if shell := the_shell():
        shell.display_pub.publish(bundle)
    else:
        print(bundle["text/plain"])
