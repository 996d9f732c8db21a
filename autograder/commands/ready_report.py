"""`autograder ready` from the command line: a line for each check while they are made, and a table at the end."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from autograder.audit.parallel import processes
from autograder.sandbox.turns import cores
from autograder.simulation.readiness import Check, checks


def say_ready(course: Path, assignment: str, *, variants: int, jobs: int) -> int:
    """Make the checks and show them; 1 if something is not in order."""
    console, made = Console(), []
    with processes(jobs or cores()) as pool:
        for title, look in checks(course, assignment, pool, variants=variants):
            with Console(stderr=True).status(f"{title} …"):
                made.append(look())
    console.print(_table(assignment, made))
    faulty = [check for check in made if not check.ok]
    for check in faulty:
        console.print(Text(f"{check.name}: {check.found}\n  → {check.way_out}"), soft_wrap=True)
    console.print(f"{assignment} can be handed out." if not faulty else f"{len(faulty)} of {len(made)} checks fail.")
    return int(bool(faulty))


def _table(assignment: str, made: list[Check]) -> Table:
    table = Table("check", "", "what was found", title=f"Is {assignment} ready?")
    for check in made:
        table.add_row(Text(check.name), Text("✓" if check.ok else "✗"), Text(check.found[:300]))
    return table
