"""The grader's own process without students' processes: how many submissions it can judge and write in a second.

    python -m benchmarks.main_alone COURSE     a course of `benchmarks.simulated`; figures as JSON

A class is graded once, and every notebook's replies are kept as bytes. Then it is graded again, from nothing, with
these replies in place of processes. What a second run costs is what one core must do for each submission, however many
others run notebooks.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.simulated import ASSIGNMENT, ROOT, environment


def rate(course: Path) -> dict[str, float]:
    """Submissions, CPU seconds of each in the grader's own process, and wall seconds; by a process of its own."""
    words = [sys.executable, "-m", "benchmarks.main_alone", str(course)]
    done = subprocess.run(words, cwd=ROOT, env=environment(), check=True, stdout=subprocess.PIPE, text=True)
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def main() -> None:
    """Record, replay, print."""
    from autograder.course import workers
    from autograder.course.run import Options, run
    from autograder.sandbox.task import Replies, Task

    course = Path(sys.argv[1]).resolve()
    real, kept = workers.answer, dict[bytes, bytes]()

    def key(task: Task) -> bytes:
        return hashlib.sha256(task.frame()).digest()

    def recorded(task: Task, turn: Any = None) -> Replies:
        replies = real(task, turn)
        kept[key(task)] = replies.frame()
        return replies

    def replayed(task: Task, turn: Any = None) -> Replies:
        return Replies.read(kept[key(task)])

    with tempfile.TemporaryDirectory() as folder:
        figures = {}
        for name, way in (("first", recorded), ("second", replayed)):
            place = Path(folder, name, "notebooks")
            shutil.copytree(course, place)
            (place.parent / "problems").symlink_to(course.parent / "problems", target_is_directory=True)
            if name == "second":
                shutil.copy(Path(folder, "first/notebooks/.course-secret"), place)
            workers.answer = way  # type: ignore[assignment]
            used, start = time.process_time(), time.monotonic()
            result = run(place, Options(assignment=ASSIGNMENT))
            graded = result.counts()["graded"]
            figures = {
                "submissions": graded,
                "cpu": (time.process_time() - used) / graded,
                "wall": (time.monotonic() - start) / graded,
            }
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
