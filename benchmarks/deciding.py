"""What it costs to decide a wrong equation, as multiples of what reading it and one evaluation in floats cost.

    python -m benchmarks.deciding [PART ...]        # such as spatial_transformer.layer; by default all equations

The floor is measured in the same run on the same answers, so that a busy machine changes both alike. `decided` is the
verdict, `known` the search among the known mistakes once they have been evaluated, `hints` the ladder, which only an
answer that is no known mistake needs. Before known mistakes were tried together and work was counted, two parts
needed as many floors in all as BEFORE says.
"""

import itertools
import statistics
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import click

from autograder.authoring.loading import load, slugs
from autograder.authoring.variants import variant
from autograder.core import Parameters
from autograder.maths.tensor import decide, first_equal
from autograder.maths.tensor.equivalence import explain
from autograder.maths.tensor.question import Question
from autograder.maths.tensor.values import Budget
from autograder.parts import Equation

PROBLEMS = Path(__file__).parents[1] / "problems"
SEED, EACH = 3, 6
STEPS = ((1, "decided"), (2, "known"), (3, "hints"))
_NEW = itertools.count()
BEFORE = {"spatial_transformer.layer": 245, "image_captioning.attention": 300}


def equations() -> Iterator[tuple[str, Equation, Parameters]]:
    """Every equation that is compared with a reference, under one variant."""
    for slug in slugs(PROBLEMS):
        problem = load(slug, PROBLEMS)
        for part in problem.parts:
            if isinstance(part, Equation) and part.demands is None:
                yield f"{slug}.{part.name}", part, variant(problem, SEED).parameters


def least(run: Callable[[str], object], answer: str, times: int = 3) -> float:
    """The smallest processor time of several runs: other tenants slow one down, never up.

    Each run is given a text that is new, as every student's is: nothing has been kept of it.
    """
    found = []
    for _ in range(times):
        text = f"{answer}\n{' ' * next(_NEW)}"
        start = time.process_time()
        run(text)
        found.append(time.process_time() - start)
    return min(found)


def measured(part: Equation, p: Parameters) -> list[tuple[float, ...]]:
    """The floor, and what deciding, the search for a known mistake and the hints cost.

    Each mistake is tried as if it were none of the known ones.
    """
    reference, told = part.right(p), part._told(p)
    texts = [part.given(mistake, p) for mistake in part.mistakes if part.applies(mistake, p)]
    rows = []
    for answer in texts[:EACH]:
        others = [text for text in texts if text != answer]
        outcome = decide(reference, answer, hints=False, **told)
        prepared = Question(reference=reference, **told).prepare(answer, budget=Budget())
        if outcome.outcome != "different" or prepared.comparison is None:
            continue
        runs = (
            lambda text: floor(reference, text, told),
            lambda text: decide(reference, text, hints=False, **told),
            lambda text, others=others: first_equal(others, text, reference=reference, **told),  # type: ignore[misc]
            lambda text, outcome=outcome: explain(reference, text, outcome, **told),  # type: ignore[misc]
        )
        rows.append(tuple(least(run, answer) for run in runs))
    return rows


def floor(reference: str, answer: str, told: dict[str, object]) -> None:
    """Read the answer, resolve it, and compute both sides once in floats."""
    prepared = Question(reference=reference, **told).prepare(answer, budget=Budget())  # type: ignore[arg-type]
    assert prepared.comparison is not None
    for what in prepared.compared(prepared.target):
        prepared.comparison.quick(what)


@click.command()
@click.argument("names", nargs=-1)
def main(names: tuple[str, ...]) -> None:
    """Print one line a part, then what all these answers cost, each with the verdict, the name and the hint."""
    every: list[tuple[float, ...]] = []
    print(f"{'part':42} {'floor':>8} {'decided':>8} {'known':>8} {'hints':>8} {'in all':>8} {'before':>8}")
    for name, part, p in equations():
        if (names and name not in names) or not (rows := measured(part, p)):
            continue
        every += rows
        base = statistics.median(row[0] for row in rows)
        costs = [statistics.median(row[i] / row[0] for row in rows) for i in (1, 2, 3)]
        before = f"{BEFORE[name]}" if name in BEFORE else ""
        print(
            f"{name:42} {1000 * base:5.1f} ms",
            *(f"{cost:8.1f}" for cost in (*costs, sum(costs))),
            f"{before:>8}",
            flush=True,
        )
    costs = sorted(1000 * sum(row[1:]) for row in every)
    print(
        f"{len(costs)} wrong equations: median {statistics.median(costs):.0f} ms, "
        f"95th percentile {costs[len(costs) * 95 // 100]:.0f} ms, longest {costs[-1]:.0f} ms; shares",
        ", ".join(f"{name} {100_000 * sum(row[step] for row in every) / sum(costs):.0f} %" for step, name in STEPS),
    )


if __name__ == "__main__":
    main()
