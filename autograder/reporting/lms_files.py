"""Marks put into the file that an instructor has downloaded from a learning platform, so that it can be uploaded again.

Nothing but the cells of one column is written. Students are found by the numbers that the platform knows them by, never
by their names. What each platform does with an uploaded file stands in docs/after-the-exam.md.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import ROUND_HALF_UP, Decimal

from autograder.authoring.roster import Person, plain_heading
from autograder.errors import StaffError, did_you_mean
from autograder.reporting.class_marks import ClassMarks, Pupil
from autograder.reporting.sheet import Sheet


@dataclass(frozen=True, kw_only=True)
class Platform:
    """How a platform's file is read.

    `ids` are the columns by which it knows a student, the best first, and `numbers` those that hold a number of its
    own, by the name under which rosters keep it. `column` matches the heading of a column of marks and gives its
    `title`; with `one_column` there is one, whatever the assignment is called. `unread` matches headings that the
    platform passes over, `no_student` the first cell of a line that is about no student, and `maxima` that of the line
    with each column's maximum; `maximum` are headings of a column with it. `locked` is the heading of a column that
    says "No" where a mark is closed, `unassigned` what a cell holds that takes none, `excused` what stands for an
    excused student. `most` says what becomes of more points than the maximum, where they are not taken. A first column
    of cells like `person` is the one of `needs`, whatever its heading in the site's language.
    """

    name: str
    says: str
    ids: tuple[str, ...]
    column: str
    numbers: Mapping[str, str] = field(default_factory=dict)
    maximum: tuple[str, ...] = ()
    maxima: str = ""
    locked: str = ""
    most: str = ""
    unassigned: str = ""
    person: str = r"(?!)"
    excused: str = ""
    unread: str = ""
    no_student: str = r"(?!)"
    one_column: bool = False
    needs: tuple[str, ...] = ()


PLATFORMS = {
    "canvas": Platform(
        name="Canvas",
        says="Grades > Export > Export Entire Gradebook",
        ids=("sis user id", "sis login id"),
        numbers={"id": "canvas"},
        column=r"(?P<title>.+?) \(\d+\)",
        maxima="Points Possible",
        unassigned="N/A",
        excused="EX",
        no_student=r"\s*|.*Points Possible.*|.*Student, Test.*",
        unread=r"(Current|Final|Unposted|Override) (Score|Points|Grade)",
        needs=("student", "id", "section"),
    ),
    "moodle": Platform(
        name="Moodle",
        says="the assignment's page > View all submissions > Download grading worksheet",
        ids=("id number", "username", "email address"),
        numbers={"identifier": "moodle"},
        column=r"(?P<title>Grade)",
        one_column=True,
        maximum=("maximum grade",),
        locked="grade can be changed",
        most="passes over it",
        person=r"\D+ \d+",
        needs=("identifier",),
    ),
    "brightspace": Platform(
        name="Brightspace",
        says="Grades > Enter Grades > Export, with Points grade and OrgDefinedId or Username",
        ids=("orgdefinedid", "username", "email"),
        column=r"(?P<title>.+?) Points Grade(?: <.*>)?",
        most="cuts it off",
        needs=("end-of-line indicator",),
    ),
    "blackboard": Platform(
        name="Blackboard",
        says="Grade Center > Work Offline > Download",
        ids=("username", "student id"),
        column=r"(?P<title>.+?) \[Total Pts: .*\] ?\|\d+",
        needs=("username",),
    ),
}
_MAXIMA = (r"MaxPoints:([\d.]+)", r"Total Pts: ([\d.,]+)")  # in a heading: Brightspace, Blackboard


@dataclass(kw_only=True)
class Filled:
    """A file filled in: its bytes, who got how many points, and who did not, each with the reason.

    `rows` are lines of the file that stayed as they were, by the student that they name; `pupils` are students of ours
    whose marks found no line.
    """

    content: bytes = b""
    column: str = ""
    given: dict[str, float] = field(default_factory=dict)
    rows: dict[str, str] = field(default_factory=dict)
    pupils: dict[str, str] = field(default_factory=dict)
    lines: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """What is asked for: the heading of the column, whether held rows are left out, whether points are scaled."""

    column: str = ""
    omit_held: bool = False
    scale: bool = False


def fill_in(sheet: Sheet, platform: Platform, marks: ClassMarks, people: Iterable[Person], wanted: Wanted) -> Filled:
    """The file with everybody's total in one column; StaffError says why it cannot be uploaded, and what to do."""
    head = headings(sheet, platform)
    if lacking := [name for name in platform.needs if name not in head]:
        raise StaffError(
            "template",
            f"this is no table of {platform.name}: it has no column {', '.join(lacking)}; it has "
            f"{', '.join(filter(None, sheet.head))}. Download it by: {platform.says}",
        )
    column = _column(sheet, platform, marks, wanted.column)
    filled, known = Filled(column=sheet.head[column]), _Known(platform, head, marks.pupils, people)
    _refuse_held(marks, wanted)
    factor = _Maximum(sheet, platform, head, column, marks.maximum, scale=wanted.scale)
    dropped, decimal = set(), _decimal(sheet, [column, *factor.columns])
    matched: dict[str, int] = {}
    for row in range(1, len(sheet.rows)):
        label = known.label(sheet, row)
        if not label or re.fullmatch(platform.no_student, sheet.value(row, 0)):
            continue
        pupil, why = known.pupil(sheet, row)
        if pupil and pupil.id in matched:
            raise StaffError("template", f"lines {matched[pupil.id] + 1} and {row + 1} of the file are both {pupil.id}")
        if pupil:
            matched[pupil.id] = filled.lines[pupil.id] = row
            why = _closed(platform, sheet, head, row, column) or factor.above(pupil.total, row)
        if pupil and pupil.status == "held":
            dropped.add(row)
        text = "" if why or pupil is None else _text(pupil, platform, factor, row)
        if pupil and text:
            sheet.fill(row, column, text.replace(".", decimal))
            filled.given[pupil.id] = factor.of(pupil.total or 0.0, row)
        else:
            filled.rows[label] = why or (pupil.status if pupil else "")
    for pupil in marks.pupils:
        if pupil.id not in matched and pupil.status in ("graded", "excused"):
            filled.pupils[pupil.id] = "no line of the file is theirs"
    filled.content = sheet.without(dropped).content()
    return filled


