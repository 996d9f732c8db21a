"""The command line; the only file that imports its library. Every command's work lies in a module of its own."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from autograder.errors import AutograderError


class Commands(click.Group):
    """Shows the package's own errors as sentences, not as tracebacks."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; an error of ours ends with exit code 1 and its message."""
        try:
            return super().invoke(ctx)
        except AutograderError as error:
            click.echo(f"autograder: {error.message}", err=True)
            sys.exit(1)


course_option = click.option(
    "--course",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="The nbgrader course folder (default: notebooks/ of this checkout).",
)


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="autograder")
def main() -> None:
    """Exercises and exams for a deep-learning course that mark themselves, on nbgrader.

    \b
    A term with it:
      autograder audit                  prove the problems before anybody sees them
      autograder build ps1              notebooks/ps1.toml -> notebooks/source/ps1/*.ipynb
      cd notebooks
      nbgrader generate_assignment ps1  the students' version
      nbgrader autograde ps1            mark what was handed in (through autograder's configuration)
      nbgrader generate_feedback ps1    pages for the students
    \b
    See it work first:
      autograder demo                   all of that, with a simulated class, in a temporary folder
    """


@main.command()
@click.argument("assignment")
@click.option("--seed", type=int, help="Draw this variant instead of the assignment's own.")
@course_option
def build(assignment: str, seed: int | None, course: Path | None) -> None:
    """Make the source notebooks of ASSIGNMENT from its .toml file in the course folder."""
    from autograder.assignment import find_course, read_assignment
    from autograder.course.building import write

    course = course or find_course()
    for path, changed in write(course, read_assignment(course, assignment), seed):
        click.echo(f"{'wrote    ' if changed else 'unchanged'} {path}")
    click.echo(f"Next: cd {course} && nbgrader generate_assignment {assignment}")
