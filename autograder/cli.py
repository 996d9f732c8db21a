"""The command line; the only file that imports click. Each command's work is done in another module."""

from __future__ import annotations

import contextlib
import importlib.util
import shlex
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from autograder import __version__
from autograder.errors import AutograderError, StaffError

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from autograder.simulation.demo import Demo


# The headings of `--help` and what stands under each, in the order of a term.
GROUPS = {
    "Start": ("init", "demo"),
    "Write problems": ("new", "audit", "variants", "preview", "judge", "decide"),
    "Hand out": ("build", "release", "extend"),
    "Grade": ("collect", "grade", "regrade", "marks"),
    "After": ("report", "export", "similar"),
}


# What runs on any machine. All others start processes and keep locks as Linux and macOS have them.
ANYWHERE = ("init", "new", "variants")


class Command(click.Command):
    """A command that says what it needs before it does anything."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command, where this machine can."""
        if self.name not in ANYWHERE and importlib.util.find_spec("fcntl") is None:
            raise StaffError(
                "windows",
                f"`autograder {self.name}` needs Linux or macOS. On Windows, run it in WSL: `wsl --install` once, in a "
                "terminal of Windows, then this course and its package in the terminal of WSL. Students need no WSL",
            )
        return super().invoke(ctx)


class Commands(click.Group):
    """Lists its commands in groups, and shows the package's own errors as sentences, not as tracebacks."""

    command_class = Command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """One list under each heading; the lists are aligned with each other."""
        width = max(map(len, self.commands))
        for heading, names in GROUPS.items():
            with formatter.section(heading):
                formatter.write_dl([(name.ljust(width), self.commands[name].get_short_help_str(70)) for name in names])

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; an error of ours ends with exit code 1 and its message."""
        warnings.showwarning = _plainly
        try:
            return super().invoke(ctx)
        except AutograderError as error:
            click.echo(f"autograder: {error.message}", err=True)
            sys.exit(1)


def _plainly(message: Warning | str, category: type[Warning], *place: Any, **options: Any) -> None:
    """Show a warning for people who run commands: its sentence, not the line of ours that it came from."""
    click.echo(
        f"{'Warning' if category.__module__.startswith('autograder') else category.__name__}: {message}", err=True
    )


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


column_option = click.option(
    "--column", default="", metavar="NAME", help="The roster's column that names a student's folder."
)
course_option = click.option(
    "--course",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="The nbgrader course folder (default: the one around this folder).",
)


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="autograder")
def main() -> None:
    """Auto-graded exercises and exams for deep-learning courses, on nbgrader.

    \b
    A term, step by step:
      autograder audit                  check the problems before release
      autograder build ps1              write the source notebooks of ps1
      autograder release ps1 --zip      make the students' version
      autograder collect ps1 ZIP        unpack what Canvas or Moodle gives you
      autograder grade ps1              grade all submissions, write feedback
      autograder regrade ps1 --dry-run  after you change a problem: whose marks
                                        would change, and why

    `autograder demo` runs all of these steps on a simulated class. `nbgrader autograde ps1` and `nbgrader
    generate_feedback ps1` give the same marks and pages as `autograder grade ps1`, one notebook at a time.
    """


@main.command()
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
    click.echo(f"Next: autograder release {quoted} --course {shlex.quote(str(course))}")
    if marked:
        click.echo(f"Then: autograder regrade {quoted}    (points or voids are not those of the gradebook)")


def _fits_the_class(course: Path, assignment: str, seed: int | None) -> bool:
    """Whether the class was marked by other points; refused, before anything is written, if by other parts."""
    from autograder.nbgrader.scale import before_build

    return before_build(course, assignment, seed)


@main.command()
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
    click.echo(f"Next: hand it out; put what comes back into submitted/; autograder grade {shlex.quote(assignment)}")


@main.command()
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


@main.command()
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


@main.command()
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


@main.command()
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


@main.command()
@click.argument("slug")
@click.option("--from", "original", metavar="SLUG", help="Copy this problem, of the course or of those shipped.")
def new(slug: str, original: str | None) -> None:
    """Make the problem folder SLUG with one working part to edit.

    With --from, it begins as a copy of another problem: one of this course, or one of the second distribution,
    deep-learning-autograder-problems, where an instructor has installed that.
    """
    from autograder.authoring.loading import find_problems
    from autograder.authoring.scaffold import copy_problem, scaffold

    root = find_problems()
    for path in copy_problem(root, slug, original) if original else scaffold(root, slug):
        click.echo(f"wrote {path}")
    click.echo(f"Next: autograder audit {slug}    (then edit problem.py and statement.md)")


@main.command()
@click.argument("slug")
@click.option("--seed", default=0, show_default=True, help="The seed of the first variant.")
@click.option("--count", type=click.IntRange(min=1), help="Show a table of the parameters of this many variants.")
@click.option(
    "--where", multiple=True, metavar="NAME=VALUE", help="Search for variants with this parameter (repeatable)."
)
@click.option("--student", help="Show this student's variant (see build --per-student).")
@click.option("--assignment", help="The assignment that --student refers to.")
@course_option
def variants(
    slug: str,
    seed: int,
    count: int | None,
    where: tuple[str, ...],
    student: str | None,
    assignment: str | None,
    course: Path | None,
) -> None:
    """Show variants of problem SLUG, or search for some.

    \b
      autograder variants ugrnn_gates --seed 7          one, with its answers
      autograder variants ugrnn_gates --count 20        what twenty seeds draw
      autograder variants ugrnn_gates --where R_gate=h  which seeds draw that

    To hand out such a variant, write the parameters, or the seed, into ASSIGNMENT.toml:

    \b
      [parameters.softmax_entropy]
      family = "from 0"
      [seeds]
      ugrnn_gates = 5130
    """
    from autograder.commands.variant_table import find_variants, show_variants

    if where:
        find_variants(slug, where, seed=seed, count=count or 10)
        return
    if student is not None:
        from autograder.authoring.assignment import find_course, read_assignment
        from autograder.authoring.loading import load
        from autograder.authoring.variants import course_secret, own_seed

        if assignment is None:
            raise click.UsageError("--student needs --assignment: a student has another variant in each assignment")
        course = course or find_course()
        seed = own_seed(read_assignment(course, assignment), load(slug), course_secret(course), student)
    show_variants(slug, range(seed, seed + (count or 1)), full=count is None)


@main.command()
@click.argument("course", type=click.Path(path_type=Path))
def init(course: Path) -> None:
    """Make the folder COURSE: a private course of your own.

    It holds nbgrader's configuration, one assignment with one working problem, an empty roster, a README with the
    commands of a term, and the package itself as a wheel, by which a colleague can install it. Every command works in
    it.

    \b
      autograder init my-course
      cd my-course && autograder demo
    """
    from autograder.authoring.new_course import init as make

    for path in make(course):
        click.echo(f"wrote {path}")
    click.echo(f"Next: cd {shlex.quote(str(course))}    (then read README.md)")


@main.command()
@click.argument("name", metavar="SLUG|ASSIGNMENT")
@click.option("--seed", type=int, help="The variant (default: 0, or the one of the assignment).")
@click.option("--answers", is_flag=True, help="Show the answer beside each question.")
@click.option("--output", type=click.Path(dir_okay=False, path_type=Path), help="Write the page to this file.")
@click.option("--open/--no-open", "opens", default=True, show_default=True, help="Open the page in the browser.")
@course_option
def preview(name: str, seed: int | None, answers: bool, output: Path | None, opens: bool, course: Path | None) -> None:
    """Show the page that a student will see.

    The name is that of a problem or of an assignment, whose notebooks follow each other on one page. The page needs no
    network. Nothing is written into the course.

    \b
      autograder preview softmax_entropy --seed 7 --answers
      autograder preview exam-1 --output exam-1.html --no-open
    """
    from autograder.nbgrader.student_page import write_page

    path = write_page(name, seed=seed, answers=answers, output=output, course=course)
    click.echo(f"wrote {path}")
    if opens:
        click.launch(path.as_uri())


@main.command()
@click.option("--students", type=int, default=12, show_default=True, help="Size of the class.")
@click.option(
    "--problem",
    "slugs",
    multiple=True,
    help="Use this problem instead of the three problems of ps1 (repeatable).",
)
@click.option("--keep", is_flag=True, help="Keep the course folder.")
@click.option("--verbose", is_flag=True, help="Show nbgrader's log.")
@click.option(
    "--accidents", is_flag=True, help="Show what happens to correct work when files are copied, cut, locked or lost."
)
def demo(students: int, slugs: tuple[str, ...], keep: bool, verbose: bool, accidents: bool) -> None:
    """Run a whole term with a simulated class.

    A temporary course is built, released, handed in and graded; feedback pages are written. The simulated students
    make the known mistakes of the problems and damage their notebooks in the usual ways.

    With --accidents, every student's answers are correct, and something happens to the files. `autograder grade` is
    killed on the way and continued by two runs at once. The exit code is 1 if a mark is lost that was deserved.
    """
    from rich.console import Console

    from autograder.simulation import demo as term

    console = Console()
    with term.folder(keep) as place:
        console.print(f"The course is in {place}{'' if keep else ' (removed at the end; --keep leaves it)'}.")
        if accidents:
            from autograder.commands.accident_report import show
            from autograder.simulation import rehearsal

            with _bars(console) as progress:
                rehearsed = rehearsal.run(place, slugs=slugs, progress=progress)
            sys.exit(show(rehearsed, console))
        with _bars(console) as progress:
            finished = term.run(place, slugs=slugs, students=students, verbose=verbose, progress=progress)
        _print_class(finished, console)
        if keep:
            console.print(f"Look around: cd {place / 'notebooks'} && nbgrader formgrade")


@contextlib.contextmanager
def _bars(console: Console) -> Iterator[Callable[[str, int, int], None]]:
    """A bar for each step, drawn as the step tells how far it is."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description:32}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    tasks: dict[str, Any] = {}
    with Progress(*columns, console=console) as bars:

        def tell(step: str, finished: int, pieces: int) -> None:
            if step not in tasks:
                tasks[step] = bars.add_task(step, total=pieces)
            bars.update(tasks[step], completed=finished)

        yield tell


