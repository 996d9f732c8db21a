"""Finds a problem's faults before a student does: every mistake must lose points, every right answer keep them all.

Each reference, equivalent and mistake is handed in as the answer cell that a notebook would hold. A fault is a
sentence that names problem and part and says what there is instead; a note is a weakness that an author may accept.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from autograder.core import Parameters, Part, Problem
from autograder.examination import Findings, examine, heard, name_of
from autograder.parity import band
from autograder.statement import render
from autograder.variants import stream_key, variant
from autograder.wire import encode


@dataclass(frozen=True, kw_only=True)
class PartAudit:
    """What the audit found about one part. `killed` are the mistakes that lost points in every variant."""

    name: str
    kind: str
    points: float
    mistakes: tuple[str, ...]
    killed: tuple[str, ...]
    equivalents: int
    kept: int
    faults: tuple[str, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class AuditReport:
    """What the audit found about one problem. `distinct` are different draws among `drawn`; `par` is the length of the
    shortest and of the longest solution among them.
    """

    slug: str
    variants: int
    drawn: int
    distinct: int
    parts: tuple[PartAudit, ...] = ()
    problem_faults: tuple[str, ...] = ()
    par: tuple[int, int] | None = None

    @property
    def faults(self) -> tuple[str, ...]:
        """The sentences of the problem and of all its parts."""
        return (*self.problem_faults, *(fault for part in self.parts for fault in part.faults))

    @property
    def notes(self) -> tuple[str, ...]:
        """The notes of all parts."""
        return tuple(note for part in self.parts for note in part.notes)

    @property
    def kill_score(self) -> tuple[int, int]:
        """Mistakes that lose points, and mistakes listed."""
        return sum(len(part.killed) for part in self.parts), sum(len(part.mistakes) for part in self.parts)


Progress = Callable[[int, int], None]


def audit(
    problem: Problem, text: str, *, variants: int = 4, seed: int = 0, progress: Progress = lambda done, total: None
) -> AuditReport:
    """Audit a problem and its statement over the first `variants` distinct draws from `seed` on.

    `progress` is called with the number of steps done and their total. An author's exceptions become faults.
    """
    found = Findings(where=f"problems/{problem.slug}")
    drawn, distinct = _draws(problem, seed, found)
    chosen = distinct[:variants]
    for p in chosen:
        _statement(problem, text, p, found)
    bands: list[tuple[int, int]] = []
    if distinct:
        heard(found, {}, _par, problem, distinct, bands)
    parts = []
    for number, part in enumerate(problem.parts):
        findings = Findings(where=f"problems/{problem.slug}, part {part.name!r}")
        for place, p in enumerate(chosen):
            key = stream_key(b"audit", problem.slug, part.name, seed, place)
            heard(findings, p, examine, problem, part, p, key)
            progress(number * len(chosen) + place + 1, len(problem.parts) * len(chosen))
        parts.append(_part_audit(part, findings))
    return AuditReport(
        slug=problem.slug, variants=len(chosen), drawn=drawn, distinct=len(distinct), parts=tuple(parts),
        problem_faults=tuple(found.faults.values()),
        par=bands[0] if bands else None,
    )  # fmt: skip


def _draws(problem: Problem, seed: int, found: Findings) -> tuple[int, list[Parameters]]:
    """How many seeds were tried, and the distinct parameters in order; a fault where there are too few."""
    drawn = 10 * problem.variants + 20
    distinct: dict[bytes, Parameters] = {}
    for number in range(seed, seed + drawn):
        try:
            p = variant(problem, number).parameters
        except Exception as error:
            found.fault("draw", f"draw() raises {type(error).__name__}: {error}")
            return drawn, []
        for name, value in p.items():
            if not _is_plain(value):
                found.fault(
                    f"plain {name}",
                    f"draw() gives {name!r} = {value!r}, a {type(value).__name__}; write int(...), float(...), "
                    "bool(...) or str(...), so that it can be written into a notebook",
                )
                return drawn, []
        if variant(problem, number).parameters != p:
            found.fault("draw", f"draw() gives other numbers for the same seed {number}; use only the rng it is given")
        distinct.setdefault(encode(p), p)
    if len(distinct) < problem.variants:
        found.fault(
            "variants",
            f"too few distinct variants: {len(distinct)} among {drawn} draws, variants={problem.variants} are promised",
        )
    return drawn, list(distinct.values())


def _par(problem: Problem, distinct: list[Parameters], bands: list[tuple[int, int]], found: Findings) -> None:
    """The variants ask for about the same amount of work."""
    shortest, longest = band(problem, distinct)
    if longest > problem.par * shortest:
        found.fault(
            "par",
            f"the variants are not at par: their solutions have {shortest} to {longest} words and signs, "
            f"and par={problem.par:g} allows a ratio of {problem.par:g}",
        )
    bands.append((shortest, longest))


def _is_plain(value: Any) -> bool:
    if isinstance(value, list | tuple):
        return all(map(_is_plain, value))
    return value is None or type(value) in (bool, int, float, str)


def _statement(problem: Problem, text: str, p: Parameters, found: Findings) -> None:
    """The statement is filled in, and shows every number that is graded."""

    def filled(found: Findings) -> None:
        for name, section in render(problem, text, p).items():
            if "{{" in section:
                place = section[section.index("{{") :][:30].split("\n")[0]
                found.fault(
                    "placeholder", f"statement.md, {name or 'opening'}: {place!r} is no placeholder like {{{{J}}}}"
                )

    heard(found, p, filled)


def _part_audit(part: Part, found: Findings) -> PartAudit:
    for draw, unseen in found.weak.items():
        shown = f"{len(unseen)} of {len(part.mistakes)} mistakes: {', '.join(sorted(unseen))}"
        found.note(f"weak {draw}", f"inputs {draw}() may not see {shown}")
    names = tuple(mistake.__name__ for mistake in part.mistakes if found.stopped or mistake.__name__ in found.made)
    right = [*part.equivalents, *getattr(part, "alternatives", ())]
    kept = [item for item in right if f"equivalent {name_of(item)}" not in found.survivors]
    return PartAudit(
        name=part.name, kind=part.kind, points=float(part.points), mistakes=names,
        killed=() if found.stopped else tuple(name for name in names if name not in found.survivors),
        equivalents=len(right), kept=0 if found.stopped else len(kept),
        faults=tuple(found.faults.values()), notes=tuple(found.notes.values()),
    )  # fmt: skip
