"""A class graded by plain nbgrader and by `autograder grade`, in one run: wall time, processor time, memory, marks.

    python -m benchmarks.grading --students 40 --json
    python -m benchmarks.grading --only-ours --students 300
    python -m benchmarks.grading --students 30 --stalling 10     the thirty, alone and beside ten that do not end

Processor time is that of each command and of all that it started (wait4): kernels there, the warm parent and the
notebooks' processes here. The mark of every part of every student is compared.
"""

from __future__ import annotations

import argparse
import json
import os
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from autograder.sandbox.turns import cores
from autograder.sandbox.watch import descendants, share
from benchmarks.simulated import ASSIGNMENT, command, environment, two_courses

MARKS = """
    select student_id, name, auto_score from grade
    join submitted_notebook on grade.notebook_id = submitted_notebook.id
    join submitted_assignment on submitted_notebook.assignment_id = submitted_assignment.id
    join base_cell on grade.cell_id = base_cell.id order by 1, 2
"""


@dataclass(kw_only=True)
class Cost:
    """What commands took together: seconds of wall and of processor time, and the most memory at a time in MB."""

    wall: float = 0.0
    cpu: float = 0.0
    memory: float = 0.0


def measured(words: list[str], course: Path, cost: Cost) -> None:
    """Run a command and add what it cost."""
    start = time.monotonic()
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(words, cwd=course, env=environment(), stdout=output, stderr=subprocess.STDOUT)
        ended = threading.Event()
        peak = [0.0]
        eye = threading.Thread(target=_look, args=(process.pid, ended, peak))
        eye.start()
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        ended.set()
        eye.join()
        if process.returncode:
            output.seek(0)
            sys.exit(f"{' '.join(words)} ended with {process.returncode}:\n{output.read().decode()[-3000:]}")
    cost.wall += time.monotonic() - start
    cost.cpu += used.ru_utime + used.ru_stime
    cost.memory = max(cost.memory, peak[0])


def _look(pid: int, ended: threading.Event, peak: list[float]) -> None:
    """The memory of a process and of all below it, what is shared counted once."""
    while not ended.wait(0.5):
        peak[0] = max(peak[0], sum(map(share, descendants(pid))) / 2**20)


def marks(course: Path) -> list[tuple[str, str, float]]:
    """Every part's mark."""
    with sqlite3.connect(course / "gradebook.db") as database:
        return database.execute(MARKS).fetchall()


def compare(students: int, only_ours: bool) -> dict[str, Any]:
    """Grade the class both ways."""
    with tempfile.TemporaryDirectory() as folder:
        ours, plain = two_courses(Path(folder), students)
        costs = {"autograder": Cost(), "nbgrader": Cost()}
        measured(command(ours, "autograder", "grade", ASSIGNMENT, "--course", str(ours)), ours, costs["autograder"])
        if only_ours:
            return {"students": students, "autograder": asdict(costs["autograder"])}
        for step in ("autograde", "generate_feedback"):
            measured(command(plain, "nbgrader", step, ASSIGNMENT), plain, costs["nbgrader"])
        pages = [len(list((course / "feedback").glob("*/*/*.html"))) for course in (ours, plain)]
        return {
            "students": students,
            "wall_ratio": round(costs["nbgrader"].wall / costs["autograder"].wall, 2),
            "cpu_ratio": round(costs["nbgrader"].cpu / costs["autograder"].cpu, 2),
            "marks_equal": marks(ours) == marks(plain) and pages == [students, students],
            "cores": cores(),
            **{name: asdict(cost) for name, cost in costs.items()},
        }


STALL = "while True:\n    pass\n"


def beside_stalling(students: int, stalling: int) -> dict[str, Any]:
    """When the last of a class is done, by itself and where others of it stall; those come first by name."""
    with tempfile.TemporaryDirectory() as folder:
        course, _ = two_courses(Path(folder), students + stalling)
        for number in range(stalling):
            place = course / "submitted" / f"student{number:04}" / ASSIGNMENT
            for path in place.glob("*.ipynb"):
                notebook = json.loads(path.read_text())
                notebook["cells"].insert(2, {"cell_type": "code", "metadata": {}, "source": STALL, "outputs": []})
                path.write_text(json.dumps(notebook))
        honest = [f"student{number:04}" for number in range(stalling, students + stalling)]
        alone = _seconds_until_done(course, honest, [word for name in honest for word in ("--student", name)])
        beside = _seconds_until_done(course, honest, [])
    figures = {"alone": round(alone, 2), "beside": round(beside, 2), "ratio": round(beside / alone, 2)}
    return {"students": students, "stalling": stalling, "jobs": 2, **figures}


def _seconds_until_done(course: Path, students: list[str], options: list[str]) -> float:
    """From the start of the command; what still runs is ended then."""
    journal = course / "reports" / f"{ASSIGNMENT}.jsonl"
    journal.unlink(missing_ok=True)
    words = command(course, "autograder", "grade", ASSIGNMENT, "--course", str(course), "--jobs", "2", *options)
    start, left = time.time(), set(students)
    with subprocess.Popen(words, cwd=course, env=environment(), stderr=subprocess.DEVNULL) as process:
        while left and process.poll() is None:
            time.sleep(0.05)
            lines = journal.read_text().splitlines(keepends=True) if journal.exists() else []
            done = [json.loads(line) for line in lines if line.endswith("\n")]
            left = set(students) - {line.get("student") for line in done if line["state"] == "done"}
        if left:
            sys.exit(f"not graded: {', '.join(sorted(left))}")
        process.kill()
    return max(line["time"] for line in done if line.get("student") in students) - start


def table(result: dict[str, Any]) -> Table:
    """The figures for people."""
    shown = Table(title=f"{result['students']} submissions")
    for column in ("", "wall, s", "processor, s", "processor a submission, s", "memory, MB"):
        shown.add_column(column, justify="right" if column else "left")
    for name in ("nbgrader", "autograder"):
        if cost := result.get(name):
            figures = [f"{cost[key]:.2f}" for key in ("wall", "cpu")]
            shown.add_row(name, *figures, f"{cost['cpu'] / result['students']:.3f}", f"{cost['memory']:.0f}")
    if "wall_ratio" in result:
        shown.add_row("ratio", f"{result['wall_ratio']:.1f}", f"{result['cpu_ratio']:.1f}", "", "")
        shown.caption = f"marks equal: {'yes' if result['marks_equal'] else 'NO'}"
    return shown


def main() -> None:
    """Measure and show."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--students", type=int, default=40)
    parser.add_argument("--stalling", type=int, default=0, help="how many more do not end: only ours, at two jobs")
    parser.add_argument("--only-ours", action="store_true", help="leave plain nbgrader out")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    options = parser.parse_args()
    if options.stalling:
        print(json.dumps(beside_stalling(options.students, options.stalling)))
        return
    result = compare(options.students, options.only_ours)
    if options.json:
        print(json.dumps(result))
    else:
        Console().print(table(result))


if __name__ == "__main__":
    main()