def _class_table(finished: Demo, wide: bool) -> Table:
    """Student, what they did, marks per part, total, and, where there is room, why."""
    from rich.table import Table
    from rich.text import Text

    from autograder.simulation import demo as term

    table = Table(title="… waits for a grader", show_lines=True)
    table.add_column("student")
    table.add_column("what they did")
    for problem in finished.problems:
        parts = " ".join(f"{part.points:g}" for part in problem.parts)
        table.add_column(f"{problem.slug.replace('_', ' ')}\n{parts}", min_width=len(parts))
    table.add_column(f"total\n{finished.points:g}", justify="right")
    if wide:
        table.add_column("why")
    for student in finished.students:
        cells = [student.name, student.deed, *(term.marks(student, problem) for problem in finished.problems)]
        cells += [f"{student.score:g}"] + ([term.why(student)] if wide else [])
        table.add_row(*map(Text, cells))
    return table


def _print_class(finished: Demo, console: Console) -> None:
    """The table of the class; on a narrow screen, the reasons stand under it."""
    from rich.text import Text

    from autograder.simulation import demo as term

    if not console.is_terminal:
        console.width = max(console.width, 150)  # nobody reads a file through a keyhole
    wide = console.width >= 130
    console.print(_class_table(finished, wide))
    if not wide:
        for student in finished.students:
            if reason := term.why(student):
                console.print(Text(f"{student.name}: {reason}"))


