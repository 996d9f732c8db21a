"""What `autograder demo` shows while it runs, and the table of the class at its end."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from autograder.simulation import demo as term

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table


@contextlib.contextmanager
def bars(console: Console) -> Iterator[Callable[[str, int, int], None]]:
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


def _class_table(finished: term.Demo, wide: bool) -> Table:
    """Student, what they did, marks per part, total, and, where there is room, why."""
    from rich.table import Table
    from rich.text import Text

    table = Table(title=f"{term.HELD} waits for a grader", show_lines=True)
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


def print_class(finished: term.Demo, console: Console) -> None:
    """The table of the class; on a narrow screen, the reasons stand under it."""
    from rich.text import Text

    if not console.is_terminal:
        console.width = max(console.width, 150)  # nobody reads a file through a keyhole
    wide = console.width >= 130
    console.print(_class_table(finished, wide))
    if not wide:
        for student in finished.students:
            if reason := term.why(student):
                console.print(Text(f"{student.name}: {reason}"))
