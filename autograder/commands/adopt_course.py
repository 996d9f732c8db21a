"""`autograder adopt` from the command line: the marks of a course's own solutions, side by side."""

from __future__ import annotations

import dataclasses
import json
import sys
from pathlib import Path

from rich.console import Console
from rich.table import Table

from autograder.course import adoption


def adopt_course(course: Path, *, write: bool, as_json: bool) -> int:
    """Compare, say what differs, and write the configuration if that is wanted and nothing does; the exit code."""
    result = adoption.compare(course.resolve())
    if as_json:
        compared = [dataclasses.asdict(line) | {"same": line.same} for line in result.lines]
        print(json.dumps({"cells": compared, "notes": result.notes, "failed": result.failed}, ensure_ascii=False))
    else:
        show(result)
    if result.different or result.failed or not result.lines:
        return 1
    if write:
        told = "two lines were added" if adoption.write(course) else "the two lines are there already"
        print(f"{course / adoption.CONFIG}: {told}", file=sys.stderr)
    return 0


def show(result: adoption.Comparison) -> None:
    """The tables for people."""
    console = Console()
    table = Table("assignment", "cells", "same", "different", title="nbgrader and autograder, cell by cell")
    for name, cells, different in adoption.by_assignment(result):
        table.add_row(name, str(cells), str(cells - different), str(different))
    console.print(table)
    marks = Table("notebook", "cell", "submission", "nbgrader", "autograder", "")
    for line in result.lines:
        if line.student == "solution" or not line.same:
            place = f"{line.assignment}/{line.notebook}", line.cell, line.student
            marks.add_row(*place, *map(adoption.shown, (line.plain, line.ours)), "" if line.same else "DIFFERENT")
    console.print(marks)
    for note in result.notes:
        console.print(note, markup=False)
    for assignment, why in result.failed.items():
        console.print(f"{assignment} could not be compared: {why}", markup=False)
