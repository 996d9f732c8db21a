"""Prints what the notebooks of assignments give away: a line an assignment, what was looked at, a sentence per leak."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from autograder.audit.leaks import Copied, LeakReport

if TYPE_CHECKING:
    from rich.console import Console


def run_leaks(course: Path, names: Sequence[str], *, variants: int, jobs: int = 0) -> int:
    """Look for leaks in the assignments of that name, by `jobs` processes; print what was found. 0 if there is none."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    from autograder.audit.leaks import search_leaks
    from autograder.audit.parallel import processes
    from autograder.authoring.assignment import read_assignment
    from autograder.authoring.loading import find_problems
    from autograder.sandbox.turns import cores

    assignments, root = [read_assignment(course, name) for name in names], find_problems()
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    reports = []
    with processes(jobs or cores()) as pool, Progress(*columns, console=Console(stderr=True), transient=True) as bar:

        def step(name: str) -> Callable[[int, int], None]:
            task = bar.add_task(name, total=None)
            return lambda done, total: bar.update(task, completed=done, total=total)

        for assignment in assignments:
            found = search_leaks(pool, assignment, root, variants=variants, progress=step(assignment.name))
            reports.append(found)
    return int(print_leaks(reports, Console()) > 0)


def print_leaks(reports: Sequence[LeakReport], console: Console) -> int:
    """Print the table, what is no leak with its reason, and the leaks; the number of leaks comes back."""
    from rich.markup import escape
    from rich.table import Table

    table = Table(title="What the notebooks of an assignment give away")
    table.add_column("assignment", no_wrap=True)
    for name in ("problems", "variants", "typed parts", "texts shown", "answers tried", "leaks"):
        table.add_column(name, justify="right")
    for report in reports:
        numbers = (report.problems, report.variants, report.parts, report.shown, report.tried)
        number_of_leaks = f"[red]{len(report.leaks)}[/]" if report.leaks else "0"
        table.add_row(report.assignment, *(f"{number:,}" for number in numbers), number_of_leaks)
    console.print(table)
    for report in reports:
        for line in _listed(report):
            console.print(f"[dim]no leak:[/] {report.assignment}: {escape(line)}", highlight=False)
    leaks = [(report.assignment, leak) for report in reports for leak in report.leaks]
    for assignment, leak in leaks:
        console.print(f"[red]fault:[/] {assignment}: {escape(_sentence(leak))}", highlight=False)
    console.print(f"{len(leaks)} {'leak' if len(leaks) == 1 else 'leaks'}.", highlight=False)
    return len(leaks)


def _listed(report: LeakReport) -> Iterator[str]:
    """One line for each part that earns by a text which says nothing."""
    parts = Counter((item.slug, item.part, item.reason) for item in report.found if item.reason)
    for (slug, part, reason), count in parts.items():
        example = next(
            item.text for item in report.found if (item.slug, item.part, item.reason) == (slug, part, reason)
        )
        others = f" and {count - 1} others" if count > 1 else ""
        yield f"{slug}, part {part!r}: {example!r}{others} would earn; {reason}"


def _sentence(leak: Copied) -> str:
    variants = f"{len(leak.seeds)} variant{'' if len(leak.seeds) == 1 else 's'} (seed {leak.seeds[0]})"
    return (
        f"{leak.text!r}, which the notebook {leak.where} shows, earns {leak.points:g} of {leak.max_points:g} points in "
        f"{leak.slug}, part {leak.part!r}, in {variants}"
    )
