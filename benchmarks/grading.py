"""A class graded by plain nbgrader and by `autograder grade`, in one run: wall time, processor time, memory, marks.

    python -m benchmarks.grading --runs 3 --classes 10 100       medians of three alternating runs, floor, start, rate
    python -m benchmarks.grading --only-ours --classes 1000
    python -m benchmarks.grading --students 30 --stalling 10     the thirty, alone and beside ten that do not end

Processor time is that of each command and of all that it started (wait4): kernels there, the warm parent and the
notebooks' processes here. The mark of every part of every student is compared. In the same run are measured the import
of torch, the floor of a submission (`benchmarks.floor`) and the grader's own process alone (`benchmarks.main_alone`).
With --distinct no two students' right answers are equal to the last bit, as nowhere in a class of copies.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import shutil
import sqlite3
import statistics
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
from autograder.sandbox.watch import descendants
from benchmarks.floor import floor, import_of_torch
from benchmarks.main_alone import rate
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
    while not ended.wait(0.5):
        peak[0] = max(peak[0], _memory(pid) / 2**10)


def _memory(pid: int) -> float:
    """kB of a process and of all below it, what these share counted once.

    Pages of files, such as torch's libraries, are counted in full, as the process with most of them has them: what else
    on the machine has them too moves no figure.
    """
    own, files = 0, [0]
    for each in descendants(pid):
        with contextlib.suppress(OSError, KeyError):
            lines = Path(f"/proc/{each}/smaps_rollup").read_text().splitlines()[1:]
            kilobytes = {name: int(words.split()[0]) for name, _, words in (line.partition(":") for line in lines)}
            own += kilobytes["Pss_Anon"] + kilobytes["Pss_Shmem"]
            files.append(kilobytes["Rss"] - kilobytes["Anonymous"])
    return own + max(files)


def marks(course: Path) -> list[tuple[str, str, float]]:
    """Every part's mark."""
    with sqlite3.connect(course / "gradebook.db") as database:
        return database.execute(MARKS).fetchall()


def compare(students: int, only_ours: bool, runs: int = 1, distinct: bool = False) -> dict[str, Any]:
    """Grade the class both ways, in turns; medians of the runs."""
    with tempfile.TemporaryDirectory() as folder:
        ours, plain = two_courses(Path(folder), students, distinct)
        costs: dict[str, list[Cost]] = {"autograder": [], "nbgrader": []}
        equal = True
        for _ in range(runs):
            mine, theirs = _fresh(ours), _fresh(plain)
            costs["autograder"].append(_graded(mine, ("autograder", "grade", ASSIGNMENT, "--course", ".")))
            if not only_ours:
                steps = [("nbgrader", step, ASSIGNMENT) for step in ("autograde", "generate_feedback")]
                costs["nbgrader"].append(_graded(theirs, *steps))
                pages = [len({page.parent for page in course.glob("feedback/*/*/*.html")}) for course in (mine, theirs)]
                equal = equal and marks(mine) == marks(theirs) and pages == [students, students]
        found: dict[str, Any] = {"students": students, "runs": runs, "cores": cores(), "distinct": distinct}
        found |= {name: asdict(_median(several)) for name, several in costs.items() if several}
        found["record"] = _size(mine / "reports") / students
        if not only_ours:
            found["wall_ratio"] = round(found["nbgrader"]["wall"] / found["autograder"]["wall"], 2)
            found["cpu_ratio"] = round(found["nbgrader"]["cpu"] / found["autograder"]["cpu"], 2)
            found["marks_equal"] = equal
        return found


def _fresh(course: Path) -> Path:
    """A copy in which nothing has been graded, in place of an earlier one."""
    copy = course.with_name("graded")
    shutil.rmtree(copy, ignore_errors=True)
    return shutil.copytree(course, copy)


def _graded(course: Path, *steps: tuple[str, ...]) -> Cost:
    cost = Cost()
    for step in steps:
        measured(command(course, *step), course, cost)
    return cost


def _median(costs: list[Cost]) -> Cost:
    return Cost(
        **{name: statistics.median(getattr(cost, name) for cost in costs) for name in ("wall", "cpu", "memory")}
    )


