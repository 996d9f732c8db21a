"""`autograder build`: the source notebooks of an assignment, one a problem, written only where they change."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from autograder import library
from autograder.assignment import Assignment
from autograder.notebook import build


def notebooks(assignment: Assignment, seed: int | None = None, root: Path | None = None) -> Iterator[tuple[str, str]]:
    """Name and text of each source notebook of an assignment; `seed` overrides the assignment's own."""
    for slug in assignment.problems:
        problem = library.load(slug, root).worth(assignment.points.get(slug))
        opening = f"*{assignment.title}*\n\n{assignment.opening}".strip()
        content = build(problem, assignment.seed if seed is None else seed, opening=opening, root=root)
        yield slug, json.dumps(content, indent=1, ensure_ascii=False, sort_keys=True) + "\n"


def write(course: Path, assignment: Assignment, seed: int | None = None) -> list[tuple[Path, bool]]:
    """Write `source/<assignment>/<problem>.ipynb`; each path, and whether its content is new."""
    written = []
    for slug, text in notebooks(assignment, seed):
        path = course / "source" / assignment.name / f"{slug}.ipynb"
        changed = not path.is_file() or path.read_text(encoding="utf-8") != text
        if changed:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        written.append((path, changed))
    return written
