"""Our own table of marks, wide (a line for each student) or long (a line for each student's part), as CSV.

Where a course hides ids from graders, a last column says what each student is called there: tables of marks, and no
page, join the two. Every field that could be read as a formula by a spreadsheet is written so that it is text.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence

from autograder.authoring.pseudonyms import Called
from autograder.reporting.class_marks import ClassMarks, Item, Mark, Pupil

WIDE = ("student_id", "last_name", "first_name", "email", "status", "total", "maximum", "decided", "late")
DEFENCE = "defence"
LONG = (
    "student_id", "assignment", "notebook", "part", "status", "points", "maximum", "by_hand", "codes", "hint",
)  # fmt: skip
PSEUDONYM = "pseudonym"
_FORMULA = "=+-@＝＋－＠\t\r"  # what a spreadsheet takes for the beginning of a formula


def wide(marks: ClassMarks, *, bom: bool = False, called: Called | None = None) -> str:
    """A line for each student: sums, and the points of each part; empty where there is no mark."""
    head = [*WIDE, *_defence(marks, [DEFENCE]), *(item.name for item in marks.items)]
    return _csv(_joined([head, *(_wide_row(marks, pupil) for pupil in marks.pupils)], called), bom=bom)


def long(marks: ClassMarks, *, bom: bool = False, called: Called | None = None) -> str:
    """A line for each student and part, with what the judge found."""
    rows = [_long_row(marks, pupil, item) for pupil in marks.pupils for item in marks.items]
    return _csv(_joined([list(LONG), *rows], called), bom=bom)


def _joined(rows: list[list[str]], called: Called | None) -> list[list[str]]:
    """The rows with what the student of the first column is called, where that is not the id."""
    if not (called and called.hidden):
        return rows
    return [[*rows[0], PSEUDONYM], *([*row, called.of(row[0])] for row in rows[1:])]


def _long_row(marks: ClassMarks, pupil: Pupil, item: Item) -> list[str]:
    mark = pupil.marks[item.name]
    what = [pupil.id, marks.assignment, item.notebook, item.part, mark.status]
    found = ["yes" if mark.by_hand else "no", " ".join(mark.codes), mark.hint]
    return [*what, points(mark.points), points(item.maximum), *found]


def _wide_row(marks: ClassMarks, pupil: Pupil) -> list[str]:
    parts = [_of(pupil.marks[item.name]) for item in marks.items]
    who = [pupil.id, pupil.last_name, pupil.first_name, pupil.mail, pupil.status]
    sums = [pupil.total, marks.maximum, pupil.decided if pupil.status in ("graded", "held") else None, pupil.late]
    defence = "talk" if pupil.to_talk else points(pupil.undefended)
    return [*who, *map(points, sums), *_defence(marks, [defence]), *parts]


def _defence(marks: ClassMarks, cells: list[str]) -> list[str]:
    """A column for what questions about own answers take, where they take something from somebody, or a talk waits."""
    return cells if any(pupil.undefended or pupil.to_talk for pupil in marks.pupils) else []


def _of(mark: Mark) -> str:
    return points(mark.points)


def points(value: float | None) -> str:
    """Points as a table has them: at most four decimals, none that say nothing; empty for None."""
    return "" if value is None else f"{value:.4f}".rstrip("0").rstrip(".")


def as_text(field: str) -> str:
    """A field that a spreadsheet shows and never computes."""
    return f'="{_doubled(field)}"' if field[:1] and field[0] in _FORMULA else field


def from_text(field: str) -> str:
    """What `as_text` was given."""
    if len(field) >= 3 and field.startswith('="') and field.endswith('"'):
        return field[2:-1].replace('""', '"')
    return field


def _doubled(field: str) -> str:
    return field.replace('"', '""')


def _csv(rows: Iterable[Sequence[str]], *, bom: bool) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\r\n")
    for row in rows:
        writer.writerow([as_text(field) if not _is_number(field) else field for field in row])
    return ("\ufeff" if bom else "") + text.getvalue()


def _is_number(field: str) -> bool:
    """Whether a field is a plain number, which may begin with a minus."""
    return field.removeprefix("-").replace(".", "", 1).isdecimal()
