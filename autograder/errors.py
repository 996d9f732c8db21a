"""The exceptions, one branch for each reader, so that no message is shown to the wrong one.

    AutograderError
    ├── StudentError            what you gave, what kind was wanted, what to try; never the reference's numbers
    │   └── Unreadable          typed text that cannot be read, with the column where reading stopped
    ├── AuthorError             which problem, part or argument; what there is instead
    └── StaffError              an installation, a course or a submission that a grader has to look at

Every exception has a stable `code` that holds no number, so that a class can be counted by code.
"""

from __future__ import annotations

from collections.abc import Iterable

NEAR = 32  # characters on each side of a fault that are shown: a longer line would be broken, and the caret lost
MAX_MESSAGE = 1_000


class AutograderError(Exception):
    """Any error this package raises on purpose."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message

    def __reduce__(self) -> tuple[object, ...]:
        # Exceptions cross process borders; the default reduction would lose the code.
        return (_rebuild, (type(self), self.__dict__))


def _rebuild(kind: type[AutograderError], state: dict[str, object]) -> AutograderError:
    error = kind.__new__(kind)
    Exception.__init__(error, state["message"])
    error.__dict__.update(state)
    return error


class StudentError(AutograderError):
    """A message for the student: what was given, what was wanted, what to try."""


class Unreadable(StudentError):
    """Typed text that cannot be read as an answer of its kind: not wrong, unreadable.

    `column` counts characters of `text` from 0 and marks where reading stopped.
    """

    def __init__(self, code: str, message: str, text: str = "", column: int | None = None) -> None:
        super().__init__(code, message)
        self.text = text
        self.column = column

    def caret(self) -> str:
        """The line of `text` that holds the fault, or what is near it, a caret under its column, and the message."""
        message = self.message if len(self.message) <= MAX_MESSAGE else f"{self.message[:MAX_MESSAGE]} …"
        if self.column is None or not self.text:
            return message
        column = min(max(self.column, 0), len(self.text))
        start = self.text.rfind("\n", 0, column) + 1
        end = self.text.find("\n", column)
        line = self.text[start : end if end >= 0 else len(self.text)].replace("\t", " ")
        place, before, after = column - start, "", ""
        if place > NEAR:
            line, place, before = line[place - NEAR :], NEAR, "… "
        if len(line) > place + NEAR:
            line, after = line[: place + NEAR], " …"
        shown, ahead = (before + part.translate(_AS_TYPED) for part in (line, line[:place]))
        return f"{shown}{after}\n{' ' * _width(ahead)}^\n{message}"


# What Python makes of a backslash and a letter, as it was typed.
_AS_TYPED = str.maketrans({"\a": r"\a", "\b": r"\b", "\v": r"\v", "\f": r"\f"})


def _width(text: str) -> int:
    """How many columns a text takes: an accent that stands on a letter takes none, a full-width sign two."""
    from unicodedata import combining, east_asian_width

    return sum(0 if combining(sign) else 2 if east_asian_width(sign) in "WF" else 1 for sign in text)


class AuthorError(AutograderError):
    """A slip in a problem's folder, in the author's terms."""


class StaffError(AutograderError):
    """Something a grader or instructor has to mend: an installation, a course, a submission."""


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """' (did you mean X?)' for the closest known name, or the empty string."""
    import difflib  # not for a notebook, where a name is seldom misspelt

    close = difflib.get_close_matches(name, list(known), n=1, cutoff=0.6)
    return f" (did you mean {close[0]}?)" if close else ""
