"""The parts of a notebook: what the cell under an answer calls, and what is answered so far."""

from __future__ import annotations

import html
import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from autograder.errors import StudentError
from autograder.protocol.cell_text import written_text
from autograder.protocol.respondents import filled
from autograder.student import cells, preview
from autograder.student.local_checks import Malformed, of_the_notebook, say, the_shell


@dataclass(frozen=True, kw_only=True)
class Asked:
    """A part as the notebook's first cells declare it; without a check it is answered in words."""

    name: str
    title: str
    points: float
    check: Callable[[], None] | None


_PARTS: dict[str, Asked] = {}

# What a state is called, with the sign and the colour of its line.
_STATES = {
    "answered": ("✓", "#2e9e44"),
    "empty": ("–", "#8a8f98"),
    "malformed": ("✗", "#c9372c"),
    "changed": ("↻", "#c77700"),
    "not seen": ("?", "#8a8f98"),
}
_NOT_INSTALLED = "the form was not checked, since {} is not installed here. Your answer is graded all the same."


def part(
    name: str, title: str, points: float, check: Callable[..., None] | None = None, /, *more: Any, **words: Any
) -> None:
    """Declare a part: the heading of its question, its points, and the check of its form with its arguments."""
    cells.watch()
    told = getattr(getattr(check, "__self__", None), "told", ())  # of typed answers: how they are read
    preview.declare_part(name, **{word: value for word, value in words.items() if word in (*told, "open")})
    _PARTS[name] = Asked(name=name, title=title, points=points, check=check and (lambda: check(name, *more, **words)))


def check(name: str, /, **words: Any) -> None:
    """Look at the form of a part's answer and say what is found, without stopping the notebook.

    While nbgrader's Validate runs, it stops at an answer that is missing or malformed, and at the last one in any case:
    no notebook "passes all the tests" before it is graded. A function can be looked at by the forms of its arguments as
    well: then it stops at once.
    """
    if words:
        from importlib import import_module

        import_module("autograder.parts").find("function").check_form(name, **words)
        return
    asked = _PARTS.get(name)
    if asked is None or asked.check is None:
        say(f"{name} is not declared. Run the first cells of the notebook again.")
        return
    old = cells.outdated(name)
    if old:
        say(f"↻ {name}: {old}.")
    try:
        asked.check()
    except Malformed as fault:
        if _validating():
            raise
        say(f"– {fault.message}" if fault.code == "missing" else f"✗ {fault.message}")
    except ImportError as error:
        say(f"{name}: {_NOT_INSTALLED.format(error.name or 'a package')}")
    if _validating() and asked == [other for other in _PARTS.values() if other.check][-1]:
        told = "Validate looks at the form only, and stops here in every notebook: this is no fault of yours."
        raise NotJudged("not_judged", f"{told} {_counted(_rows())}")


def overview(hand_in: str = "") -> None:
    """Show each part with its points and its state, and how to hand in, in the course's own words where it has some.

    It says nothing about what is right. While a notebook is graded, there is nothing to say.
    """
    if os.environ.get("NBGRADER_EXECUTION") != "autograde":
        rows = _rows()
        _present(rows, _counted(rows), _how_to_hand_in(hand_in))


def _rows() -> list[tuple[Asked, str, str]]:
    """Each part with its state, and what is said about it."""
    return [(asked, *_state(asked)) for asked in _PARTS.values()]


def _counted(rows: list[tuple[Asked, str, str]]) -> str:
    """How much is answered."""
    answered = [asked for asked, state, _ in rows if state == "answered"]
    tried, points = (sum(asked.points for asked in parts) for parts in (answered, _PARTS.values()))
    return (
        f"{len(answered)} of {len(rows)} parts answered, {tried:g} of {points:g} points tried. "
        "Whether the answers are right is judged after you hand in."
    )


class NotJudged(StudentError):
    """What Validate is told at the last check of every notebook."""

    def _render_traceback_(self) -> list[str]:
        return [self.message]


def _validating() -> bool:
    return os.environ.get("NBGRADER_EXECUTION") == "validate"


