"""`autograder collect` from the command line: take the download apart, and show whose each submission is."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import rich.console
import rich.table
from rich.text import Text

from autograder.course.collecting import WAITING, Options, Result, run
from autograder.nbgrader.files import printable

_WORDS = {
    "new": "new",
    "replaced": "replaced",
    "unchanged": "unchanged",
    "older": "not taken: older",
    "differs": "NOT TAKEN: another one is there",
    "unmatched": "NOT TAKEN: whose?",
    "ambiguous": "NOT TAKEN: whose?",
    "failed": "NOT TAKEN",
}


def collect_download(course: Path, assignment: str, download: Path, *, as_json: bool, **options: Any) -> int:
    """Put a download's submissions into the course and say what became of each; the exit code."""
    result = run(course, Options(assignment=assignment, download=download, **options))
    if as_json:
        print(json.dumps(dataclasses.asdict(result), ensure_ascii=False))
    else:
        _show(result, dry_run=options["dry_run"], assignment=assignment)
    return result.exit_code


def _show(result: Result, *, dry_run: bool, assignment: str) -> None:
    console = rich.console.Console()
    if not console.is_terminal:
        console.width = max(console.width, 160)
    table = rich.table.Table(title=f"{result.platform}{' (nothing was written)' if dry_run else ''}")
    for name in ("student", "submission", "files", "late or time", "result"):
        table.add_column(name, overflow="fold", justify="right" if name == "files" else "left")
    for row in result.rows:
        words = ": ".join(filter(None, (_WORDS[row.state], row.why)))
        style = "bold red" if row.state in WAITING else ""
        late = " ".join(filter(None, ("LATE" if row.late else "", row.time)))
        cells = (row.student or "?", row.label, str(row.files), late)
        table.add_row(*(Text(printable(cell)) for cell in cells), Text(printable(words), style=style))
    console.print(table)
    for name in result.strange[:20]:
        console.print(Text(f"{printable(name)} belongs to no submission; it was left alone."), soft_wrap=True)
    if len(result.strange) > 20:
        console.print(f"{len(result.strange) - 20} more files belong to no submission.")
    if result.absent:
        console.print(Text(f"No submission from {', '.join(result.absent)}."), soft_wrap=True)
    taken = sum(row.state in ("new", "replaced") for row in result.rows)
    waiting = sum(row.state in WAITING for row in result.rows)
    verb = "would be" if dry_run else "were"
    console.print(f"{taken} of {len(result.rows)} submissions {verb} put into submitted/; {waiting} wait for you.")
    if not dry_run:
        console.print(f"Next: autograder grade {assignment}", markup=False, highlight=False)
