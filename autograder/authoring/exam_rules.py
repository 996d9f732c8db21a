"""What an assignment's file says of an exam on paper: `[exam]`, and who has which accommodation.

    [exam]
    minutes = 120
    aids = "One sheet of notes, written by hand on both sides."
    versions = "seat"                  # or a number: 2 are A and B; "student": as the notebooks are
    fixed = false                      # seats draw anew what [parameters] fixes
    row = 8                            # seats side by side: then who sits behind is a neighbour, too

    [exam.accommodations.more-time]
    time = 1.25

    [exam.accommodations.large]
    time = 1.25
    large = true

Who has one stands in `accommodations.csv` of the course, with columns id and label: that file is nobody else's.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from autograder.errors import StaffError, did_you_mean

FILE = "accommodations.csv"
MOST = 26  # versions: one for each letter
Versions = int | Literal["seat", "student"]
_WANTED: dict[str, type | tuple[type, ...]] = {
    "minutes": int,
    "date": str,
    "aids": str,
    "rules": list,
    "versions": (int, str),
    "fixed": bool,
    "row": int,
    "language": str,
    "accommodations": dict,
}
_WANTED_OF_LABEL: dict[str, type | tuple[type, ...]] = {"time": (int, float), "large": bool}


@dataclass(frozen=True, kw_only=True)
class Accommodation:
    """What a label gives: `time` is a factor of the exam's minutes, `large` is large print."""

    label: str = ""
    time: float = 1.0
    large: bool = False


@dataclass(frozen=True, kw_only=True)
class Exam:
    """An exam on paper. No `minutes`, `date` or `aids` are printed where none are given.

    With `versions` a number, seats have these in turn. With "seat", every seat has numbers of its own, and with
    "student" those of the student's own notebook. `fixed` off: what the assignment fixes of its parameters is drawn
    anew on paper. `row`: how many seats stand side by side; 0 where only the seats before and after are neighbours.
    `language` is the two letters that a reading program goes by.
    """

    minutes: int = 0
    date: str = ""
    aids: str = ""
    rules: tuple[str, ...] = ()
    versions: Versions = 1
    fixed: bool = True
    row: int = 0
    language: str = "en"
    accommodations: Mapping[str, Accommodation] = field(default_factory=dict)

    def minutes_for(self, given: Accommodation) -> int:
        """The time with an accommodation, in whole minutes, never less than its share."""
        return math.ceil(round(self.minutes * given.time, 6))


def read_exam(path: Path, table: Mapping[str, Any]) -> Exam:
    """The table `[exam]` of an assignment's file; StaffError says what is wrong with it."""
    _check(path, "exam", table, _WANTED)
    versions = table.get("versions", 1)
    if versions not in ("seat", "student") and not (isinstance(versions, int) and 1 <= versions <= MOST):
        raise StaffError(
            "exam", f'{path}: versions of [exam] is a number from 1 to {MOST}, "seat" or "student", not {versions!r}'
        )
    for name in ("minutes", "row"):
        if table.get(name, 0) < 0:
            raise StaffError("exam", f"{path}: {name} of [exam] is not negative, but {table[name]}")
    rules = table.get("rules", [])
    if not all(isinstance(rule, str) for rule in rules):
        raise StaffError("exam", f"{path}: rules of [exam] is a list of sentences, not {rules!r}")
    labels = {label: _accommodation(path, label, told) for label, told in table.get("accommodations", {}).items()}
    plain = {name: table[name] for name in table.keys() - {"rules", "accommodations"}}
    return Exam(**plain, rules=tuple(rules), accommodations=labels)


def _accommodation(path: Path, label: str, told: Any) -> Accommodation:
    where = f"exam.accommodations.{label}"
    if not isinstance(told, dict):
        raise StaffError("exam", f"{path}: write [{where}], and under it time = 1.25 or large = true")
    _check(path, where, told, _WANTED_OF_LABEL)
    if not 1 <= told.get("time", 1) <= 10:
        raise StaffError("exam", f"{path}: time of [{where}] is a factor of at least 1, such as 1.25")
    return Accommodation(label=label, **told)


def _check(path: Path, where: str, table: Mapping[str, Any], wanted: Mapping[str, Any]) -> None:
    for key, value in table.items():
        if key not in wanted:
            raise StaffError("exam", f"{path}: [{where}] has an unknown key {key!r}{did_you_mean(key, wanted)}")
        if not isinstance(value, wanted[key]) or (isinstance(value, bool) and wanted[key] is not bool):
            kind = wanted[key].__name__ if isinstance(wanted[key], type) else "number or word"
            raise StaffError("exam", f"{path}: {key} of [{where}] must be a {kind}, not {value!r}")


def accommodated(course: Path, exam: Exam) -> dict[str, Accommodation]:
    """Each student's accommodation by id; StaffError for a label that the exam has not.

    A student with several labels has the longest time, and large print if one of them gives it.
    """
    path = course / FILE
    if not path.is_file():
        return {}
    rows = list(csv.DictReader(io.StringIO(path.read_text(encoding="utf-8-sig"))))
    found: dict[str, Accommodation] = {}
    for number, row in enumerate(rows, 2):
        student, label = (str(row.get(name) or "").strip() for name in ("id", "label"))
        if not student and not label:
            continue
        if not student or not label:
            raise StaffError("accommodations", f"{path}, line {number}: write id and label, under a line `id,label`")
        if label not in exam.accommodations:
            known = ", ".join(exam.accommodations) or "none"
            raise StaffError(
                "accommodations",
                f"{path}, line {number}: {student} has the label {label!r}, which [exam.accommodations] does not know"
                f"{did_you_mean(label, exam.accommodations)}; it knows {known}",
            )
        new, old = exam.accommodations[label], found.get(student, Accommodation())
        found[student] = Accommodation(
            label=" ".join(filter(None, (old.label, label))),
            time=max(old.time, new.time),
            large=old.large or new.large,
        )
    return found
