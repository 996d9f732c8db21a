"""Questions to students about their own answers."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from autograder.cli.command import command, course_option


@command()
@click.argument("assignment")
@click.option(
    "--marks",
    "table",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Read what was answered from this table, instead of making sheets.",
)
@click.option("--dry-run", is_flag=True, help="With --marks: show what follows. Write nothing.")
@click.option("--force", is_flag=True, help="Overwrite sheets that ask something else.")
@course_option
def defend(assignment: str, table: Path | None, course: Path | None, dry_run: bool, force: bool) -> None:
    """Ask everybody five questions about their own ASSIGNMENT.

    For an exam under supervision or a talk, never to take home. The questions are about what each student handed in:
    what their function returns after one change, the shape of a value in a line of theirs, a value in a small case,
    which input tells two versions apart, which of their typed lines is wrong after a change, and, where points were
    lost, which case shows it. Each key was found by running the student's code in the sandbox, or by the judge.

    \b
      autograder defend ps1         a sheet and a key for each, in defence/ps1/
      autograder defend ps1 --marks defence/ps1/answers.csv

    \b
    What comes of it lies in defence/ps1/, for you alone:
      ada.pdf, ada.html     a sheet, on paper and for a browser
      all.pdf               all sheets
      key/                  the keys
      answers.csv           a line for each student: enter what they answered

    In answers.csv a cell is the letter or the words that were written, or your own yes or no. Who has few right is
    held, and no mark follows before a person has talked with them: the column talk then says keep, or how many count.

    \b
    [defence] in ASSIGNMENT.toml says what it counts:
      weight = 0.2         # of the points; without it, nothing
      talk_below = 0.5     # right answers, below which a person talks first

    \b
    Exit codes:
      0  sheets were made, or every line is decided
      1  somebody is held: talk with them
    """
    from autograder.authoring.assignment import find_course
    from autograder.commands import defend_class

    course = course or find_course()
    if table is None:
        if dry_run:
            raise click.UsageError("--dry-run is for --marks")
        sys.exit(defend_class.make_sheets(course, assignment, force=force))
    sys.exit(defend_class.take_answers(course, assignment, table, dry_run=dry_run))


COMMANDS = (defend,)
