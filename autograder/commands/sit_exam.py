"""`autograder sit` from the command line: a bar, a table of parts, and rows for `autograder judge`."""

from __future__ import annotations

import json
import shlex
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import track
from rich.table import Table
from rich.text import Text

from autograder.audit.shown_right import shown_right
from autograder.authoring import privacy
from autograder.authoring.assignment import read_assignment
from autograder.errors import StaffError
from autograder.simulation.sitting import Answered, Exam, Sat

_FALLS = 0.5  # of the runs: a part that earns all points in so many falls to the command
_SHOWN = 20


def sit_exam(
    course: Path,
    assignment: str,
    command: str,
    *,
    times: int,
    same: bool,
    seconds: float,
    jobs: int,
    rows: Path | None,
    as_json: bool,
) -> int:
    """Let a command sit an assignment and say how it did; 1 if a run gave no notebook."""
    course, console = course.resolve(), Console(stderr=True)
    read_assignment(course, assignment)
    words = _words(command)
    with tempfile.TemporaryDirectory(prefix="autograder-sit-") as folder:
        exam = Exam(Path(folder).resolve(), course, assignment, times=times, same=same)
        total = times * len(exam.assignment.problems)
        going = exam.sit(words, seconds=seconds, jobs=jobs)
        sat = sorted(track(going, "sitting", total=total, console=console, transient=True), key=_place)
        failed = [one for one in sat if one.failure]
        if len(failed) < len(sat):
            with console.status("grading"):
                exam.grade(jobs)
        answered = list(exam.answered())
    for one in failed[:_SHOWN]:
        console.print(Text(f"run {one.run}, {one.notebook}: {one.failure}"), soft_wrap=True)
    if len(failed) > _SHOWN:
        console.print(f"… and {len(failed) - _SHOWN} more runs without a notebook")
    found = _rows(answered)
    place = rows or Path(f"{assignment}-sit.jsonl")
    if found:
        privacy.write(place, "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in found))
    lines = _lines(answered)
    if as_json:
        for line in lines:
            print(json.dumps(line, ensure_ascii=False))
    else:
        Console().print(_table(lines))
    _say(console, sat, failed, found, place)
    return int(bool(failed))


def _place(one: Sat) -> tuple[int, str]:
    return one.run, one.notebook


def _words(command: str) -> list[str]:
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise StaffError("sit", f"--with {command!r} cannot be read as a command: {error}") from error
    if not words:
        raise StaffError("sit", "--with names the command that answers a notebook, such as --with cat")
    first, *rest = words
    return [_whole(first) if "/" in first else first, *map(_whole, rest)]


def _whole(word: str) -> str:
    """The full path of a file or folder: each run has a folder of its own."""
    return str(Path(word).resolve()) if Path(word).exists() else word


def _lines(answered: Iterable[Answered]) -> list[dict[str, Any]]:
    """A line for each part: how often it came out how, and the mean share of its points."""
    parts: dict[tuple[str, str], list[Answered]] = defaultdict(list)
    for one in answered:
        parts[one.slug, one.part.name].append(one)
    return [_line(slug, name, several) for (slug, name), several in parts.items()]


def _line(slug: str, name: str, several: list[Answered]) -> dict[str, Any]:
    count = Counter(_result(one) for one in several)
    share = sum(one.outcome.points / one.outcome.max_points for one in several if one.outcome.max_points) / len(several)
    codes = Counter(verdict.code for one in several for verdict in one.outcome.verdicts if verdict.ok is not True)
    return {
        "notebook": slug,
        "name": name,
        "kind": several[0].part.kind,
        "runs": len(several),
        **{result: count[result] for result in ("all", "some", "none", "held")},
        "share": round(share, 3),
        "falls": count["all"] >= _FALLS * len(several),
        "codes": dict(codes.most_common(3)),
    }


def _result(one: Answered) -> str:
    if one.outcome.standing == "held":
        return "held"
    return "all" if one.outcome.standing == "earned" else "some" if one.outcome.points else "none"


def _table(lines: Iterable[dict[str, Any]]) -> Table:
    heads = ("part", "kind", "runs", "all", "some", "none", "held", "share", "")
    table = Table(*heads, box=None, padding=(0, 2, 0, 0))
    for column in table.columns[2:8]:
        column.justify = "right"
    notebook = ""
    for line in lines:
        if notebook != (notebook := line["notebook"]):
            table.add_row(Text(notebook, style="bold"))
        cells = [f"  {line['name']}", *(str(line[head]) for head in heads[1:-2])]
        table.add_row(*cells, f"{line['share']:.0%}", "falls to it" if line["falls"] else "")
    return table


def _rows(answered: Iterable[Answered]) -> list[dict[str, Any]]:
    """A row for each answer that is right by another way than the judge's, and lost points or is held."""
    found: dict[str, dict[str, Any]] = {}
    for one in answered:
        if one.outcome.standing == "earned":
            continue
        if why := shown_right(one.part, one.p, one.cell, one.value):
            row = {
                "problem": one.slug, "seed": one.seed, "part": one.part.name, "cell": one.cell, "expect": "full",
                "kind": f"sat: {one.outcome.standing}, {why}",
            }  # fmt: skip
            found.setdefault(json.dumps(row, sort_keys=True), row)
    return list(found.values())


def _say(console: Console, sat: list[Sat], failed: list[Sat], rows: list[dict[str, Any]], place: Path) -> None:
    console.print(f"{len(sat) - len(failed)} of {len(sat)} notebooks were answered and graded.")
    if rows:
        console.print(Text(f"wrote {place}: {len(rows)} right answers that lost points or are held"), soft_wrap=True)
        console.print(Text(f"Next: autograder judge --answers {shlex.quote(str(place))} --failures"), soft_wrap=True)
