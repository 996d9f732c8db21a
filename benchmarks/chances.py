"""How often chance misleads the judge of answers that draw random numbers, or train.

    python -m benchmarks.chances                           writes the table of docs/kinds.md (some twenty minutes)
    python -m benchmarks.chances language_modeling.train   writes the rows of one part
    python -m benchmarks.chances --seeds 20                prints a quick table

Each seed gives other hidden inputs and other random numbers. A right answer that is lost or held is a false alarm, and
a listed mistake that is not lost was not caught.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from pathlib import Path

import click

from autograder import Sampled, Trained
from autograder.audit.part import name_of
from autograder.authoring.loading import load, slugs
from autograder.authoring.variants import stream_key, variant
from autograder.core import Parameters, Part, Verdict
from autograder.protocol.answering import one_thread
from autograder.protocol.respondents import Interview, local
from benchmarks.pages import written

ROOT = Path(__file__).parents[1]
PROBLEMS, PAGE = ROOT / "problems", ROOT / "docs" / "kinds.md"
SEEDS = 1_000
COLUMNS = ("part", "answer", "is", "seeds", "earned", "lost", "held")


def asked(names: tuple[str, ...]) -> Iterator[tuple[str, Sampled | Trained, Parameters]]:
    """The parts of those names, or all that draw or train, each in its first variant."""
    for slug in slugs(PROBLEMS):
        problem = load(slug, PROBLEMS)
        p = variant(problem, 0).parameters
        for part in problem.parts:
            place = f"{slug}.{part.name}"
            if isinstance(part, Sampled | Trained) and (not names or place in names):
                yield place, part, p


def fewest(part: Sampled | Trained) -> Part:
    """The part, judged on one draw of each of its inputs: a mistake has less to be caught by."""
    return dataclasses.replace(part, trials=1, checks=())


def standing(part: Part, subject: object, p: Parameters, number: int) -> str:
    """What an answer comes to under the hidden inputs of one seed."""
    verdicts: list[Verdict] = []
    for verdict in part.judging(p, Interview(local(subject, part.name, p)), stream_key(b"chances", number)):
        verdicts.append(verdict)
        if part.settled(verdicts):
            return "lost"
    return "held" if any(verdict.ok is None for verdict in verdicts) else "earned"


def rows(place: str, part: Sampled | Trained, p: Parameters, seeds: int) -> Iterator[str]:
    """A row for each right answer and for each mistake; all of them have the hidden inputs of a seed in common."""
    judge = fewest(part).terse()
    right = [("right", item) for item in (part.reference, *part.right_answers())]
    answers = [*right, *(("mistake", item) for item in part.mistakes)]
    found = [[standing(judge, subject, p, number) for _, subject in answers] for number in range(seeds)]
    for (word, subject), stood in zip(answers, zip(*found, strict=True), strict=True):
        counts = [str(stood.count(outcome)) for outcome in ("earned", "lost", "held")]
        yield f"| {' | '.join((f'`{place}`', f'`{name_of(subject)}`', word, str(seeds), *counts))} |"


def on_page(page: str) -> dict[str, list[str]]:
    """The rows that stand on the page, by part."""
    found: dict[str, list[str]] = {}
    for line in page.partition("<!-- chances:")[2].partition("<!-- end chances")[0].splitlines():
        if line.startswith("| `"):
            found.setdefault(line.split("`")[1], []).append(line)
    return found


def lines(found: dict[str, list[str]]) -> str:
    """The table of all these rows."""
    rows = [row for place in sorted(found) for row in found[place]]
    return "\n".join([f"| {' | '.join(COLUMNS)} |", f"| {' | '.join('---' for _ in COLUMNS)} |", *rows, ""])


@click.command()
@click.argument("names", nargs=-1)
@click.option("--seeds", type=int, help="So many for each answer, and write nothing.")
def main(names: tuple[str, ...], seeds: int | None) -> None:
    """Measure the parts NAMES, or all of them."""
    one_thread()
    found = {}
    for place, part, p in asked(names):
        found[place] = list(rows(place, part, p, seeds or SEEDS))
        print("\n".join(found[place]), flush=True)
    if seeds is None:
        page = PAGE.read_text(encoding="utf-8")
        kept = on_page(page) if names else {}
        PAGE.write_text(written(page, {"chances": lines(kept | found)}), encoding="utf-8")


if __name__ == "__main__":
    main()
