"""`autograder build`: the source notebooks of an assignment, one a problem, written only where they change."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from autograder.authoring import loading, privacy
from autograder.authoring.assignment import Assignment
from autograder.authoring.source_notebook import build
from autograder.authoring.variants import course_secret
from autograder.errors import StaffError


def notebook_text(assignment: Assignment, slug: str, seed: int, root: Path | None = None) -> str:
    """The source notebook of one problem of an assignment, under the variant of a seed."""
    problem = loading.load(slug, root).worth(assignment.points.get(slug))
    opening = f"*{assignment.title}*\n\n{assignment.opening}".strip()
    own = assignment.name if assignment.per_student else ""
    voids = assignment.voids.get(slug)
    content = build(problem, seed, opening=opening, root=root, own_variants_of=own, voids=voids)
    return json.dumps(content, indent=1, ensure_ascii=False, sort_keys=True) + "\n"


def notebooks(assignment: Assignment, seed: int | None = None, root: Path | None = None) -> Iterator[tuple[str, str]]:
    """Name and text of each source notebook of an assignment; `seed` overrides the assignment's own."""
    for slug in assignment.problems:
        yield slug, notebook_text(assignment, slug, assignment.seed if seed is None else seed, root)


def write(course: Path, assignment: Assignment, seed: int | None = None) -> list[tuple[Path, bool]]:
    """Write `source/<assignment>/<problem>.ipynb`; each path, and whether its content is new.

    They hold the solutions: only their owner can read them, and the group where it may write to the course. The course
    gets its secret here, before there is a class.
    """
    _refuse_patterns(course / assignment.name)
    course_secret(course)
    privacy.warn_where_open(course)
    written = []
    for slug, text in notebooks(assignment, seed, loading.find_problems(course)):
        path = course / "source" / assignment.name / f"{slug}.ipynb"
        written.append((path, write_text(path, text)))
        privacy.close(path, shared=privacy.shared(course))
    return written


def _refuse_patterns(place: Path) -> None:
    """StaffError where nbgrader would take the path for a pattern, and find no notebooks under it."""
    if odd := sorted(set("[]*?") & set(str(place.resolve()))):
        raise StaffError(
            "pattern",
            f"nbgrader reads {' and '.join(odd)} in a path as a pattern, and finds nothing in {place.resolve()}; give "
            "the folder or the assignment another name",
        )


def write_text(path: Path, text: str) -> bool:
    """Write a file where its text is new; whether it was."""
    if path.is_file() and path.read_text(encoding="utf-8") == text:
        return False
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return True
