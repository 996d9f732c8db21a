"""The help of the command line: every command is listed, and every page is readable on 80 columns."""

import click
import pytest
from click.testing import CliRunner

from autograder.cli import GROUPS, after, grade, hand_out, main, start, write

PAGES = [(), *((name,) for name in main.commands)]


def help_page(*words):
    """What `--help` prints on a terminal of 80 columns."""
    result = CliRunner().invoke(main, [*words, "--help"], env={"COLUMNS": "80"}, terminal_width=80)
    assert result.exit_code == 0
    return result.output


def test_every_command_stands_under_one_heading():
    """Each module of a group lists all of its commands; what it did not list would be no command at all."""
    listed = [command for commands in GROUPS.values() for command in commands]
    assert sorted(command.name for command in listed) == sorted(main.commands)
    for module in (start, write, hand_out, grade, after):
        assert set(module.COMMANDS) == {value for value in vars(module).values() if isinstance(value, click.Command)}


def test_the_list_of_commands_holds_whole_sentences():
    """Each command's first sentence stands on one line; none is cut off."""
    lines = help_page().splitlines()
    for name, command in main.commands.items():
        (line,) = [line for line in lines if line.startswith(f"  {name} ")]
        first = click.unstyle(command.help or "").split("\n\n")[0]
        assert line.split(maxsplit=1)[1] == " ".join(first.split())


@pytest.mark.parametrize("words", PAGES, ids=lambda words: " ".join(words) or "autograder")
def test_help_fits_80_columns(words):
    """No line is wider, the examples included."""
    assert [line for line in help_page(*words).splitlines() if len(line) > 80] == []
