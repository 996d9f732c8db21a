"""The students of a course, from a table that some system has exported, and which of them a name or a number means.

Tables of nbgrader, Canvas, Moodle, Gradescope, Brightspace and Blackboard are read by the names of their columns. Ids
are text: zeros at their head count.
"""

from __future__ import annotations

import csv
import io
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from autograder.errors import StaffError, did_you_mean

# What names a folder, the best first; a Canvas export's own "ID" is another number (below).
ID_COLUMNS = (
    "id", "student id", "id number", "sis user id", "sis login id", "sid", "orgdefinedid", "uid", "registration",
    "username", "user name", "login", "email address", "email", "e-mail",
)  # fmt: skip
FIRST = ("first name", "firstname", "given name")
LAST = ("last name", "lastname", "surname", "family name")
WHOLE = ("student", "name", "full name", "student name")
MAIL = ("email address", "email", "e-mail", "e-mail address", "mail")
OTHERS = ("sis user id", "sis login id", "sid", "id number", "username", "orgdefinedid", "student id", "login")
_CANVAS = {"student", "id", "section"}


@dataclass(frozen=True, kw_only=True)
class Person:
    """A student; `numbers` are the ids of other systems, `canvas` and `moodle`, which mean nothing elsewhere.

    `others` are what else the student is known by: a login, a number of the university.
    """

    id: str
    names: tuple[str, ...] = ()
    mail: str = ""
    numbers: Mapping[str, str] = field(default_factory=dict, hash=False)
    others: frozenset[str] = frozenset()

    def __str__(self) -> str:
        return f"{self.id} ({self.names[0]})" if self.names else self.id


def read_roster(path: Path, known: Iterable[str] = (), column: str = "") -> list[Person]:
    """The students of a table; StaffError says what is wrong with it.

    Their ids stand in `column`, or else in the first usual one; of several, one with ids that are `known`. A table
    without a head is a list of ids.
    """
    rows = _rows(path)
    if not rows:
        raise StaffError(
            "roster", f"{path} is empty; it needs a line for each student, with the id in a column called id"
        )
    head = [_plain(name) for name in rows[0]]
    if not column and not set(head) & {*ID_COLUMNS, *WHOLE, *FIRST, *LAST}:
        people = [Person(id=row[0].strip()) for row in rows]
    else:
        table = [dict(zip(head, map(str.strip, row), strict=False)) for row in rows[1:]]
        people = _people(path, head, [row for row in table if _is_student(row)], set(known), _plain(column))
    _refuse_odd(path, [person.id for person in people])
    return people


def _rows(path: Path) -> list[list[str]]:
    text = _text(path.read_bytes())
    first = text.split("\n", 1)[0]
    separator = max(",;\t", key=first.count)
    return [row for row in csv.reader(io.StringIO(text), delimiter=separator) if any(map(str.strip, row))]


def _text(content: bytes) -> str:
    """A table's text in UTF-8, UTF-16, or what older programs write."""
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        return content.decode("utf-16", "replace").lstrip("\ufeff")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return content.decode("cp1252", "replace")


def _plain(name: str) -> str:
    return " ".join(name.replace("_", " ").replace("\xa0", " ").casefold().split())


def _is_student(row: Mapping[str, str]) -> bool:
    """Whether a row is about a student: Canvas puts the points, how they are posted, and a test student among them."""
    first = next(iter(row.values()), "")
    canvas = set(row) >= {"student", "id"}
    return not canvas or not ("Points Possible" in first or "Student, Test" in first or not row["id"])


def _people(path: Path, head: list[str], rows: list[dict[str, str]], known: set[str], wanted: str) -> list[Person]:
    canvas = set(head) >= _CANVAS
    ids = [name for name in ID_COLUMNS if name in head and not (canvas and name == "id")]
    if wanted:
        if wanted not in head:
            raise StaffError("roster", f"{path} has no column {wanted!r}{did_you_mean(wanted, head)}")
        ids = [wanted]
    elif not ids:
        raise StaffError(
            "roster", f"{path}: none of its columns holds ids; it has {', '.join(filter(None, head))}; name one"
        )
    filled = {name: [row[name].lstrip("#") for row in rows if row.get(name)] for name in ids}
    chosen = max(ids, key=lambda name: (len(known.intersection(filled[name])), len(filled[name])))
    for number, row in enumerate(rows, 1):
        if not row.get(chosen):
            raise StaffError("roster", f"{path}: line {number + 1} has no {chosen!r}, which names a student's folder")
    return [_person(row, chosen, canvas) for row in rows]


def _person(row: Mapping[str, str], chosen: str, canvas: bool) -> Person:
    def of(columns: Iterable[str]) -> str:
        return next((row[name] for name in columns if row.get(name)), "")

    numbers = {
        "canvas": row["id"] if canvas else row.get("lms user id", ""),
        "moodle": (re.search(r"\d+$", row.get("identifier", "")) or [""])[0],
    }
    parts = f"{of(LAST)}, {of(FIRST)}" if of(LAST) or of(FIRST) else ""
    return Person(
        id=row[chosen].lstrip("#"),
        names=tuple(filter(None, (of(WHOLE), parts))),
        mail=of(MAIL),
        numbers={system: number for system, number in numbers.items() if number},
        others=frozenset(row[name].lstrip("#") for name in OTHERS if row.get(name) and name != chosen),
    )


def _refuse_odd(path: Path, students: list[str]) -> None:
    for student in students:
        if not re.fullmatch(r"[\w.@-]+", student) or set(student) == {"."}:
            raise StaffError("roster", f"{path}: {student!r} cannot be a student's id, since it names a folder")
        if students.count(student) > 1:
            raise StaffError("roster", f"{path} has {student!r} twice")


def keys_of(name: str, *, letters_only: bool = False) -> set[str]:
    """A name in every order of its words that systems write, without spaces and signs; accents may be dropped."""
    text = unicodedata.normalize("NFC", name).casefold()
    if letters_only:
        text = "".join(c for c in unicodedata.normalize("NFKD", text) if not unicodedata.combining(c))
    words = re.findall(r"\w+", text.replace("_", " "))
    return {"".join(words[place:] + words[:place]) for place in range(len(words))}


def named(people: Iterable[Person], names: Iterable[str]) -> Iterator[Person]:
    """The students with one of these names: written in the same way, or, if nobody is, but for accents."""
    people, names = list(people), list(names)
    for letters_only in (False, True):
        wanted = {key for name in names for key in keys_of(name, letters_only=letters_only)}
        found = [p for p in people if any(keys_of(name, letters_only=letters_only) & wanted for name in p.names)]
        if found:
            yield from found
            return
