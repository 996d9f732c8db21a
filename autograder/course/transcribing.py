"""Answers that somebody copied from paper: they go the road of every submission, and a person confirms each mark.

A table names seat, part and answer. Of each student's answers a notebook is made under the numbers of the seat, sealed,
and put into `submitted/`; `autograder grade` judges it as any other, and holds every part, with what the judge says,
for `autograder review`. Everything that is wrong with a table is said at once, and then nothing of it is taken.
"""

from __future__ import annotations

import copy
import getpass
import json
import re
import string
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from autograder.authoring import loading, privacy, sealing
from autograder.authoring.assignment import Assignment, read_assignment
from autograder.authoring.roster import ID_COLUMNS, plain_heading
from autograder.authoring.source_notebook import WRITTEN_MARK, answer_id
from autograder.authoring.variants import course_secret, variant
from autograder.core import Part, Problem
from autograder.errors import StaffError, did_you_mean
from autograder.nbgrader import transcribed
from autograder.nbgrader.course_directory import CourseDirectory
from autograder.nbgrader.transcribed import Transcript
from autograder.printing.seats import Seat, read_seats
from autograder.reporting.given_marks import SEAT, refuse, student_at
from autograder.reporting.marks_table import from_text
from autograder.reporting.sheet import Sheet, read_sheet

if TYPE_CHECKING:
    from autograder.nbgrader.handouts import Handouts

ANSWER = "answer"
_BY = ("transcribed by", "by", "grader")
_BETWEEN = re.compile(r"[\s,;.>()]+|->")


@dataclass(frozen=True, kw_only=True)
class Copied:
    """One answer that a table brings: `before` is what was copied for the part until now, empty where nothing was."""

    student: str
    seat: Seat
    name: str
    text: str
    before: str
    by: str


def has_answers(table: Path) -> bool:
    """Whether a table brings answers, and not points."""
    return ANSWER in [plain_heading(name) for name in read_sheet(table).head]


def take_answers(course: Path, assignment: str, table: Path, *, grader: str, dry_run: bool) -> list[Copied]:
    """Take a table of answers; what is new in it. With `dry_run` nothing is written."""
    course = course.resolve()
    written = read_assignment(course, assignment)
    seats = read_seats(course, assignment)
    if not seats:
        raise StaffError("seats", f"{assignment} was not printed: answers on paper belong to a seat of its seats.csv")
    known = transcribed.read(course, assignment)
    reader = _Reader(course, written, seats, known, grader or getpass.getuser())
    found = list(reader.copied(read_sheet(table)))
    refuse(reader.faults)
    if found and not dry_run:
        _keep(course, written, known, found, reader.problems)
    return found


class _Reader:
    """Reads one table of answers; `faults` are what is wrong with it, by line."""

    def __init__(
        self, course: Path, assignment: Assignment, seats: list[Seat], known: Mapping[str, Transcript], by: str
    ) -> None:
        root = loading.find_problems(course)
        self.faults: list[str] = []
        self.problems = {slug: loading.load(slug, root) for slug in assignment.problems}
        self._seats = {seat.code: seat for seat in seats}
        self._of_student = {seat.student: seat for seat in seats if seat.student}
        self._known, self._by, self._name = known, by, assignment.name

    def copied(self, sheet: Sheet) -> Iterator[Copied]:
        """What differs from what was copied before, line by line."""
        head = [plain_heading(name) for name in sheet.head]
        if "part" not in head:
            raise StaffError("marks", f"a table of answers has columns seat, part and answer; it has {', '.join(head)}")
        done: dict[tuple[str, str], str] = {}
        for row in range(1, len(sheet.rows)):
            cells = {name: from_text(sheet.value(row, place).strip()) for place, name in enumerate(head)}
            if not cells[ANSWER]:
                continue
            try:
                found = self._one(cells)
            except StaffError as error:
                self.faults.append(f"line {row + 1}: {error.message}")
                continue
            if done.setdefault((found.student, found.name), found.text) != found.text:
                self.faults.append(f"line {row + 1}: {found.name} of seat {found.seat.code} has another answer above")
            elif found.text != found.before:
                yield found

    def _one(self, cells: Mapping[str, str]) -> Copied:
        seat = self._seat(cells)
        slug, part = self._part(cells.get("notebook", ""), cells["part"])
        name, text = f"{slug}.{part.name}", cells[ANSWER]
        if name in seat.orders:
            text = _letters(text, len(seat.orders[name]))
        before = self._known[seat.student].answers.get(name, "") if seat.student in self._known else ""
        by = next((cells[column] for column in _BY if cells.get(column)), self._by)
        return Copied(student=seat.student, seat=seat, name=name, text=text, before=before, by=by)

    def _seat(self, cells: Mapping[str, str]) -> Seat:
        code, student = cells.get(SEAT, ""), next((cells[name] for name in ID_COLUMNS if cells.get(name)), "")
        if code:
            who = student_at(code, student, {seat.code: seat.student for seat in self._seats.values()})
            return replace(self._seats[code], student=who)
        if student not in self._of_student:
            raise StaffError("seat", f"{student!r} has no seat{did_you_mean(student, self._of_student)}")
        return self._of_student[student]

    def _part(self, notebook: str, name: str) -> tuple[str, Part]:
        notebook, part = (name.split(".", 1) if "." in name else (notebook, name))[:2]
        found = [
            (slug, item)
            for slug, problem in self.problems.items()
            for item in problem.parts
            if item.name == part and notebook in ("", slug)
        ]
        if len(found) == 1:
            return found[0]
        if found:
            raise StaffError("part", f"{part} is in {' and '.join(slug for slug, _ in found)}: write PROBLEM.{part}")
        names = [item.name for problem in self.problems.values() for item in problem.parts]
        raise StaffError("part", f"{self._name} has no part {name!r}{did_you_mean(part, names)}")


