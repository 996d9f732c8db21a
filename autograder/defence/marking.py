"""What was answered on paper, entered in a table: compared with the keys, and turned into what counts.

A cell holds the letter or the words that somebody wrote; `yes` and `no` are a grader's own decision. Whoever answered
fewer than `talk_below` of the questions rightly is held, until the column `talk` says what came of talking: `keep` (the
points stay as they are), or how many of the questions count as right.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from autograder.authoring import privacy
from autograder.authoring.assignment import read_assignment
from autograder.authoring.defence_rules import Defence
from autograder.defence.course_sheets import KEYS, TALK
from autograder.defence.proofs import LETTERS, same_text
from autograder.errors import StaffError, did_you_mean
from autograder.reporting.defence_marks import FOLDER, Defended, as_table, path_of
from autograder.reporting.marks_table import from_text
from autograder.reporting.sheet import Sheet, read_sheet

RIGHT, WRONG, KEEP = "yes", "no", "keep"
_SHOWN = 12
_ROUNDED = Fraction(1, 200)  # a third is written 0.33


def take(course: Path, assignment: str, table: Path, *, dry_run: bool) -> list[Defended]:
    """Read a table of answers and keep what follows from it; with a fault in it, nothing is taken."""
    course = course.resolve()
    keys = _keys(course, assignment)
    reader = _Reader(keys, read_assignment(course, assignment).defence, read_sheet(table))
    found = list(reader.lines())
    if reader.faults:
        more = f"\n… and {len(reader.faults) - _SHOWN} more" if len(reader.faults) > _SHOWN else ""
        listed = "\n".join(reader.faults[:_SHOWN])
        raise StaffError("defence", f"the table was not taken; nothing has changed:\n{listed}{more}")
    if not dry_run:
        privacy.write(path_of(course, assignment), as_table(found))
    return found


def _keys(course: Path, assignment: str) -> Mapping[str, Sequence[Mapping[str, Any]]]:
    path = course / FOLDER / assignment / KEYS
    if not path.is_file():
        raise StaffError("defence", f"there are no sheets of {assignment} yet; first: autograder defend {assignment}")
    found: Mapping[str, Sequence[Mapping[str, Any]]] = json.loads(path.read_text(encoding="utf-8"))
    return found


@dataclass(kw_only=True)
class _Entered:
    """A student's line, by the columns' names."""

    student: str
    cells: dict[str, str]
    row: int


def _number(text: str) -> Fraction | None:
    """A whole number, a fraction or a decimal number."""
    with contextlib.suppress(ValueError, ZeroDivisionError):
        return Fraction(text.replace(",", ".").replace(" ", ""))
    return None


class _Reader:
    """Reads one table against the keys; `faults` are sentences about its cells."""

    def __init__(self, keys: Mapping[str, Sequence[Mapping[str, Any]]], rules: Defence, sheet: Sheet) -> None:
        self._keys, self._rules, self._sheet = keys, rules, sheet
        self.faults: list[str] = []

    def lines(self) -> Iterator[Defended]:
        """What follows for each student of the table."""
        seen: set[str] = set()
        for entered in self._entered():
            if entered.student not in self._keys:
                who = did_you_mean(entered.student, self._keys)
                self._fault(entered, f"{entered.student!r} has no sheet{who}")
            elif entered.student in seen:
                self._fault(entered, f"{entered.student!r} has a line already")
            else:
                seen.add(entered.student)
                yield self._line(entered)

    def _entered(self) -> Iterator[_Entered]:
        head = [name.strip().lower() for name in self._sheet.head]
        if "student_id" not in head:
            self.faults.append("line 1: there is no column student_id")
            return
        for row in range(1, len(self._sheet.rows)):
            cells = {name: from_text(self._sheet.value(row, place)).strip() for place, name in enumerate(head)}
            if any(cells.values()):
                yield _Entered(student=cells.pop("student_id"), cells=cells, row=row)

    def _line(self, entered: _Entered) -> Defended:
        keys = self._keys[entered.student]
        asked, cells = len(keys), entered.cells
        given = [cells.get(f"q{number}", "") for number in range(1, asked + 1)]
        for number in range(asked + 1, asked + 20):
            if cells.get(f"q{number}"):
                self._fault(entered, f"q{number} is filled in, but this sheet has {asked} questions")
        if not any(given) and not cells.get(TALK):
            return Defended(student=entered.student, status="open", asked=asked)
        right = float(sum(map(self._right, [entered] * asked, keys, given, range(1, asked + 1))))
        return self._settled(entered, right, asked)

    def _right(self, entered: _Entered, key: Mapping[str, Any], given: str, number: int) -> bool:
        """Whether an answer is the key; an empty one is wrong, where others of the sheet are filled in."""
        if given.lower() in (RIGHT, WRONG):
            return given.lower() == RIGHT
        answer = str(key["answer"])
        if answer in LETTERS and len(answer) == 1:
            letter = given.strip(" ().").lower()
            if given and letter not in LETTERS:
                self._fault(entered, f"q{number} is {given!r}; it is a letter, {RIGHT} or {WRONG}")
            return letter == answer
        if key["kind"] == "value":
            value = _number(given)
            return value is not None and abs(value - Fraction(answer)) < _ROUNDED
        return same_text(given.strip("()[] "), answer.strip("[] "))

    def _settled(self, entered: _Entered, right: float, asked: int) -> Defended:
        talk = entered.cells.get(TALK, "").lower()
        if talk == KEEP:
            return Defended(student=entered.student, status="kept", right=right, asked=asked)
        if talk:
            try:
                right = float(talk.replace(",", "."))
            except ValueError:
                right = -1
            if not 0 <= right <= asked:
                self._fault(entered, f"{TALK} is {talk!r}; it is {KEEP!r}, or a number from 0 to {asked}")
            return Defended(student=entered.student, status="counted", right=right, asked=asked)
        low = right < self._rules.talk_below * asked
        return Defended(student=entered.student, status="held" if low else "counted", right=right, asked=asked)

    def _fault(self, entered: _Entered, what: str) -> None:
        self.faults.append(f"line {entered.row + 1}: {what}")
