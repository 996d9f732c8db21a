"""An assignment: which problems, in which order, under which opening text; one `.toml` beside the course's config."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from autograder.errors import StaffError, did_you_mean


@dataclass(frozen=True, kw_only=True)
class Assignment:
    """`seed` draws the variant that everybody gets; `points` says what a problem is worth here, if not its own.

    With `variants = "student"` in the file, each student has a variant of his own instead.
    """

    name: str
    title: str
    problems: tuple[str, ...]
    seed: int = 0
    opening: str = ""
    points: Mapping[str, float] = field(default_factory=dict)
    per_student: bool = False


def find_course(start: Path | None = None) -> Path:
    """The nbgrader course: the folder with `nbgrader_config.py` in `start`, above it, or in `notebooks/` there."""
    start = (start or Path.cwd()).resolve()
    for folder in (start, *start.parents):
        for course in (folder, folder / "notebooks"):
            if (course / "nbgrader_config.py").is_file():
                return course
    raise StaffError(
        "no_course",
        f"there is no nbgrader_config.py in {start}, above it, or in a notebooks/ folder there; "
        "run this in a checkout of the course, or name it with --course",
    )


def read_assignment(course: Path, name: str) -> Assignment:
    """The assignment of that name; StaffError says what is wrong with its file, or which others there are."""
    path = course / f"{name}.toml"
    if not path.is_file():
        known = sorted(item.stem for item in course.glob("*.toml"))
        raise StaffError(
            "unknown_assignment",
            f"there is no {path.name} in {course}{did_you_mean(name, known)}; there are {', '.join(known) or 'none'}",
        )
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise StaffError("assignment", f"{path} cannot be read: {error}") from error
    wanted = {"title": str, "problems": list, "seed": int, "opening": str, "points": dict, "variants": str}
    for key, value in content.items():
        if key not in wanted:
            raise StaffError("assignment", f"{path}: unknown key {key!r}{did_you_mean(key, wanted)}")
        if not isinstance(value, wanted[key]):
            raise StaffError("assignment", f"{path}: {key} must be a {wanted[key].__name__}, not {value!r}")
    if not content.get("problems") or not all(isinstance(slug, str) for slug in content["problems"]):
        raise StaffError("assignment", f"{path}: problems must list at least one problem folder")
    variants = content.get("variants", "class")
    if variants not in ("class", "student"):
        raise StaffError("assignment", f"{path}: variants is 'class' or 'student', not {variants!r}")
    points = content.get("points", {})
    for slug, total in points.items():
        if slug not in content["problems"]:
            raise StaffError(
                "assignment",
                f"{path}: points are given for {slug!r}, which is not in problems"
                f"{did_you_mean(slug, content['problems'])}",
            )
        if isinstance(total, bool) or not isinstance(total, int | float) or not total > 0:
            raise StaffError("assignment", f"{path}: the points of {slug} must be a number above zero, not {total!r}")
    return Assignment(
        name=name,
        title=content.get("title", name),
        problems=tuple(content["problems"]),
        seed=content.get("seed", 0),
        opening=content.get("opening", ""),
        points=points,
        per_student=variants == "student",
    )
