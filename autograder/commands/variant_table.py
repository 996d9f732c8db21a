"""`autograder variants`: what students would read, beside the answers, or which seeds draw what.

Statements and solutions are printed as they were written: what is typeset, `autograder preview` shows.
"""

from __future__ import annotations

import itertools
import tomllib
from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from autograder.authoring import loading, statement
from autograder.authoring.variants import TRIED, check_drawn, seen, variant, variants_with
from autograder.core import Problem, Variant
from autograder.errors import StaffError


def show_variants(slug: str, seeds: Sequence[int], *, full: bool) -> None:
    """Print the variants of the seeds: all of one, or, of many, a table of their parameters."""
    console = Console()
    problem = loading.load(slug)
    drawn = [variant(problem, seed) for seed in seeds]
    if full:
        for item in drawn:
            _print_one(console, problem, item)
        return
    console.print(f"{problem.title}: {_distinct(drawn)} distinct variants of {len(drawn)}")
    console.print(_table(drawn))


def find_variants(slug: str, wanted: Sequence[str], *, seed: int, count: int) -> None:
    """Print the first seeds whose variants have these parameters, and what to write into an assignment's file."""
    console, problem = Console(), loading.load(slug)
    fixed = read_where(problem, wanted)
    found = list(itertools.islice(variants_with(problem, seed, fixed), count))
    said = ", ".join(f"{name} = {_toml(value)}" for name, value in fixed.items())
    if not found:
        raise StaffError("parameters", f"{slug} never draws {said} together, in {TRIED:,} seeds from {seed} on")
    tried = found[-1].seed - seed + 1 if len(found) == count else TRIED
    console.print(f"{problem.title}: {len(found)} of {tried:,} seeds from {seed} on draw {said}", soft_wrap=True)
    console.print(_table(found))
    lines = "\n".join(f"{name} = {_toml(value)}" for name, value in fixed.items())
    console.print(Text(f"In the assignment's file:\n\n[parameters.{slug}]\n{lines}"), soft_wrap=True)


def read_where(problem: Problem, wanted: Sequence[str]) -> dict[str, Any]:
    """Parameters as typed, `family=from 0` or `K=8`, as the problem draws them; StaffError for what it never draws."""
    drawn, fixed = seen(problem), dict[str, Any]()
    for text in wanted:
        name, equals, typed = (piece.strip() for piece in text.partition("="))
        if not equals:
            raise StaffError(
                "parameters", f"write --where NAME=VALUE, not {text!r}; {problem.slug} has {', '.join(drawn)}"
            )
        same = [value for value in drawn.get(name, ()) if typed.strip("\"'").casefold() == str(value).casefold()]
        fixed[name] = same[0] if same else _typed(typed)
    check_drawn(problem, {name: [value] for name, value in fixed.items()})
    return fixed


def _typed(text: str) -> Any:
    """A value as it would stand in a .toml file; else the text."""
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text


def _toml(value: Any) -> str:
    """A value as it stands in a .toml file."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_toml, value))}]"
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"' if isinstance(value, str) else repr(value)


def _table(drawn: Sequence[Variant]) -> Table:
    names = dict.fromkeys(name for item in drawn for name in item.parameters)  # some belong to some variants alone
    table = Table("seed", *names)
    for item in drawn:
        table.add_row(str(item.seed), *(Text(str(item.parameters.get(name, ""))) for name in names))
    return table


def _distinct(drawn: Sequence[Variant]) -> int:
    return sum(item not in drawn[:place] for place, item in enumerate(drawn))


def _print_one(console: Console, problem: Problem, drawn: Variant) -> None:
    """One variant: each part's statement, and its solution under it, to the last sign."""

    def show(text: str) -> None:
        console.print(Text(text), soft_wrap=True)

    p: Mapping[str, Any] = drawn.parameters
    sections = statement.render(problem, loading.statement_text(problem.slug), drawn.parameters)
    console.rule(Text(f"{problem.title}, seed {drawn.seed}"))
    show(sections[""])
    show(f"\n{', '.join(f'{name} = {value!r}' for name, value in p.items())}")
    for part in problem.parts:
        console.rule(Text(f"{part.name}: {part.points:g} points, {part.kind}"))
        show(f"{sections[part.name]}\n")
        show(part.solution_cell(drawn.parameters))
