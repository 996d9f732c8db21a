"""A run as people see it: a table that lives in a terminal, a line for each submission elsewhere."""

from __future__ import annotations

import shlex
import sys
import textwrap
import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from rich.console import Console
from rich.live import Live
from rich.table import Table
from rich.text import Text

from autograder.authoring.pseudonyms import Called
from autograder.course.run import Result, Row
from autograder.nbgrader.files import printable

SETTLED = ("done", "kept", "empty", "failed")
_STYLES = {"done": "green", "kept": "dim", "failed": "bold red", "running": "cyan", "empty": "yellow"}
# Seconds between two drawings of a table: each costs about as much as judging a notebook.
_PAUSE = 0.5
_WIDTH = 80  # columns of the lines at the end
_NAME = 24  # columns of them that a student's name may take


class Progress:
    """Shows each change of a run's result on standard error; standard output is left to `--json`."""

    def __init__(self, console: Console | None = None, called: Called | None = None) -> None:
        self.console = console or Console(file=sys.stderr)
        self._live: Live | None = None
        self._start = self._drawn = time.monotonic()
        self._told: dict[str, str] = {}
        self._called = called or Called()

    def __enter__(self) -> Progress:
        if self.console.is_terminal:
            self._live = Live(console=self.console, auto_refresh=False, transient=True)
            self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._live:
            self._live.stop()

    def show(self, result: Result) -> None:
        """Draw the table, now and then, or write a line for each submission that has settled since."""
        if self._live:
            if time.monotonic() - self._drawn > _PAUSE:
                self._drawn = time.monotonic()
                self._live.update(self._table(result), refresh=True)
            return
        for row in result.rows:
            if row.state in SETTLED and row.state != "kept" and self._told.get(row.student) != row.state:
                self._told[row.student] = row.state
                self._line(row, result)

    def _line(self, row: Row, result: Result) -> None:
        place = f"{sum(other.state in SETTLED for other in result.rows)}/{len(result.rows)}"
        row = as_called(row, self._called)
        self.console.print(Text(f"{place} {printable(row.student)}: {row.why or row.state}"), soft_wrap=True)

    def _table(self, result: Result) -> Table:
        """What runs and what came last, up to the height of the terminal."""
        table = Table(title=self._title(result), expand=True)
        for name in ("student", "state", "points", "flags"):
            table.add_column(name, no_wrap=True, justify="right" if name == "points" else "left")
        settled = [row for row in result.rows if row.state in ("done", "failed", "empty")]
        running = [row for row in result.rows if row.state == "running"]
        room = max(self.console.height - 7 - len(running), 3)
        for row in [*settled[-room:], *running]:
            table.add_row(*_cells(as_called(row, self._called)))
        return table

    def _title(self, result: Result) -> str:
        rows = result.rows
        finished = sum(row.state in SETTLED for row in rows)
        fresh = finished - sum(row.state == "kept" for row in rows)
        words = f"{result.assignment}: {finished} of {len(rows)}"
        if fresh and finished < len(rows):
            left = (time.monotonic() - self._start) / fresh * (len(rows) - finished)
            words += f", {_clock(left)} to go"
        return words

    def end(self, result: Result) -> None:
        """Say in a sentence or two how it went, and what is to be done now."""
        result = for_graders(result, self._called)
        counts = result.counts()
        for row in result.rows:
            if row.state == "failed" and not self._live:
                self.console.print(Text(f"{printable(row.student)}: {row.why}"), soft_wrap=True)
        self.console.print(Text(_summary(counts)), soft_wrap=True)
        lists = {
            "No submission from": result.absent,
            "Not on the roster, and graded all the same:": result.strangers,
            "No longer on the roster:": result.left,
        }
        said = [f"{words} {', '.join(map(printable, people))}." for words, people in lists.items() if people]
        for sentence in [*said, *result.notes]:
            self.console.print(Text(sentence), soft_wrap=True)
        if result.stopped:
            self.console.print(Text(f"Stopped: {result.stopped}."), soft_wrap=True)
        if result.exit_code:
            text = f"Finished work is safe. Continue with: autograder grade {result.assignment} --resume"
            self.console.print(Text(text), soft_wrap=True)


