"""The command line; the only file that imports its library. Every command's work lies in a module of its own."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from autograder import __version__
from autograder.errors import AutograderError

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from autograder.simulation.demo import Demo


class Commands(click.Group):
    """Shows the package's own errors as sentences, not as tracebacks."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; an error of ours ends with exit code 1 and its message."""
        try:
            return super().invoke(ctx)
        except AutograderError as error:
            click.echo(f"autograder: {error.message}", err=True)
            sys.exit(1)


def _build_own(course: Path, name: str, roster: Path) -> None:
    """A notebook for each student, with a bar; what students share is said."""
    from rich.progress import track

    from autograder.authoring.assignment import read_assignment
    from autograder.course.per_student import alike, read_roster, write_own

    assignment, students = read_assignment(course, name), read_roster(roster)
    wanted = len(students) * len(assignment.problems)
    written = sum(new for _, new in track(write_own(course, assignment, students), "per student", total=wanted))
    click.echo(f"{len(students)} students: {written} notebooks written, {wanted - written} unchanged")
    for slug, shared in alike(course, assignment, students).items():
        if shared:
            click.echo(f"note: in {slug}, {shared} of {len(students)} students share their numbers with another one")


course_option = click.option(
    "--course",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="The nbgrader course folder (default: notebooks/ of this checkout).",
)


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="autograder")
def main() -> None:
    """Exercises and exams for a deep-learning course that mark themselves, on nbgrader.

    \b
    A term with it:
      autograder audit                  prove the problems before anybody sees them
      autograder build ps1              notebooks/ps1.toml -> notebooks/source/ps1/*.ipynb
      cd notebooks
      nbgrader generate_assignment ps1  the students' version
      autograder grade ps1              mark what was handed in, many at once, with pages for the students
      autograder regrade ps1 --dry-run  after a change of a problem: who would move, and why
    \b
    `nbgrader autograde ps1` and `nbgrader generate_feedback ps1` give the same marks and pages, one after the other.
    \b
    See it work first:
      autograder demo                   all of that, with a simulated class, in a temporary folder
    """


@main.command()
@click.argument("assignment")
@click.option("--seed", type=int, help="Draw this variant instead of the assignment's own.")
@click.option(
    "--per-student",
    "roster",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Make a notebook for each student of this CSV file too, with numbers of his own.",
)
@course_option
def build(assignment: str, seed: int | None, roster: Path | None, course: Path | None) -> None:
    """Make the source notebooks of ASSIGNMENT from its .toml file in the course folder.

    With variants = "student" in that file and --per-student, each student of the roster gets
    students/ID/ASSIGNMENT/*.ipynb, to be handed out by whatever way you hand things out; they are handed in and graded
    as ever, and grading finds each one's numbers by itself.
    """
    from autograder.authoring.assignment import find_course, read_assignment
    from autograder.authoring.building import write

    course = course or find_course()
    for path, changed in write(course, read_assignment(course, assignment), seed):
        click.echo(f"{'wrote    ' if changed else 'unchanged'} {path}")
    if roster is not None:
        _build_own(course, assignment, roster)
    again = " --force" if (course / "release" / assignment).is_dir() else ""  # else nbgrader keeps the old release
    click.echo(f"Next: cd {course} && nbgrader generate_assignment {assignment}{again}")


@main.command()
@click.argument("assignment")
@course_option
@click.option("--student", "students", multiple=True, metavar="ID", help="Grade this student only (may be repeated).")
@click.option("--jobs", type=click.IntRange(1), help="Notebooks to run at a time (default: one per processor core).")
@click.option("--resume", is_flag=True, help="Go on with a run that was cut short: what is done is not done again.")
@click.option("--feedback/--no-feedback", default=True, show_default=True, help="Write the students' pages as well.")
@click.option("--twice", is_flag=True, help="Run every notebook twice; a part that is marked differently is held.")
@click.option("--require-sandbox", is_flag=True, help="Run nothing where a layer of the wall is missing.")
@click.option(
    "--scheduler", metavar="tcp://HOST:PORT", default="", help="Run notebooks on this Dask cluster's workers."
)
@click.option("--json", "as_json", is_flag=True, help="End with one line of JSON on standard output.")
def grade(assignment: str, course: Path | None, **options: Any) -> None:
    """Mark everything that was handed in for ASSIGNMENT: in parallel, each in a sandbox of its own.

    Marks, comments, autograded notebooks and feedback are those of `nbgrader autograde` and `generate_feedback`. Every
    submission that is done stands in reports/ASSIGNMENT.jsonl; after whatever cut the run short (Ctrl-C, a crash, a
    full disk), the same command with --resume does the rest. A bad submission stops no other one.

    \b
      autograder grade ps1                     the whole class
      autograder grade ps1 --student ada       one of them, again
      autograder grade ps1 --resume            go on where it stopped
      autograder grade ps1 --json | tail -1    figures for a script

    Exit code 0: every submission is graded, though some may wait for a person (see "held"). 1: some could not be
    graded, through no fault of the student's, or are left to do. 2: the command was not understood.
    """
    from autograder.authoring.assignment import find_course
    from autograder.commands.grade_class import grade_class

    sys.exit(grade_class(course or find_course(), assignment, **options))


