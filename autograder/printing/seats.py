"""Who gets which sheet: seats, the numbers that each draws, the order of its options, and the table that keeps it.

`print/ASSIGNMENT/seats.csv` is written when sheets are printed, and is what marks go by when they come back: a seat's
code stands on each of its pages, a student's name on the cover only. A seat whose student is not known yet has an empty
cell there, to be filled in when the covers are read.
"""

from __future__ import annotations

import csv
import io
import string
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from autograder.authoring.exam_rules import Accommodation
from autograder.authoring.roster import Person
from autograder.errors import StaffError, did_you_mean

FOLDER = "print"
FILE = "seats.csv"
_COLUMNS = ("seat", "student", "name", "label", "time", "large", "pages", "seeds", "orders", "asked", "sha256")


@dataclass(frozen=True, kw_only=True)
class Seat:
    """One sheet. `seeds` are by problem; `orders` say, by `problem.part`, which of the notebook's letters stands at a),
    b), c), … of the paper. `asked` is a digest of all that is asked, `sha256` one of the file.
    """

    code: str
    student: str = ""
    name: str = ""
    given: Accommodation = field(default_factory=Accommodation)
    seeds: Mapping[str, int] = field(default_factory=dict)
    orders: Mapping[str, str] = field(default_factory=dict)
    pages: int = 0
    asked: str = ""
    sha256: str = ""

    @property
    def version(self) -> str:
        """The letters at the head of the code."""
        return self.code.partition("-")[0]

    def notebook_letters(self, part: str, paper: str) -> str:
        """A text with the letters of the paper's options, by the notebook's; what is no such letter stays."""
        order = self.orders.get(part, "")
        return paper.translate(str.maketrans(string.ascii_lowercase[: len(order)], order))

    def paper_letters(self, part: str, notebook: str) -> str:
        """The other way."""
        order = self.orders.get(part, "")
        return notebook.translate(str.maketrans(order, string.ascii_lowercase[: len(order)]))


def seat_code(version: int, number: int, total: int) -> str:
    """`A-007`: the version, and a number with as many digits as are needed, three at least."""
    return f"{string.ascii_uppercase[version]}-{number:0{max(3, len(str(total)))}d}"


def planned(people: Sequence[Person], seats: int, versions: int, before: Iterable[Seat]) -> list[Seat]:
    """Seats in stapling order, without numbers yet: those that there are `before`, and one for everybody who is new.

    Without people, as many seats as asked for.
    """
    kept = list(before)
    have = {seat.student for seat in kept if seat.student}
    new: list[Person | None] = [person for person in people if person.id not in have]
    if not people:
        new = [None] * max(0, seats - len(kept))
    total = len(kept) + len(new)
    made = []
    for number, person in enumerate(new, len(kept) + 1):
        code = seat_code((number - 1) % versions, number, total)
        made.append(Seat(code=code, student=person.id if person else "", name=shown_name(person)))
    return [*kept, *made]


def shown_name(person: Person | None) -> str:
    """A person's name as it stands on the cover: the whole name, else first and last."""
    if person is None or not person.names:
        return ""
    first = person.names[0]
    last, comma, rest = first.partition(", ")
    return f"{rest} {last}" if comma else first


def path_of(course: Path, assignment: str) -> Path:
    """Where the table lies."""
    return course / FOLDER / assignment / FILE


def read_seats(course: Path, assignment: str) -> list[Seat]:
    """The seats that were printed, in their order; none where nothing was. StaffError for a table that is broken."""
    path = path_of(course, assignment)
    if not path.is_file():
        return []
    table = csv.DictReader(io.StringIO(path.read_text(encoding="utf-8-sig")))
    if missing := {"seat", "student", "seeds", "orders"} - set(table.fieldnames or ()):
        raise StaffError("seats", f"{path} has no column {min(missing)!r}; restore it, or print the seats again")
    found: list[Seat] = []
    for number, row in enumerate(table, 2):
        try:
            seat = _from_row(row)
        except (ValueError, TypeError, AttributeError) as error:
            raise StaffError("seats", f"{path}, line {number} cannot be read: {error}") from error
        if seat.code in {other.code for other in found}:
            raise StaffError("seats", f"{path}, line {number}: the seat {seat.code} stands there twice")
        same = next((other.code for other in found if seat.student and other.student == seat.student), None)
        if same:
            raise StaffError("seats", f"{path}, line {number}: {seat.student} has the seats {same} and {seat.code}")
        found.append(seat)
    return found


def _from_row(row: Mapping[str, str]) -> Seat:
    seeds = {name: int(value) for name, value in _pairs(row["seeds"])}
    return Seat(
        code=row["seat"].strip(),
        student=row["student"].strip(),
        name=row.get("name", "").strip(),
        given=Accommodation(
            label=row.get("label", ""), time=float(row.get("time") or 1), large=row.get("large", "") == "yes"
        ),
        seeds=seeds,
        orders=dict(_pairs(row["orders"])),
        pages=int(row.get("pages") or 0),
        asked=row.get("asked", ""),
        sha256=row.get("sha256", ""),
    )


def _pairs(text: str) -> Iterable[tuple[str, str]]:
    for item in text.split():
        name, equals, value = item.partition("=")
        if not equals:
            raise ValueError(f"{item!r} is no name=value")
        yield name, value


def as_table(seats: Sequence[Seat]) -> str:
    """The table's text."""
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(_COLUMNS)
    writer.writerows([_cells(seat) for seat in seats])
    return file.getvalue()


def _cells(seat: Seat) -> list[Any]:
    told = {
        "seat": seat.code,
        "student": seat.student,
        "name": seat.name,
        "label": seat.given.label,
        "time": f"{seat.given.time:g}",
        "large": "yes" if seat.given.large else "",
        "pages": seat.pages or "",
        "seeds": " ".join(f"{name}={value}" for name, value in seat.seeds.items()),
        "orders": " ".join(f"{name}={value}" for name, value in seat.orders.items()),
        "asked": seat.asked,
        "sha256": seat.sha256,
    }
    return [told[name] for name in _COLUMNS]


def seat_of(seats: Iterable[Seat], code: str) -> Seat:
    """The seat of that code; StaffError says which one may be meant."""
    known = {seat.code: seat for seat in seats}
    if code in known:
        return known[code]
    raise StaffError("seat", f"there is no seat {code!r}{did_you_mean(code, known)}; {len(known)} seats are printed")


def with_students(seats: Iterable[Seat], people: Iterable[Person]) -> list[Seat]:
    """The seats, with the names of those who are on the roster now."""
    names = {person.id: shown_name(person) for person in people}
    return [replace(seat, name=names.get(seat.student, seat.name)) for seat in seats]