def _size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


FEW = 40  # students of the class by which floor, start and rates are measured


def around() -> dict[str, Any]:
    """What a submission's cost is to be seen beside: torch's import, the floor, the start, and one process's rate."""
    with tempfile.TemporaryDirectory() as folder:
        ours, _ = two_courses(Path(folder), FEW)
        imported = import_of_torch()
        course = _fresh(ours)
        begun = time.time()
        cost = _graded(course, ("autograder", "grade", ASSIGNMENT, "--course", ".", "--jobs", "2"))
        journal = (course / "reports" / f"{ASSIGNMENT}.jsonl").read_text().splitlines()
        started = next(line["time"] for line in map(json.loads, journal) if line["state"] == "start") - begun
        one = _graded(_fresh(ours), ("autograder", "grade", ASSIGNMENT, "--course", ".", "--student", "student0000"))
        alone = rate(ours)
        each = (cost.cpu - one.cpu) / (FEW - 1)
        return {
            "import_of_torch": imported,
            "start": {"wall": started, "ratio": started / imported["wall"]},
            "floor": floor(ours, FEW),
            "each": each,  # a further submission
            "main": alone["cpu"],
            "rate": {
                "jobs 2": (FEW - 1) / (cost.wall - one.wall),
                **{f"{n} cores": _rate(n, alone["cpu"], each) for n in (4, 16)},
            },
        }


def _rate(cores: int, main: float, each: float) -> float:
    """Submissions a second on so many cores: the grader's own process has one of them, students' processes the rest."""
    return min(1 / main, (cores - 1) / max(each - main, 1e-9))


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
    shown.caption = f"record of a notebook: {result['record'] / 1000:.0f} kB"
    if "wall_ratio" in result:
        shown.add_row("ratio", f"{result['wall_ratio']:.1f}", f"{result['cpu_ratio']:.1f}", "", "")
        shown.caption += f"; marks equal: {'yes' if result['marks_equal'] else 'NO'}"
    return shown


def lines(result: dict[str, Any]) -> str:
    """What was measured around the classes, for people."""
    torch, start, rates = result["import_of_torch"], result["start"], result["rate"]
    return "\n".join(
        [
            f"import of torch: {torch['wall']:.2f} s of wall time, {torch['cpu']:.2f} s of processor time",
            f"start of autograder grade: {start['wall']:.2f} s of wall time, {start['ratio']:.2f} times that import",
            f"a further submission: {result['each']:.3f} s of processor time, {result['main']:.3f} s of it in the "
            f"grader's own process; {result['each'] / result['floor']:.1f} times the floor of {result['floor']:.3f} s",
            "submissions a second: "
            + ", ".join(f"{name}: {value:.1f}" for name, value in rates.items())
            + " (4 and 16 cores are calculated from these figures)",
        ]
    )


def main() -> None:
    """Measure and show."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--students", type=int, default=40)
    parser.add_argument("--classes", type=int, nargs="*", default=[], help="further classes, graded by us only")
    parser.add_argument("--runs", type=int, default=1, help="how often both are measured, in turns")
    parser.add_argument("--distinct", action="store_true", help="let right answers differ in their last digits")
    parser.add_argument("--stalling", type=int, default=0, help="how many more do not end: only ours, at two jobs")
    parser.add_argument("--only-ours", action="store_true", help="leave plain nbgrader out")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    options = parser.parse_args()
    if options.stalling:
        print(json.dumps(beside_stalling(options.students, options.stalling)))
        return
    few = not (options.only_ours and options.classes)
    classes = [(options.students, options.only_ours, options.runs)] if few else []
    results = []
    for students, only_ours, runs in [*classes, *((students, True, 1) for students in options.classes)]:
        results.append(compare(students, only_ours, runs, options.distinct))
        if not options.json:  # each as soon as it is there: the whole takes minutes
            Console().print(table(results[-1]))
    beside = around()
    print(json.dumps({"classes": results, **beside}) if options.json else lines(beside))


if __name__ == "__main__":
    main()
