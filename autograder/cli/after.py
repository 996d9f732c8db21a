"""After an exam: how the class did, marks for other systems, answers that are alike."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from autograder.cli.command import command, course_option, out_option


@command()
@click.argument("assignment")
@click.option("--csv", "kind", flag_value="csv", help="Write a table of the parts instead.")
@click.option("--json", "kind", flag_value="json", help="Write all figures as JSON instead.")
@out_option
@course_option
def report(assignment: str, kind: str | None, course: Path | None, out: Path | None) -> None:
    """Say how the class did in ASSIGNMENT.

    One HTML file, which needs no network: how the points are distributed, how hard each part was and how well it
    agrees with the rest, which mistakes were frequent and which wrong answers no listed mistake names yet, options of
    choices, variants, what waits for a person, and what was flagged.

    \b
      autograder report ps1               ps1-report.html
      autograder report ps1 --csv         a line for each part
      autograder report ps1 --json        all figures

    A part that waits for a person is undecided, never nought. Each figure has its interval; one that is not defined
    is "–", with the reason.
    """
    from autograder.authoring.assignment import find_course
    from autograder.commands.report_class import report_class

    sys.exit(report_class(course or find_course(), assignment, kind or "html", out))


@command()
@click.argument("assignment")
@click.option(
    "--to",
    "kind",
    type=click.Choice(["csv", "canvas", "moodle", "brightspace", "blackboard"]),
    default="csv",
    show_default=True,
    help="Our own table, or the file of a learning platform.",
)
@click.option("--long", is_flag=True, help="csv: a line for each student's part, with the judge's findings.")
@click.option("--bom", is_flag=True, help="csv: begin the file so that Excel reads it as UTF-8.")
@click.option(
    "--template",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="The file that you downloaded from the platform.",
)
@click.option("--column", default="", metavar="HEADING", help="The column of the template that takes the marks.")
@click.option(
    "--held",
    type=click.Choice(["refuse", "omit"]),
    default="refuse",
    show_default=True,
    help="Students with parts that wait for a person: stop, or leave their lines out.",
)
@click.option("--scale", is_flag=True, help="Scale the points to the platform's maximum.")
@click.option(
    "--roster",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="A table with more of the students' numbers, if those of the gradebook do not suffice.",
)
@click.option(
    "--feedback",
    type=click.Path(dir_okay=False, path_type=Path),
    help="moodle: also write everybody's feedback pages to this zip file.",
)
@out_option
@course_option
def export(
    assignment: str, kind: str, template: Path | None, course: Path | None, out: Path | None, **options: Any
) -> None:
    """Write the marks of ASSIGNMENT to a table, or into a platform's file.

    \b
      autograder export ps1                          our own table: ps1.csv
      autograder export ps1 --long                   a line for each part
      autograder export ps1 --to canvas --template canvas.csv
      autograder export ps1 --to moodle --template worksheet.csv

    \b
    In our own table each student has a status:
      graded   every part is decided
      held     a part waits for a person: there is no total yet
      missing  nothing was handed in
      excused  named under `excused` in ASSIGNMENT.toml
      void     (of a part) it was dropped, and counts nothing

    For a learning platform, download its file, name it as --template, and upload what is written. One column is
    filled in; every other byte stays as it was. Students are found by number, login or mail address, never by name.
    Who has no mark is listed with the reason, and no mark is ever nought because it is missing or undecided.

    \b
    Exit codes:
      0  every mark has its line
      1  somebody's marks found no line in the template
    """
    from autograder.authoring.assignment import find_course
    from autograder.commands import export_marks
    from autograder.reporting.lms_files import Wanted

    course = course or find_course()
    if kind == "csv":
        sys.exit(export_marks.export_table(course, assignment, long=options["long"], bom=options["bom"], out=out))
    if template is None:
        raise click.UsageError(f"--to {kind} needs --template: the file that you downloaded from there")
    if options["feedback"] and kind != "moodle":
        raise click.UsageError("--feedback is for --to moodle")
    wanted = Wanted(column=options["column"], omit_held=options["held"] == "omit", scale=options["scale"])
    files = {key: options[key] for key in ("roster", "feedback")}
    sys.exit(export_marks.export_filled(course, assignment, kind, template, wanted, out=out, **files))


@command()
@click.argument("assignment")
@click.option("--json", "as_json", is_flag=True, help="Write JSON instead of a page.")
@out_option
@course_option
def similar(assignment: str, as_json: bool, course: Path | None, out: Path | None) -> None:
    """List pairs of answers that a person should lay side by side.

    For staff, and only when you ask for it: no mark changes, and nothing is sent anywhere. A pair has a score for what
    it shares and few others have: rare passages of code, equal unusual wrong answers, and answers that are wrong for
    one's own numbers and right for another student's. What is right, handed out, listed by the problem, or had by many
    weighs nothing.

    \b
      autograder similar ps1      ps1-similar.html, readable by you alone

    Beside each score stands how many pairs of a class without contact would reach it. A score does not say why answers
    are alike.
    """
    from autograder.authoring.assignment import find_course
    from autograder.commands.similar_answers import similar_answers

    sys.exit(similar_answers(course or find_course(), assignment, as_json=as_json, out=out))


@command()
@click.argument("assignment")
@click.option("--with", "command_line", required=True, metavar="CMD", help="The command that answers a notebook.")
@click.option("--times", type=click.IntRange(1, 9999), default=1, show_default=True, help="How often it sits.")
@click.option("--same", is_flag=True, help="Give every run the numbers of the class, not numbers of its own.")
@click.option(
    "--timeout",
    "seconds",
    type=click.FloatRange(0, min_open=True),
    default=600.0,
    show_default=True,
    metavar="SECONDS",
    help="Stop the command after so long, for each notebook.",
)
@click.option("--jobs", type=click.IntRange(1), default=1, show_default=True, help="How many runs at a time.")
@click.option(
    "--rows",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Where rows for `autograder judge` go (default: ASSIGNMENT-sit.jsonl).",
)
@click.option("--json", "as_json", is_flag=True, help="Print a line of JSON for each part instead of a table.")
@course_option
def sit(assignment: str, command_line: str, course: Path | None, **options: Any) -> None:
    """Let a command sit ASSIGNMENT, and say which parts fall to it.

    CMD is any program that answers notebooks. It is run once for each notebook, in a folder of its own with the files
    that students have beside it. It gets the notebook's path as its last argument, and its text as standard input. The
    notebook with answers is what it prints; if it prints nothing, it is the file, as CMD has changed it. AUTOGRADER_RUN
    is the number of the run. CMD is run as you, without a sandbox; what it wrote is run in the sandbox. Words of CMD
    that name files or folders here are given to it with their full paths.

    \b
      autograder sit ps1 --with cat                            hands in the stubs
      autograder sit ps1 --with "python my_solver.py" --times 10

    Everything happens in a temporary copy of the course, where each run is a student with numbers of their own, and is
    graded as a student is. A part falls to CMD if it earns all points in half of the runs or more.

    An answer that lost points or is held, and is right by another way than the judge's, becomes a row for `autograder
    judge`: it is listed by the problem, is spelled alike, is the right number, or is worth the same by sympy.

    
    Exit codes:
      0  every run gave a notebook
      1  some did not: each is said with its reason, and costs only itself
    """
    from autograder.authoring.assignment import find_course
    from autograder.commands.sit_exam import sit_exam

    sys.exit(sit_exam(course or find_course(), assignment, command_line, **options))


COMMANDS = (report, export, similar, sit)
