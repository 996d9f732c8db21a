"""To start: a course of one's own, and the rehearsal of a term."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

import click

from autograder.cli.command import command


@command()
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


@command()
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

    from autograder.commands.demo_report import bars, print_class
    from autograder.simulation import demo as term

    console = Console()
    with term.folder(keep) as place:
        console.print(f"The course is in {place}{'' if keep else ' (removed at the end; --keep leaves it)'}.")
        if accidents:
            from autograder.commands.accident_report import show
            from autograder.simulation import rehearsal

            with bars(console) as progress:
                rehearsed = rehearsal.run(place, slugs=slugs, progress=progress)
            sys.exit(show(rehearsed, console))
        with bars(console) as progress:
            finished = term.run(place, slugs=slugs, students=students, verbose=verbose, progress=progress)
        print_class(finished, console)
        if keep:
            console.print(f"Look around: cd {place / 'notebooks'} && nbgrader formgrade")


@command()
@click.argument("course", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--write", is_flag=True, help="Add the two lines to the course's nbgrader_config.py.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")
def adopt(course: Path, write: bool, as_json: bool) -> None:
    """Compare the marks of plain nbgrader and of this package.

    COURSE is the folder of an nbgrader course, with notebooks and tests of its own. Its solutions, and the notebooks as
    they are handed out, are graded twice, in copies of the course: nothing in it is touched. A cell whose marks differ
    is listed.

    \b
      autograder adopt my-course            compare
      autograder adopt my-course --write    compare, and switch nbgrader over

    \b
    Exit codes:
      0  not one mark differs
      1  a mark differs, or an assignment could not be graded; nothing was written
    """
    from autograder.commands.adopt_course import adopt_course

    sys.exit(adopt_course(course, write=write, as_json=as_json))


COMMANDS = (init, demo, adopt)
