"""`autograder grade` from the command line: start light, split, grade, tell."""

from __future__ import annotations

import contextlib
import dataclasses
import gc
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from autograder.sandbox import halves

if TYPE_CHECKING:
    from autograder.course.regrading import Regraded

# What notebooks may import besides numpy, and torch, and takes long.
EXTRA = ("matplotlib.pyplot", "sympy", "pandas", "scipy.optimize", "scipy.stats", "sklearn", "seaborn", "networkx")
FEW = 2


def grade_class(course: Path, assignment: str, *, jobs: int | None, as_json: bool, **options: Any) -> int:
    """Grade a class and say how it went; the exit code."""
    halves.restart("autograder.cli", _mentioned(course, assignment))
    gc.disable()  # a collection walks over all that was imported, to find nothing
    from autograder.course.progress import Progress, closing, for_graders
    from autograder.course.run import Options, run
    from autograder.nbgrader.called import called as names_of
    from autograder.sandbox.turns import cores

    gc.freeze()
    gc.enable()
    gc.set_threshold(20_000, 20, 20)  # pages and notebooks are large and short-lived

    called = names_of(course)
    words = {"require_wall": options.pop("require_sandbox"), "jobs": jobs or cores()}
    options["students"] = called.ids(options["students"])
    with Progress(called=called) as progress:
        result = run(course, Options(assignment=assignment, **words, **options), progress.show)
    progress.end(result)
    if as_json:
        print(json.dumps(result.counts(), ensure_ascii=False))
    else:
        print("\n".join(closing(for_graders(result, called))))
    return result.exit_code


def regrade_class(
    course: Path, assignment: str, *, students: tuple[str, ...], dry_run: bool, feedback: bool, as_json: bool
) -> int:
    """Judge a class again from what is stored and show who moves; the exit code."""
    from autograder.course import regrading
    from autograder.nbgrader.called import called as names_of

    called = names_of(course)
    result = regrading.run(course, assignment, called.ids(students), dry_run=dry_run, feedback=feedback)
    result = regrading.for_graders(result, called)
    if as_json:
        print(json.dumps(dataclasses.asdict(result) | {"dry_run": dry_run}, ensure_ascii=False))
    else:
        _show_moves(result, dry_run=dry_run)
    return result.exit_code


def extend(course: Path, assignment: str, student: str, days: float) -> str:
    """Give a student more time; what holds now, in a sentence."""
    from autograder.nbgrader.called import called as names_of
    from autograder.nbgrader.course_api import opened
    from autograder.nbgrader.folder import Folder

    called = names_of(course)
    student = called.id(student)
    with opened(course) as api:
        folder = Folder(api, assignment)
        try:
            folder.rows.due(folder.scale)
            row = folder.rows.extend(student, days)
            penalty = folder.rows.totals(student).late
            late = f"; {penalty:g} points are deducted for late submission" if penalty else ""
            return f"{called.of(student)} has until {row.duedate:%Y-%m-%d %H:%M} UTC for {assignment}{late}"
        finally:
            folder.close()


def _show_moves(result: Regraded, *, dry_run: bool) -> None:
    from rich.console import Console
    from rich.table import Table

    console = Console()
    for sentence in (*result.voids, *result.notes):
        console.print(sentence, markup=False)
    if result.moves:
        table = Table("student", "part", "before", "after", "verdicts before", "verdicts after")
        for move in result.moves:
            table.add_row(
                move.student, move.part, f"{move.before:g}", f"{move.after:g}", ", ".join(move.was), ", ".join(move.now)
            )
        console.print(table)
    for student, part in result.unasked:
        console.print(f"{student}: {part} needs `autograder grade`: the problem now asks a new question", markup=False)
    for student, why in result.failed:
        console.print(f"{student} could not be judged: {why}", markup=False)
    moved = len({move.student for move in result.moves if move.before != move.after})
    verb = "would change" if dry_run else "changed"
    console.print(f"{result.judged} notebooks judged again; the marks of {moved} students {verb}.")


def _mentioned(course: Path, assignment: str) -> list[str]:
    """Of what takes long to import, that which a source or more than a few submissions speak of: once for all of them.

    Answers to problems of ours are written with torch. Where every source is seen to be none, it is like the others.
    """
    source = course / "source" / assignment
    sources = list(map(_content, source.glob("*.ipynb")))
    files = list((course / "submitted").glob(f"*/{assignment}/*.ipynb"))
    if not files:
        return ["torch", *EXTRA]
    ours = not sources or any(b'"autograder"' in content for content in sources)
    left = {"torch": ours * (FEW + 1)} | dict.fromkeys(EXTRA, 0)
    beside = map(_content, source.rglob("*.py"))
    for weight, contents in ((FEW + 1, sources), (FEW + 1, beside), (1, map(_content, files))):
        for content in contents:
            for name in left:
                left[name] += weight * (name.split(".")[0].encode() in content)
    return [name for name, count in left.items() if count > FEW]


def _content(file: Path) -> bytes:
    with contextlib.suppress(OSError):  # what cannot be read is found when its turn comes
        if file.is_file() and not file.is_symlink() and file.stat().st_size < 2**24:
            return file.read_bytes()
    return b""