def _state(asked: Asked) -> tuple[str, str]:
    """The state of a part, and what is said about it."""
    if asked.check is None:
        return _written(asked.name)
    names = of_the_notebook()
    if not filled(names.get(asked.name)):
        return "empty", cells.outdated(asked.name)
    if old := cells.outdated(asked.name):
        return "changed", old
    try:
        with preview.in_silence():
            asked.check()
    except Malformed as fault:
        return ("empty", "") if fault.code == "missing" else ("malformed", _in_one_line(fault.message))
    except ImportError as error:
        return "answered", _NOT_INSTALLED.format(error.name or "a package")
    return "answered", ""


def _in_one_line(message: str) -> str:
    """What is wrong, without the place: where a line and a caret show it, the sentence stands below them."""
    first, *more = message.split("\n")
    return f"{first} {more[-1]}" if first.endswith(":") and more else first


def _written(name: str) -> tuple[str, str]:
    """The state of an answer in words, as the notebook was saved last."""
    path = cells.notebook_file()
    for cell in cells.cells_of(path) if path else []:
        marks = cell.get("metadata", {}).get("nbgrader", {})
        if marks.get("grade_id") == name:
            text = "".join(cell.get("source", "")).partition("-->")[2]
            return ("answered" if written_text(text) else "empty"), "as the notebook was saved last"
    return "not seen", "answered in words, in a cell that this kernel does not see"


def _how_to_hand_in(told: str) -> list[str]:
    path = cells.notebook_file()
    file = f"the file {path.name}" if path else "the notebook's file"
    usual = (
        "Where your course uses nbgrader's Assignments page, press Submit there. Otherwise upload the file where your "
        "course collects it."
    )
    return [
        "Choose Restart Kernel and Run All Cells once more, and look at this table again.",
        f"Save the notebook. You hand in {file}: keep its name.",
        told or usual,
    ]


def _present(rows: list[tuple[Asked, str, str]], counted: str, steps: list[str]) -> None:
    """The table as a page and as text."""
    width = max([len("part"), *(len(asked.name) for asked, _, _ in rows)])
    lines = [f"{'part':{width}}  points  state"]
    for asked, state, why in rows:
        lines.append(
            f"{asked.name:{width}}  {asked.points:>6g}  {_STATES[state][0]} {state}{f': {why}' if why else ''}"
        )
    text = "\n".join([*lines, "", counted, "", "How to hand in:", *(f"{n}. {step}" for n, step in enumerate(steps, 1))])
    if not the_shell():
        print(text)
        return
    body = "".join(_row(asked, state, why) for asked, state, why in rows)
    handed_in = "".join(f"<li>{html.escape(step)}</li>" for step in steps)
    page = (
        '<table style="border-collapse:collapse;text-align:left;font-size:inherit;color:inherit">'
        f'<caption style="text-align:left;color:inherit;padding:.4em 0">{html.escape(counted)}</caption>'
        "<thead><tr>"
        + "".join(f'<th scope="col" style="{_CELL}">{word}</th>' for word in ("Part", "Name", "Points", "State"))
        + f"</tr></thead><tbody>{body}</tbody></table>"
        f'<p style="margin:.8em 0 .2em"><strong>How to hand in</strong></p><ol style="margin:0">{handed_in}</ol>'
    )
    preview.present({"text/plain": text, "text/html": page})


_CELL = "text-align:left;padding:.25em .9em .25em .6em;color:inherit"


def _row(asked: Asked, state: str, why: str) -> str:
    sign, colour = _STATES[state]
    words = f"<strong>{sign} {state}</strong>" + (f"<br>{html.escape(why)}" if why else "")
    cells_ = (html.escape(asked.title), f"<code>{html.escape(asked.name)}</code>", f"{asked.points:g}", words)
    first, *rest = (f"{word}" for word in cells_)
    return (
        f'<tr><th scope="row" style="{_CELL};font-weight:normal;border-left:.4em solid {colour}">{first}</th>'
        + "".join(f'<td style="{_CELL}">{word}</td>' for word in rest)
        + "</tr>"
    )
