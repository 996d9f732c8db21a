"""What students have a right to: that answers are forgotten, and to see what is kept about them."""

from __future__ import annotations

import datetime
import sys
from pathlib import Path
from typing import Any

import click

from autograder.cli.command import command, course_option


@command()
@click.option(
    "--before",
    required=True,
    metavar="DATE",
    type=click.DateTime(["%Y-%m-%d"]),
    help="The first day (UTC) whose submissions are kept, such as 2027-03-01.",
)
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.option("--dry-run", is_flag=True, help="Show what would go. Write nothing.")
@click.option("--unmarked", is_flag=True, help="Also what has no mark yet, or parts that wait for a person.")
@click.option("--json", "as_json", is_flag=True, help="Print a line of JSON; the table goes to standard error.")
@course_option
def forget(before: datetime.datetime, course: Path | None, **options: Any) -> None:
    """Forget answers handed in before a day, and keep the marks.

    Of each such submission go: the files in submitted/, autograded/ and feedback/, the answers and messages in reports,
    comments in the gradebook (those of people as well), and its lines in journals, decisions and lists. Reports on the
    class and on similar answers go, too. The gradebook's file is written anew, since a database keeps what it deleted.

    Points and codes of each part, times, names and the secret stay: `autograder export` writes the same marks as
    before. Stored answers cannot be judged again; a later `regrade` leaves these marks as they are.

    \b
      autograder forget --before 2027-03-01 --dry-run    a table of what goes
      autograder forget --before 2027-03-01              asks, and does it
      autograder forget --before 2027-03-01 --yes        does not ask

    If it is interrupted, run it again: it goes on where it was. Other files of the course in which lines of these
    answers are found (a download, a table of your own) are named and left to you. Backups, the exchange and the
    history of a git repository are outside of the course's folder, and are yours as well.

    \b
    Exit codes:
      0  nothing is left from before that day
      1  something is left, and named
    """
    from autograder.authoring.assignment import find_course
    from autograder.commands.forget_answers import forget_answers

    sys.exit(forget_answers(course or find_course(), before.date(), **options))


@command()
@click.argument("student", metavar="ID")
@click.option(
    "--out", type=click.Path(path_type=Path), metavar="FOLDER|FILE.zip", help="Where to write (default: ID-dossier)."
)
@click.option("--force", is_flag=True, help="Write it anew where it is there already.")
@course_option
def dossier(student: str, course: Path | None, out: Path | None, force: bool) -> None:
    """Collect all that is kept about one student.

    For a student's request, or an appeal: what was handed in and handed back, marks and comments, what each check
    found, what the code answered to each hidden question, decisions and requests, times. A page, index.html, shows it
    and links the files; it needs no network. Nothing in it is about others.

    
      autograder dossier ada                  the folder ada-dossier
      autograder dossier ada --out ada.zip    a zip file

    Reports have notes for staff, and answers show what hidden inputs gave: look through it before you hand it out.
    """
    from autograder.authoring.assignment import find_course
    from autograder.commands.write_dossier import write_dossier

    sys.exit(write_dossier(course or find_course(), student, out=out, force=force))


COMMANDS = (forget, dossier)
