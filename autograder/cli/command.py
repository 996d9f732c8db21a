"""What the commands share: how one is declared, and the options that many have."""

from __future__ import annotations

import functools
import importlib.util
from pathlib import Path
from typing import Any

import click

from autograder.errors import StaffError

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


command = functools.partial(click.command, cls=Command)
column_option = click.option(
    "--column", default="", metavar="NAME", help="The roster's column that names a student's folder."
)
course_option = click.option(
    "--course",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="The nbgrader course folder (default: the one around this folder).",
)
out_option = click.option(
    "--out", type=click.Path(dir_okay=False, path_type=Path), help="The file to write (default: in this folder)."
)
