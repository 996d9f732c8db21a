"""Which lines of a course's journals and tables are about a student: to be shown to them alone, or to be forgotten."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

from autograder.authoring import ledger, privacy
from autograder.authoring.roster import ID_COLUMNS, plain_heading
from autograder.course import journal
from autograder.grading.report import FOLDER
from autograder.nbgrader import collected, transcribed
from autograder.reporting import defence_marks, review_journal
from autograder.reporting.journal_lines import read
from autograder.reporting.marks_table import from_text
from autograder.reporting.sheet import Sheet, read_sheet

Line = dict[str, Any]
_NOT_OURS = (".git", ".venv", "problems", "wheels", "source", "release", "__pycache__")
_IDS = (*ID_COLUMNS, "student")
_OF_DECISION = ("students", "without")


def places(course: Path, assignment: str) -> dict[str, Path]:
    """The files of an assignment in which students are named, each by what it holds."""
    return {
        "runs": journal.path_of(course, assignment),
        "decisions": review_journal.path_of(course, assignment),
        "marks by hand": course / FOLDER / f"{assignment}.marks.jsonl",
        "collected": collected.path_of(course, assignment),
        "transcribed": transcribed.path_of(course, assignment),
        "handed out": course / ledger.FILE,
        "questions about answers": course / defence_marks.FOLDER / assignment / "keys.json",
        "answers to them": course / defence_marks.FOLDER / assignment / "answers.csv",
    }


def about(course: Path, assignment: str, student: str) -> dict[str, list[Line]]:
    """What these files hold about one student, and nothing of others."""
    found = {what: list(_about(path, assignment, student)) for what, path in places(course, assignment).items()}
    return {what: lines for what, lines in found.items() if lines}


def _about(path: Path, assignment: str, student: str) -> Iterator[Line]:
    if path.suffix == ".csv":
        yield from rows_about(path, student)
        return
    if path.suffix == ".json":
        facts = _table(path).get(student, [])
        yield from facts if isinstance(facts, list) else [facts]
        return
    mine: set[str] = set()
    for line in read(path):
        if line.get("assignment", assignment) != assignment:
            continue
        if line.get("student") == student or student in line.get("students", ()):
            mine |= {line["id"]} if "id" in line else set()
            yield _alone(line, student)
        elif line.get("kind") == "reply" and line["id"] in mine:
            yield line
        elif line.get("kind") == "undo" and (ids := [name for name in line["undoes"] if name in mine]):
            yield {**line, "undoes": ids}


def _alone(line: Line, student: str) -> Line:
    """A decision about several, as it is about one: the answer that it quotes may be another's."""
    if "students" not in line:
        return line
    own = {key: value for key, value in line.items() if key not in ("without", "answer")}
    return {**own, "students": [student], "before": {student: line.get("before", {}).get(student)}}


def named_in(course: Path, assignment: str) -> set[str]:
    """Everybody whom one of the files names; the ledger, where a student has numbers of their own."""
    found: set[str] = set()
    for path in places(course, assignment).values():
        if path.suffix in (".json", ".csv"):  # who is in the table of answers has keys
            found |= _table(path).keys()
            continue
        for line in read(path):
            if line.get("assignment", assignment) == assignment:
                found |= {str(name) for name in (line.get("student"), *line.get("students", ())) if name}
    return found


def forget(course: Path, assignment: str, students: Collection[str], *, shared: bool) -> None:
    """Take all that is about these students out of the files; a file with nothing left in it goes."""
    for path in places(course, assignment).values():
        if path.suffix == ".json" and path.is_file():
            left = {name: facts for name, facts in _table(path).items() if name not in students}
            _write(path, json.dumps(left, ensure_ascii=False, indent=1) if left else "", shared)
        elif path.suffix == ".csv" and (sheet := _sheet(path)):
            others = sheet.without(_rows(sheet, students))
            _write(path, others.content() if len(others.rows) > 1 else "", shared)
        elif path.is_file():
            _rewrite(path, _without(assignment, students), shared)


