"""The command line; the only folder that imports click. Each command's work is done in another module."""

from __future__ import annotations

import sys
import warnings
from typing import Any

import click

from autograder import __version__
from autograder.cli import after, data_protection, defend, grade, hand_out, start, trust, write
from autograder.errors import AutograderError

# The headings of `--help` and what stands under each, in the order of a term.
GROUPS = {
    "Start": start.COMMANDS,
    "Write problems": write.COMMANDS,
    "Hand out": hand_out.COMMANDS,
    "Grade": grade.COMMANDS,
    "After": after.COMMANDS + defend.COMMANDS,
    "Trust": trust.COMMANDS,
    "Privacy": data_protection.COMMANDS,
}


class Commands(click.Group):
    """Lists its commands in groups, and shows the package's own errors as sentences, not as tracebacks."""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """One list under each heading; the lists are aligned with each other."""
        width = max(map(len, self.commands))
        for heading, commands in GROUPS.items():
            with formatter.section(heading):
                formatter.write_dl([(str(one.name).ljust(width), one.get_short_help_str(70)) for one in commands])

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


@click.group(
    cls=Commands,
    commands=[command for commands in GROUPS.values() for command in commands],
    context_settings={"help_option_names": ["-h", "--help"]},
)
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
      autograder review ps1             decide in the browser what is held
      autograder regrade ps1 --dry-run  after you change a problem: whose marks
                                        would change, and why

    `autograder demo` runs all of these steps on a simulated class. `nbgrader autograde ps1` and `nbgrader
    generate_feedback ps1` give the same marks and pages as `autograder grade ps1`, one notebook at a time.
    """
