"""`autograder build`: the source notebooks of an assignment, one a problem, written only where they change."""

from __future__ import annotations

import glob
import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from autograder.authoring import ledger, loading, privacy
from autograder.authoring.assignment import Assignment
from autograder.authoring.ledger import Made
from autograder.authoring.sealing import MINE
from autograder.authoring.source_notebook import build
from autograder.authoring.variants import class_seed, course_secret, variant
from autograder.errors import StaffError


def notebook_text(assignment: Assignment, slug: str, seed: int, root: Path | None = None) -> str:
    """The source notebook of one problem of an assignment, under the variant of a seed."""
    problem = loading.load(slug, root).worth(assignment.points.get(slug))
    opening = f"*{assignment.title}*\n\n{assignment.opening}".strip()
    own = assignment.name if assignment.per_student else ""
    words = {"opening": opening, "hand_in": assignment.hand_in, "own_variants_of": own}
    content = build(problem, seed, root=root, voids=assignment.voids.get(slug), **words)
    return json.dumps(content, indent=1, ensure_ascii=False, sort_keys=True) + "\n"


def notebooks(assignment: Assignment, seed: int | None = None, root: Path | None = None) -> Iterator[tuple[str, str]]:
    """Name and text of each source notebook of an assignment; `seed` overrides the assignment's own."""
    for slug in assignment.problems:
        yield slug, notebook_text(assignment, slug, class_seed(assignment, loading.load(slug, root), seed), root)


def write(
    course: Path, assignment: Assignment, seed: int | None = None, *, force: bool = False
) -> list[tuple[Path, bool]]:
    """Write `source/<assignment>/<problem>.ipynb`; each path, and whether its content is new.

    They hold the solutions: only their owner can read them, and the group where it may write to the course. The course
    gets its secret here, before there is a class. Numbers that were handed out are not overwritten, unless by `force`.
    """
    _refuse_patterns(course / assignment.name)
    course_secret(course)
    root = loading.find_problems(course)
    texts = dict(notebooks(assignment, seed, root))
    made = [_made(assignment, json.loads(text), root) for text in texts.values()]
    if not force:
        refuse_other_numbers(course, assignment, [*made, *_own_again(course, assignment, root)])
    written = []
    for slug, text in texts.items():
        path = course / "source" / assignment.name / f"{slug}.ipynb"
        written.append((path, write_text(path, text)))
        privacy.close(path, shared=privacy.shared(course))
    ledger.record(course, made)
    return written


def _refuse_patterns(place: Path) -> None:
    """StaffError where nbgrader would take the path for a pattern, and find no notebooks under it."""
    if odd := sorted(set("[]*?") & set(str(place.resolve()))):
        raise StaffError(
            "pattern",
            f"nbgrader reads {' and '.join(odd)} in a path as a pattern, and finds nothing in {place.resolve()}; give "
            "the folder or the assignment another name",
        )


def _made(assignment: Assignment, source: Any, root: Path) -> Made:
    marks = source["metadata"][MINE]
    drawn = variant(loading.load(marks["slug"], root), marks["seed"])
    return ledger.made(source, drawn, step="built", assignment=assignment.name, own=assignment.per_student)


def _own_again(course: Path, assignment: Assignment, root: Path) -> Iterator[Made]:
    """What would be drawn now for each student who was given a notebook of their own."""
    seeds = {key: item.seed for key, item in _released(course, assignment.name).items() if key[1]}
    kept = {(student, slug): seed for (slug, student), seed in seeds.items() if slug in assignment.problems}
    return own_variants(assignment, kept, root)


def own_variants(assignment: Assignment, seeds: Mapping[tuple[str, str], int], root: Path) -> Iterator[Made]:
    """The variants that each student would be given, by student and problem; the class's where they have none."""
    for (student, slug), seed in seeds.items():
        problem = loading.load(slug, root)
        drawn = variant(problem, seed if assignment.per_student else class_seed(assignment, problem))
        name, own = assignment.name, assignment.per_student
        yield ledger.made({"cells": []}, drawn, step="built", assignment=name, student=student, own=own)


def _released(course: Path, name: str) -> dict[tuple[str, str], Made]:
    """What was handed out last, by problem and, where it is a student's own, by student."""
    lines = ledger.read(course, name)
    return {(item.slug, item.student): item for item in lines if item.step == "released"}


def refuse_other_numbers(course: Path, assignment: Assignment, made: Iterable[Made]) -> None:
    """StaffError where what was handed out, by the ledger or by what lies in the course, has other numbers."""
    released = _released(course, assignment.name)
    for item in made:
        before = released.get((item.slug, item.student)) or _in_the_course(course, item)
        if before is None or (before.own and item.own and not item.student):
            continue  # of own variants, the one in source/ is nobody's
        if before.own != item.own or before.parameters != item.parameters:
            whose = f"{item.student}'s own notebook of it has" if item.student else "it has"
            raise StaffError(
                "released_before",
                f"{assignment.name} was released, and this would overwrite {item.slug} with other numbers: {whose} "
                f"{_numbers(before)}, and would get {_numbers(item)}. Nothing was written. Give the new one a "
                f"name of its own (autograder build {assignment.name} --seed SEED --name NAME), or overwrite the old "
                "one with --force",
            )


def _numbers(item: Made) -> str:
    numbers = ", ".join(f"{name} = {value!r}" for name, value in item.parameters.items()) or "no parameters"
    return f"seed {item.seed} ({numbers})" if not item.own or item.student else "a variant for each student"


def _in_the_course(course: Path, item: Made) -> Made | None:
    """What a course without a ledger handed out: its released notebook, or the source where something was handed in."""
    place = Path(item.assignment, f"{item.slug}.ipynb")
    handed_in = any((course / "submitted").glob(f"*/{glob.escape(item.assignment)}/*"))
    for path in (course / "release" / place, *([course / "source" / place] if handed_in else [])):
        try:
            marks = json.loads(path.read_text(encoding="utf-8"))["metadata"][MINE]
            drawn = variant(loading.load(marks["slug"], loading.find_problems(course)), marks["seed"])
        except (OSError, ValueError, KeyError, TypeError):
            continue
        own = bool(marks.get("per_student"))
        return ledger.made({"cells": []}, drawn, step="released", assignment=item.assignment, own=own)
    return None


def write_text(path: Path, text: str) -> bool:
    """Write a file where its text is new; whether it was."""
    if path.is_file() and path.read_text(encoding="utf-8") == text:
        return False
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return True
