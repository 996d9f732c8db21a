"""Prints what the audit found: one line a part, then the notes, then a sentence per fault."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from autograder.audit.problem import AuditReport, PartAudit

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from autograder.audit.mutation_score import PartStrength


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
    table = _in_sections("Audit", "points", "mistakes lost", "equivalents earned", "notes", "faults")
    for report in reports:
        table.add_row(f"[bold]{report.slug}[/]", end_section=not report.parts)
        for part in report.parts:
            table.add_row(*_row(part), end_section=part is report.parts[-1])
    return table


def _in_sections(title: str, *numbers: str) -> Table:
    """A table with a section for each problem, in which each part has a line; names are never cut."""
    from rich.table import Table

    table = Table(title=title)
    table.add_column("problem, part", no_wrap=True)
    table.add_column("kind", no_wrap=True)
    for name in numbers:
        table.add_column(name, justify="right", min_width=max(map(len, name.split())))
    return table


def _row(part: PartAudit) -> list[str]:
    return [
        f"  {part.name}",
        part.kind,
        f"{part.points:g}",
        _in_colour(len(part.killed), len(part.mistakes)),
        _in_colour(part.kept, part.equivalents),
        str(len(part.notes) or ""),
        f"[red]{len(part.faults)}[/]" if part.faults else "",
    ]


def share(good: int, listed: int) -> str:
    """'9/9', and a dash where there is nothing to count."""
    return f"{good}/{listed}" if listed else "–"


def _in_colour(good: int, listed: int) -> str:
    """The same, red where some are missing."""
    return share(good, listed) if good == listed else f"[red]{share(good, listed)}[/]"


def _last_line(reports: Sequence[AuditReport], faults: int) -> str:
    killed, listed = (sum(report.kill_score[i] for report in reports) for i in (0, 1))
    untried = sum(report.untried for report in reports)
    tried = f"{killed} of {listed - untried} mistakes lose marks" + (f", {untried} not tried" if untried else "")
    variants = ", ".join(map(_variants, reports))
    read, closed = (sum(part.reread[i] for report in reports for part in report.parts) for i in (0, 1))
    if closed:
        tried += f"; {read} of {closed} equivalents in closed form read a second time by sympy"
    return f"{tried}; {faults} {'fault' if faults == 1 else 'faults'}. Distinct variants: {variants}."


def _variants(report: AuditReport) -> str:
    par = f", par {report.par_ratio:.2f}" if report.par_ratio else ""
    return f"{report.slug}: {report.distinct} of {report.drawn} draws{par}"


def _plain(text: str) -> str:
    from rich.markup import escape

    return escape(text)


def run_audit(
    slugs: Sequence[str], *, variants: int, seed: int, strength: bool = False, jobs: int = 0, part: str = ""
) -> int:
    """Audit the problems of that name, or all, by `jobs` processes; print what was found. 0 if there is no fault.

    `strength` adds mutants of the references: then no mutant may survive either.
    """
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    from autograder.audit.parallel import audit_all, processes, strength_all
    from autograder.authoring.loading import find_problems
    from autograder.authoring.loading import slugs as all_slugs
    from autograder.sandbox.turns import cores

    console = Console()
    root = find_problems()
    if not (slugs or all_slugs(root)):
        console.print(
            f"There are no problems in {_plain(str(root))} yet: `autograder new NAME` makes one.", highlight=False
        )
        return 0
    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
    found: dict[str, list[PartStrength]] = {}
    # The time to go is by the speed since the start: steps are few and long.
    bar = Progress(*columns, console=Console(stderr=True), transient=True, speed_estimate_period=3600)
    with processes(jobs or cores()) as pool, bar:

        def step(name: str) -> Callable[[int, int], None]:
            task = bar.add_task(name, total=None)
            return lambda done, total: bar.update(task, completed=done, total=total)

        names = slugs or all_slugs(root)
        reports = audit_all(pool, names, root, variants=variants, seed=seed, part=part, progress=step("audit"))
        sound = [report.slug for report in reports if not report.faults]
        if strength:
            found = strength_all(pool, sound, root, seed=seed, part=part, progress=step("mutants"))
    if found:
        print_strength(found, console)
    faults = print_audit(reports, console)
    return int(faults > 0 or any(part.survivors for parts in found.values() for part in parts))


def print_strength(found: dict[str, list[PartStrength]], console: Console) -> None:
    """Print how many slips were caught, the harmless ones with the reason why, and the survivors."""
    console.print(_strength_table(found))
    for slug, parts in found.items():
        for part in parts:
            for mutant, reason in part.harmless:
                console.print(
                    f"[dim]equivalent mutant:[/] {slug}, {part.name}: {_plain(mutant.place)} ({reason})",
                    highlight=False,
                )
            for mutant in part.survivors:
                console.print(
                    f"[red]surviving mutant:[/] {slug}, {part.name}: {mutant.kind}: {_plain(mutant.place)}",
                    highlight=False,
                )
    made, killed, harmless, survivors = _totals([part for parts in found.values() for part in parts])
    console.print(f"{made} mutants: {killed} killed, {harmless} equivalent, {survivors} survive.")


def _totals(parts: Sequence[PartStrength]) -> tuple[int, int, int, int]:
    return (
        sum(part.made for part in parts),
        sum(part.killed for part in parts),
        sum(len(part.harmless) for part in parts),
        sum(len(part.survivors) for part in parts),
    )


def _strength_table(found: dict[str, list[PartStrength]]) -> Table:
    table = _in_sections("Strength: mutants of the references", "mutants", "killed", "equivalent", "surviving")
    for slug, parts in found.items():
        table.add_row(f"[bold]{slug}[/]", end_section=not parts)
        for part in parts:
            survivors = f"[red]{len(part.survivors)}[/]" if part.survivors else ""
            counts = (str(part.made), str(part.killed), str(len(part.harmless) or ""), survivors)
            table.add_row(f"  {part.name}", part.kind, *counts, end_section=part is parts[-1])
    return table
