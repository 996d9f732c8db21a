"""The example at the top of the README: a problem, one student's notebook, and a grader's screen, all of it real.

    python -m benchmarks.readme            writes the three blocks into README.md (about fifteen seconds)

The course in docs/example is built, released by nbgrader, answered by three students and graded by `autograder grade`.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from autograder.authoring import building
from autograder.authoring.assignment import read_assignment
from autograder.nbgrader.course_api import done, opened
from benchmarks.pages import written

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"
EXAMPLE = ROOT / "docs" / "example"
SLUG = "scaled_scores"
SHOWN = "bob"

# What each student writes in place of the stub: correct but written differently, a known mistake, a missing bracket.
ANSWERS = {
    "ada": {"scores": "return (query[:, None] * key).sum(-1) / query.shape[1] ** 0.5", "memory": "O(max(T, 1) T)"},
    "bob": {"scores": "return query @ key.T", "memory": "O(T T)"},
    "cleo": {"scores": "return (query / query.shape[1] ** 0.5) @ key.T", "memory": "O(T^2"},
}
STUB = "# YOUR CODE HERE\nraise NotImplementedError()"


def blocks() -> dict[str, str]:
    """The markdown of each block by the name of its marker, made by a run of the whole course."""
    with tempfile.TemporaryDirectory(prefix="autograder-readme-") as place:
        course = handed_in_course(Path(place, "course"))
        screen = _run("-m", "autograder", "grade", "ps1", "--jobs", "1", folder=course)
        handed_in, graded = (
            _by_id(json.loads((course / step / SHOWN / f"ps1/{SLUG}.ipynb").read_text(encoding="utf-8")))
            for step in ("submitted", "autograded")
        )
    problem = (EXAMPLE / "problems" / SLUG / "problem.py").read_text(encoding="utf-8")
    return {
        "problem": _fenced("python", problem.replace("\n\n\n", "\n\n")),  # one blank line does on a first screen
        "student": _student(handed_in, graded),
        "grader": _fenced("console", f"$ autograder grade ps1\n{_by_name(screen)}"),
    }


def handed_in_course(folder: Path) -> Path:
    """The course folder of a copy of docs/example in which the three students have handed in."""
    course = Path(shutil.copytree(EXAMPLE, folder)) / "notebooks"
    with opened(course) as api:
        building.write(course, read_assignment(course, "ps1"))
        done("generate_assignment", api.generate_assignment("ps1"))
    released = (course / f"release/ps1/{SLUG}.ipynb").read_text(encoding="utf-8")
    for student, answers in ANSWERS.items():
        hand_in = course / "submitted" / student / "ps1"
        hand_in.mkdir(parents=True)
        (hand_in / f"{SLUG}.ipynb").write_text(json.dumps(_answered(json.loads(released), answers)))
    return course


def _by_name(screen: str) -> str:
    """The lines of the students by their names: who is done first depends on the machine."""
    lines = screen.splitlines(keepends=True)
    told = sorted(re.sub(r"^\d+/", "", line).split(" ", 1)[1] for line in lines if re.match(r"\d+/\d+ ", line))
    numbered = iter(f"{place}/{len(told)} {line}" for place, line in enumerate(told, 1))
    return "".join(next(numbered) if re.match(r"\d+/\d+ ", line) else line for line in lines)


def _answered(notebook: dict[str, Any], answers: dict[str, str]) -> dict[str, Any]:
    """The released notebook with a student's answers where the stubs were."""
    cells = _by_id(notebook)
    function = cells["scores-answer"]
    function["source"] = _text(function).replace(STUB.replace("\n", "\n    "), answers["scores"])
    typed = cells["memory-answer"]
    typed["source"] = f'memory = growth(r"{answers["memory"]}")'
    return notebook


def _student(handed_in: dict[str, Any], graded: dict[str, Any]) -> str:
    """A student's two answers, what the cell under the first one says before handing in, and the feedback on both."""
    answers = [_text(handed_in[f"{part}-answer"]) for part in ("scores", "memory")]
    opening = [_text(handed_in[name]) for name in ("package", "setup", "declarations")]
    check = _run("-c", "\n".join([*opening, answers[0], _text(handed_in["scores"])]), folder=ROOT)
    feedback = [_verdict(graded[part], part) for part in ("scores", "memory")]
    return "\n".join(
        [
            _fenced("python", "\n\n".join(answers)),
            "The cell below an answer checks its form only:",
            "",
            _fenced("text", check),
            "After grading, the feedback page says:",
            "",
            _fenced("text", "\n".join(feedback)),
        ]
    )


def _run(*words: str, folder: Path) -> str:
    """What a Python command prints, on either stream."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": "100", "NO_COLOR": "1"}
    run = subprocess.run(
        [sys.executable, *words],
        cwd=folder,
        env=environment,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    if run.returncode:
        raise RuntimeError(run.stdout)
    return run.stdout


def _verdict(cell: dict[str, Any], part: str) -> str:
    """What grading says of a part, beside the answer as it was read."""
    said = (_text(output["data"], "text/plain") for output in cell["outputs"])
    return next(text for text in said if text.startswith(f"{part}:"))


def _by_id(notebook: dict[str, Any]) -> dict[str, Any]:
    return {cell["metadata"].get("nbgrader", {}).get("grade_id"): cell for cell in notebook["cells"]}


def _text(cell: dict[str, Any], key: str = "source") -> str:
    return "".join(cell[key])


def _fenced(language: str, text: str) -> str:
    return f"```{language}\n{text.strip()}\n```\n"


if __name__ == "__main__":
    README.write_text(written(README.read_text(encoding="utf-8"), blocks()), encoding="utf-8")
