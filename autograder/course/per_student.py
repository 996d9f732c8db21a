"""`autograder build --per-student`: a notebook for each student of a roster, with numbers of his own.

Source notebooks, gradebook and exchange stay as they are: answer and test cells have the same names for all. Grading
finds a student's parameters by his id and the course's secret, so no list has to be kept.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from autograder.authoring import ledger, loading
from autograder.authoring.assignment import Assignment
from autograder.authoring.building import notebook_text, own_variants, refuse_other_numbers, write_text
from autograder.authoring.variants import course_secret, own_seed, variant
from autograder.errors import StaffError
from autograder.nbgrader.handouts import released_form
from autograder.nbgrader.seal import sealed

FOLDER = "students"


def write_own(
    course: Path, assignment: Assignment, students: list[str], *, force: bool = False
) -> Iterator[tuple[Path, bool]]:
    """Write `students/<id>/<assignment>/<problem>.ipynb`, as released: each path, and whether its content is new.

    What was handed out before is not overwritten with other numbers, unless by `force`.
    """
    if not assignment.per_student:
        raise StaffError(
            "assignment",
            f'{assignment.name}.toml gives the whole class one variant. Write variants = "student" into it, and give '
            "this command again, with --force if it was released to the class before; then autograder release "
            f"{assignment.name}",
        )
    import nbformat
    from traitlets.config import Config

    root, secret = loading.find_problems(course), course_secret(course)
    seeds = {
        (student, slug): own_seed(assignment, loading.load(slug, root), secret, student)
        for student in students
        for slug in assignment.problems
    }
    if not force:
        refuse_other_numbers(course, assignment, own_variants(assignment, seeds, root))
    made = []
    try:
        for (student, slug), seed in seeds.items():
            source = nbformat.reads(notebook_text(assignment, slug, seed, root), as_version=4)
            released, _ = released_form(source, Config())
            made.append(sealed(released, course=course, assignment=assignment.name, student=student))
            path = course / FOLDER / student / assignment.name / f"{slug}.ipynb"
            yield path, write_text(path, nbformat.writes(released) + "\n")
    finally:
        ledger.record(course, made)


def known(course: Path) -> list[str]:
    """The students who were given a notebook of their own."""
    return sorted(path.name for path in (course / FOLDER).glob("*") if path.is_dir())


def notes(course: Path, assignment: Assignment, students: list[str]) -> Iterator[str]:
    """Who shares their numbers, and who has a notebook and is not among the students any more."""
    for slug, shared in alike(course, assignment, students).items():
        if shared:
            yield f"in {slug}, {shared} of {len(students)} students share their numbers with another one"
    given = [item for item in known(course) if (course / FOLDER / item / assignment.name).is_dir()]
    if left := sorted(set(given) - set(students)):
        yield (
            f"not on the roster any more: {', '.join(left)}; what was made for them in {FOLDER}/ is still there, and "
            "what they hand in is graded"
        )


def alike(course: Path, assignment: Assignment, students: list[str]) -> dict[str, int]:
    """How many students share their variant of a problem with another one, by problem."""
    root, secret = loading.find_problems(course), course_secret(course)
    shared = {}
    for slug in assignment.problems:
        problem = loading.load(slug, root)
        drawn = [variant(problem, own_seed(assignment, problem, secret, item)).parameters for item in students]
        shared[slug] = sum(drawn.count(p) > 1 for p in drawn)
    return shared
