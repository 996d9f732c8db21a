"""`autograder variants`: what students would read, beside the answers, for one seed after another."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console, Group
from rich.markdown import Markdown
from rich.panel import Panel
from rich.syntax import Syntax
from rich.table import Table
from rich.text import Text

from autograder.authoring import loading, statement
from autograder.authoring.variants import variant
from autograder.core import Problem, Variant


def show_variants(slug: str, seeds: Sequence[int], *, full: bool) -> None:
    """Print the variants of the seeds: all of one, or, of many, a table of their parameters."""
    console = Console()
    problem = loading.load(slug)
    drawn = [variant(problem, seed) for seed in seeds]
    if full:
        for item in drawn:
            _print_one(console, problem, item)
        return
    names = list(drawn[0].parameters)
    console.print(f"{problem.title}: {_distinct(drawn)} distinct variants of {len(drawn)}")
    table = Table("seed", *names)
    for item in drawn:
        table.add_row(str(item.seed), *(str(item.parameters[name]) for name in names))
    console.print(table)


def _distinct(drawn: Sequence[Variant]) -> int:
    return sum(item not in drawn[:place] for place, item in enumerate(drawn))


def _print_one(console: Console, problem: Problem, drawn: Variant) -> None:
    """One variant: each part's statement on the left, its solution cell on the right."""
    p = drawn.parameters
    sections = statement.render(problem, loading.statement_text(problem.slug), p)
    console.print(Panel(Markdown(sections[""]), title=f"{problem.title}, seed {drawn.seed}"))
    console.print(Text(", ".join(f"{name} = {value!r}" for name, value in p.items())))
    for part in problem.parts:
        language = "markdown" if part.judged_by_person else "python"
        side = Table.grid(padding=(0, 2), expand=True)
        side.add_column(ratio=1)
        side.add_column(ratio=1)
        answer = Syntax(part.solution_cell(p), language, word_wrap=True, background_color="default")
        side.add_row(Markdown(sections[part.name]), Group(Text(f"{part.points:g} points, {part.kind}"), answer))
        console.print(side)
        console.rule()
