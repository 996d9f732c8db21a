"""What no way of grading can do without: torch is imported once, and each notebook has a process of its own.

    python -m benchmarks.floor COURSE 40      CPU seconds of one submission, as JSON

A process that has imported torch forks for each submission. The child runs the cells and answers the hidden questions,
with no sandbox, no notebook's shell, no judge, no record and no page, and ends.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from benchmarks.simulated import ASSIGNMENT, ROOT, SLUG, environment


def import_of_torch() -> dict[str, float]:
    """Wall and CPU seconds of `python -c "import torch"`, the smallest of three."""
    walls, used = [], []
    for _ in range(3):
        start, before = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, "-c", "import torch"], check=True, env=environment())
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        walls.append(time.monotonic() - start)
        used.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return {"wall": min(walls), "cpu": min(used)}


def floor(course: Path, students: int) -> float:
    """CPU seconds of one submission of a course's class; measured in a process of its own, which has no threads."""
    words = [sys.executable, "-m", "benchmarks.floor", str(course), str(students)]
    done = subprocess.run(words, cwd=ROOT, env=environment(), check=True, capture_output=True, text=True)
    return float(json.loads(done.stdout))


def _questions(course: Path) -> dict[str, list[bytes]]:
    from autograder.authoring import loading
    from autograder.grading import plan
    from autograder.grading.submission import paper_of

    problem = loading.load(SLUG, course.parent / "problems")
    paper = paper_of(problem, folder=course.parent / "problems", seed=1, secret=b"floor")
    return {name: [asked.frame for asked in several] for name, several in plan._foreseen(paper).items()}


def _answered(work: Path, questions: dict[str, list[bytes]]) -> None:
    from autograder.protocol.answering import answers

    names: dict[str, Any] = {}
    for cell in json.loads(work.read_text())["cells"]:
        if cell["cell_type"] == "code" and not cell["metadata"]["nbgrader"]["grade"]:
            exec("".join(cell["source"]), names)  # noqa: S102 - the benchmark's own students
    for frames in questions.values():
        for frame in frames:
            list(answers(frame, names))


def main() -> None:
    """Measure and print."""
    import gc

    import torch

    torch.set_num_threads(1)
    course, students = Path(sys.argv[1]), int(sys.argv[2])
    questions = _questions(course)
    gc.freeze()
    silent = os.open(os.devnull, os.O_WRONLY)
    before = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    for number in range(students):
        if (pid := os.fork()) == 0:
            try:
                os.dup2(silent, sys.stdout.fileno())  # what a notebook prints is not our figure
                _answered(course / f"submitted/student{number:04}/{ASSIGNMENT}/{SLUG}.ipynb", questions)
            except NotImplementedError:
                pass
            finally:
                os._exit(0)
        os.waitpid(pid, 0)
    after = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    used = [
        now.ru_utime + now.ru_stime - then.ru_utime - then.ru_stime for now, then in zip(after, before, strict=True)
    ]
    print(json.dumps(sum(used) / students))


if __name__ == "__main__":
    main()