def _letters(text: str, count: int) -> str:
    """Letters of the paper, without what may stand between them."""
    letters = _BETWEEN.sub("", text).lower()
    known = string.ascii_lowercase[:count]
    if not letters or not set(letters) <= set(known):
        raise StaffError("letters", f"{text!r}: write the letters that are ticked, of {known[0]} to {known[-1]}")
    return letters


def _keep(
    course: Path,
    assignment: Assignment,
    known: Mapping[str, Transcript],
    found: list[Copied],
    problems: Mapping[str, Problem],
) -> None:
    """Write the notebooks of everybody who has new answers, and the list of all that was copied."""
    place = CourseDirectory(root=str(course))
    from autograder.nbgrader.handouts import Handouts  # with nbgrader, which a table of points does without

    handouts = Handouts.of(place, assignment.name)
    if missing := [slug for slug in problems if slug not in handouts.sources]:
        raise StaffError("no_source", f"{missing[0]} is not built; run autograder build {assignment.name}")
    kept = dict(known)
    for item in found:
        old = kept.get(item.student, Transcript(seat=item.seat.code))
        kept[item.student] = Transcript(
            seat=item.seat.code,
            answers={**old.answers, item.name: item.text},
            by={**old.by, item.name: item.by},
        )
    seats = {item.student: item.seat for item in found}
    for student in seats:
        folder = Path(place.format_path(place.submitted_directory, student, assignment.name))
        if student not in known and folder.is_dir() and any(folder.iterdir()):
            raise StaffError(
                "handed_in", f"{student} has handed in {assignment.name}: {folder} holds it; nothing was taken"
            )
    shared = privacy.shared(course)
    transcribed.write(course, assignment.name, kept, shared=shared)  # before the notebooks: nobody earns unconfirmed
    for student, seat in seats.items():
        folder = Path(place.format_path(place.submitted_directory, student, assignment.name))
        folder.mkdir(parents=True, exist_ok=True)
        privacy.close(folder.parent, shared=shared)
        for slug, problem in problems.items():
            notebook = _notebook(handouts, assignment, problem, seat, kept[student], course_secret(course))
            path = folder / f"{slug}.ipynb"
            path.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def _notebook(
    handouts: Handouts, assignment: Assignment, problem: Problem, seat: Seat, transcript: Transcript, secret: bytes
) -> dict[str, Any]:
    """The released notebook under a seat's numbers, with the answers in their cells, sealed for its student."""
    drawn = variant(problem, seat.seeds[problem.slug])
    notebook: dict[str, Any] = copy.deepcopy(handouts.forms(problem.slug, drawn.seed)[0])
    cells = {(cell["metadata"].get("nbgrader") or {}).get("grade_id"): cell for cell in notebook["cells"]}
    for part in problem.parts:
        name = f"{problem.slug}.{part.name}"
        if name not in transcript.answers:
            continue
        text = seat.notebook_letters(name, transcript.answers[name])
        source = part.cell_of(text, drawn.parameters)
        if part.judged_by_person:
            cells[part.name]["source"] = f"{WRITTEN_MARK.format(name=part.name)}\n{source}"
        else:
            cells[answer_id(part.name)]["source"] = source.rstrip("\n")
    student = seat.student if assignment.per_student else ""
    identity = sealing.identity_of(drawn, assignment=assignment.name, secret=secret, student=student)
    sealing.put(notebook, identity, secret)
    return notebook
