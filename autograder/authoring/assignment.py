"""An assignment: which problems, in which order, under which opening text; one `.toml` beside the course's config."""

from __future__ import annotations

import datetime
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from autograder.authoring.course_settings import FILE as SETTINGS
from autograder.authoring.defence_rules import Defence, read_defence
from autograder.authoring.exam_rules import Exam, read_exam
from autograder.authoring.loading import CONFIGURATION, course_at
from autograder.authoring.sealing import MINE
from autograder.authoring.voids import Void, not_for_some, read_voids
from autograder.errors import StaffError, did_you_mean

_WANTED: dict[str, type | tuple[type, ...]] = {
    "title": str,
    "problems": list,
    "seed": int,
    "opening": str,
    "hand_in": str,
    "points": dict,
    "variants": str,
    "seeds": dict,
    "parameters": dict,
    "void": dict,
    "due": datetime.datetime,
    "penalty": (int, float),
    "grace_days": (int, float),
    "excused": list,
    "exam": dict,
    "defence": dict,
}


@dataclass(frozen=True, kw_only=True)
class Assignment:
    """`seed` draws the variant that everybody gets; `points` says what a problem is worth here, if not its own.

    With `variants = "student"` in the file, each student has a variant of his own instead. `voids` say, by problem and
    part, what holds for parts that should not have been asked as they were. After `due` and `grace_days` more, each day
    that has begun costs the share `penalty` of a notebook's points; None leaves that to nbgrader's configuration. The
    `excused` have no mark in it, whatever they handed in.
    `opening` stands above the first question; `hand_in` says where and how answers are handed in.
    `exam` is what holds on paper, `defence` what questions about own answers count. `seeds` are those of problems that
    have one of their own, and `parameters` what is fixed of a problem's draw.
    """

    name: str
    title: str
    problems: tuple[str, ...]
    seed: int = 0
    opening: str = ""
    hand_in: str = ""
    points: Mapping[str, float] = field(default_factory=dict)
    per_student: bool = False
    voids: Mapping[str, Mapping[str, Void]] = field(default_factory=dict)
    due: datetime.datetime | None = None
    penalty: float | None = None
    grace_days: float = 0.0
    excused: tuple[str, ...] = ()
    seeds: Mapping[str, int] = field(default_factory=dict)
    parameters: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    exam: Exam = field(default_factory=Exam)
    defence: Defence = field(default_factory=Defence)


def find_course(start: Path | None = None) -> Path:
    """The nbgrader course: the folder with `nbgrader_config.py` in `start`, above it, or in `notebooks/` there."""
    start = (start or Path.cwd()).resolve()
    for folder in (start, *start.parents):
        if course := course_at(folder):
            return course
    raise StaffError(
        "no_course",
        f"there is no {CONFIGURATION} in {start}, above it, or in a notebooks/ folder there; "
        "run this in a course (`autograder init COURSE` makes one), or name it with --course",
    )


def assignments(course: Path) -> list[str]:
    """The names of all assignments that have a file."""
    return sorted(item.stem for item in course.glob("*.toml") if item.name != SETTINGS)


def _of_the_course(folder: Path) -> list[str]:
    """The names of the notebooks in a folder of `source/`, where none of them was built from a problem."""
    texts = {path.name: path.read_text(encoding="utf-8", errors="replace") for path in sorted(folder.glob("*.ipynb"))}
    return [] if any(f'"{MINE}"' in text for text in texts.values()) else list(texts)


