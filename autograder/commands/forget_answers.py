"""`autograder forget` from the command line: a table of what goes, a question, a bar, and what is left."""

from __future__ import annotations

import datetime
import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.progress import track
from rich.table import Table
from rich.text import Text

from autograder.course.forgetting import STEPS, Going, Plan, forget, plan
from autograder.nbgrader.files import printable

_SHOWN = 20  # lines of a list


def forget_answers(
    course: Path, before: datetime.date, *, yes: bool, dry_run: bool, unmarked: bool, as_json: bool
) -> int:
    """Show what goes, ask, and forget; the exit code is 1 where something is left to a person."""
    console, course = Console(stderr=as_json), course.resolve()
    planned = plan(course, before, unmarked=unmarked)
    if planned.anything:
        console.print(_table(planned))
    _say(console, planned)
    left = planned.elsewhere
    if not planned.anything:
        console.print(f"Nothing {'else ' if planned.staying else ''}is kept that was handed in before {before}.")
    elif dry_run:
        console.print("Nothing was written. Marks, names and the secret would stay.")
    elif not (yes or _sure(planned)):
        console.print("Nothing was written.")
        return 1
    if not dry_run:
        left = forget(course, planned, _bar)
        if planned.anything:
            console.print(f"The answers of {len(planned.going)} submissions are forgotten. Marks are as they were.")
    for path in left[:_SHOWN]:
        console.print(Text(f"left to you: {path.relative_to(course)} has lines of these answers"), soft_wrap=True)
    if as_json:
        print(json.dumps(_data(planned, left, course, done=not dry_run), ensure_ascii=False))
    return int(bool(left or planned.staying))


def _sure(planned: Plan) -> bool:
    if not sys.stdin.isatty():
        raise click.UsageError("this cannot be taken back; say --yes, or look first with --dry-run")
    return click.confirm(f"Forget the answers of {len(planned.going)} submissions? This cannot be taken back", err=True)


def _table(planned: Plan) -> Table:
    table = Table("assignment", "students", "latest", *STEPS, "reports", "comments", box=None, padding=(0, 1, 0, 0))
    for column in table.columns[1:]:
        column.justify = "right"
    for name, several in planned.by_assignment().items():
        counts = [sum(bool(one.files[step]) for one in several) for step in STEPS]
        counts += [sum(bool(one.reports) for one in several), sum(one.comments for one in several)]
        table.add_row(name, str(len(several)), f"{max(one.when for one in several):%Y-%m-%d}", *map(str, counts))
    return table


def _say(console: Console, planned: Plan) -> None:
    if planned.going:
        console.print("Journals, decisions, lists of what was collected, transcribed and handed out lose their lines.")
    for path in planned.pages:
        console.print(Text(f"goes, too: {path.name}"))
    for name in planned.stray:
        console.print(f"go, too: answers of {name} that no report speaks of, of a run that was interrupted")
    staying = list(planned.staying.items())
    for (assignment, student), why in staying[:_SHOWN]:
        console.print(Text(f"stays: {printable(student)}, {assignment}: {why}"), soft_wrap=True)
    if len(staying) > _SHOWN:
        console.print(f"… and {len(staying) - _SHOWN} more")
    if staying:
        console.print("Decide what waits with `autograder review`, or say --unmarked.")


def _bar(going: list[Going]) -> Iterable[Going]:
    return track(going, "forgetting", console=Console(stderr=True), transient=True)


def _data(planned: Plan, left: Iterable[Path], course: Path, *, done: bool) -> dict[str, Any]:
    return {
        "before": planned.before.isoformat(),
        "forgotten" if done else "would_forget": [[one.assignment, one.student] for one in planned.going],
        "staying": [[*pair, why] for pair, why in planned.staying.items()],
        "left": [str(path.relative_to(course)) for path in left],
    }
