"""Finds a problem's faults before a student does: every mistake must lose points, every right answer keep them all.

Each reference, equivalent and mistake is handed in as the answer cell that a notebook would hold. A fault is a
sentence that names problem and part and says what there is instead; a note is a weakness that an author may accept.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from autograder.audit.parity import band
from autograder.audit.part import Findings, examine, heard, name_of
from autograder.authoring import paper_formulas
from autograder.authoring.loading import unused
from autograder.authoring.statement import render
from autograder.authoring.variants import stream_key, variant
from autograder.core import Parameters, Part, Problem
from autograder.errors import StaffError
from autograder.maths import guard
from autograder.protocol.answering import one_thread
from autograder.protocol.codec import encode


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
    stopped: bool = False  # not everybody's answer was judged
    reread: tuple[int, int] = (0, 0)  # equivalents that are closed forms: read a second time, and all


@dataclass(frozen=True, kw_only=True)
class AuditReport:
    """What the audit found about one problem. `distinct` are different draws among `drawn`; `par` is the length of the
    shortest and of the longest solution among them; `unseen` are values of parameters that no audited variant has.
    """

    slug: str
    variants: int
    drawn: int
    distinct: int
    parts: tuple[PartAudit, ...] = ()
    problem_faults: tuple[str, ...] = ()
    problem_notes: tuple[str, ...] = ()
    par: tuple[int, int] | None = None
    unseen: tuple[str, ...] = ()

    @property
    def faults(self) -> tuple[str, ...]:
        """The sentences of the problem and of all its parts."""
        return (*self.problem_faults, *(fault for part in self.parts for fault in part.faults))

    @property
    def notes(self) -> tuple[str, ...]:
        """The notes of the problem and of all parts, and what no audited variant shows."""
        notes = (*self.problem_notes, *(note for part in self.parts for note in part.notes))
        if not self.unseen:
            return notes
        missing = f"no audited variant has {', '.join(self.unseen)}; ask for more than {self.variants} --variants"
        return (*notes, f"problems/{self.slug}: {missing}")

    @property
    def par_ratio(self) -> float | None:
        """How many times as long as the shortest solution the longest one is."""
        return self.par and self.par[1] / max(self.par[0], 1)

    @property
    def untried(self) -> int:
        """Mistakes of parts that could not be examined."""
        return sum(len(part.mistakes) for part in self.parts if part.stopped)

    @property
    def kill_score(self) -> tuple[int, int]:
        """Mistakes that lose points, and mistakes listed."""
        return sum(len(part.killed) for part in self.parts), sum(len(part.mistakes) for part in self.parts)


Progress = Callable[[int, int], None]


@dataclass(frozen=True, kw_only=True)
class Plan:
    """The variants under which a problem's parts are examined, and what was found about the problem itself."""

    chosen: tuple[Parameters, ...]
    drawn: int
    distinct: int
    faults: tuple[str, ...]
    notes: tuple[str, ...]
    par: tuple[int, int] | None
    unseen: tuple[str, ...]
    sections: tuple[Mapping[str, str], ...]  # of the statement, under each variant


def audit(
    problem: Problem, text: str, *, variants: int = 4, seed: int = 0, progress: Progress = lambda done, total: None
) -> AuditReport:
    """Audit a problem and its statement over `variants` of the distinct draws from `seed` on: those that between them
    have most values of the parameters.

    `progress` is called with the number of steps done and their total. An author's exceptions become faults.
    """
    planned = plan(problem, text, variants=variants, seed=seed)
    found: list[list[Findings]] = [[] for _ in problem.parts]
    with guard.remembering():
        for number, part in enumerate(problem.parts):
            for place in range(len(planned.chosen)):
                found[number].append(examined(problem, part, planned, place, seed))
                progress(number * len(planned.chosen) + place + 1, len(problem.parts) * len(planned.chosen))
    return reported(problem, planned, found)


def plan(problem: Problem, text: str, *, variants: int, seed: int) -> Plan:
    """Draw the variants, and look at all but the parts."""
    one_thread()
    found = Findings(where=f"problems/{problem.slug}")
    drawn, distinct = _draws(problem, seed, found)
    chosen, unseen = _various(distinct, variants)
    sections = [_statement(problem, text, p, found) for p in chosen]
    for sentence in _on_paper(sections):
        found.note(sentence, sentence)
    par = heard(found, {}, _par, problem, distinct) if distinct else None
    for name in unused(problem):
        found.note(
            f"unused {name}",
            f"nothing uses {name} of problem.py; if it is a mistake or an equivalent, list it with its part",
        )
    return Plan(
        chosen=tuple(chosen), drawn=drawn, distinct=len(distinct), faults=tuple(found.faults.values()), par=par,
        unseen=unseen, notes=tuple(found.notes.values()), sections=tuple(sections),
    )  # fmt: skip


def _on_paper(sections: Sequence[Mapping[str, str]]) -> list[str]:
    """What paper cannot show of the statement's formulas: that the notebook can, hides it until the exam is printed."""
    try:
        paper_formulas.require()
    except StaffError as error:
        return [f"its formulas were not tried on paper: {error.message}"]
    return paper_formulas.unprintable(text for section in sections for text in section.values())


