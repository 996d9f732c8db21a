"""What holds for a whole course: `course.toml` beside the configuration of nbgrader.

[privacy]
pseudonyms = true       # no student's id or name on a grader's screen or page
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from autograder.errors import StaffError, did_you_mean

FILE = "course.toml"
_WANTED: dict[str, dict[str, type]] = {"privacy": {"pseudonyms": bool}}


@dataclass(frozen=True, kw_only=True)
class CourseSettings:
    """With `pseudonyms`, graders see keyed names of students, which only exports join with ids."""

    pseudonyms: bool = False


def read_settings(course: Path) -> CourseSettings:
    """The course's settings; the usual ones where there is no file. StaffError says what is wrong with it."""
    path = course / FILE
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return CourseSettings()
    except (OSError, ValueError) as error:
        raise StaffError("course_settings", f"{path} cannot be read: {error}") from error
    _check(path, "", content, _WANTED)
    for table, wanted in _WANTED.items():
        _check(path, f" of [{table}]", content.get(table, {}), wanted)
    return CourseSettings(**content.get("privacy", {}))


def _check(path: Path, where: str, content: Mapping[str, Any], wanted: Mapping[str, Any]) -> None:
    for key, value in content.items():
        if key not in wanted:
            raise StaffError("course_settings", f"{path}: unknown key {key!r}{where}{did_you_mean(key, wanted)}")
        if isinstance(wanted[key], dict) and not isinstance(value, dict):
            raise StaffError("course_settings", f"{path}: write [{key}], and under it lines such as name = value")
        if isinstance(wanted[key], type) and not isinstance(value, wanted[key]):
            raise StaffError("course_settings", f"{path}: {key}{where} is true or false, not {value!r}")
