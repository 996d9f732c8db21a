"""Every part of every problem: where the question comes from, and how strongly its hidden tests were tested.

    python -m benchmarks.strength                      writes docs/problems.md (about ten minutes on one core)
    python -m benchmarks.strength softmax_entropy      writes that problem's section anew
    python -m benchmarks.strength softmax_entropy --variants 1000      audits so many, and writes nothing
    python -m benchmarks.strength --answers            counts distinct answers anew, and leaves the rest (seconds)

Each problem is audited in VARIANTS variants, then its references are mutated. Several runs may go on side by side: each
writes the sections that it made, as soon as they are made, and leaves what the others wrote.
"""

from __future__ import annotations

import fcntl
import sys
import time
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

import click

from autograder.audit.distinct_answers import CODE, distinct_answers
from autograder.audit.mutation_score import PartStrength, strength
from autograder.audit.problem import AuditReport, PartAudit, audit
from autograder.authoring.loading import load, slugs, statement_text
from autograder.commands.audit_report import share
from autograder.core import Problem

ROOT = Path(__file__).parents[1]
PROBLEMS = ROOT / "problems"
PAGE = ROOT / "docs" / "problems.md"
VARIANTS = 20
HEAD = """# The problems, and how strongly they are tested

Each part was audited in {variants} variants, which together cover most parameter values.

- *Mistakes*: how many known mistakes lost marks in every variant, of those listed.
- *Equivalents*: how many correct answers that are written differently earned full marks, of those listed.
- *Mutants*: references with one small change made by machine; how many lost marks or were held, of those made.
- *Equivalent mutants* gave the same values on further draws, or are proved equal.
- *Surviving mutants* are the others: the hidden tests do not catch them.
- *Distinct answers*: in how many ways the right answer differs between variants; for code, among {code} of them. A part
  with a constant answer asks every class and every student for the same.

Made by `python -m benchmarks.strength`; `tests/test_docs.py` keeps it in step with the folders.
"""
COLUMNS = ("part", "kind", "points", "mistakes", "equivalents", "mutants", "equivalent mutants", "surviving mutants",
           "distinct answers")  # fmt: skip


def section(problem: Problem, report: AuditReport, mutants: list[PartStrength]) -> str:
    """One problem's heading and table."""
    found, answers = {part.name: part for part in mutants}, distinct_answers(problem)
    lines = [
        f"## {problem.title}: `{problem.slug}`",
        "",
        f"From {problem.source}. {report.distinct} distinct sets of parameters in {report.drawn} draws; the longest "
        f"solution has {report.par_ratio or 1:.2f} times as many words and signs as the shortest.",
        "",
        f"| {' | '.join(COLUMNS)} |",
        f"| {' | '.join('---' for _ in COLUMNS)} |",
    ]
    for part in report.parts:
        cells = (*_audited(part), *_mutants(found.get(part.name)), counted(answers[part.name]))
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join([*lines, ""])


def counted(answers: int) -> str:
    """How many answers a part has; one that never changes is named so."""
    return str(answers) if answers > 1 else "constant"


def with_answers(section: str, answers: Mapping[str, int]) -> str:
    """A section whose last column is made anew."""
    lines = section.split("\n")
    for place, line in enumerate(lines):
        cells = [cell.strip() for cell in line.split("|")[1:-1]][: len(COLUMNS) - 1]
        if line.startswith("| part"):
            lines[place] = f"| {' | '.join(COLUMNS)} |"
        elif line.startswith("| ---"):
            lines[place] = f"| {' | '.join('---' for _ in COLUMNS)} |"
        elif line.startswith("| `"):
            name = cells[0].strip("`")
            lines[place] = f"| {' | '.join((*cells, counted(answers[name]) if name in answers else '–'))} |"
    return "\n".join(lines)


def _audited(part: PartAudit) -> tuple[str, ...]:
    """What the audit says about a part."""
    killed, kept = share(len(part.killed), len(part.mistakes)), share(part.kept, part.equivalents)
    return f"`{part.name}`", part.kind, f"{part.points:g}", killed, kept


def _mutants(part: PartStrength | None) -> tuple[str, str, str]:
    if part is None:
        return "–", "–", "–"
    return f"{part.killed}/{part.made}", str(len(part.harmless)), str(len(part.survivors))


def sections_of(page: str) -> dict[str, str]:
    """The sections of a page by slug."""
    return {section.split("`")[1]: f"## {section}".rstrip() + "\n" for section in page.split("\n## ")[1:]}


def rewrite(slug: str, made: str | Callable[[str], str], page: Path = PAGE) -> None:
    """Put a section on the page, or make it anew from what it is now; no other run writes in between."""
    with page.open("a+", encoding="utf-8") as file:
        fcntl.flock(file, fcntl.LOCK_EX)  # until it is closed
        file.seek(0)
        sections = sections_of(file.read())
        sections[slug] = made if isinstance(made, str) else made(sections[slug])
        kept = [sections[name] for name in slugs(PROBLEMS) if name in sections]
        file.truncate(0)
        file.write("\n".join([HEAD.format(variants=VARIANTS, code=CODE), *kept]))


@click.command()
@click.argument("names", nargs=-1)
@click.option("--variants", default=VARIANTS, show_default=True, help="Variants to audit of each problem.")
@click.option("--answers", "alone", is_flag=True, help="Count distinct answers anew, and audit nothing.")
def main(names: tuple[str, ...], variants: int, alone: bool) -> None:
    """Audit the problems NAMES, or all, and write their sections of the page; one with a fault keeps its old one."""
    known = names or slugs(PROBLEMS)
    if alone:
        for slug in known:
            rewrite(slug, partial(with_answers, answers=distinct_answers(load(slug, PROBLEMS))))
        return
    checked, seconds = 0, 0.0
    faults: list[str] = []
    for slug in known:
        problem = load(slug, PROBLEMS)
        began = time.perf_counter()
        report = audit(problem, statement_text(slug, PROBLEMS), variants=variants)
        took = time.perf_counter() - began
        checked, seconds, faults = checked + report.variants, seconds + took, [*faults, *report.faults]
        print(
            f"{slug}: {report.variants} variants checked in {took:.1f} s, {report.variants / took:.2f} a second; "
            f"{len(report.faults)} faults",
            flush=True,
        )
        if variants == VARIANTS and not report.faults:
            rewrite(slug, section(problem, report, strength(problem)))
    print(f"{checked} variants checked in {seconds:.0f} s: {checked / seconds:.2f} a second")
    for fault in faults:
        print(fault)
    sys.exit(bool(faults))


if __name__ == "__main__":
    main()
