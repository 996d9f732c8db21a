"""`autograder defend` after `autograder grade`: from a class's notebooks to sheets, and to the marks that leave."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path

import pytest

from autograder.cli import main
from autograder.defence.course_sheets import write
from autograder.nbgrader.class_gradebook import read_class
from click.testing import CliRunner


def run(course: Path, *words: str) -> tuple[int, str]:
    """A command's exit code and what it prints."""
    done = CliRunner().invoke(main, [*words, "--course", str(course)], catch_exceptions=False)
    return done.exit_code, done.output
