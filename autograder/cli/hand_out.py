"""To hand out: source notebooks, students' versions, exams on paper, and more time."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import Any

import click

from autograder.cli.command import column_option, command, course_option


@command()
@click.argument("assignment")
@click.option("--seed", type=int, help="Use this seed instead of the one in the .toml file.")
@click.option(
    "--name", metavar="NAME", help="With --seed: make an assignment of this name, and leave ASSIGNMENT as it is."
)
@click.option(
    "--per-student",
    "roster",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Also make a notebook for each student in this CSV file, each with their own numbers.",
)
@column_option
@click.option("--force", is_flag=True, help="Overwrite numbers that were released or handed in.")
@click.option(
    "--walkthrough", is_flag=True, help="Instead, make the notebooks to publish after the deadline: answers, reasons."
)
@course_option
def build(
    assignment: str,
    seed: int | None,
    name: str | None,
    roster: Path | None,
    column: str,
    force: bool,
    walkthrough: bool,
    course: Path | None,
) -> None:
    """Make the source notebooks of ASSIGNMENT.

    They are written from ASSIGNMENT.toml in the course folder to source/ASSIGNMENT/*.ipynb.

    If that file says variants = "student", --per-student also writes students/ID/ASSIGNMENT/*.ipynb for each student
    of the roster. Distribute these files any way you like. Submission and grading work as usual: the grader derives
    each student's numbers from their ID.

    What was released or handed in is not overwritten with other numbers unless you say --force. For a second version,
    such as a make-up exam, give it a name: --seed 7 --name exam-2 writes exam-2.toml and source/exam-2.

    With --walkthrough, walkthrough/ASSIGNMENT/*.ipynb are written instead: the answers with their reasons, the known
    mistakes and how they show, and each problem inside its full model, which the notebook trains.
    """
    from autograder.authoring.assignment import find_course, read_assignment, write_second
    from autograder.authoring.building import write

    where = f" --course {shlex.quote(str(course))}" if course else ""
    course = course or find_course()
    if walkthrough:
        from autograder.commands.build_walkthrough import build as build_walkthrough

        if name is not None or roster is not None:
            raise click.UsageError("--walkthrough goes with --seed alone: it is of an assignment that is there")
        build_walkthrough(course, read_assignment(course, assignment), seed)
        return
    if name is not None:
        if seed is None:
            raise click.UsageError("--name needs --seed: the new assignment differs by its numbers")
        click.echo(f"wrote     {write_second(course, assignment, name, seed)}")
        assignment, seed = name, None
    written = read_assignment(course, assignment)
    marked = (course / "gradebook.db").exists() and _fits_the_class(course, assignment, seed)
    for path, changed in write(course, written, seed, force=force):
        click.echo(f"{'wrote    ' if changed else 'unchanged'} {path}")
    if roster is not None:
        _build_own(course, assignment, roster, column, force=force)
    quoted = shlex.quote(assignment)
    click.echo(f"Next: autograder release {quoted} --zip{where}")
    if marked:
        click.echo(f"Then: autograder regrade {quoted}{where}    (points or voids are not those of the gradebook)")


def _build_own(course: Path, name: str, roster: Path, column: str, *, force: bool) -> None:
    """A notebook for each student, with a bar; what students share is said."""
    from rich.progress import track

    from autograder.authoring.assignment import read_assignment
    from autograder.authoring.roster import read_roster
    from autograder.course import per_student

    assignment = read_assignment(course, name)
    students = [person.id for person in read_roster(roster, per_student.known(course), column)]
    wanted = len(students) * len(assignment.problems)
    own = per_student.write_own(course, assignment, students, force=force)
    written = sum(new for _, new in track(own, "per student", total=wanted))
    click.echo(f"{len(students)} students: {written} notebooks written, {wanted - written} unchanged")
    for note in per_student.notes(course, assignment, students):
        click.echo(f"note: {note}")


def _fits_the_class(course: Path, assignment: str, seed: int | None) -> bool:
    """Whether the class was marked by other points; refused, before anything is written, if by other parts."""
    from autograder.nbgrader.scale import before_build

    return before_build(course, assignment, seed)


@command()
@click.argument("assignment")
@click.option("--zip", "zipped", is_flag=True, help="Also pack zip files for students, into zips/.")
@click.option(
    "--roster",
    "table",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="The students, as a CSV file (default: the course's roster.csv).",
)
@column_option
@click.option("--force", is_flag=True, help="Overwrite students' own numbers that were released or handed in.")
@course_option
def release(assignment: str, course: Path | None, **options: Any) -> None:
    """Make the students' version of ASSIGNMENT.

    It goes to release/ASSIGNMENT/, without solutions and hidden tests, and with the seal by which grading knows it.
    This is nbgrader's own generate_assignment: `nbgrader release_assignment` and the exchange go on from there.

    With --zip, zips/ASSIGNMENT.zip holds all that a student needs on any machine: the notebooks, the files beside
    them, this package as a wheel, what to install, and a page on how to work and hand in.

    If ASSIGNMENT.toml says variants = "student", each student of the roster gets numbers of their own, in
    students/ID/ASSIGNMENT/ and zips/ASSIGNMENT/ID.zip.

    \b
      autograder build ps1
      autograder release ps1 --zip
    """
    from rich.progress import track

    from autograder.authoring.assignment import find_course
    from autograder.course.handing_out import release as hand_out

    made = hand_out(
        course or find_course(), assignment, watch=lambda items, total: track(items, "per student", total), **options
    )
    for note in made.notes:
        click.echo(f"note: {note}")
    click.echo(f"released  {made.folder}")
    if made.students:
        click.echo(f"          {made.students} students have numbers of their own")
    if made.zips:
        click.echo(
            f"packed    {made.zips[0] if len(made.zips) == 1 else f'{len(made.zips)} zips in {made.zips[0].parent}'}"
        )
    click.echo(f"If marks are to be replayed one day: autograder commit {shlex.quote(assignment)}")
    click.echo(f"Next: hand it out; put what comes back into submitted/; autograder grade {shlex.quote(assignment)}")


@command()
@click.argument("assignment")
@click.argument("student")
@click.option(
    "--days", type=click.FloatRange(0, 1000), required=True, help="Days after the due date; 0 takes an extension back."
)
@course_option
def extend(assignment: str, student: str, days: float, course: Path | None) -> None:
    """Give STUDENT more time for ASSIGNMENT.

    The days are counted from the due date, and take the place of those that were given before. Grace days come on top.
    Penalties of a submission that is graded already are worked out again.

    \b
    The due date stands in ASSIGNMENT.toml, with what lateness costs:
      due = 2026-05-10T23:59:00+02:00
      penalty = 0.1        # a tenth of a notebook's points for each day begun
      grace_days = 1       # the first day costs nothing

    \b
      autograder extend ps1 ada --days 2
    """
    from autograder.authoring.assignment import find_course
    from autograder.commands.grade_class import extend as more_time

    click.echo(more_time(course or find_course(), assignment, student, days))


@command()
@click.argument("assignment")
@click.option(
    "--variants", type=click.IntRange(1), default=4, show_default=True, help="How many variants of a problem to audit."
)
@click.option("--jobs", default=0, help="How many processes to use.  [default: one for each core]")
@course_option
def ready(assignment: str, course: Path | None, variants: int, jobs: int) -> None:
    """Say whether ASSIGNMENT can be handed out.

    A line for each check, and the way out where one fails: the secret, who can read the course, whether the notebooks
    are up to date, the audit of its problems, what one notebook shows that another one asks, whether it prints, the
    students and their accommodations, and a class of four, in a copy, that gets the marks it deserves.

    \b
      autograder ready exam-1
      autograder ready exam-1 --variants 20     audit more variants

    \b
    Exit codes:
      0  everything is in order
      1  something is not
    """
    from autograder.authoring.assignment import find_course
    from autograder.commands.ready_report import say_ready

    sys.exit(say_ready(course or find_course(), assignment, variants=variants, jobs=jobs))


@command(name="print")
@click.argument("assignment")
@click.option("--seats", type=click.IntRange(1, 9999), help="Print this many seats, without a roster.")
@click.option(
    "--roster",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="The students, as a CSV file: a seat for each (default: the course's roster.csv).",
)
@column_option
@click.option("--seat", "only", multiple=True, metavar="CODE", help="Print only this seat again (repeatable).")
@click.option("--large", is_flag=True, help="Large print.")
@click.option("--force", is_flag=True, help="Overwrite sheets that ask something else; with --seat, only these.")
@course_option
def print_(assignment: str, course: Path | None, **options: Any) -> None:
    """Print ASSIGNMENT as an exam on paper, with its keys.

    \b
      autograder print exam-1 --seats 40       40 seats, for nobody in particular
      autograder print exam-1                  a seat for everybody in roster.csv
      autograder print exam-1 --seat A-017     one seat again
      autograder print exam-1 --seat A-017 --large

    \b
    What comes of it lies in print/exam-1/, for you alone:
      A-001.pdf …       the sheets: cover, questions with frames, scratch paper
      all.pdf           all of them in stapling order, for both sides of a page
      key/              the keys: answers, accepted forms, known mistakes, rubrics
      seats.csv         seat, student, seeds, order of options

    \b
    [exam] in ASSIGNMENT.toml says how:
      minutes = 120
      aids = "One sheet of notes, written by hand on both sides."
      versions = "seat"     # numbers of their own for each seat; 2: A and B;
                            # "student": those of the students' notebooks
      fixed = false         # seats draw anew what [parameters] fixes
      row = 8               # seats side by side: who sits behind is a neighbour
      [exam.accommodations.large]
      time = 1.25
      large = true

    Who has which accommodation stands in accommodations.csv of the course, with columns id and label.

    Every page has the seat's code, in letters and as a QR code, and no name but on the cover. The same command makes
    the same bytes. Sheets that ask something else than those that were printed are refused, unless you say --force.
    """
    from autograder.authoring.assignment import find_course
    from autograder.commands.print_exam import print_exam

    sys.exit(print_exam(course or find_course(), assignment, **options))


COMMANDS = (build, ready, release, print_, extend)
