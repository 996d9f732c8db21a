"""How often chance misleads the judge of answers that draw random numbers, or train.

    python -m benchmarks.chances                           writes the table of docs/kinds.md (some minutes)
    python -m benchmarks.chances language_modeling.train   prints the rows of one part, of any kind
    python -m benchmarks.chances --seeds 20                prints a quick one

Each seed gives other hidden inputs and other random numbers. A right answer that is lost or held is a false alarm, and
a listed mistake that is not lost was not caught.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from pathlib import Path

import click

from autograder import Sampled
from autograder.audit.part import name_of
from autograder.authoring.loading import load, slugs
from autograder.authoring.variants import stream_key, variant
from autograder.core import Parameters, Part, Verdict
from autograder.protocol.answering import one_thread
from autograder.protocol.respondents import Interview, local
from benchmarks.pages import written

ROOT = Path(__file__).parents[1]
PROBLEMS, PAGE = ROOT / "problems", ROOT / "docs" / "kinds.md"
KINDS = ("sampled",)  # of which the page has the table
SEEDS = 1_000
COLUMNS = ("part", "answer", "is", "seeds", "earned", "lost", "held")


def asked(names: tuple[str, ...]) -> Iterator[tuple[str, Part, Parameters]]:
    """The parts of those names, or of those kinds, each in its first variant."""
    for slug in slugs(PROBLEMS):
        problem = load(slug, PROBLEMS)
        p = variant(problem, 0).parameters
        for part in problem.parts:
            place = f"{slug}.{part.name}"
            if place in names if names else part.kind in KINDS:
                yield place, part, p


def fewest(part: Part) -> Part:
    """A part that draws, judged on one draw of each of its inputs: a mistake has less to be caught by."""
    return dataclasses.replace(part, trials=1, checks=()) if isinstance(part, Sampled) else part


def standing(part: Part, subject: object, p: Parameters, number: int) -> str:
    """What an answer comes to under the hidden inputs of one seed."""
    verdicts: list[Verdict] = []
    for verdict in part.judging(p, Interview(local(subject, part.name, p)), stream_key(b"chances", number)):
        verdicts.append(verdict)
        if part.settled(verdicts):
            return "lost"
    return "held" if any(verdict.ok is None for verdict in verdicts) else "earned"


def rows(place: str, part: Part, p: Parameters, seeds: int) -> Iterator[tuple[str, ...]]:
    """A row for each right answer and for each mistake."""
    judge = fewest(part).terse()
    right = [("right", item) for item in (part.reference, *part.right_answers())]
    for word, subject in [*right, *(("mistake", item) for item in part.mistakes)]:
        found = [standing(judge, subject, p, number) for number in range(seeds)]
        counts = [str(found.count(word)) for word in ("earned", "lost", "held")]
        yield f"`{place}`", f"`{name_of(subject)}`", word, str(seeds), *counts


def lines(found: Iterator[tuple[str, ...]]) -> str:
    """A table, each row of which is printed as it is made."""
    text = f"| {' | '.join(COLUMNS)} |\n| {' | '.join('---' for _ in COLUMNS)} |"
    for row in found:
        text += f"\n| {' | '.join(row)} |"
        print(" ".join(row), flush=True)
    return f"{text}\n"


@click.command()
@click.argument("names", nargs=-1)
@click.option("--seeds", type=int, help="So many for each answer, and write nothing.")
def main(names: tuple[str, ...], seeds: int | None) -> None:
    """Measure the parts NAMES, or all of them."""
    one_thread()
    found = (row for place, part, p in asked(names) for row in rows(place, part, p, seeds or SEEDS))
    table = lines(found)
    if not names and seeds is None:
        PAGE.write_text(written(PAGE.read_text(encoding="utf-8"), {"chances": table}), encoding="utf-8")


if __name__ == "__main__":
    main()