@main.command()
@click.argument("slugs", nargs=-1)
@click.option(
    "--variants", type=click.IntRange(1), help="How many variants to check.  [default: 20; of assignments, 60]"
)
@click.option("--seed", default=0, show_default=True, help="The seed of the first variant of each problem.")
@click.option(
    "--assignment",
    "assignments",
    multiple=True,
    metavar="NAME",
    help="Look for answers that the notebooks of this assignment show (repeatable).",
)
@course_option
@click.option(
    "--strength", is_flag=True, help="Also test the hidden tests: list mutants of the references that survive."
)
@click.option("--part", default="", help="Check only the part of this name.")
@click.option("--jobs", default=0, help="How many processes to use.  [default: one for each core]")
def audit(
    slugs: tuple[str, ...],
    variants: int | None,
    assignments: tuple[str, ...],
    course: Path | None,
    **options: Any,
) -> None:
    """Check problems before release.

    All problems are checked if no SLUG is given. In every variant, the reference and each equivalent must earn full
    marks, each mistake must lose marks and get its own hint, trivial answers must earn nothing, and the statement must
    show every parameter.

    A fault is printed as a sentence, and the exit code is 1. A note is a weakness that you may accept.

    With --assignment, what all notebooks of an assignment show (formulas, code, quoted texts) is handed in to all of
    its typed parts, and must not earn points there: its notebooks are released together.

    \b
      autograder audit softmax_entropy --strength
      autograder audit --assignment exam-1
    """
    if assignments:
        from autograder.authoring.assignment import find_course
        from autograder.commands.leak_report import run_leaks

        if slugs or options["strength"] or options["part"] or options["seed"]:
            raise click.UsageError("--assignment names the problems and their seed; leave these out")
        sys.exit(run_leaks(course or find_course(), assignments, variants=variants or 60, jobs=options["jobs"]))
    from autograder.commands.audit_report import run_audit

    sys.exit(run_audit(slugs, variants=variants or 20, **options))


