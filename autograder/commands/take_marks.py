"""`autograder marks` from the command line: read a table of points, and show whose marks change."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from autograder.course.given import take
from autograder.reporting.given_marks import Given
from autograder.reporting.marks_table import points


def take_marks(
    course: Path, assignment: str, table: Path, *, columns: dict[str, str], dry_run: bool, id_column: str, grader: str
) -> int:
    """Take a table's marks and show what changes; the exit code."""
    given = take(course, assignment, table, columns=columns, dry_run=dry_run, id_column=id_column, grader=grader)
    if given:
        Console().print(_table(given))
    students = len({item.student for item in given})
    verb = "would change" if dry_run else "changed"
    print(f"{len(given)} marks of {students} students {verb}.")
    if given and not dry_run:
        print(f"Next: autograder grade {assignment} --resume    (writes their feedback pages anew)")
    return 0


def _table(given: list[Given]) -> Table:
    table = Table("student", "part", "before", "after", "comment")
    for item in given:
        before = "–" if item.before is None else points(item.before)
        table.add_row(*map(Text, (item.student, item.item.name, before, points(item.after), item.comment)))
    return table
