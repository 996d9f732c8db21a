"""`autograder marks` from the command line: read a table of points, and show whose marks change."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from autograder.authoring.pseudonyms import Called
from autograder.course.given import take
from autograder.course.transcribing import has_answers, take_answers
from autograder.nbgrader.called import called
from autograder.reporting.given_marks import Given
from autograder.reporting.marks_table import points


def take_marks(
    course: Path, assignment: str, table: Path, *, columns: dict[str, str], dry_run: bool, id_column: str, grader: str
) -> int:
    """Take a table's marks, or the answers in it, and show what changes; the exit code."""
    if has_answers(table):
        return _take_answers(course, assignment, table, dry_run=dry_run, grader=grader)
    given = take(course, assignment, table, columns=columns, dry_run=dry_run, id_column=id_column, grader=grader)
    if given:
        Console().print(_table(given, called(course)))
    students = len({item.student for item in given})
    verb = "would change" if dry_run else "changed"
    print(f"{len(given)} marks of {students} students {verb}.")
    if given and not dry_run:
        print(f"Next: autograder grade {assignment} --resume    (writes their feedback pages anew)")
    return 0


def _take_answers(course: Path, assignment: str, table: Path, *, dry_run: bool, grader: str) -> int:
    found = take_answers(course, assignment, table, grader=grader, dry_run=dry_run)
    names = called(course)
    if found:
        shown = Table("seat", "student", "part", "before", "answer", "transcribed by")
        for item in found:
            row = (item.seat.code, names.of(item.student), item.name, item.before or "–", item.text, item.by)
            shown.add_row(*map(Text, row))
        Console().print(shown)
    students = len({item.student for item in found})
    print(f"{len(found)} answers of {students} students {'would be taken' if dry_run else 'taken'}.")
    if found and not dry_run:
        print(f"Next: autograder grade {assignment} --resume    (the judge reads them; every mark waits for a person)")
        print(f"Then: autograder review {assignment}")
    return 0


def _table(given: list[Given], names: Called) -> Table:
    table = Table("student", "part", "before", "after", "comment")
    for item in given:
        before = "–" if item.before is None else points(item.before)
        table.add_row(*map(Text, (names.of(item.student), item.item.name, before, points(item.after), item.comment)))
    return table
