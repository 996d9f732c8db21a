"""To grade: submissions come in, are marked, are decided by people, and are marked again."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from autograder.cli.command import column_option, command, course_option


@command()
@click.argument("assignment")
@click.argument("download", type=click.Path(exists=True, path_type=Path))
@course_option
@click.option(
    "--roster",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="The students, as a CSV file (default: the course's roster.csv, or those in the gradebook).",
)
@column_option
@click.option("--match", "matches", multiple=True, metavar="LABEL=ID", help="Say whose a submission is (repeatable).")
@click.option("--force", is_flag=True, help="Replace submissions that differ from those in the download.")
@click.option("--dry-run", is_flag=True, help="Show what would be done. Write nothing.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")
def collect(assignment: str, download: Path, course: Path | None, matches: tuple[str, ...], **options: Any) -> None:
    """Put the submissions of a bulk download into submitted/.

    DOWNLOAD is what Canvas ("Download Submissions"), Moodle ("Download all submissions") or Gradescope ("Export
    Submissions") gives you: the zip file, or the folder into which your browser has unpacked it. The format is
    recognized by itself.

    \b
      autograder collect ps1 submissions.zip --roster students.csv --dry-run
      autograder collect ps1 submissions.zip --roster students.csv
      autograder collect ps1 submissions.zip --match lovelaceada_4711=ada

    Each submission goes to submitted/ID/ASSIGNMENT/. Students are found by number, mail address and name. If these
    mean nobody, or different people, the submission is not taken, and the table says what you can do.

    The roster is a table of nbgrader (id, first_name, last_name, email), or one that Canvas, Moodle or Gradescope has
    exported: Canvas's gradebook, Moodle's grading worksheet (needed for anonymous submissions), Gradescope's roster.

    A submission that is there already is replaced only by a later one. Gradescope tells the time of each submission,
    which is written to timestamp.txt; Canvas numbers its uploads, and marks late ones (LATE); Moodle does neither.
    Where nothing tells which is later, the one that is there stays unless you say --force.

    \b
    Exit codes:
      0  every submission has its place
      1  some submissions wait for you
    """
    from autograder.authoring.assignment import find_course
    from autograder.commands.collect_download import collect_download

    told = dict(match.rsplit("=", 1) for match in matches if "=" in match)
    if len(told) < len(matches):
        raise click.UsageError("--match needs LABEL=ID, such as --match lovelaceada_4711=ada, and each label once")
    sys.exit(collect_download(course or find_course(), assignment, download, told=told, **options))


@command()
@click.argument("assignment")
@course_option
@click.option("--student", "students", multiple=True, metavar="ID", help="Grade only this student (repeatable).")
@click.option("--jobs", type=click.IntRange(1), help="How many notebooks to run at once (default: one per core).")
@click.option("--resume", is_flag=True, help="Continue an interrupted run and skip finished work.")
@click.option("--feedback/--no-feedback", default=True, show_default=True, help="Write feedback pages.")
@click.option("--twice", is_flag=True, help="Run every notebook twice and hold parts whose marks differ.")
@click.option("--require-sandbox", is_flag=True, help="Refuse to run if the sandbox is incomplete on this machine.")
@click.option(
    "--scheduler",
    metavar="tls://HOST:PORT",
    default="",
    help="Run notebooks on the workers of this Dask cluster. Their answers are believed, and whoever reaches the "
    "scheduler runs code on them: use tls:// with Dask's own settings, or tcp:// on a network of your own.",
)
@click.option("--json", "as_json", is_flag=True, help="Print a final line of JSON to standard output.")
def grade(assignment: str, course: Path | None, **options: Any) -> None:
    """Grade all submissions for ASSIGNMENT in parallel.

    Each notebook runs in its own sandbox. Marks, comments, autograded notebooks and feedback are the same as those of
    `nbgrader autograde` and `nbgrader generate_feedback`. A bad submission does not stop the others.

    Every finished submission is recorded in reports/ASSIGNMENT.jsonl. If the run is interrupted (Ctrl-C, a crash, a
    full disk), repeat the command with --resume.

    \b
      autograder grade ps1                     grade the whole class
      autograder grade ps1 --student ada       grade one student again
      autograder grade ps1 --resume            continue where it stopped
      autograder grade ps1 --json | tail -1    print the totals for a script

    \b
    Exit codes:
      0  every submission is graded; some parts may be held for a grader
      1  some submissions are not graded, through no fault of the student
      2  the command line is invalid
    """
    from autograder.authoring.assignment import find_course
    from autograder.commands.grade_class import grade_class

    sys.exit(grade_class(course or find_course(), assignment, **options))


@command()
@click.argument("assignment")
@course_option
@click.option("--student", "students", multiple=True, metavar="ID", help="Judge only this student (repeatable).")
@click.option("--dry-run", is_flag=True, help="Show which marks would change, and why. Write nothing.")
@click.option(
    "--feedback/--no-feedback", default=True, show_default=True, help="Write new feedback pages where marks change."
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")
def regrade(assignment: str, course: Path | None, **options: Any) -> None:
    """Judge the stored answers to ASSIGNMENT again.

    Use this after you correct a reference, a tolerance or a mistake, after you change points, and after a part turned
    out to be faulty. Reports hold every question and answer, so no student's code is run. Marks given by hand stay, and
    keep their share of the points; old reports are kept beside the new ones.

    \b
    What holds for a faulty part stands in ASSIGNMENT.toml:
      [void.'ugrnn_gates.parameters']
      as = "full"          # all who handed in the notebook have the points
                           # or "drop": the maximum is lower, nothing is rescaled
                           # or a list of further correct answers: ["24", "4!"]
      variants = [7]       # seeds that it holds for (default: all)
      reason = "The statement named no unit."
      nobody_loses = true  # "drop": points that were earned are kept (default)

    Points, and a part that is dropped, change for the whole class at once: `autograder regrade` and `autograder grade`
    without --student do it, other commands say so. Parts cannot be added or taken out once the class is marked.

    \b
      autograder regrade ps1 --dry-run      show whose marks would change, and why
      autograder regrade ps1                write the new marks

    A check that asks a new question cannot be judged from stored answers. Such parts keep their marks and are listed;
    `autograder grade` runs them.

    \b
    Exit codes:
      0  everything was judged
      1  some parts need `autograder grade`
    """
    from autograder.authoring.assignment import find_course
    from autograder.commands.grade_class import regrade_class

    sys.exit(regrade_class(course or find_course(), assignment, **options))


@command()
@click.argument("assignment")
@course_option
@click.option("--grader", default="", metavar="NAME", help="Who decides (default: you); the page lets you change it.")
@click.option(
    "--requests",
    type=click.Path(exists=True, path_type=Path),
    metavar="FILE.csv|FOLDER",
    help="Students' requests for another look: a table, or a folder of mails.",
)
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="The port (default: one that is free).")
@click.option("--open/--no-open", "opens", default=True, show_default=True, help="Open the page in the browser.")
@click.option("--list", "only_list", is_flag=True, help="List what waits, and start no server.")
def review(assignment: str, course: Path | None, **options: Any) -> None:
    """Decide what waits for a person, in the browser.

    Equal answers stand together, across students and variants, the largest group first: one decision, one comment, for
    all of them. Beside the answer are the reference of the student's variant, why it is held, and the rubric.

    \b
      autograder review ps1
      autograder review ps1 --requests wishes.csv
      autograder review ps1 --list

    Decisions are marks by hand in the gradebook, and stay when the assignment is graded again. A later answer that is
    equal to one that was decided follows that decision, and is listed. Who decided what, and when, stands in
    reports/ASSIGNMENT.decisions.jsonl. Everything can be taken back.

    The page is for this machine alone: its address holds a token. Several graders can work at the same time, in one
    server or each in their own. Press ? in it for the keys; Ctrl-C here ends it.

    --requests takes a table with columns student_id, part and text, or a folder of saved mails. What comes of a
    request stands on the student's page.
    """
    from autograder.authoring.assignment import find_course
    from autograder.commands.review_queue import review_queue

    sys.exit(review_queue(course or find_course(), assignment, **options))


@command()
@click.argument("assignment")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option(
    "--column",
    "columns",
    multiple=True,
    metavar="PART=HEADING",
    help="The column in which a part's points stand, if it is not called like the part (repeatable).",
)
@click.option("--id-column", default="", metavar="HEADING", help="The column of the students' ids.")
@click.option("--grader", default="", metavar="NAME", help="Who gave the marks (default: you).")
@click.option("--dry-run", is_flag=True, help="Show whose marks would change. Write nothing.")
@course_option
def marks(assignment: str, file: Path, course: Path | None, columns: tuple[str, ...], **options: Any) -> None:
    """Read points from a table into the gradebook.

    FILE is a CSV file: our own export, changed by hand; points given on paper; or a table of a learning platform.

    \b
      autograder export ps1                   write points into ps1.csv, then:
      autograder marks ps1 ps1.csv --dry-run
      autograder marks ps1 ps1.csv
      autograder marks ps1 gradescope.csv --column "gradients=3: Gradients"

    Wide: a line for each student, and a column for each part, called PART or NOTEBOOK.PART. Long: a line for each
    mark, with columns student_id, part, points, and, if you like, notebook, comment and grader. Of an exam on paper,
    a column seat may stand in the place of the id (see print).

    With a column answer instead of points, what somebody typed from paper is judged as any other answer, and waits for
    a person to confirm it:

    \b
      seat,part,answer,transcribed by
      A-001,softmax,(1-e^(-beta)) e^(-beta i),Dr T

    The id decides whose a mark is; names and mail addresses of our own table must agree with it. An empty cell changes
    nothing. A number that is too large, or a student who is not known, is an error: then nothing is taken. Marks are
    stored as given by hand, and stay when the assignment is graded again.
    """
    from autograder.authoring.assignment import find_course
    from autograder.commands.take_marks import take_marks

    told = dict(column.split("=", 1) for column in columns if "=" in column)
    if len(told) < len(columns):
        raise click.UsageError(
            '--column needs PART=HEADING, such as --column "gradients=Question 3", and each part once'
        )
    sys.exit(take_marks(course or find_course(), assignment, file, columns=told, **options))


COMMANDS = (collect, grade, regrade, review, marks)