def for_graders(result: Result, called: Called) -> Result:
    """A result in which students are called as graders see them."""
    if not called.hidden:
        return result
    lists = {name: sorted(map(called.of, getattr(result, name))) for name in ("absent", "strangers", "left")}
    followed = [replace(each, students=tuple(map(called.of, each.students))) for each in result.followed]
    rows = [as_called(row, called) for row in result.rows]
    notes = list(map(called.text, result.notes))
    return replace(
        result,
        rows=rows,
        notes=notes,
        followed=followed,
        stopped=called.text(result.stopped),
        **lists,  # type: ignore[arg-type]
    )


def as_called(row: Row, called: Called) -> Row:
    """A row in which its student, and others that are named, are called as graders see them."""
    if not called.hidden:
        return row
    flags = tuple(map(called.text, row.flags))
    return replace(row, student=called.of(row.student), why=called.text(row.why), flags=flags)


def closing(result: Result) -> list[str]:
    """A line for each student of whom a person must know something, and what to do next; for 80 columns."""
    said = {row.student: notes for row in result.rows if (notes := list(_notes(row)))}
    width = min(max((len(printable(student)) for student in said), default=0), _NAME)
    lines = []
    for student, notes in said.items():
        first = f"{printable(student).ljust(width)}  "
        for note in notes:
            lines += textwrap.wrap(note, _WIDTH, initial_indent=first, subsequent_indent=" " * (width + 2))
            first = " " * (width + 2)
    for ruling in result.followed:
        lines += textwrap.wrap(
            f"{printable(ruling.students[0])}: {ruling.item} has {ruling.points:g} of {ruling.maximum:g} points, as "
            f"{printable(ruling.by)} decided for an equal answer",
            _WIDTH,
            subsequent_indent="  ",
        )
    return [*lines, *_next(result)]


def _notes(row: Row) -> Iterator[str]:
    """What a person must know of a submission: what waits, in a line, and what else there is; nothing of others."""
    if row.state in ("failed", "empty"):
        yield f"{'not graded' if row.state == 'failed' else 'nothing graded'}: {row.why}"
        return
    if row.state not in ("done", "kept"):
        yield "not graded yet"
        return
    parts = [part for own in row.waits.values() for part in own]
    others = [f"not handed in: {', '.join(row.missing)}"] if row.missing else []
    others += map(printable, row.flags)
    if parts or others:
        waits = f"; {len(parts)} to decide: {', '.join(parts)}" if parts else ""
        yield textwrap.shorten(f"{row.points:g} of {row.of:g}{waits}", _WIDTH - _NAME - 2, placeholder=" …")
        yield from others


def _next(result: Result) -> list[str]:
    """The next command."""
    quoted = shlex.quote(result.assignment)
    if result.exit_code:
        return [f"Next: autograder grade {quoted} --resume"]
    answers = sum(len(parts) for row in result.rows for parts in row.waits.values())
    if answers:
        people = sum(bool(row.waits) for row in result.rows)
        what = f"{_many(answers, 'answer')} of {_many(people, 'student')} to decide"
        return [f"Next: autograder review {quoted}    ({what})"]
    return [f"Next: autograder report {quoted}, and autograder export {quoted}"]


def _many(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"


def _cells(row: Row) -> list[Any]:
    points = f"{row.points:g} of {row.of:g}" if row.state in ("done", "kept") else ""
    held = [f"{row.held} held"] if row.held else []
    missing = [f"not handed in: {', '.join(row.missing)}"] if row.missing else []
    notes = "; ".join([*held, *missing, *row.flags]) if row.state != "failed" else row.why
    return [Text(printable(row.student)), Text(row.state, style=_STYLES.get(row.state, "")), points, Text(notes)]


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"


def _summary(counts: dict[str, Any]) -> str:
    words = [f"{counts['graded']} graded"]
    words += [
        f"{counts[key]} {text}"
        for key, text in {
            "kept": "graded before",
            "failed": "could not be graded",
            "unfinished": "not graded yet",
            "empty": "without a notebook of this assignment",
            "held": "with parts that wait for a grader",
            "flagged": "flagged",
            "incomplete": "with notebooks missing",
            "without_submission": "without a submission",
        }.items()
        if counts[key]
    ]
    return f"{counts['assignment']}: {', '.join(words)}, in {_clock(counts['seconds'])}."