@main.command()
@click.argument("assignment")
@course_option
@click.option("--student", "students", multiple=True, metavar="ID", help="Judge this student only (may be repeated).")
@click.option("--dry-run", is_flag=True, help="Write nothing: show who would move, by how much, and why.")
@click.option("--feedback/--no-feedback", default=True, show_default=True, help="Write new pages for who moves.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")
def regrade(assignment: str, course: Path | None, **options: Any) -> None:
    """Judge the stored answers of ASSIGNMENT again, after a change of a problem. No student's code is run.

    Every report holds what was asked and answered, so a corrected reference, tolerance or mistake takes a moment to
    apply. Look first:

    \b
      autograder regrade ps1 --dry-run      who moves, by how much, and by which verdict codes
      autograder regrade ps1                write it; old reports stay beside the new ones, marks by hand stay

    A check that asks something new cannot be judged from what is stored: those parts keep their marks and are listed;
    `autograder grade` runs them. Exit code 0: all could be judged; 1: some need a run.
    """
    from autograder.authoring.assignment import find_course
    from autograder.commands.grade_class import regrade_class

    sys.exit(regrade_class(course or find_course(), assignment, **options))


@main.command()
@click.argument("slug")
def new(slug: str) -> None:
    """Make the problem folder SLUG with one working part, to be changed into yours."""
    from autograder.authoring.loading import find_problems
    from autograder.authoring.scaffold import scaffold

    for path in scaffold(find_problems(), slug):
        click.echo(f"wrote {path}")
    click.echo(f"Next: autograder audit {slug}    (CONTRIBUTING.md takes you through the rest)")


@main.command()
@click.argument("slug")
@click.option("--seed", default=0, show_default=True, help="The first variant's seed.")
@click.option("--count", type=click.IntRange(min=1), help="Show a table of that many variants' parameters.")
@click.option("--student", help="The variant of this student, in a course with one variant each.")
@click.option("--assignment", help="The assignment, for --student.")
@course_option
def variants(
    slug: str, seed: int, count: int | None, student: str | None, assignment: str | None, course: Path | None
) -> None:
    """Show the variants of problem SLUG: statements and answers side by side."""
    from autograder.commands.variant_table import show_variants

    if student is not None:
        from autograder.authoring.assignment import find_course
        from autograder.authoring.variants import course_secret, student_seed

        if assignment is None:
            raise click.UsageError("--student needs --assignment: a student's variant differs from one to the other")
        seed = student_seed(course_secret(course or find_course()), assignment, slug, student)
    show_variants(slug, range(seed, seed + (count or 1)), full=count is None)


@main.command()
@click.option("--students", type=int, default=12, show_default=True, help="How many members the class has.")
@click.option(
    "--problem",
    "slugs",
    multiple=True,
    help="Use this problem, in place of the three of problem set 1 (may be given more than once).",
)
@click.option("--keep", is_flag=True, help="Leave the course folder, to look around in.")
@click.option("--verbose", is_flag=True, help="Show what nbgrader says.")
def demo(students: int, slugs: tuple[str, ...], keep: bool, verbose: bool) -> None:
    """See a term: build, release, hand in, grade, feedback, with a simulated class in a temporary folder."""
    from rich.console import Console

    from autograder.simulation import demo as term

    console = Console()
    with term.folder(keep) as place:
        console.print(f"The course is in {place}{'' if keep else ' (removed at the end; --keep leaves it)'}.")
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

    table = Table(title="… waits for a person", show_lines=True)
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
@click.option("--variants", default=20, show_default=True, help="Variants to draw of each problem.")
@click.option("--seed", default=0, show_default=True, help="The first variant's seed.")
@click.option("--strength", is_flag=True, help="Also make slips in the references by machine; list those that survive.")
def audit(slugs: tuple[str, ...], variants: int, seed: int, strength: bool) -> None:
    """Prove the problems SLUGS (all, if none is named) before a student sees them.

    For every variant the reference and each equivalent must earn all points, each mistake must lose some and read its
    own hint, trivial answers must earn nothing, and the statement must show every parameter. Exit code 1 and a sentence
    per fault otherwise. A note is a weakness that you may accept.
    """
    from autograder.commands.audit_report import run_audit

    sys.exit(run_audit(slugs, variants=variants, seed=seed, strength=strength))


@main.command()
@click.argument("kind", required=False)
@click.option(
    "--cases", "file", type=click.File(encoding="utf-8"), help="Decide every row of this .jsonl file, or of - ."
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per kind instead of a table.")
@click.option("--failures", is_flag=True, help="List the rows that were not decided as they should be.")
@click.option("--reference", help="The right answer, to decide one by hand.")
@click.option("--answer", help="The answer to compare with it.")
@click.option(
    "--domain", "domains", multiple=True, metavar="NAME=DOMAIN", help="Where a variable lives: x=real, i=nat."
)
@click.option("--variables", default="", help="The variables of growth, apart by spaces.")
@click.option("--target", help="The tensor that the equations define.")
def decide(**options: Any) -> None:
    """Decide typed answers: a whole table of cases, or one answer of some KIND by hand.

    \b
      autograder decide --cases tests/data/cases/expression.jsonl --failures
      autograder decide expression --reference "x^2-1" --answer "(x-1)(x+1)" --domain x=real
      autograder decide growth --reference "O(n+d)" --answer "O(max(n,d))" --variables "n d"
      autograder decide equation --reference "y[i] = W[i,J] x[J]" --answer "y[i] = x[J] W[J,i]"
    """
    from autograder.commands.decide_cases import decide_by_hand, decide_cases

    file = options.pop("file")
    if file is not None:
        sys.exit(decide_cases(file, as_json=options["as_json"], failures=options["failures"]))
    if not (options["kind"] and options["reference"] and options["answer"]):
        raise click.UsageError("give --cases FILE, or a kind with --reference and --answer")
    sys.exit(decide_by_hand(**{key: options[key] for key in _BY_HAND}))


_BY_HAND = ("kind", "reference", "answer", "domains", "variables", "target")
