"""Text that would keep a page from being made: it is shown as it was typed.

nbconvert takes a quarter of a minute for fifty thousand brackets, and makes much of little. Formgrader and nbgrader's
own commands use it too: so what it cannot convert in time is no markdown any more from the start.
"""

from __future__ import annotations

import contextlib
import signal
import threading
import time
from collections.abc import Iterator
from typing import Any

from nbconvert.filters.markdown import markdown2html
from nbconvert.filters.strings import strip_files_prefix

from autograder.grading.typeset import with_mathml

LONG = 4_000  # characters of a student's text together that are converted in no time, whatever they are
SECONDS = 2.0  # of processor time, for all of a student's text
LINE = 400  # characters: nbconvert looks for links line by line, and starts anew at each bracket
MAX_PAGE = 250_000  # characters of a page, for the same
NOTE = "*This text is shown as it was typed.*"


class _Slow(BaseException):
    """The converter did not come to its end in time: nothing on the way is to take this for a fault of its own."""


def as_typed(notebook: dict[str, Any]) -> Iterator[str]:
    """Put a student's texts into a form that is shown letter by letter where pages could not be made of them in time or
    in proportion; a sentence for each."""
    texts = [cell for cell in notebook["cells"] if cell["cell_type"] == "markdown" and _is_students(cell)]
    if sum(len(cell["source"]) for cell in texts) <= LONG:
        return
    seconds, room = SECONDS, MAX_PAGE
    for cell in texts:
        start = time.process_time()
        length = _length(cell["source"], seconds)
        seconds -= time.process_time() - start
        if length is None or length > room:
            why = "it takes too long to convert" if length is None else "it would take too much of a page"
            first, _, rest = cell["source"].partition("\n")
            mark, text = (f"{first}\n", rest) if first.startswith("<!--") else ("", cell["source"])
            cell["source"] = f"{mark}{NOTE}\n\n```\n{_in_lines(text)}\n```"
            yield f"A text is shown as it was typed, since {why} (cell {cell['id']})."
        else:
            room -= length


def _is_students(cell: dict[str, Any]) -> bool:
    marks = cell["metadata"].get("nbgrader") or {}
    return not marks or bool(marks.get("solution"))


def _in_lines(text: str) -> str:
    """The text in lines that are not too long, none of which ends the block that it stands in."""
    lines = (line[place : place + LINE] for line in text.split("\n") for place in range(0, max(len(line), 1), LINE))
    return "\n".join(lines).replace("```", "'''").replace("~~~", "~ ~")


def _length(text: str, seconds: float) -> int | None:
    """How long a page's text is; None where that is not known in time."""
    try:
        with _at_most(seconds):
            for_formgrader, typed = len(strip_files_prefix(markdown2html(text))), with_mathml(text)
            return for_formgrader if typed == text else max(for_formgrader, len(markdown2html(typed)))
    except _Slow:
        return None
    except Exception:  # what the converter cannot do at all, pages cannot do either
        return None


@contextlib.contextmanager
def _at_most(seconds: float) -> Iterator[None]:
    """End what runs here after so many seconds; patterns, which take most of it, look for signals too.

    Only the main thread gets signals; in others, nothing is ended.
    """
    if seconds <= 0:
        raise _Slow
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def late(*_: object) -> None:
        raise _Slow

    before = signal.signal(signal.SIGPROF, late)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
