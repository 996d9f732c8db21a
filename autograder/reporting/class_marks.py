"""A class's marks in one assignment as plain data: what every table, statistic and export is made from.

A part that waits for a person has no points, and a notebook that was not handed in has none either: None, never nought.
"""

from __future__ import annotations

import datetime
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from autograder.authoring.pseudonyms import Called

Status = Literal["graded", "held", "missing", "excused", "void"]


@dataclass(frozen=True, kw_only=True)
class Item:
    """A graded cell. `maximum` is what it counts now: nothing where `void` is "drop".

    `slug` is the problem's, `title` its heading, `kind` the kind of answer, `by_person` whether a grader marks it, and
    `mistakes` the codes of those that the problem lists; empty for notebooks that are not ours. `options` is how many a
    choice shows.
    """

    notebook: str
    part: str
    maximum: float
    slug: str = ""
    title: str = ""
    kind: str = ""
    by_person: bool = False
    void: str = ""
    mistakes: frozenset[str] = frozenset()
    options: int = 0

    @property
    def name(self) -> str:
        """How tables call it."""
        return f"{self.notebook}.{self.part}"

    @property
    def counts(self) -> bool:
        """Whether anything can be earned in it."""
        return self.maximum > 0


@dataclass(frozen=True, kw_only=True)
class Mark:
    """What one student has in one item; `points` are None where `status` is held, missing or excused.

    `codes` are the judge's findings that cost points or held the part, `hint` what the student was told, `typed` the
    answer as it was written, where it was typed and is not right. `by_hand` tells that a person decided.
    """

    status: Status
    points: float | None = None
    by_hand: bool = False
    codes: tuple[str, ...] = ()
    hint: str = ""
    typed: str = ""


@dataclass(frozen=True, kw_only=True)
class Pupil:
    """A student: who it is, by which other names systems know it, and its marks by the item's name.

    `parameters` are those of the variant, by notebook. `late` is what lateness takes from the sum, `undefended` what
    questions about the own answers take; `to_talk` while a person is to talk about these.
    """

    id: str
    first_name: str = ""
    last_name: str = ""
    mail: str = ""
    lms_id: str = ""
    handed_in: datetime.datetime | None = None
    late: float = 0.0
    undefended: float = 0.0
    to_talk: bool = False
    marks: Mapping[str, Mark] = field(default_factory=dict)
    parameters: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    flags: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """Last name first, or the id."""
        return ", ".join(filter(None, (self.last_name, self.first_name))) or self.id

    @property
    def status(self) -> Status:
        """Of the whole submission: held while any part waits for a person, missing where nothing was handed in."""
        found = {mark.status for mark in self.marks.values()}
        if self.to_talk and "graded" in found:
            found.add("held")
        for status in ("excused", "held"):
            if status in found:
                return status
        return "graded" if found & {"graded", "void"} else "missing"

    @property
    def decided(self) -> float:
        """The points of the parts that are decided, before lateness."""
        return sum(mark.points or 0.0 for mark in self.marks.values())

    @property
    def total(self) -> float | None:
        """The points that count, as nbgrader's export has them; None until every part is decided."""
        return max(0.0, self.decided - self.late - self.undefended) if self.status == "graded" else None


@dataclass(frozen=True, kw_only=True)
class ClassMarks:
    """Everybody's marks in one assignment; `items` in the order in which they are asked."""

    assignment: str
    title: str
    items: tuple[Item, ...]
    pupils: tuple[Pupil, ...]
    due: datetime.datetime | None = None

    @property
    def maximum(self) -> float:
        """What the assignment is worth."""
        return sum(item.maximum for item in self.items)

    def item(self, name: str) -> Item | None:
        """The item of that name; the part alone will do where one notebook has it."""
        found = [item for item in self.items if name in (item.name, item.part)]
        exact = [item for item in found if item.name == name]
        return (exact or found)[0] if len(exact or found) == 1 else None

    def pupil(self, student: str) -> Pupil | None:
        """The student of that id."""
        return next((pupil for pupil in self.pupils if pupil.id == student), None)

    def called(self, called: Called) -> ClassMarks:
        """The same, with everybody called as graders see them: no id, name or address."""
        if not called.hidden:
            return self
        nobody = {"first_name": "", "last_name": "", "mail": "", "lms_id": ""}
        pupils = [
            replace(pupil, id=called.of(pupil.id), flags=tuple(map(called.text, pupil.flags)), **nobody)  # type: ignore[arg-type]
            for pupil in self.pupils
        ]
        return replace(self, pupils=tuple(sorted(pupils, key=lambda pupil: pupil.id)))

    def only(self, students: Collection[str]) -> ClassMarks:
        """The same for some of the students."""
        return replace(self, pupils=tuple(pupil for pupil in self.pupils if pupil.id in students))
