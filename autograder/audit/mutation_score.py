"""How strong the hidden tests are: slips made by machine that keep every point, and whether that does any harm.

A mutant is *killed* if it loses points, or is held, in one of several variants: a branch that one of them does not
take is another's answer. One that is never killed is *harmless* where it gives the reference's values and gradients
on further hidden inputs of these variants, or where what differs is not asked for; else it is a *survivor*, and the
part's inputs or checks are too weak.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from autograder.audit.mutants import Mutant, mutants_of_code, mutants_of_rows, mutants_of_text
from autograder.audit.simulated_answers import handed_in
from autograder.authoring.variants import stream_key, variant
from autograder.checks import close, gradient
from autograder.checks.check import Check
from autograder.checks.gradient import Gradient
from autograder.core import Parameters, Part, Problem
from autograder.grading.judge import judge_part
from autograder.parts.function import Function
from autograder.parts.typed import Typed
from autograder.protocol.answering import one_thread
from autograder.protocol.respondents import local

VARIANTS = 8
FURTHER = 2  # draws of hidden inputs, per variant, by which a survivor is compared with the reference


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
    """Mutate every part that has a reference of code or typed mathematics, under the variants from `seed` on."""
    one_thread()
    drawn = _distinct(problem, seed)
    found = []
    for part in problem.parts:
        if isinstance(part, Function | Typed):
            found.append(_part(problem, part, drawn))
        progress()
    return found


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


def _part(problem: Problem, part: Part, drawn: list[Parameters]) -> PartStrength:
    made, killed = 0, 0
    harmless, survivors = [], []
    for mutant in _mutants(part, drawn[0]):
        made += 1
        under = drawn if isinstance(part, Function) else drawn[:1]  # a typed slip was made in one variant's text
        if not all(_full(problem, part, mutant, p, "inputs") for p in under):
            killed += 1
        elif (reason := _reason(problem, part, mutant, drawn)) is not None:
            harmless.append((mutant, reason))
        else:
            survivors.append(mutant)
    return PartStrength(
        name=part.name, kind=part.kind, made=made, killed=killed, harmless=tuple(harmless), survivors=tuple(survivors)
    )


def _mutants(part: Part, p: Parameters) -> Iterator[Mutant]:
    if isinstance(part, Function):
        yield from mutants_of_code(part.reference)
    elif isinstance(part, Typed):
        written = part.written_by_author(p)
        yield from mutants_of_text(written) if isinstance(written, str) else mutants_of_rows(written)


def _full(problem: Problem, part: Part, mutant: Mutant, p: Parameters, purpose: str) -> bool:
    """Whether the mutant earns every point on the hidden inputs of that purpose."""
    key = stream_key(b"audit", problem.slug, part.name, purpose)
    if isinstance(part, Typed):
        cell = f"{part.name} = {mutant.subject!r}\n"
        return judge_part(part, p, handed_in(problem, part, cell), key).standing == "earned"
    return judge_part(part, p, local(mutant.subject, part.name, p), key).standing == "earned"


def _reason(problem: Problem, part: Part, mutant: Mutant, drawn: list[Parameters]) -> str | None:
    """Why a mutant that keeps every point does no harm; None if it does."""
    if isinstance(part, Typed):
        is_open = getattr(part, "demands", None) is not None
        return "another right answer to an open question" if is_open else "proved equal by the answer language"
    assert isinstance(part, Function)

    def agrees(*checks: Check) -> bool:
        asked = replace(part, checks=checks)
        draws = [(p, f"further {i}") for p in drawn for i in range(FURTHER)]
        return all(_full(problem, asked, mutant, p, purpose) for p, purpose in draws)

    if agrees(close(rtol=1e-9), gradient(rtol=1e-8)):
        return "same values and gradients on further draws of the inputs"
    if not any(isinstance(check, Gradient) for check in part.checks) and agrees(close(rtol=1e-9)):
        return "same values on further draws of the inputs; gradients are not asked for"
    if not part.checks[0].compares:
        return "another answer that has the properties asked for"
    return None
