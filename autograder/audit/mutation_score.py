"""How strong the hidden tests are: slips made by machine that keep every point, and whether that does any harm.

A mutant is *killed* if it loses points, or is held, in one of several variants: a branch that one of them does not
take is another's answer. Variants that are the same to a part count once. One that is never killed is *harmless* where
it gives the reference's values and gradients on further hidden inputs of these variants, or where what differs is not
asked for; else it is a *survivor*, and the part's inputs or checks are too weak.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from autograder.authoring.variants import stream_key, variant
from autograder.core import Parameters, Part, Problem, Verdict
from autograder.grading.judge import award
from autograder.parts.mutants import Mutant
from autograder.protocol.answering import one_thread, question_key
from autograder.protocol.codec import encode
from autograder.protocol.respondents import Interview, local

VARIANTS = 8
FURTHER = 1  # draws of hidden inputs, per variant, by which a survivor is compared with the reference


@dataclass(frozen=True, kw_only=True)
class PartStrength:
    """How one part fared: how many slips were made and caught; the others with why they do no harm, or none."""

    name: str
    kind: str
    made: int
    killed: int
    harmless: tuple[tuple[Mutant, str], ...] = ()
    survivors: tuple[Mutant, ...] = ()


def strength(problem: Problem, *, seed: int = 0, progress: Callable[[], None] = lambda: None) -> list[PartStrength]:
    """Mutate every part in whose reference a machine can make slips, under the variants from `seed` on."""
    found = []
    for part in problem.parts:
        found += strength_of(problem, part, seed)
        progress()
    return found


def strength_of(problem: Problem, part: Part, seed: int) -> list[PartStrength]:
    """The same for one part: none where no slip can be made in it."""
    one_thread()
    drawn = _distinct(problem, seed)
    mutants = part.mutants(drawn[0])
    return [] if mutants is None else [_part(problem, part.terse(), mutants, drawn)]


def _distinct(problem: Problem, seed: int) -> list[Parameters]:
    """The first distinct variants from a seed on."""
    found: list[Parameters] = []
    for number in range(seed, seed + 40 * VARIANTS):
        p = variant(problem, number).parameters
        if p not in found:
            found.append(p)
        if len(found) == VARIANTS:
            break
    return found


def _part(problem: Problem, part: Part, mutants: Iterator[Mutant], drawn: list[Parameters]) -> PartStrength:
    made, killed = 0, 0
    harmless, survivors = [], []
    different = _different(problem, part, drawn)
    for mutant in mutants:
        made += 1
        under = different if callable(mutant.subject) else drawn[:1]  # a typed slip was made in one variant's text
        if not all(_full(problem, part, mutant, p, "inputs") for p in under):
            killed += 1
        elif (reason := part.harmless(functools.partial(_agrees, problem, mutant, different))) is not None:
            harmless.append((mutant, reason))
        else:
            survivors.append(mutant)
    return PartStrength(
        name=part.name, kind=part.kind, made=made, killed=killed, harmless=tuple(harmless), survivors=tuple(survivors)
    )


def _different(problem: Problem, part: Part, drawn: list[Parameters]) -> list[Parameters]:
    """Those of the variants under which this part asks, or its reference answers, something that no other does."""
    if not part.runs:
        return drawn
    key = stream_key(b"audit", problem.slug, part.name, "inputs")
    found: dict[bytes, Parameters] = {}
    for p in drawn:
        interview = Interview(local(part.reference, part.name, p))
        list(part.judging(p, interview, key))
        found.setdefault(encode([[question_key(asked), reply.value] for asked, reply in interview.answers]), p)
    return list(found.values())


def _full(problem: Problem, part: Part, mutant: Mutant, p: Parameters, purpose: str) -> bool:
    """Whether the mutant earns every point on the hidden inputs of that purpose."""
    key = stream_key(b"audit", problem.slug, part.name, purpose)
    verdicts: list[Verdict] = []
    try:
        for verdict in part.judging(p, Interview(local(mutant.subject, part.name, p)), key):
            verdicts.append(verdict)
            if part.settled(verdicts):
                return False
    except Exception:  # grading would hold it
        return False
    return award(part, verdicts)[0] == "earned"


def _agrees(problem: Problem, mutant: Mutant, drawn: list[Parameters], asked: Part) -> bool:
    """Whether the mutant earns every point of `asked` on further hidden inputs of these variants."""
    draws = [(p, f"further {i}") for p in drawn for i in range(FURTHER)]
    return all(_full(problem, asked, mutant, p, purpose) for p, purpose in draws)
