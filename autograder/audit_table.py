"""Prints what the audit found: one line a part, then the notes, then a sentence per fault."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from autograder.audit import AuditReport, PartAudit, audit

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from autograder.strength import PartStrength


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
    variants = ", ".join(map(_variants, reports))
    return f"{killed} of {listed} mistakes lose points; {faults} faults. Distinct variants: {variants}."


def _variants(report: AuditReport) -> str:
    par = f", par {report.par[1] / max(report.par[0], 1):.2f}" if report.par else ""
    return f"{report.slug}: {report.distinct} of {report.drawn} draws{par}"


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


def run_strength(slugs: Sequence[str], *, seed: int) -> int:
    """Make slips in every reference and print which survive; 0 if each survivor is harmless."""
    from rich.console import Console
    from rich.progress import Progress

    from autograder.library import find_problems, load
    from autograder.library import slugs as all_slugs
    from autograder.strength import strength

    console = Console()
    root = find_problems()
    found = {}
    with Progress(console=Console(stderr=True), transient=True) as progress:
        for slug in slugs or all_slugs(root):
            problem = load(slug, root)
            task = progress.add_task(slug, total=len(problem.parts))
            found[slug] = strength(problem, seed=seed, progress=lambda task=task: progress.advance(task))  # type: ignore[misc]
    console.print(_strength_table(found))
    for slug, parts in found.items():
        for part in parts:
            for mutant, reason in part.harmless:
                console.print(
                    f"[dim]harmless:[/] {slug}, {part.name}: {_plain(mutant.place)} ({reason})", highlight=False
                )
            for mutant in part.survivors:
                console.print(
                    f"[red]survivor:[/] {slug}, {part.name}: {mutant.kind}: {_plain(mutant.place)}", highlight=False
                )
    return int(any(part.survivors for parts in found.values() for part in parts))


def _strength_table(found: dict[str, list[PartStrength]]) -> Table:
    from rich.table import Table

    table = Table("problem", "part", "kind", title="Strength: slips made by machine")
    for name in ("made", "killed", "harmless", "survivors"):
        table.add_column(name, justify="right")
    for slug, parts in found.items():
        for number, part in enumerate(parts):
            survivors = f"[red]{len(part.survivors)}[/]" if part.survivors else ""
            counts = (str(part.made), str(part.killed), str(len(part.harmless) or ""), survivors)
            table.add_row("" if number else slug, part.name, part.kind, *counts, end_section=part is parts[-1])
    return table
