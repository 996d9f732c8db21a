"""`autograder release`: the students' version of an assignment, and zip files that work on any machine.

A zip holds the released notebooks with the files beside them, the package's ordinary wheel, what to install, and a page
on how to work and hand in. With own variants, there is one for each student.
"""

from __future__ import annotations

import html
import re
import shutil
import string
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from autograder.authoring import loading, privacy, wheel
from autograder.authoring.assignment import Assignment, read_assignment
from autograder.authoring.building import notebooks
from autograder.authoring.new_course import ROSTER
from autograder.authoring.roster import of_course, read_roster
from autograder.course import per_student
from autograder.errors import AutograderError, StaffError
from autograder.nbgrader import course_api

ZIPS = "zips"
PAGE = "how-to-work-and-hand-in.html"
NEEDS = "requirements.txt"
_TEMPLATE = Path(__file__).with_name("how_to_work.html")
_WHEN = (2020, 1, 1, 0, 0, 0)  # same content, same bytes


@dataclass(kw_only=True)
class Released:
    """What was made: folders and zips, how many students have a variant of their own, and what a person should know."""

    folder: Path
    zips: list[Path] = field(default_factory=list)
    students: int = 0
    notes: list[str] = field(default_factory=list)


def release(
    course: Path,
    name: str,
    *,
    zipped: bool = False,
    table: Path | None = None,
    column: str = "",
    force: bool = False,
    watch: Callable[[Iterable[Any], int], Iterable[Any]] = lambda items, total: items,
) -> Released:
    """Make the students' version by nbgrader's generate_assignment, and what each student gets of it.

    The gradebook is told who is on the course's roster.
    """
    course = course.resolve()
    assignment = read_assignment(course, name)
    source = course / "source" / name
    if missing := [slug for slug in assignment.problems if not (source / f"{slug}.ipynb").is_file()]:
        raise StaffError("no_source", f"{source} has no {missing[0]}.ipynb yet; write it with: autograder build {name}")
    people = _people(course, assignment, table, column)
    made = Released(folder=course / "release" / name, students=len(people))
    made.notes += _old(course, assignment)
    if people:
        own = per_student.write_own(course, assignment, people, force=force)
        for _ in watch(own, len(people) * len(assignment.problems)):
            pass
        made.notes += list(per_student.notes(course, assignment, people))
    with course_api.opened(course) as api:
        course_api.done("generate_assignment", api.generate_assignment(name))
        try:
            known = [student["id"] for student in course_api.students(api)]
            course_api.enrol(api, of_course(course, known))
        except StaffError as error:
            made.notes.append(f"the gradebook was not told who takes part: {error.message}")
    if zipped:
        made.zips = list(_zips(course, assignment, people))
    return made


def _people(course: Path, assignment: Assignment, table: Path | None, column: str) -> list[str]:
    """Who gets a variant of their own; nobody where the class has one in common."""
    if not assignment.per_student:
        return []
    known = per_student.known(course)
    path = table or course / ROSTER
    if not path.is_file():
        raise StaffError(
            "no_roster",
            f"{assignment.name} has a variant for each student, and there is no {path}; put the table of students "
            "there, or name it with --roster",
        )
    if people := read_roster(path, known, column):
        return [person.id for person in people]
    raise StaffError("roster", f"{path} has no students yet; write a line for each, or put an export in its place")


def _old(course: Path, assignment: Assignment) -> Iterator[str]:
    """Which source notebooks are not what the problems and the assignment say now."""
    try:
        for slug, text in notebooks(assignment, root=loading.find_problems(course)):
            path = course / "source" / assignment.name / f"{slug}.ipynb"
            if path.read_text(encoding="utf-8") != text:
                yield (
                    f"{path} is not what its problem says now; it was released as it is (autograder build "
                    f"{assignment.name} writes it anew)"
                )
    except AutograderError as error:
        yield f"the notebooks in source/ could not be compared with the problems: {error.message}"


def _zips(course: Path, assignment: Assignment, people: Sequence[str]) -> Iterator[Path]:
    """One zip for the class, or one for each student; that of the other kind, if there was one, is no longer true."""
    released = {path.relative_to(course / "release" / assignment.name): path for path in _files(course, assignment)}
    beside = _beside(assignment, [path for path in released.values() if path.suffix == ".ipynb"])
    place = course / ZIPS
    privacy.make_folder(place, shared=privacy.shared(course))
    if not assignment.per_student:
        shutil.rmtree(place / assignment.name, ignore_errors=True)
        yield _zip(place / f"{assignment.name}.zip", assignment.name, released, beside)
        return
    (place / f"{assignment.name}.zip").unlink(missing_ok=True)
    privacy.make_folder(place / assignment.name, shared=privacy.shared(course))
    for student in people:
        own = course / per_student.FOLDER / student / assignment.name
        files = {name: own / name if (own / name).is_file() else path for name, path in released.items()}
        yield _zip(place / assignment.name / f"{student}.zip", assignment.name, files, beside)


def _files(course: Path, assignment: Assignment) -> Iterator[Path]:
    """What lies in the released folder, but what programs leave there."""
    folder = course / "release" / assignment.name
    for path in sorted(folder.rglob("*")):
        if path.is_file() and not any(part.startswith(".") for part in path.relative_to(folder).parts):
            yield path


def _beside(assignment: Assignment, released: Iterable[Path]) -> dict[str, bytes]:
    """What every zip holds beside the notebooks."""
    text = "\n".join(path.read_text(encoding="utf-8") for path in released)
    needs = [need for need in wheel.requirements("student") if _is_used(need, text)]
    names = [path.name for path in released]
    due = f"{assignment.due:%A, %d %B %Y, %H:%M} (UTC{assignment.due:%z})" if assignment.due else ""
    page = string.Template(_TEMPLATE.read_text(encoding="utf-8")).substitute(
        title=html.escape(assignment.title),
        folder=html.escape(assignment.name),
        wheel=wheel.FILE,
        notebooks="".join(f"<li><code>{html.escape(name)}</code></li>" for name in names),
        hand_in=html.escape(assignment.hand_in or "Hand in the notebooks in the place that your course says."),
        due=f"<p>Hand in by <strong>{html.escape(due)}</strong>.</p>" if due else "",
        own="<p>Your numbers are your own: hand in this copy, under your name.</p>" if assignment.per_student else "",
    )
    return {
        PAGE: page.encode(),
        NEEDS: "\n".join([f"./{wheel.FILE}", *needs, ""]).encode(),
        wheel.FILE: wheel.content(for_students=True),
    }


def _is_used(need: str, notebooks: str) -> bool:
    """Whether these notebooks need it: Jupyter, and whatever they name."""
    name = (re.match(r"[\w.-]+", need) or [""])[0]
    return name.startswith("jupyter") or name in notebooks


def _zip(path: Path, folder: str, files: Mapping[Path, Path], beside: Mapping[str, bytes]) -> Path:
    """Write a zip in which everything lies in one folder."""
    contents = {name.as_posix(): file.read_bytes() for name, file in files.items()}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in {**beside, **contents}.items():
            archive.writestr(zipfile.ZipInfo(f"{folder}/{name}", _WHEN), content, zipfile.ZIP_DEFLATED)
    return path
