"""`autograder print`: the sheets of an exam, their keys, all sheets in stapling order, and the table of seats.

    print/exam-1/A-001.pdf       one seat
    print/exam-1/all.pdf         all of them, in stapling order
    print/exam-1/key/A-001.pdf   the key to a seat, or to a version where all its sheets ask the same
    print/exam-1/seats.csv       seat, student, seeds, order of options, digests

Everything follows from the course's secret: the same command makes the same bytes. What was printed is not overwritten
by sheets that ask something else.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

from autograder.authoring import loading, privacy
from autograder.authoring.assignment import Assignment
from autograder.authoring.exam_rules import accommodated
from autograder.authoring.paper_formulas import require, unprintable
from autograder.authoring.roster import Person
from autograder.authoring.variants import course_secret
from autograder.errors import StaffError
from autograder.printing.drawing import Drawing, Shared
from autograder.printing.keys import KeptPoints, Keys
from autograder.printing.questions import Paper
from autograder.printing.seats import FOLDER, Seat, as_table, path_of, planned, read_seats, seat_of, with_students
from autograder.printing.sheets import Sheets
from autograder.printing.typesetting import Typesetter, pages, payload, qr_code

CODES = 32  # pages for which codes are made at first
KEY = "key"
ALL = "all.pdf"

Watch = Callable[[Iterable[Seat], int, str], Iterable[Seat]]


@dataclass(frozen=True, kw_only=True)
class Printed:
    """What was made. `shared` are the neighbours with most answers in common; `notes` are sentences for staff."""

    folder: Path
    seats: tuple[Seat, ...]
    written: int
    shared: Shared | None
    notes: tuple[str, ...] = ()


def no_watch(items: Iterable[Seat], total: int, what: str) -> Iterable[Seat]:
    """Nobody looks on."""
    return items


class Printing:
    """Prints one exam of a course."""

    def __init__(self, course: Path, assignment: Assignment, *, watch: Watch = no_watch) -> None:
        require()
        root = loading.find_problems(course)
        self.course, self.assignment, self._watch = course, assignment, watch
        self.folder = course / FOLDER / assignment.name
        self.paper = Paper(course, assignment, root)
        self.drawing = Drawing(assignment, self.paper.problems, course_secret(course))
        self._sheets, self.typesetter = Sheets(self.paper), Typesetter(course)
        self._codes = CODES
        self._notes: list[str] = []

    def seats(self, people: Sequence[Person], count: int, *, afresh: bool = False) -> list[Seat]:
        """The seats with all that is drawn for them; those that were printed keep theirs, unless `afresh`."""
        exam, before = self.assignment.exam, [] if afresh else read_seats(self.course, self.assignment.name)
        versions = exam.versions if isinstance(exam.versions, int) else 1
        if people or count or before:
            made = with_students(planned(people, count, versions, before), people)
        elif isinstance(exam.versions, int):
            made = [Seat(code=chr(ord("A") + version)) for version in range(versions)]
        else:
            raise StaffError(
                "seats",
                f'{self.assignment.name}.toml says versions = "{exam.versions}": say for whom, with --seats 40 or '
                "--roster roster.csv",
            )
        if exam.versions == "student" and any(not seat.student for seat in made):
            raise StaffError("seats", 'versions = "student" needs a roster: each sheet has a student\'s own numbers')
        given = accommodated(self.course, exam)
        return self.drawing.draw([replace(seat, given=given.get(seat.student, seat.given)) for seat in made])

    def write(
        self, seats: Sequence[Seat], *, only: Sequence[str] = (), large: bool = False, force: bool = False
    ) -> Printed:
        """Write the sheets of these seats, or `only` of some, in `large` print if so; and the table of them all."""
        self.refuse_unprintable(seats)
        chosen = [seat_of(seats, code) for code in only] if only else list(seats)
        if large:
            chosen = [replace(seat, given=replace(seat.given, large=True)) for seat in chosen]
        chosen = [replace(seat, name=self._printable(seat), asked=self.paper.asked(seat)) for seat in chosen]
        if not force:
            self._refuse_others(chosen)
        privacy.make_folder(self.folder.parent, shared=privacy.shared(self.course))
        privacy.make_folder(self.folder, shared=privacy.shared(self.course))
        made = {seat.code: seat for seat in self._written(chosen)}
        every = [made.get(seat.code, seat) for seat in seats]
        if {seat.code for seat in every if seat.pages} == {seat.code for seat in every}:
            self._save(ALL, self._all(every))
        self._write_keys([seat for seat in every if seat.code in made])
        self._save(path_of(self.course, self.assignment.name).name, as_table(every).encode())
        return Printed(
            folder=self.folder,
            seats=tuple(every),
            written=len(made),
            shared=self.drawing.most_shared(every),
            notes=tuple(self._notes),
        )

    def _written(self, seats: Sequence[Seat]) -> Iterator[Seat]:
        """Sheet by sheet. Several are typeset at a time; one thread asks the problems, as Python's parser needs it."""
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            done = [pool.submit(self._pdf, *self._code_of(seat)) for seat in seats]
            for seat, future in zip(self._watch(seats, len(seats), "sheets"), done, strict=True):
                pdf = future.result()
                if pages(pdf) > CODES:  # the last pages lack theirs
                    pdf = self.sheet(seat)
                self._save(f"{seat.code}.pdf", pdf)
                yield replace(seat, pages=pages(pdf), sha256=hashlib.sha256(pdf).hexdigest())

    def sheet(self, seat: Seat) -> bytes:
        """One seat's sheet as a PDF."""
        while pages(pdf := self._pdf(*self._code_of(seat))) > self._codes:
            self._codes = pages(pdf)
        return pdf

    def _code_of(self, seat: Seat) -> tuple[str, dict[str, bytes]]:
        """A sheet's code, and the files that it names."""
        codes = self._codes_of(seat)
        return self._sheets.sheet(seat, list(codes)), {**codes, **self._sheets.files}

    def _codes_of(self, seat: Seat) -> dict[str, bytes]:
        """The pictures of a seat's codes, by their names."""
        name = self.assignment.name
        return {
            f"codes/{seat.code}/{page}.svg": qr_code(payload(name, seat.code, page))
            for page in range(1, self._codes + 1)
        }

    def _all(self, seats: Sequence[Seat]) -> bytes:
        self._codes = max(self._codes, *(seat.pages for seat in seats))
        made = [self._code_of(seat) for seat in seats]
        files = {name: content for _, own in made for name, content in own.items()}
        return self._pdf("\n".join(code for code, _ in made), files)

    def _write_keys(self, seats: Sequence[Seat]) -> None:
        """A key for each seat, or for each version where its seats ask the same."""
        kept = KeptPoints(self.course)
        keys = Keys(self.paper, kept)
        first = list({self._key_name(seat): seat for seat in reversed(seats)}.values())[::-1]
        privacy.make_folder(self.folder / KEY, shared=privacy.shared(self.course))
        try:
            for seat in self._watch(first, len(first), "keys"):
                self._save(f"{KEY}/{self._key_name(seat)}.pdf", self.key(keys, seat))
        finally:
            kept.save()

    def _key_name(self, seat: Seat) -> str:
        return seat.version if isinstance(self.assignment.exam.versions, int) else seat.code

    def key(self, keys: Keys, seat: Seat) -> bytes:
        """One key as a PDF; that of a version is nobody's."""
        name = self._key_name(seat)
        return self._pdf(keys.key(seat if name == seat.code else replace(seat, code=name, student="")), {})

    def _pdf(self, code: str, files: dict[str, bytes]) -> bytes:
        return self.typesetter.pdf(code, files, title=self.assignment.title, language=self.assignment.exam.language)

    def _save(self, name: str, content: bytes) -> None:
        path = self.folder / name
        if not (path.is_file() and path.read_bytes() == content):
            privacy.write(path, content)

    def _printable(self, seat: Seat) -> str:
        """The name for the cover; empty where no font here has its signs."""
        missing = self.typesetter.missing(seat.name)
        if not missing:
            return seat.name
        self._notes.append(
            f"the name of {seat.student} has signs that no font here has ({missing}): the cover of {seat.code} shows "
            "the id alone. Put a font file that has them into fonts/ of the course, and print again"
        )
        return ""

    def page_count(self, seat: Seat) -> int:
        """How many pages a seat's sheet has."""
        return pages(self.sheet(seat))

    def refuse_unprintable(self, seats: Sequence[Seat]) -> None:
        """StaffError names every formula of these seats that paper cannot show."""
        texts = [
            text
            for seat in seats
            for section in self.paper.sections(seat)
            for text in (section.introduction, *(f"{item.text} {item.rule}" for item in section.questions))
        ]
        if found := unprintable(dict.fromkeys(texts)):
            raise StaffError("formula", "; ".join(found))

    def _refuse_others(self, seats: Sequence[Seat]) -> None:
        """StaffError where a sheet that was printed asks something else now."""
        before = {seat.code: seat for seat in read_seats(self.course, self.assignment.name)}
        other = [
            seat.code
            for seat in seats
            if seat.code in before
            and (self.folder / f"{seat.code}.pdf").is_file()
            and (before[seat.code].asked != seat.asked or before[seat.code].student not in ("", seat.student))
        ]
        if other:
            shown = ", ".join(other[:6]) + (f" and {len(other) - 6} more" if len(other) > 6 else "")
            raise StaffError(
                "printed_before",
                f"{self.assignment.name} was printed, and {shown} would ask something else now (a statement, points, "
                "or numbers have changed). Nothing was written. If the printed sheets are waste paper, print with "
                "--force",
            )
