"""What the longest typed answers cost to judge: texts just under what is read, made of a problem's own formulas.

    python -m benchmarks.longest [KIND ...]             # such as equation; by default all kinds

Sums, products and quotients of up to 400 formulas, roots and brackets in one another, chains of up to 400 lines. Each
is judged as grading does, with verdict, known mistake and hint, in this process: seconds are those of the processor.
"""

import functools
import importlib
import itertools
import statistics
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import click

from autograder.authoring.loading import load, slugs
from autograder.authoring.variants import variant
from autograder.core import Parameters
from autograder.maths import guard
from autograder.parts.typed import MAX_LENGTH, Typed
from autograder.protocol.answering import answer

PROBLEMS = Path(__file__).parents[1] / "problems"
SEED, DEEP, LONGEST_BOUND = 3, 150, 2_000
OTHERS = {
    "digits": "1" * MAX_LENGTH, "tower": "9**9**9**9", "sum": "+".join(["12345"] * 1660), "power": "2**99999999",
    "product": "*".join(["99999"] * 1660), "letters": "ab" * 5000, "list": list(range(2000)), "exponent": "1e999999999",
    "decimals": ", ".join(["0.1"] * 2000), "lines": "\n".join("abcdefg" * 700), "words": "the words " * 1000,
    "brackets": "(" * 4000 + "1" + ")" * 4000,
}  # fmt: skip


def fitting(sign: str, pieces: Sequence[str], most: int, longest: int) -> str:
    """As many of the pieces as there is room for."""
    found = pieces[0]
    for piece in itertools.islice(itertools.cycle(pieces), 1, most):
        if len(found) + len(sign) + len(piece) > longest:
            break
        found += sign + piece
    return found


def formulas(given: Sequence[str], longest: int = MAX_LENGTH) -> Iterator[tuple[str, str]]:
    """One formula made of many; the first of those given is the right one."""
    inside = [f"({text})" for text in given]
    for most in (40, 400):
        yield f"sum of {most}", fitting(" + ", inside, most, longest)
        yield f"product of {most}", fitting(" * ", inside, most, longest)
        pairs = [f"{one}/{other}" for one, other in zip(inside, reversed(inside), strict=True)]
        yield f"quotients, {most}", fitting(" - ", pairs, most, longest)
        yield f"squares, {most}", fitting(" + ", [f"{one}^2" for one in inside], most, longest)
    right, room = inside[0], longest - len(inside[0]) - 3
    yield "right, plus nothing", f"{right} + {fitting(' + ', [f'{one}-{one}' for one in inside], 40, room)}"
    yield "right, times one", f"{right} * {fitting(' * ', [f'({one}/{one})' for one in inside], 40, room)}"
    nested = right
    for one in itertools.islice(itertools.cycle(inside), DEEP):
        if len(further := f"({nested}+{one})*{one}") > longest:
            break
        nested = further
    yield "in one another", nested


def equations(given: Sequence[str]) -> Iterator[tuple[str, str]]:
    """The last equation made of many; those before it are the right ones."""
    *before, last = given[0].strip().splitlines()
    left = last.partition("=")[0]
    sides = [text.strip().splitlines()[-1].partition("=")[2].strip() for text in given]
    for name, text in formulas(sides, MAX_LENGTH - sum(map(len, before)) - len(left) - 20):
        yield name, "\n".join([*before, f"{left}= {text}"])


def chains(first: str, given: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Many lines after the given one: the same ones again, different ones, and long ones."""
    lines = list(dict.fromkeys(line for text in given for line in text.strip().splitlines()))
    different = [f"{line} + {number} - {number}" for number, line in enumerate(lines * 20, 1)]
    for name, every in (("again", lines), ("different", different)):
        for most in (40, 400):
            yield f"{most} lines, {name}", fitting("\n", [first, *every], most, MAX_LENGTH)
    for name, text in formulas(lines, 3_000):
        yield f"a line, {name}", "\n".join([first, text, f"{text} + 0", lines[-1]])


def answers(part: Any, p: Parameters) -> Iterator[tuple[str, Any]]:
    """The long answers to a part."""
    if not isinstance(part, Typed):
        yield from OTHERS.items()
        return
    listed = [item for item in (*part.mistakes, *part.right_answers()) if part.applies(item, p)]
    right = part.right(p)
    given = [str(text) for text in (right, *(part.given(item, p) for item in listed))]
    match part.kind:
        case "equation":
            yield from equations(given)
        case "derivation":
            yield from chains(part.first(p), [str(part.written_by_author(p)), *given])
        case "matrix":
            entries = [str(entry) for row in right for entry in row]
            for name, text in formulas(entries, MAX_LENGTH // len(entries)):
                yield name, [[text] * len(row) for row in right]
        case "growth":
            for name, text in formulas([text.replace("O", "") for text in given], LONGEST_BOUND - 10):
                yield name, f"O({text})"
        case _:
            yield from formulas(given)


def here(module: str, function: str, args: Sequence[Any], kwargs: Any, seconds: float, memory: int) -> Any:
    """What the guard's process does, in this one."""
    return getattr(importlib.import_module(module), function)(*args, **(kwargs or {}))


@click.command()
@click.argument("kinds", nargs=-1)
def main(kinds: tuple[str, ...]) -> None:
    """Print the median, the 95th percentile and the longest of each kind, and what was the longest."""
    guard._called = here
    costs: dict[str, list[tuple[float, str]]] = {}
    for slug in slugs(PROBLEMS):
        problem = load(slug, PROBLEMS)
        p = variant(problem, SEED).parameters
        for part in problem.parts:
            if part.runs or part.judged_by_person or (kinds and part.kind not in kinds):
                continue
            for name, given in answers(part, p):
                start = time.process_time()
                part.judge(p, functools.partial(answer, namespace={part.name: given}), (1,))
                found = time.process_time() - start, f"{slug}.{part.name}: {name}, {len(str(given)):,} characters"
                costs.setdefault(part.kind, []).append(found)
    for kind, rows in sorted(costs.items()):
        rows.sort()
        seconds = [each for each, _ in rows]
        middle, high = statistics.median(seconds), seconds[len(seconds) * 95 // 100]
        print(f"{kind:12} {len(rows):5} texts {middle:7.3f} {high:7.3f} {seconds[-1]:7.2f} s  {rows[-1][1]}")


if __name__ == "__main__":
    main()
