"""Two versions of this package grade the same classes: marks, comments, records and pages are compared field by field.

    git worktree add /tmp/before COMMIT
    python -m benchmarks.same_marks /tmp/before

The classes are those of `benchmarks.grading` and of `autograder demo`, with its broken notebooks. Each is graded by
`autograder grade`, the demo's by `nbgrader autograde` and `generate_feedback` as well. All that is left out is time,
and what is drawn by chance (the ids of rows). Answers may differ in their last digits only.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from autograder.checks.compare import difference
from autograder.core import Answer, Report
from autograder.grading import report
from autograder.protocol.answering import question_key
from autograder.protocol.codec import encode
from autograder.simulation import demo
from benchmarks.simulated import ASSIGNMENT, ROOT, environment, two_courses

LAST_DIGITS = 1e-12
MARKS = """
    select student_id, notebook.name, base_cell.name, auto_score, manual_score, extra_credit, needs_manual_grade,
           submitted_notebook.late_submission_penalty, submitted_assignment.timestamp
    from grade join submitted_notebook on grade.notebook_id = submitted_notebook.id
    join submitted_assignment on submitted_notebook.assignment_id = submitted_assignment.id
    join notebook on submitted_notebook.notebook_id = notebook.id join base_cell on grade.cell_id = base_cell.id
"""
COMMENTS = """
    select student_id, notebook.name, base_cell.name, auto_comment, manual_comment
    from comment join submitted_notebook on comment.notebook_id = submitted_notebook.id
    join submitted_assignment on submitted_notebook.assignment_id = submitted_assignment.id
    join notebook on submitted_notebook.notebook_id = notebook.id join base_cell on comment.cell_id = base_cell.id
"""
GRADE = [["-m", "autograder", "grade", ASSIGNMENT, "--course", "."]]
NBGRADER = [["-m", "nbgrader", step, ASSIGNMENT] for step in ("autograde", "generate_feedback")]


def classes(place: Path, students: int) -> Iterator[tuple[str, Path]]:
    """Courses with submissions, of which nothing has been graded, each by its name."""
    ours, _ = two_courses(place / "benchmark", students)
    yield "benchmark", ours
    folder = place / "demo"
    folder.mkdir()
    with contextlib.redirect_stdout(io.StringIO()):
        demo.run(folder, students=min(students, len(demo.CLASS)))
    course = folder / "notebooks"
    for name in ("autograded", "feedback", "reports"):
        shutil.rmtree(course / name, ignore_errors=True)
    (course / "gradebook.db").unlink()
    run([["-m", "nbgrader", "generate_assignment", ASSIGNMENT, "--force"]], course, ROOT)
    yield "demo", course


def run(commands: list[list[str]], course: Path, tree: Path) -> None:
    """Run commands by the package in a tree; some notebooks of a class fail, which is no fault here."""
    for words in commands:
        env = environment() | {"PYTHONPATH": str(tree)}
        done = subprocess.run(
            [sys.executable, *words], cwd=course, env=env, capture_output=True, text=True, check=False
        )
        if "Traceback" in done.stderr:
            sys.exit(done.stderr[-3000:])


def fields(course: Path) -> dict[str, Any]:
    """Everything that grading left, by a name for each field."""
    found: dict[str, Any] = {}
    with sqlite3.connect(course / "gradebook.db") as database:
        for kind, query in (("mark", MARKS), ("comment", COMMENTS)):
            found |= {f"{kind} {' '.join(row[:3])}": row[3:] for row in database.execute(query)}
    for path in sorted(course.glob("autograded/*/*/*.ipynb")):
        found |= _flat(f"notebook {path.parts[-3]}/{path.name}", json.loads(path.read_text()))
    for path in sorted(course.glob("feedback/*/*/*.html")):
        found[f"page {path.parts[-3]}/{path.name}"] = path.read_text()
    for path in sorted(course.glob(f"reports/{ASSIGNMENT}/*/*.json")):
        found |= _record(f"record {path.parts[-2]}/{path.name}", report.load(path))
    journal = course / f"reports/{ASSIGNMENT}.jsonl"
    for line in map(json.loads, journal.read_text().splitlines() if journal.exists() else ()):
        name = f"journal {line['state']} {line.get('student', '')}"
        found |= _flat(name, {key: item for key, item in line.items() if key not in ("time", "key")})
    return found


def _flat(name: str, value: Any) -> dict[str, Any]:
    if isinstance(value, Mapping):
        return {key: item for part in value for key, item in _flat(f"{name} {part}", value[part]).items()}
    if isinstance(value, list) and not all(isinstance(item, str) for item in value):
        return {key: item for place, part in enumerate(value) for key, item in _flat(f"{name} {place}", part).items()}
    return {name: value}


def _record(name: str, found: Report) -> dict[str, Any]:
    fields = {f"{name} {word}": value for word, value in vars(found).items() if word != "outcomes"}
    for outcome in found.outcomes:
        fields |= {f"{name} {outcome.part}": replace(outcome, answers=())}
        fields |= {f"{name} {outcome.part} {question_key(asked)}": reply for asked, reply in outcome.answers}
    return fields


def same(old: Any, new: Any) -> bool:
    """Whether two fields are equal; the values of answers, but for their last digits."""
    if not isinstance(old, Answer) or not isinstance(new, Answer):
        return bool(old == new)
    if (old.failure, old.detail) != (new.failure, new.detail):
        return False
    return encode(old.value) == encode(new.value) or difference(new.value, old.value, rtol=LAST_DIGITS) is None


def compare(course: Path, commands: list[list[str]], before: Path, place: Path) -> tuple[int, list[str]]:
    """The number of fields, and those that differ."""
    found = []
    for name, tree in {"before": before, "now": ROOT}.items():
        shutil.copytree(course, place / name / course.name, symlinks=True)
        for beside in course.parent.iterdir():
            if beside.name == "problems":
                (place / name / "problems").symlink_to(beside.resolve(), target_is_directory=True)
        secret = place / "before" / course.name / ".course-secret"
        if secret.exists() and name == "now":
            shutil.copy(secret, place / name / course.name)
        run(commands, place / name / course.name, tree)
        found.append(fields(place / name / course.name))
    old, new = found
    names = sorted(old.keys() | new.keys())
    return len(names), [name for name in names if not same(old.get(name), new.get(name))]


def main() -> None:
    """Grade, compare, and say what differs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("before", type=Path, help="a checkout of the version that is compared with")
    parser.add_argument("--students", type=int, default=12)
    options = parser.parse_args()
    os.umask(0o077)
    different = 0
    with tempfile.TemporaryDirectory() as folder:
        for name, course in classes(Path(folder), options.students):
            for step, commands in {"autograder grade": GRADE, "nbgrader": NBGRADER}.items():
                if name == "demo" or commands is GRADE:
                    count, differing = compare(course, commands, options.before, Path(folder, f"{name}-{step}"))
                    print(f"{name}, {step}: {count} fields, {len(differing)} differ")
                    print("".join(f"  {each}\n" for each in differing[:20]), end="", flush=True)
                    different += len(differing)
    sys.exit(bool(different))


if __name__ == "__main__":
    main()
