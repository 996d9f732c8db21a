"""`autograder defend`: a sheet of questions about the own answers for each student of an assignment, with its key.

    defence/ps1/ada.pdf, ada.html         one student's sheet
    defence/ps1/all.pdf                   all of them
    defence/ps1/key/ada.pdf, ada.html     the keys
    defence/ps1/answers.csv               where a grader enters what was answered
    defence/ps1/keys.json                 by what the table is marked

The same command makes the same sheets. Those that were made are not overwritten by others, unless it is forced.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from autograder.authoring import loading, privacy
from autograder.authoring.assignment import Assignment, read_assignment
from autograder.authoring.roster import of_course
from autograder.authoring.sealing import is_ours
from autograder.authoring.variants import course_secret
from autograder.defence import page, paper
from autograder.defence.sheet_words import TITLES
from autograder.defence.student import LEAST, QUESTIONS, Chooser, Handed, Sheet
from autograder.errors import AutograderError, StaffError
from autograder.grading import report as reports
from autograder.grading.hidden_key import hidden_key
from autograder.grading.submission import load_submission
from autograder.nbgrader.course_directory import CourseDirectory, course_directory
from autograder.nbgrader.files import files_beside
from autograder.printing.typesetting import Typesetter
from autograder.reporting.defence_marks import FOLDER
from autograder.reporting.marks_table import as_text

KEYS, ANSWERS, KEY, ALL = "keys.json", "answers.csv", "key", "all.pdf"
TALK = "talk"

Watch = Callable[[Sequence[str]], Iterable[str]]


@dataclass(frozen=True, kw_only=True)
class Written:
    """What was made: the sheets, and whom no sheet was made for, with the reason."""

    folder: Path
    sheets: tuple[Sheet, ...]
    without: tuple[tuple[str, str], ...]


def write(course: Path, name: str, *, force: bool, watch: Watch = lambda names: names) -> Written:
    """Make and write the sheets of everybody who was graded."""
    course = course.resolve()
    assignment, place = read_assignment(course, name), course_directory(course)
    folder = course / FOLDER / name
    chooser = Chooser(course_secret(course), name)
    sheets: list[Sheet] = []
    without: list[tuple[str, str]] = []
    students = graded(course, name)
    for student in watch(students):
        try:
            sheet = chooser.sheet(student, list(_handed(course, assignment, place, student)))
        except AutograderError as error:
            without.append((student, error.message))
            continue
        if len(sheet.asked) >= LEAST:
            sheets.append(sheet)
        else:
            without.append((student, f"only {len(sheet.asked)} questions about these answers have a certain key"))
    _refuse_others(folder, sheets, force)
    privacy.make_folder(folder.parent, shared=privacy.shared(course))
    privacy.make_folder(folder, shared=privacy.shared(course))
    privacy.make_folder(folder / KEY, shared=privacy.shared(course))
    _Writer(course, assignment, folder).write(sheets)
    return Written(folder=folder, sheets=tuple(sheets), without=tuple(without))


def graded(course: Path, name: str) -> list[str]:
    """Everybody who has a report; StaffError where nobody has."""
    below = reports.path_of(course, name, "", "").parent
    found = sorted({path.parent.name for path in below.glob("*/*.json")})
    if not found:
        raise StaffError("not_graded", f"nothing of {name} is graded yet; first: autograder grade {name}")
    return found


def _handed(course: Path, assignment: Assignment, place: CourseDirectory, student: str) -> Iterator[Handed]:
    """A student's graded notebooks, in the order of the assignment."""
    folder = Path(place.format_path(place.autograded_directory, student, assignment.name))
    key = hidden_key(course, assignment.name, course_secret(course))
    order = list(assignment.problems)
    found = sorted(folder.glob("*.ipynb"), key=lambda path: [*order, path.stem].index(path.stem))
    for path in found:
        report = reports.path_of(course, assignment.name, student, path.stem)
        notebook = _read(path)
        if report.is_file() and is_ours(notebook):
            files = files_beside(folder).files
            submission = load_submission(notebook, course=course, secret=key, files=files)
            if not submission.fault and not submission.broken:
                yield Handed(name=path.stem, submission=submission, report=reports.load(report))