def examined(problem: Problem, part: Part, planned: Plan, place: int, seed: int) -> Findings:
    """What there is to be found about one part under one of the variants."""
    one_thread()
    found = Findings(where=f"problems/{problem.slug}, part {part.name!r}")
    p = planned.chosen[place]
    key = stream_key(b"audit", problem.slug, part.name, seed, place)
    heard(found, p, examine, problem, part, p, key, planned.sections[place].get(part.name, ""))
    return found


def reported(problem: Problem, planned: Plan, found: Sequence[Sequence[Findings]]) -> AuditReport:
    """The report on a problem from what was found about each part under each variant, in order.

    A part about which nothing was looked for has no line.
    """
    audited = []
    for part, findings in zip(problem.parts, found, strict=True):
        together = Findings(where=f"problems/{problem.slug}, part {part.name!r}")
        for each in findings:
            together.add(each)
        if findings or not planned.chosen:
            audited.append(_part_audit(part, together))
    return AuditReport(
        slug=problem.slug, variants=len(planned.chosen), drawn=planned.drawn, distinct=planned.distinct,
        parts=tuple(audited), problem_faults=planned.faults, problem_notes=planned.notes,
        par=planned.par, unseen=planned.unseen,
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
        if number < seed + TWICE and variant(problem, number).parameters != p:
            found.fault(
                "draw", f"draw() returns other numbers for the same seed {number}; use only the rng it is given"
            )
        distinct.setdefault(encode(p), p)
    if len(distinct) < problem.variants:
        found.fault(
            "variants",
            f"too few distinct variants: {len(distinct)} in {drawn} draws; "
            f"the problem promises variants={problem.variants}",
        )
    return drawn, list(distinct.values())


def _various(distinct: list[Parameters], count: int) -> tuple[list[Parameters], tuple[str, ...]]:
    """Draws that show as many values of the parameters as so few can, and the values that none of them shows.

    Words, truth values, and numbers of which there are no more than FEW: of more, none is special.
    """
    unseen = set().union(*map(_values, distinct))
    numbers = [name for name, value in distinct[0].items() if type(value) in (int, float)] if distinct else []
    many = [name for name in numbers if sum(name == other for other, _ in unseen) > FEW]
    unseen = {(name, value) for name, value in unseen if name not in many}
    chosen: list[Parameters] = []
    left = list(distinct)
    while unseen and left and len(chosen) < count:
        best = max(left, key=lambda p: len(unseen & _values(p)))  # the first of those that show most
        chosen.append(best)
        left.remove(best)
        unseen -= _values(best)
    chosen += left[: count - len(chosen)]
    return chosen, tuple(f"{name}={value}" for name, value in sorted(unseen))


FEW = 4
TWICE = 10  # draws that are made a second time


def _values(p: Parameters) -> set[tuple[str, str]]:
    return {(name, repr(value)) for name, value in p.items() if type(value) in (bool, str, int, float)}


def _par(problem: Problem, distinct: list[Parameters], found: Findings) -> tuple[int, int]:
    """The variants ask for about the same amount of work; the shortest and the longest solution."""
    shortest, longest = band(problem, distinct)
    if longest > problem.par * shortest:
        found.fault(
            "par",
            f"the variants differ too much in length: their solutions have {shortest} to {longest} words and signs, "
            f"and par={problem.par:g} allows a ratio of {problem.par:g}",
        )
    return shortest, longest


def _is_plain(value: Any) -> bool:
    if isinstance(value, list | tuple):
        return all(map(_is_plain, value))
    return value is None or type(value) in (bool, int, float, str)


def _statement(problem: Problem, text: str, p: Parameters, found: Findings) -> Mapping[str, str]:
    """The statement is filled in, and shows every number that is graded; its sections, as far as they can be made."""

    def filled(found: Findings) -> Mapping[str, str]:
        sections = render(problem, text, p)
        for name, section in sections.items():
            if "{{" in section:
                place = section[section.index("{{") :][:30].split("\n")[0]
                found.fault(
                    "placeholder",
                    f"statement.md, {name or 'opening'}: {place!r} is not a placeholder such as {{{{J}}}}",
                )
        return sections

    return heard(found, p, filled) or {}


def _part_audit(part: Part, found: Findings) -> PartAudit:
    for draw, unseen in found.weak.items():
        seen_elsewhere = unseen - found.survivors
        shown = f"{len(seen_elsewhere)} of {len(part.mistakes)} mistakes ({', '.join(sorted(seen_elsewhere))})"
        if seen_elsewhere:
            found.note(f"weak {draw}", f"inputs {draw}() alone may miss {shown}; the other inputs catch them")
    for sentence in found.narrow():
        found.note(sentence, sentence)
    names = tuple(mistake.__name__ for mistake in part.mistakes if found.stopped or mistake.__name__ in found.made)
    right = part.right_answers()
    again = {who: why for who, why in found.reread.items() if who.startswith("equivalent")}
    kept = [item for item in right if f"equivalent {name_of(item)}" not in found.survivors]
    return PartAudit(
        name=part.name, kind=part.kind, points=float(part.points), mistakes=names,
        killed=() if found.stopped else tuple(name for name in names if name not in found.survivors),
        equivalents=len(right), kept=0 if found.stopped else len(kept),
        faults=tuple(found.faults.values()), notes=tuple(found.notes.values()), stopped=found.stopped,
        reread=(list(again.values()).count(""), len(again)),
    )  # fmt: skip
