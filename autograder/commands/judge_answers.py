"""`autograder judge`: a table of answers, each judged as grading would, against the verdicts that they deserve."""

from __future__ import annotations

import json
import textwrap
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from autograder.errors import StaffError
from autograder.sandbox import halves

if TYPE_CHECKING:
    from rich.table import Table

    from autograder.audit.answer_rows import Row
    from autograder.audit.tried_answers import Judged
    from autograder.core import Outcome

# What some answers import, and takes long: once for all where more than a few speak of it.
EXTRA = ("matplotlib.pyplot", "sympy", "scipy")
FEW = 2
COUNTS = ("tried", "false_accept", "false_reject", "held", "stale")
SHOWN = (*COUNTS[:-1], "held_wrong", COUNTS[-1])  # in the table for people


def judge_answers(file: IO[str], *, jobs: int | None, as_json: bool, rows: bool, failures: bool) -> int:
    """Judge the table and say how it went; 1 if a verdict is not as expected, or a line is no row."""
    halves.restart("autograder.cli", ["torch", *_mentioned(Path(file.name))])
    from rich.console import Console

    from autograder.audit.answer_rows import read
    from autograder.authoring.loading import find_problems
    from autograder.sandbox.turns import cores

    find_problems()  # where there are none, no row is to blame
    start = time.monotonic()
    table = list(read(file))
    if not table:
        raise StaffError("answers", "the file has no rows")
    out, notes = Console(highlight=False, soft_wrap=True), Console(stderr=True, highlight=False, soft_wrap=True)
    judged = _judged(table, jobs or cores(), notes)
    boards = _boards(judged, time.monotonic() - start)
    for sentence in (sentence for item in judged for sentence in _sentences(item)):
        notes.print(sentence, markup=False)
    if rows:
        for item in judged:
            print(json.dumps(_row(item), ensure_ascii=False))
    if failures:
        for text in (text for item in judged for text in _failures(item)):
            (notes if as_json or rows else out).print(text, markup=False)
    if as_json:
        for board in boards:
            print(json.dumps({name: board[name] for name in ("folder", *COUNTS, "seconds")}, ensure_ascii=False))
        if waiting := boards[-1]["held_wrong"]:
            notes.print(f"wrong answers that are held, though that is not expected: {waiting}")
    else:
        Console(stderr=rows, highlight=False).print(_table(boards))
    return int(any(_amiss(item) for item in judged))


def _mentioned(path: Path) -> list[str]:
    """Of what takes long to import, that which more than a few rows speak of."""
    if not path.is_file():
        return []
    content = path.read_bytes()
    return [name for name in EXTRA if content.count(name.split(".")[0].encode()) > FEW]


def _judged(table: list[Row], jobs: int, notes: Any) -> list[Judged]:
    """What came of each row, in the order of the file; many at once, those of one variant near each other."""
    from concurrent.futures import ThreadPoolExecutor, as_completed

    from rich.progress import track

    from autograder.audit.tried_answers import judge
    from autograder.sandbox import warm

    pool = ThreadPoolExecutor(jobs, thread_name_prefix="row")
    try:
        order = sorted(range(len(table)), key=lambda place: table[place].order)
        places = {pool.submit(judge, table[place]): place for place in order}
        done: list[Judged | None] = [None] * len(table)
        for future in track(as_completed(places), "judging", total=len(table), console=notes, transient=True):
            done[places[future]] = future.result()
    except BaseException:
        with warm.shut():
            pool.shutdown(cancel_futures=True)
        raise
    pool.shutdown()
    return [item for item in done if item]


def _boards(judged: list[Judged], seconds: float) -> list[dict[str, Any]]:
    """A line of counts for each folder, and one for all, whose seconds are the clock's."""
    counts: dict[str, Counter[str]] = {}
    took: Counter[str] = Counter()
    for item in judged:
        board = counts.setdefault(item.row.slug or "?", Counter())
        results = [item.result(part) for part in item.parts] or ["stale"]
        board.update(result for result in results if result != "right")
        board["tried"] += sum(result != "stale" for result in results)
        took[item.row.slug or "?"] += item.seconds  # type: ignore[assignment]
    lines = [(folder, counts[folder], took[folder]) for folder in sorted(counts)]
    lines.append(("all", sum(counts.values(), Counter()), seconds))  # type: ignore[arg-type]
    return [
        {"folder": folder, **{name: board[name] for name in SHOWN}, "seconds": round(spent, 2)}
        for folder, board, spent in lines
    ]


def _table(boards: list[dict[str, Any]]) -> Table:
    from rich import box
    from rich.table import Table

    table = Table("folder", *(name.replace("_", "\n") for name in (*SHOWN, "seconds")), box=box.SIMPLE)
    table.columns[0].no_wrap = True
    for column in table.columns[1:]:
        column.justify = "right"
    for board in boards[:-1]:
        table.add_row(*map(str, board.values()))
    table.add_section()
    table.add_row(*map(str, boards[-1].values()))
    return table


def _row(item: Judged) -> dict[str, Any]:
    """One row's verdicts as data."""
    standing: dict[str, str] = {}
    points: dict[str, float] = {}
    most: dict[str, float | None] = {}
    codes: dict[str, str] = {}
    for part in item.parts:
        outcome = item.outcomes.get(part)
        standing[part] = outcome.standing if outcome else "stale"
        points[part] = outcome.points if outcome else 0.0
        most[part] = outcome.max_points if outcome else None
        codes[part] = _said(outcome)[0] if outcome else "stale"
    line = {"row": item.row.line, "standing": standing, "points": points, "max": most, "code": codes}
    return {**line, "seconds": round(item.seconds, 3), **({"fault": item.row.fault} if item.row.fault else {})}


def _said(outcome: Outcome) -> tuple[str, str]:
    """Code and message of the verdict that decided a part."""
    verdict = next((verdict for verdict in outcome.verdicts if not verdict.ok), outcome.verdicts[0])
    return verdict.code, verdict.staff.strip() if verdict.code == "staff" else verdict.message


def _sentences(item: Judged) -> Iterator[str]:
    """What is said of a row that could not be judged, or not all of it."""
    yield from dict.fromkeys([item.row.fault] if item.row.fault else item.stale.values())


def _failures(item: Judged) -> Iterator[str]:
    """Each part of a row whose verdict is not as expected, for a person to read."""
    for part, outcome in item.outcomes.items():
        if (result := item.result(part)) != "right":
            row, (code, message) = item.row, _said(outcome)
            variant = f"seed {row.seed}" if row.parameters is None else f"parameters {json.dumps(row.parameters)}"
            head = f"line {row.line}, {row.slug}.{part}, {variant}: {result.replace('_', ' ')}"
            got = f"{outcome.standing} ({outcome.points:g} of {outcome.max_points:g} points), {code}"
            said = f"expected {' or '.join(row.expected[part])}, got {got}\n{message}".rstrip()
            yield f"{head}\n{textwrap.indent(row.cells[part].strip(), '    | ')}\n{textwrap.indent(said, '    ')}"


def _amiss(item: Judged) -> bool:
    """Whether a verdict is not as expected, or the line is no row."""
    return not item.row.readable or any(item.result(part) != "right" for part in item.outcomes)