def _read(path: Path) -> dict[str, Any]:
    try:
        notebook: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise StaffError("notebook", f"{path} cannot be read: {error}") from error
    for cell in notebook["cells"]:
        cell["source"] = cell["source"] if isinstance(cell["source"], str) else "".join(cell["source"])
    return notebook


def as_keys(sheets: Iterable[Sheet]) -> dict[str, Any]:
    """What a table of answers is marked by."""
    return {
        sheet.student: [
            {"kind": item.kind, "part": f"{item.notebook}.{item.part}", "answer": item.answer, "text": item.text}
            for item in sheet.asked
        ]
        for sheet in sheets
    }


def _refuse_others(folder: Path, sheets: Sequence[Sheet], force: bool) -> None:
    """StaffError where sheets lie there that ask something else: they may be printed."""
    path = folder / KEYS
    if force or not path.is_file():
        return
    before, now = json.loads(path.read_text(encoding="utf-8")), as_keys(sheets)
    if others := [student for student in before if before[student] != now.get(student)]:
        shown = ", ".join(others[:5]) + (", …" if len(others) > 5 else "")
        raise StaffError(
            "defence",
            f"{folder} has sheets that ask something else ({shown}): what was handed in, or the problems, have "
            "changed since. If these were not printed, overwrite them with --force",
        )


class _Writer:
    """Writes one assignment's sheets."""

    def __init__(self, course: Path, assignment: Assignment, folder: Path) -> None:
        self._assignment, self._folder, self._typesetter = assignment, folder, Typesetter(course)
        root = loading.find_problems(course)
        self._titles = {slug: loading.load(slug, root).title for slug in assignment.problems}
        self._names = {person.id: str(person) for person in of_course(course)}

    def write(self, sheets: Sequence[Sheet]) -> None:
        """The pages, the documents, the table to fill in, and the keys."""
        for sheet in sheets:
            name = self._names.get(sheet.student, sheet.student)
            for key in (False, True):
                told = page.page(sheet, self._assignment.title, self._titles, name, key=key)
                self._save(self._place(sheet, key, "html"), told)
                self._save(self._place(sheet, key, "pdf"), self._pdf([sheet], key))
        if sheets:
            self._save(self._folder / ALL, self._pdf(sheets, False))
        self._save(self._folder / KEYS, json.dumps(as_keys(sheets), ensure_ascii=False, indent=1))
        if not (table := self._folder / ANSWERS).exists():
            self._save(table, empty_table(sheets))

    def _place(self, sheet: Sheet, key: bool, kind: str) -> Path:
        return (self._folder / KEY if key else self._folder) / f"{sheet.student}.{kind}"

    def _pdf(self, sheets: Sequence[Sheet], key: bool) -> bytes:
        made = paper.key_code if key else paper.sheet_code
        code = [
            made(sheet, self._assignment.title, self._titles, self._names.get(sheet.student, sheet.student))
            for sheet in sheets
        ]
        language = self._assignment.exam.language
        return self._typesetter.pdf("\n".join(code), {}, title=self._assignment.title, language=language)

    def _save(self, path: Path, content: bytes | str) -> None:
        privacy.write(path, content)


def empty_table(sheets: Iterable[Sheet]) -> str:
    """The table in which a grader enters answers: a line for each student, a column for each question."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["student_id", *(f"q{number}" for number in range(1, QUESTIONS + 1)), TALK])
    for sheet in sheets:
        writer.writerow([as_text(sheet.student)])
    return text.getvalue()


def kinds(sheets: Iterable[Sheet]) -> dict[str, int]:
    """How many questions of each kind there are, by what the kind is called."""
    found = dict.fromkeys(TITLES.values(), 0)
    for sheet in sheets:
        for item in sheet.asked:
            found[TITLES[item.kind]] += 1
    return found
