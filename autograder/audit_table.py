"""Prints what the audit found: one line a part, then the notes, then a sentence per fault."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from autograder.audit import AuditReport, PartAudit, audit

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table


def print_audit(reports: Sequence[AuditReport], console: Console) -> int:
    """Print the table, the notes and the faults; the number of faults comes back."""
    console.print(_table(reports))
    for report in reports:
        for note in report.notes:
            console.print(f"[dim]note:[/] {_plain(note)}", highlight=False)
    faults = [fault for report in reports for fault in report.faults]
    for fault in faults:
        console.print(f"[red]fault:[/] {_plain(fault)}", highlight=False)
    console.print(_last_line(reports, len(faults)), highlight=False)
    return len(faults)


def _table(reports: Sequence[AuditReport]) -> Table:
    from rich.table import Table

    table = Table(title="Audit")
    for name in ("problem", "part", "kind"):
        table.add_column(name)
    for name in ("points", "mistakes that lose", "equivalents that keep", "notes", "faults"):
        table.add_column(name, justify="right")
    for report in reports:
        for number, part in enumerate(report.parts):
            table.add_row("" if number else report.slug, *_row(part), end_section=part is report.parts[-1])
        if not report.parts:
            table.add_row(report.slug, end_section=True)
    return table


def _row(part: PartAudit) -> list[str]:
    return [
        part.name,
        part.kind,
        f"{part.points:g}",
        _share(len(part.killed), len(part.mistakes)),
        _share(part.kept, part.equivalents),
        str(len(part.notes) or ""),
        f"[red]{len(part.faults)}[/]" if part.faults else "",
    ]


def _share(good: int, listed: int) -> str:
    """'9/9', red where some are missing, a dash where there is nothing to count."""
    if not listed:
        return "–"
    return f"{good}/{listed}" if good == listed else f"[red]{good}/{listed}[/]"


def _last_line(reports: Sequence[AuditReport], faults: int) -> str:
    killed, listed = (sum(report.kill_score[i] for report in reports) for i in (0, 1))
    variants = ", ".join(f"{report.slug}: {report.distinct} of {report.drawn} draws" for report in reports)
    return f"{killed} of {listed} mistakes lose points; {faults} faults. Distinct variants: {variants}."


def _plain(text: str) -> str:
    from rich.markup import escape

    return escape(text)


def run_audit(slugs: Sequence[str], *, variants: int, seed: int) -> int:
    """Audit the problems of that name, or all, with a progress bar; print what was found. 0 if there is no fault."""
    from rich.console import Console
    from rich.progress import Progress

    from autograder.library import find_problems, load, statement_text
    from autograder.library import slugs as all_slugs

    console = Console()
    root = find_problems()
    reports = []
    with Progress(console=Console(stderr=True), transient=True) as progress:
        for slug in slugs or all_slugs(root):
            task = progress.add_task(slug, total=None)
            problem = load(slug, root)
            reports.append(
                audit(
                    problem,
                    statement_text(slug, root),
                    variants=variants,
                    seed=seed,
                    progress=lambda done, total, task=task: progress.update(task, completed=done, total=total),  # type: ignore[misc]
                )
            )
    return int(print_audit(reports, console) > 0)
