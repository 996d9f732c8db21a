"""The audit of many problems by several processes: what is found, and its order, are those of one process.

A step is one part under many variants, or the slips in one part. Decisions are remembered within a step: such
variants ask for the same ones. The steps that cost most come first, so that all processes end together, and progress
is counted in what they are expected to cost.
"""

from __future__ import annotations

import gc
import multiprocessing
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, Future, ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import replace
from multiprocessing import util
from pathlib import Path
from typing import Any

from autograder.audit.mutation_score import PartStrength, strength_of
from autograder.audit.part import Findings
from autograder.audit.problem import AuditReport, Plan, examined, plan, reported
from autograder.authoring.loading import load, statement_text
from autograder.core import Part, Problem
from autograder.errors import AuthorError, did_you_mean
from autograder.maths import guard

TOGETHER = 20  # variants of a part that one step examines: they ask for much the same decisions
# What an answer costs to judge, by how its kind is judged: as measured, in about a millisecond of processor time.
RUN, DECIDED, COMPARED = 40, 20, 1

Progress = Callable[[int, int], None]


@contextmanager
def processes(jobs: int) -> Iterator[ProcessPoolExecutor]:
    """That many processes, each with one thread; started afresh, so that none inherits torch's threads."""
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(max_workers=jobs, mp_context=context, initializer=_start)
    try:
        yield pool
    finally:
        pool.shutdown(cancel_futures=True)


def _start() -> None:
    """A process of the pool ends without what `atexit` holds: the guard's own processes end with it all the same."""
    util.Finalize(None, guard.close, exitpriority=10)
    gc.set_threshold(20_000, 20, 20)  # a collection walks over all of torch and sympy


def audit_all(
    pool: ProcessPoolExecutor,
    slugs: Sequence[str],
    root: Path,
    *,
    variants: int,
    seed: int,
    part: str = "",
    progress: Progress = lambda done, total: None,
) -> list[AuditReport]:
    """The reports on the problems, in order; of every problem that has it, only `part` where one is named."""
    problems = [load(slug, root) for slug in slugs]
    wanted = [[number for number, each in enumerate(p.parts) if part in ("", each.name)] for p in problems]
    if not any(wanted):
        names = [each.name for problem in problems for each in problem.parts]
        raise AuthorError("part", f"no part is named {part!r}{did_you_mean(part, names)}")
    plans = dict(gathered(pool, {n: (_plan, slug, root, variants, seed) for n, slug in enumerate(slugs)}))
    steps: dict[Any, tuple[Any, ...]] = {}
    costs: dict[Any, int] = {}
    for n, slug in enumerate(slugs):
        for number in wanted[n]:
            for first in range(0, len(plans[n].chosen), TOGETHER):
                places = range(len(plans[n].chosen))[first : first + TOGETHER]
                steps[n, number, first] = (_examined, slug, root, number, plans[n], places, seed)
                costs[n, number, first] = len(places) * _cost(problems[n].parts[number])
    found = dict(gathered(pool, steps, progress, costs))
    return [
        reported(problem, plans[n], [_joined(found, n, number) for number in range(len(problem.parts))])
        for n, problem in enumerate(problems)
        if wanted[n]
    ]


def strength_all(
    pool: ProcessPoolExecutor,
    slugs: Sequence[str],
    root: Path,
    *,
    seed: int,
    part: str = "",
    progress: Progress = lambda done, total: None,
) -> dict[str, list[PartStrength]]:
    """How strong the hidden tests of each problem are."""
    problems: dict[str, Problem] = {slug: load(slug, root) for slug in slugs}
    steps = {
        (slug, number): (_strength, slug, root, number, seed)
        for slug, problem in problems.items()
        for number, each in enumerate(problem.parts)
        if part in ("", each.name)
    }
    costs = {(slug, number): _cost(problems[slug].parts[number]) for slug, number in steps}
    found = dict(gathered(pool, steps, progress, costs))
    return {slug: [each for key in steps if key[0] == slug for each in found[key]] for slug in slugs}


def _cost(part: Part) -> int:
    """What it is expected to cost to judge everybody's answer to a part under one variant."""
    answers = 1 + len(part.mistakes) + len(part.right_answers())
    return answers * (RUN if part.runs else DECIDED if part.formula else COMPARED)


def gathered(
    pool: Executor,
    steps: dict[Any, tuple[Any, ...]],
    progress: Progress = lambda done, total: None,
    costs: Mapping[Any, int] | None = None,
) -> Iterator[tuple[Any, Any]]:
    """What each step gives, as it comes. Those of highest `costs` are begun first; without them all count one."""
    costs = costs or dict.fromkeys(steps, 1)
    order = sorted(steps, key=lambda key: -costs[key])
    futures: dict[Future[Any], Any] = {pool.submit(*steps[key]): key for key in order}
    done = 0
    for future in as_completed(futures):
        yield futures[future], future.result()
        done += costs[futures[future]]
        progress(done, sum(costs.values()))


def _joined(found: dict[Any, list[Findings]], problem: int, part: int) -> list[Findings]:
    keys = sorted(key for key in found if key[:2] == (problem, part))
    return [each for key in keys for each in found[key]]


def _plan(slug: str, root: Path, variants: int, seed: int) -> Plan:
    return plan(load(slug, root), statement_text(slug, root), variants=variants, seed=seed)


def _examined(slug: str, root: Path, number: int, planned: Plan, places: Sequence[int], seed: int) -> list[Findings]:
    problem = load(slug, root)
    with guard.remembering():
        return [examined(problem, problem.parts[number], planned, place, seed) for place in places]


def _strength(slug: str, root: Path, number: int, seed: int) -> list[PartStrength]:
    problem = load(slug, root)
    with guard.remembering():
        return [_without_code(each) for each in strength_of(problem, problem.parts[number], seed)]


def _without_code(found: PartStrength) -> PartStrength:
    """What is printed of the mutants; their functions exist in this process alone."""
    harmless = tuple((replace(mutant, subject=None), reason) for mutant, reason in found.harmless)
    return replace(
        found, harmless=harmless, survivors=tuple(replace(mutant, subject=None) for mutant in found.survivors)
    )