def _text(pupil: Pupil, platform: Platform, factor: _Maximum, row: int) -> str:
    """What is written for a student; empty where the cell stays as it is."""
    if pupil.status == "excused":
        return platform.excused
    return "" if pupil.total is None else two_decimals(factor.of(pupil.total, row))


def two_decimals(points: float) -> str:
    """As platforms compare points; halves go up."""
    return str(Decimal(repr(round(points, 6))).quantize(Decimal("0.01"), ROUND_HALF_UP))


def _refuse_held(marks: ClassMarks, wanted: Wanted) -> None:
    held = [pupil.id for pupil in marks.pupils if pupil.status == "held"]
    if held and not wanted.omit_held:
        raise StaffError(
            "held",
            f"{len(held)} students have parts that wait for a person ({', '.join(held[:5])}"
            f"{', …' if len(held) > 5 else ''}). Decide them, or leave their lines out of the file: --held omit",
        )


def _column(sheet: Sheet, platform: Platform, marks: ClassMarks, wanted: str) -> int:
    """The place of the column that takes the marks."""
    titles = {
        place: found["title"] for place, name in enumerate(sheet.head) if (found := re.fullmatch(platform.column, name))
    }
    if wanted:
        places = [place for place, name in enumerate(sheet.head) if wanted == name] or [
            place for place, title in titles.items() if wanted == title
        ]
    else:
        ours = {plain_heading(marks.assignment), plain_heading(marks.title)}
        places = [place for place, title in titles.items() if platform.one_column or plain_heading(title) in ours]
    if len(places) != 1:
        names = [sheet.head[place] for place in titles]
        guess = did_you_mean(wanted or marks.assignment, names)
        raise StaffError(
            "column",
            f"{'several columns' if places else 'no column'} of the file {'are' if places else 'is'} called "
            f"{wanted or marks.title!r}{guess}; columns of marks are: {', '.join(names) or 'none'}. "
            f'Name one: --column "HEADING"',
        )
    if platform.unread and re.search(platform.unread, sheet.head[places[0]]):
        raise StaffError(
            "column",
            f"{platform.name} passes over a column called {sheet.head[places[0]]!r}, without a word; rename the "
            f"assignment in {platform.name}, and download the file again",
        )
    return places[0]


def headings(sheet: Sheet, platform: Platform) -> list[str]:
    """The headings of a platform's file, as they are compared."""
    head = [plain_heading(name) for name in sheet.head]
    first = [sheet.value(row, 0).strip() for row in range(1, len(sheet.rows)) if sheet.value(row, 0).strip()]
    if first and all(re.fullmatch(platform.person, cell) for cell in first):
        head[0] = platform.needs[0]
    return head