def _without(assignment: str, students: Collection[str]) -> Callable[[Line], Line | None]:
    """What becomes of one line after the other; None where nothing of it is left."""
    gone: set[str] = set()  # decisions and requests of which nothing is left
    quoted: set[str] = set()  # decisions whose answer is forgotten

    def change(line: Line) -> Line | None:
        if line.get("assignment", assignment) != assignment:
            return line
        match line.get("kind"):
            case "decision":
                new = _decision(line, students, quoted)
            case "undo":
                left = [name for name in line["undoes"] if name not in gone]
                new = {**line, "undoes": left} if left else None
            case _:
                new = None if line.get("student") in students or line.get("id") in gone else line
        if new is None and "id" in line:
            gone.add(line["id"])
        return new

    return change


def _decision(line: Line, students: Collection[str], quoted: set[str]) -> Line | None:
    """A decision without these students. The answer that it was about is forgotten with the first of them."""
    new = line | {key: [name for name in line.get(key, ()) if name not in students] for key in _OF_DECISION}
    new["before"] = {name: was for name, was in line.get("before", {}).items() if name not in students}
    if len(new["students"]) < len(line.get("students", ())) or line.get("follows") in quoted:
        quoted.add(line["id"])
        new["answer"] = {}
    return new if new["students"] else None


def _rewrite(path: Path, change: Callable[[Line], Line | None], shared: bool) -> None:
    old = read(path)
    new = [line for line in map(change, old) if line is not None]
    if new != old:
        people = any("student" in line or "students" in line or path.name == ledger.FILE for line in new)
        _write(path, "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in new) if people else "", shared)


def _write(path: Path, content: str | bytes, shared: bool) -> None:
    """The whole file or none; no file for nothing. Its folder, which may be the course's own, stays as it is."""
    if not content:
        path.unlink(missing_ok=True)
        return
    new = path.with_name(f".{path.name}.new")
    with open(new, "wb") as file:
        file.write(content.encode("utf-8", "replace") if isinstance(content, str) else content)
        file.flush()
        os.fsync(file.fileno())
    privacy.close(new, shared=shared)
    new.replace(path)


def _table(path: Path) -> Mapping[str, Any]:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def all_files(root: Path, without: Collection[str] = ()) -> Iterator[Path]:
    """The files of a course that may be about students, but for those in some of its own folders."""
    for place, folders, files in os.walk(root):
        out = {*_NOT_OURS, *(without if Path(place) == root else ())}
        folders[:] = sorted(name for name in folders if name not in out)
        yield from (Path(place, name) for name in sorted(files))


def named_after(path: Path) -> Iterator[str]:
    """Whom a file may be named after: its name, without one ending after the other."""
    name = path.name
    yield name
    while (shorter := name.rpartition(".")[0]) and shorter != name:
        name = shorter
        yield name


def rows_about(path: Path, student: str) -> list[Line]:
    """The rows of a table with a head, such as seats.csv, that are about the student."""
    sheet = _sheet(path)
    rows = sorted(_rows(sheet, [student])) if sheet else []
    return [{name: sheet.value(row, place) for place, name in enumerate(sheet.head)} for row in rows if sheet]


def _sheet(path: Path) -> Sheet | None:
    """A table, however a spreadsheet has saved it; None where nothing is in it."""
    return read_sheet(path) if path.is_file() and path.read_bytes().strip() else None


def _rows(sheet: Sheet, students: Collection[str]) -> set[int]:
    """The rows in which a cell below a heading of ids is one of these; without such a heading, the first cell."""
    places = [place for place, name in enumerate(sheet.head) if plain_heading(name) in _IDS] or [0]
    told = {row: [from_text(sheet.value(row, place)).strip() for place in places] for row in range(1, len(sheet.rows))}
    return {row for row, ids in told.items() if any(name in students for name in ids)}
