"""Marks that people gave, read out of a table: our own export, a table from paper, or one of a learning platform.

The student's id decides whose a mark is, and the rest of the line is checked against it; a table from paper may name
the seat instead. An empty cell changes nothing.
Everything that is wrong with a table is said at once, and then nothing of it is taken.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from autograder.authoring.roster import ID_COLUMNS, plain_heading
from autograder.errors import StaffError, did_you_mean
from autograder.reporting.class_marks import ClassMarks, Item, Pupil
from autograder.reporting.marks_table import DEFENCE, WIDE, from_text, points
from autograder.reporting.sheet import Sheet

SEAT = "seat"  # the column of an exam's seats
EXACT = 5e-5  # half of the last decimal that our tables print
_SHOWN = 12  # faults that are listed
_NO_MARK = ("", "-", "–")


@dataclass(frozen=True, kw_only=True)
class Given:
    """A mark that differs from the gradebook's: `before` is None where there was none.

    `on_paper`: nothing of its notebook was handed in so far.
    """

    student: str
    item: Item
    before: float | None
    after: float
    comment: str = ""
    grader: str = ""
    on_paper: bool = False


def read_given(
    sheet: Sheet,
    marks: ClassMarks,
    columns: Mapping[str, str] | None = None,
    by: str = "",
    seats: Mapping[str, str] | None = None,
) -> list[Given]:
    """What a table changes; StaffError lists what is wrong with it.

    `columns` says, by part, under which heading its marks stand, where that is not the part's name. `by` names the
    column of ids.
    """
    reader = _Reader(sheet, marks, columns or {}, by, seats or {})
    found = list(reader.given())
    refuse(reader.faults)
    return found


def refuse(faults: Sequence[str]) -> None:
    """StaffError with all that is wrong with a table, if anything is."""
    if not faults:
        return
    more = f"\n… and {len(faults) - _SHOWN} more" if len(faults) > _SHOWN else ""
    listed = "\n".join(faults[:_SHOWN])
    raise StaffError("marks", f"the table was not taken; nothing has changed:\n{listed}{more}")


def student_at(seat: str, student: str, seats: Mapping[str, str]) -> str:
    """Whose line it is, by the seat and the id, if one stands beside it; `seats` has the student of each, or "".

    StaffError: no such seat, nobody's, or another student's.
    """
    sits = seats.get(seat)
    if sits is None:
        raise StaffError("seat", f"no seat {seat!r} was printed{did_you_mean(seat, seats)}")
    if not sits and not student:
        raise StaffError("seat", f"seat {seat} has no student yet: write the id that is on its cover into seats.csv")
    if sits and student and student != sits:
        raise StaffError("seat", f"{student} does not sit on seat {seat}: that is {sits}'s, by seats.csv")
    return student or sits


class _Reader:
    """Reads one table; `faults` are what is wrong with it, by line."""

    def __init__(
        self, sheet: Sheet, marks: ClassMarks, columns: Mapping[str, str], by: str, seats: Mapping[str, str]
    ) -> None:
        self.faults: list[str] = []
        self._sheet, self._marks, self._seats = sheet, marks, seats
        self._head = [name.strip() for name in sheet.head]
        self._plain = [plain_heading(name) for name in self._head]
        self._pupils = {pupil.id: pupil for pupil in marks.pupils}
        self._id = self._column_of_ids(by)
        self._long = {"part", "points"} <= set(self._plain)
        self._items = {} if self._long else self._columns_of_parts(columns)
        self._seen: dict[tuple[str, str], float] = {}

    def given(self) -> Iterator[Given]:
        """What differs, line by line."""
        for row in range(1, len(self._sheet.rows)):
            marks = [(name, text) for name, text in self._marks_in(row) if text not in _NO_MARK]
            student = self._student(row, told=bool(marks))
            if student is None or (not student and not marks):
                continue
            pupil = self._pupils.get(student)
            if pupil is None:
                if marks:
                    guess = did_you_mean(student, self._pupils)
                    self._fault(row, f"the gradebook has no student {student!r}{guess}")
                continue
            if not self._agrees(row, pupil):
                continue
            for item, text in marks:
                if (change := self._change(row, pupil, item, text)) is not None:
                    yield change

    def _student(self, row: int, *, told: bool) -> str | None:
        """Whose line it is, by the id or by the seat; None, and a fault if it is `told` anything, where nobody's."""
        seat = self._named(row, SEAT) if self._seats else ""
        student = "" if self._plain[self._id] == SEAT else self._cell(row, self._id)
        if not seat:
            return student
        try:
            return student_at(seat, student, self._seats)
        except StaffError as error:
            if told:
                self._fault(row, error.message)
            return None

    def _marks_in(self, row: int) -> Iterator[tuple[Item, str]]:
        if not self._long:
            yield from ((item, self._cell(row, place)) for item, place in self._items.items())
            return
        part, notebook, assignment = (self._named(row, name) for name in ("part", "notebook", "assignment"))
        if assignment not in ("", self._marks.assignment):
            return
        item = self._marks.item(f"{notebook}.{part}" if notebook else part)
        if item is None:
            if part or self._named(row, "points"):
                guess = did_you_mean(part, [item.part for item in self._marks.items])
                self._fault(
                    row, f"{self._marks.assignment} has no part {'.'.join(filter(None, (notebook, part)))!r}{guess}"
                )
        else:
            yield item, self._named(row, "points")

    def _change(self, row: int, pupil: Pupil, item: Item, text: str) -> Given | None:
        value, before = _number(text), pupil.marks[item.name].points
        if value is None:
            self._fault(row, f"{item.name}: {text!r} is no number")
            return None
        if before is not None and abs(before - value) < EXACT:
            value = before
        elif not 0 <= value <= item.maximum + EXACT:
            self._fault(row, f"{item.name}: {text} is not between 0 and {points(item.maximum)} points")
            return None
        if (earlier := self._seen.get((pupil.id, item.name))) is not None:
            if earlier != value:
                self._fault(row, f"{item.name}: {pupil.id} has {points(earlier)} points in another line, {text} here")
            return None
        self._seen[pupil.id, item.name] = value
        if value == before:
            return None
        told = {name: self._named(row, name) for name in ("comment", "grader")} if self._long else {}
        absent = pupil.marks[item.name].status == "missing"
        return Given(student=pupil.id, item=item, before=before, after=value, on_paper=absent, **told)

    def _agrees(self, row: int, pupil: Pupil) -> bool:
        """Whether the names of our own table, and the maximum of its part, are those of the gradebook."""
        ours = {"last name": pupil.last_name, "first name": pupil.first_name, "email": pupil.mail}
        for name, known in ours.items():
            there = self._named(row, name)
            if "student id" in self._plain and there and known and there.casefold() != known.casefold():
                self._fault(row, f"{pupil.id} is {known!r} in the gradebook, and {there!r} here")
                return False
        return True

    def _column_of_ids(self, by: str) -> int:
        if by:
            if by not in self._head:
                raise StaffError("marks", f"the table has no column {by!r}{did_you_mean(by, self._head)}")
            return self._head.index(by)
        places = [self._plain.index(name) for name in ID_COLUMNS if name in self._plain]
        hits = {place: self._known_in(place) for place in places}
        if SEAT in self._plain and self._seats and not any(hits.values()):
            return self._plain.index(SEAT)
        if not places or not max(hits.values()):
            raise StaffError(
                "marks",
                f"no column of the table holds ids of the gradebook's students; it has {', '.join(self._head)}. Name "
                'one: --id-column "HEADING"',
            )
        return max(places, key=lambda place: hits[place])

    def _known_in(self, place: int) -> int:
        return sum(self._cell(row, place) in self._pupils for row in range(1, len(self._sheet.rows)))

    def _columns_of_parts(self, columns: Mapping[str, str]) -> dict[Item, int]:
        found: dict[Item, int] = {}
        for part, heading in columns.items():
            item = self._marks.item(part)
            if item is None:
                raise StaffError("marks", f"{self._marks.assignment} has no part {part!r}; {self._parts(part)}")
            if heading not in self._head:
                raise StaffError("marks", f"the table has no column {heading!r}{did_you_mean(heading, self._head)}")
            found[item] = self._head.index(heading)
        for place, heading in enumerate(self._head):
            item = None if heading in (*WIDE, DEFENCE) or place == self._id else self._marks.item(from_text(heading))
            if item is None or {item.name, item.part} & columns.keys():
                continue
            if found.setdefault(item, place) != place:
                raise StaffError("marks", f"two columns of the table are {item.name}: {heading!r} is the second")
        if not found:
            raise StaffError(
                "marks", f'no column is called like a part; {self._parts("")}. Or say: --column "PART=HEADING"'
            )
        return found

    def _parts(self, near: str) -> str:
        names = [item.name for item in self._marks.items]
        return f"there are {', '.join(names)}{did_you_mean(near, names)}"

    def _named(self, row: int, name: str) -> str:
        return self._cell(row, self._plain.index(name)) if name in self._plain else ""

    def _cell(self, row: int, place: int) -> str:
        return from_text(self._sheet.value(row, place).strip())

    def _fault(self, row: int, what: str) -> None:
        self.faults.append(f"line {row + 1}: {what}")


def _number(text: str) -> float | None:
    """A plain decimal number, also with a comma."""
    plain = text.replace(",", ".", 1)
    head, _, tail = plain.removeprefix("-").partition(".")
    return float(plain) if (head + tail).isdecimal() and (head + tail).isascii() else None


def by_student(given: Sequence[Given]) -> dict[str, list[Given]]:
    """The changes of each student."""
    found: dict[str, list[Given]] = {}
    for item in given:
        found.setdefault(item.student, []).append(item)
    return found