class _Known:
    """Finds out whose a line of the file is."""

    def __init__(
        self, platform: Platform, head: Sequence[str], pupils: Iterable[Pupil], people: Iterable[Person]
    ) -> None:
        self.columns = [(name, head.index(name)) for name in (*platform.ids, *platform.numbers) if name in head]
        if not self.columns:
            raise StaffError(
                "template", f"the file has none of the columns {', '.join(platform.ids)}, by which students are known"
            )
        self._platform = platform
        self._by: dict[tuple[str, str], set[str]] = {}
        self._pupils = {pupil.id: pupil for pupil in pupils}
        roster = {person.id: person for person in people}
        for pupil in self._pupils.values():
            person = roster.get(pupil.id, Person(id=pupil.id))
            for word in {pupil.id, *person.others} - {""}:
                self._by.setdefault(("", word), set()).add(pupil.id)
            for mail in {pupil.mail.casefold(), person.mail.casefold()} - {""}:
                self._by.setdefault(("", mail), set()).add(pupil.id)
            for system in platform.numbers.values():
                number = person.numbers.get(system, pupil.lms_id)
                self._by.setdefault((system, number), set()).add(pupil.id)

    def label(self, sheet: Sheet, row: int) -> str:
        """The student as the file names it."""
        return next(filter(None, (sheet.value(row, place).strip() for _, place in self.columns)), "")

    def pupil(self, sheet: Sheet, row: int) -> tuple[Pupil | None, str]:
        """The student of a line, or why there is none."""
        found: set[str] = set()
        for name, place in self.columns:
            value = sheet.value(row, place).strip().lstrip("#")
            system = self._platform.numbers.get(name, "")
            if system:  # Moodle has "Participant 123", in the site's language
                value = (re.search(r"\d+$", value) or [""])[0]
            keys = {(system, value), (system, value.casefold())} if value else set()
            found |= set().union(*(self._by.get(key, set()) for key in keys))
        if len(found) == 1:
            return self._pupils[found.pop()], ""
        return None, f"this is {' or '.join(sorted(found))}" if found else "no student of the gradebook has this number"


def _closed(platform: Platform, sheet: Sheet, head: Sequence[str], row: int, column: int) -> str:
    """Why a cell takes no mark."""
    if platform.locked in head and plain_heading(sheet.value(row, head.index(platform.locked))) == "no":
        return f"{platform.name} says that this mark cannot be changed"
    if platform.unassigned and sheet.value(row, column).strip() == platform.unassigned:
        return f"{platform.name} has not assigned it to this student"
    return ""


class _Maximum:
    """What the platform has for the maximum, and the points as it counts them."""

    def __init__(
        self, sheet: Sheet, platform: Platform, head: Sequence[str], column: int, ours: float, *, scale: bool
    ) -> None:
        self.columns = [head.index(name) for name in platform.maximum if name in head]
        self._sheet, self._ours, self._most = sheet, ours, platform.most
        self._one = self._of_all(platform, column)
        theirs = {self._theirs(row) for row in range(1, len(sheet.rows))} - {None, ours}
        if theirs and not scale:
            raise StaffError(
                "maximum",
                f"{platform.name} has a maximum of {', '.join(f'{item:g}' for item in sorted(filter(None, theirs)))} "
                f"points, the assignment has {ours:g}. Change it there and download the file again, or let the points "
                "be scaled: --scale",
            )

    def of(self, points: float, row: int) -> float:
        """Points as the platform counts them."""
        theirs = self._theirs(row)
        return points if theirs is None or theirs == self._ours or not self._ours else points * theirs / self._ours

    def above(self, points: float | None, row: int) -> str:
        """Why the platform does not take so many points."""
        theirs = self._theirs(row)
        if not self._most or points is None or theirs is None or self.of(points, row) <= theirs:
            return ""
        return f"{points:g} points are more than the maximum, and the platform {self._most}"

    def _theirs(self, row: int) -> float | None:
        for place in self.columns:
            return _number(self._sheet.value(row, place))
        return self._one

    def _of_all(self, platform: Platform, column: int) -> float | None:
        for pattern in _MAXIMA:
            if found := re.search(pattern, self._sheet.head[column]):
                return _number(found[1])
        for row in range(1, len(self._sheet.rows) if platform.maxima else 0):
            if platform.maxima in self._sheet.value(row, 0):
                value = self._sheet.value(row, column)
                if "read only" in value.casefold():
                    heading = self._sheet.head[column]
                    raise StaffError("column", f"{platform.name} takes no marks for {heading!r}: it is read only")
                return _number(value)
        return None


def _number(text: str) -> float | None:
    """A number, also with a decimal comma; None where there is none."""
    try:
        return float(text.strip().replace(",", "."))
    except ValueError:
        return None


def _decimal(sheet: Sheet, columns: Iterable[int]) -> str:
    """The decimal sign that the file's own marks have."""
    cells = [sheet.value(row, column).strip() for column in columns for row in range(1, len(sheet.rows))]
    return "," if any(re.fullmatch(r"\d+,\d+", cell) for cell in cells) else "."
