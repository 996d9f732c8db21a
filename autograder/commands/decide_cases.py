"""`autograder decide`: a scoreboard of a table of cases, or one answer with its witness or reason."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import fields

from rich.console import Console
from rich.progress import track
from rich.table import Table
from rich.text import Text

from autograder import parts
from autograder.commands.cases import RESULTS, Case, decide, read, scoreboard
from autograder.errors import StaffError, Unreadable, did_you_mean
from autograder.maths.decision import Decision

WRONG = ("false_accept", "false_reject", "faulty")


def decide_cases(lines: Iterable[str], *, as_json: bool, failures: bool) -> int:
    """Decide every row and print the scoreboard; 1 if a row was accepted or rejected wrongly, or is faulty."""
    console, notes = Console(), Console(stderr=True)
    rows = list(read(lines))
    if not rows:
        raise StaffError("cases", "the file has no rows")
    cases = [decide(row, line) for line, row in track(rows, "deciding", console=notes, transient=True)]
    board = scoreboard(cases)
    if as_json:
        for kind, figures in board.items():
            console.print_json(json.dumps({"kind": kind, **figures}), indent=None)
    else:
        console.print(_table(board))
    for case in cases:
        if case.result == "faulty" or (failures and case.result != "right"):
            (notes if as_json else console).print(_failure(case))
    return int(any(case.result in WRONG for case in cases))


def _table(board: dict[str, dict[str, float]]) -> Table:
    table = Table("kind", *(name.replace("_", " ") for name in RESULTS), "median ms", "p95 ms")
    for column in table.columns[1:]:
        column.justify = "right"
    for kind, figures in board.items():
        counts = [f"{figures[name]:g}" for name in RESULTS]
        table.add_row(kind, *counts, f"{figures['median_ms']:.2f}", f"{figures['p95_ms']:.2f}")
    return table


def _failure(case: Case) -> Text:
    row = case.row
    head = f"line {case.line}: {case.result.replace('_', ' ')} ({row['kind']}): {row.get('answer')}"
    return Text(f"{head}\n    against {row.get('reference')}\n    {case.said}")


def decide_by_hand(kind: str, reference: str, answer: str, domains: Sequence[str], **told: str | None) -> int:
    """Decide one answer and print the outcome with its witness or reason; 0 equal, 1 different, 2 undecided.

    `domains` and whatever is `told` are arguments of a part of that kind.
    """
    words = {"domains": _pairs(domains), **told}
    decide = _by_hand(kind, given := {name: value for name, value in words.items() if value})
    console = Console()
    try:
        decision = decide(reference, answer, **given)
    except Unreadable as error:
        console.print(Text(f"unreadable ({error.code})\n{error.caret()}"))
        return 2
    console.print(Text(f"{decision.outcome} ({decision.code})"))
    for line in filter(None, (decision.message, decision.witness and f"witness: {decision.witness}")):
        console.print(Text(line))
    return {"equal": 0, "different": 1, "undecided": 2}[decision.outcome]


def _by_hand(kind: str, given: Iterable[str]) -> Callable[..., Decision]:
    """How answers of a kind are compared without a problem; StaffError where they are not, or not by these words."""
    found = parts.find(kind)
    if found is None or found.decide_by_hand is None:
        known = [name for name, other in parts.kinds().items() if other.decide_by_hand]
        raise StaffError(
            "kind",
            f"there is no typed answer of kind {kind!r}{did_you_mean(kind, known)}; there are {', '.join(known)}",
        )
    if unknown := set(given) - {item.name for item in fields(found)}:
        raise StaffError("option", f"an answer of kind {kind!r} takes no {' or '.join(sorted(unknown))}")
    return found.decide_by_hand


def _pairs(domains: Sequence[str]) -> dict[str, str]:
    pairs = {}
    for item in domains:
        name, sign, domain = item.partition("=")
        if not (sign and name.strip() and domain.strip()):
            raise StaffError("domain", f"--domain {item!r}: write NAME=DOMAIN, such as x=real or i=nat")
        pairs[name.strip()] = domain.strip()
    return pairs