def read_assignment(course: Path, name: str) -> Assignment:
    """The assignment of that name; StaffError says what is wrong with its file, or which others there are."""
    path = course / f"{name}.toml"
    if not path.is_file() or path.name == SETTINGS:
        if own := _of_the_course(course / "source" / name):
            raise StaffError(
                "nothing_to_build",
                f"nothing is to be built: source/{name} holds notebooks of the course's own ({', '.join(own)}), and "
                f"there is no {path.name} in {course}. Hand them out with `nbgrader generate_assignment {name}`, and "
                f"grade with `autograder grade {name}`. To put problems of this package beside them, write that file",
            )
        known = assignments(course)
        raise StaffError(
            "unknown_assignment",
            f"there is no {path.name} in {course}{did_you_mean(name, known)}; there are {', '.join(known) or 'none'}",
        )
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise StaffError("assignment", f"{path} cannot be read: {error}") from error
    for key, value in content.items():
        if key not in _WANTED:
            raise StaffError("assignment", f"{path}: unknown key {key!r}{did_you_mean(key, _WANTED)}")
        wanted = _WANTED[key]
        if not isinstance(value, wanted) or (isinstance(value, bool) and wanted is not bool):
            kind = wanted.__name__ if isinstance(wanted, type) else "number"
            raise StaffError("assignment", f"{path}: {key} must be a {kind}, not {value!r}")
    if not content.get("problems") or not all(isinstance(slug, str) for slug in content["problems"]):
        raise StaffError("assignment", f"{path}: problems must list at least one problem folder")
    variants = content.get("variants", "class")
    if variants not in ("class", "student"):
        raise StaffError("assignment", f"{path}: variants is 'class' or 'student', not {variants!r}")
    for table in ("points", "seeds", "parameters"):
        for slug in content.get(table, {}):
            if slug not in content["problems"]:
                raise StaffError(
                    "assignment",
                    f"{path}: {table} are given for {slug!r}, which is not in problems"
                    f"{did_you_mean(slug, content['problems'])}",
                )
    points, seeds, parameters = (content.get(table, {}) for table in ("points", "seeds", "parameters"))
    for slug, total in points.items():
        if isinstance(total, bool) or not isinstance(total, int | float) or not total > 0:
            raise StaffError("assignment", f"{path}: the points of {slug} must be a number above zero, not {total!r}")
    for slug, own in seeds.items():
        if type(own) is not int:
            raise StaffError("assignment", f"{path}: the seed of {slug} is a whole number, not {own!r}")
    for slug, fixed in parameters.items():
        if not isinstance(fixed, dict) or not fixed:
            raise StaffError(
                "assignment", f"{path}: write [parameters.{slug}], and under it lines such as name = value"
            )
    seed, voids = content.get("seed", 0), read_voids(path, content.get("void", {}), content["problems"])
    common = [slug for slug in content["problems"] if slug not in parameters and variants != "student"]
    not_for_some(path, voids, {slug: seeds.get(slug, seed) for slug in common})
    return Assignment(
        name=name,
        title=content.get("title", name),
        problems=tuple(content["problems"]),
        seed=seed,
        opening=content.get("opening", ""),
        hand_in=" ".join(content.get("hand_in", "").split()),
        points=points,
        per_student=variants == "student",
        voids=voids,
        excused=_excused(path, content.get("excused", [])),
        seeds=seeds,
        parameters=parameters,
        exam=read_exam(path, content.get("exam", {})),
        defence=read_defence(path, content.get("defence", {})),
        **_late(path, content),
    )


def _late(path: Path, content: Mapping[str, Any]) -> dict[str, Any]:
    """What the file says about late submissions."""
    due, penalty, grace = content.get("due"), content.get("penalty"), content.get("grace_days", 0)
    if due is not None and due.tzinfo is None:
        raise StaffError("assignment", f"{path}: due needs its distance from UTC, as in due = {due.isoformat()}+02:00")
    if penalty is not None and not 0 <= penalty <= 1:
        raise StaffError(
            "assignment", f"{path}: penalty is the share of the points that a day costs, from 0 to 1, not {penalty!r}"
        )
    if not 0 <= grace < 1_000:
        raise StaffError("assignment", f"{path}: grace_days is a number of days, not {grace!r}")
    for key in {"penalty", "grace_days"} & content.keys():
        if due is None:
            raise StaffError("assignment", f"{path}: {key} needs a due date: due = 2026-05-10T23:59:00+02:00")
    return {"due": due, "penalty": penalty, "grace_days": float(grace)}


def _excused(path: Path, students: list[Any]) -> tuple[str, ...]:
    if not all(isinstance(student, str) for student in students):
        raise StaffError("assignment", f'{path}: excused lists ids of students in quotes, as in excused = ["ada"]')
    return tuple(students)


def read_if_there(course: Path, name: str) -> Assignment | None:
    """The assignment of that name; None where it has no file, as notebooks have that were written by hand."""
    return read_assignment(course, name) if (course / f"{name}.toml").is_file() else None


def write_second(course: Path, first: str, name: str, seed: int) -> Path:
    """The file of an assignment like another one, under another seed; one that is there already is left as it is.

    What is fixed of its parameters stays so; seeds of single problems give way to the new one.

    StaffError where that one is another assignment, or the name is none.
    """
    if not re.fullmatch(r"\w[\w. -]*", name):
        raise StaffError("assignment", f"{name!r} cannot be an assignment's name: it names a folder")
    wanted = replace(read_assignment(course, first), name=name, seed=seed, seeds={})
    path = course / f"{name}.toml"
    if not path.is_file():
        text = (course / f"{first}.toml").read_text(encoding="utf-8")
        head, table, rest = text.partition("\n[")  # a table's keys come after the assignment's own
        head = re.sub(r"^seeds?(\.\w+)?[ \t]*=.*\n?", "", head, flags=re.MULTILINE)
        tables = re.sub(r"\n\[seeds\][^\n]*(?:\n(?!\[)[^\n]*)*", "", table + rest)
        path.write_text(f"seed = {seed}\n{head}{tables}", encoding="utf-8")
    if replace(read_assignment(course, name), title=wanted.title) != wanted:
        raise StaffError("assignment", f"{path} is there, and is not {first} with seed {seed}; choose another name")
    return path
