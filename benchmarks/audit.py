"""What the audit of problem folders costs: processor seconds a variant, and as multiples of a fixed floor.

    python -m benchmarks.audit [SLUG ...] --variants 20 --jobs 2 [--strength]

With --strength, the mutants are judged as well. The floor is 1,000 evaluations of one attention layer in floats, in the
same run, so that a busy machine changes both alike. Before the audit used several processes and remembered decisions,
one folder (spatial_transformer, 2 variants) took 46 s of wall time on two cores.
"""

import resource
import time
from pathlib import Path

import click
import numpy as np

from autograder.audit.parallel import audit_all, processes, strength_all
from autograder.authoring.loading import slugs as all_slugs
from autograder.maths import tensor
from autograder.sandbox.turns import cores

PROBLEMS = Path(__file__).parents[1] / "problems"
LAYER = "A[t,s] = softmax_{s}[Q[t,U] K[s,U] / sqrt(U)]\nH[t,I] = sum_s A[t,s] V[s,I]"


def floor() -> float:
    """Processor seconds of a thousand evaluations of LAYER."""
    arrays = {"Q": np.ones((5, 3)), "K": np.ones((7, 3)), "V": np.ones((7, 2))}
    system, start = tensor.parse(LAYER), time.process_time()
    for _ in range(1000):
        tensor.evaluate(system, arrays)
    return time.process_time() - start


@click.command()
@click.argument("names", nargs=-1)
@click.option("--variants", default=20, show_default=True)
@click.option("--jobs", default=0, help="How many processes to use.  [default: one for each core]")
@click.option("--strength", is_flag=True, help="Judge the mutants of the references too.")
def main(names: tuple[str, ...], variants: int, jobs: int, strength: bool) -> None:
    """Print the processor seconds of all processes, and of the wall."""
    slugs, base = names or all_slugs(PROBLEMS), floor()
    start = time.perf_counter()
    with processes(jobs or cores()) as pool:
        reports = audit_all(pool, slugs, PROBLEMS, variants=variants, seed=0)
    seconds = _told(f"{len(reports)} problems", sum(report.variants for report in reports), "variant", start, base, 0.0)
    print(f"{sum(len(report.faults) for report in reports)} faults")
    if strength:
        start = time.perf_counter()
        with processes(jobs or cores()) as pool:
            parts = [part for found in strength_all(pool, slugs, PROBLEMS, seed=0).values() for part in found]
        _told(f"{len(parts)} parts", sum(part.made for part in parts), "mutant", start, base, seconds)
        print(f"{sum(len(part.survivors) for part in parts)} survive")


def _told(what: str, number: int, unit: str, start: float, base: float, before: float) -> float:
    """Print what the processes that have ended cost beyond `before` seconds of processors; the sum comes back."""
    wall, used = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = used.ru_utime + used.ru_stime - before
    print(f"{what}, {number} {unit}s: {wall:.0f} s, {seconds:.0f} s of processors")
    print(f"{seconds / number:.3f} s of processors a {unit}; {seconds / base:.0f} floors of {base:.2f} s in all")
    return before + seconds


if __name__ == "__main__":
    main()