@main.command()
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
    mark, with columns student_id, part, points, and, if you like, notebook, comment and grader.

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


_out = click.option(
    "--out", type=click.Path(dir_okay=False, path_type=Path), help="The file to write (default: in this folder)."
)


@main.command()
@click.argument("assignment")
@click.option("--csv", "kind", flag_value="csv", help="Write a table of the parts instead.")
@click.option("--json", "kind", flag_value="json", help="Write all figures as JSON instead.")
@_out
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


@main.command()
@click.argument("assignment")
@click.option("--json", "as_json", is_flag=True, help="Write JSON instead of a page.")
@_out
@course_option
def similar(assignment: str, as_json: bool, course: Path | None, out: Path | None) -> None:
    """List pairs of answers that a person should lay side by side.

    For staff, and only when you ask for it: no mark changes, and nothing is sent anywhere. A pair has a score for what
    it shares and few others have: rare passages of code, equal unusual wrong formulas, and answers that are wrong for
    one's own numbers and right for another seat's. What is right, handed out, listed by the problem, or had by many
    weighs nothing.

    \b
      autograder similar ps1      ps1-similar.html, readable by you alone

    Beside each score stands how many pairs of a class without contact would reach it. A score does not say why answers
    are alike.
    """
    from autograder.authoring.assignment import find_course
    from autograder.commands.similar_answers import similar_answers

    sys.exit(similar_answers(course or find_course(), assignment, as_json=as_json, out=out))


@main.command()
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
@_out
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


@main.command()
@click.argument("kind", metavar="[LANGUAGE]", required=False)
@click.option(
    "--cases",
    "file",
    type=click.File(encoding="utf-8"),
    help="Decide every row of this .jsonl file (- for standard input).",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per language instead of a table.")
@click.option("--failures", is_flag=True, help="List the rows that were not decided as expected.")
@click.option("--reference", help="The correct answer.")
@click.option("--answer", help="The answer to compare with the reference.")
@click.option(
    "--domain",
    "domains",
    multiple=True,
    metavar="NAME=DOMAIN",
    help="The domain of a variable, such as x=real or i=nat.",
)
@click.option("--variables", default="", help="For growth: the variables, separated by spaces.")
@click.option("--target", help="For equations: the tensor that they define.")
def decide(**options: Any) -> None:
    """Compare typed answers without a problem.

    Compare one answer with a reference, or decide a file of cases. LANGUAGE is expression, equation or growth.

    Two texts without a problem are *decided*; answers to a problem's parts are *judged* (`autograder judge`).

    \b
      autograder decide expression --domain x=real \\
          --reference "x^2-1" --answer "(x-1)(x+1)"
      autograder decide growth --variables "n d" \\
          --reference "O(n+d)" --answer "O(max(n,d))"
      autograder decide equation \\
          --reference "y[i] = W[i,J] x[J]" --answer "y[i] = x[J] W[J,i]"
      autograder decide --cases tests/data/cases/expression.jsonl --failures
    """
    from autograder.commands.decide_cases import decide_by_hand, decide_cases

    file = options.pop("file")
    if file is not None:
        sys.exit(decide_cases(file, as_json=options["as_json"], failures=options["failures"]))
    if not (options["kind"] and options["reference"] and options["answer"]):
        raise click.UsageError("give --cases FILE, or a language with --reference and --answer")
    sys.exit(decide_by_hand(**{key: options[key] for key in _BY_HAND}))


@main.command()
@click.option(
    "--answers", "file", type=click.File(encoding="utf-8-sig"), required=True, help="A .jsonl file of answers, or - ."
)
@click.option("--jobs", type=click.IntRange(1), help="Rows to judge at a time (default: one per processor core).")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per folder instead of a table.")
@click.option("--rows", is_flag=True, help="Print one JSON object per row, in order; the table goes to standard error.")
@click.option("--failures", is_flag=True, help="List the rows whose verdict is not the expected one.")
def judge(**options: Any) -> None:
    """Judge a file of answers to problems' parts.

    Each answer is judged as grading would judge it, against the verdict that it deserves. Answers to a problem's parts
    are *judged*; two texts without a problem are *decided* (`autograder decide`).

    \b
      autograder judge --answers mine.jsonl --failures
      autograder judge --answers mine.jsonl --json | tail -1

    A row is a JSON object on one line; keys that are not named here are ignored:

    \b
      {"problem": "softmax_entropy", "seed": 3, "part": "softmax",
       "cell": "softmax = '(1-e^(-beta)) e^(-beta i)'", "expect": "full"}

    The cell takes the place of the official answer in the variant's notebook; the other answers are the official ones.
    A written part's cell is its text. "parameters" may stand for "seed", or beside it: then they decide. "cells" and
    "expect" may be objects, {part: cell} and {part: verdict}, for several answers in one notebook.

    \b
      expect   full   all points
               less   lost, with fewer than all points
               none   lost, with no point
               held   left to a grader
      or       a list of other verdicts that are in order, or such a list for
               each part: {part: [...]}

    What is counted for each folder, and for all ("folder": "all" is the last line of --json):

    \b
      tried         answers that were judged
      false_accept  expected less, and all points were given; expected none,
                    and some were; expected held, and all were
      false_reject  expected full or held, and points were lost
      held          expected full, and held: correct, but a grader must look
      held_wrong    expected less or none, and held: no mark is wrong (in the
                    table; --json has no such key)
      stale         not judged: there is no such problem or part any more, no
                    draw gives such parameters, or the line is no row
      seconds       of work on the folder's rows; for "all", by the clock

    --rows prints an object for each row: "row" (its line in the file), "standing" (of each part: earned, lost, held or
    stale), "points", "max", "code" and "seconds".

    Exit code 1: a verdict is not among the expected ones, or a line is no row. A stale row alone is no failure.
    """
    from autograder.commands.judge_answers import judge_answers

    sys.exit(judge_answers(options.pop("file"), **options))


_BY_HAND = ("kind", "reference", "answer", "domains", "variables", "target")
