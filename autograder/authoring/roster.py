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

from autograder.authoring.new_course import ROSTER
from autograder.errors import StaffError, did_you_mean

# What names a folder, the best first; a Canvas export's own "ID" is another number (below). Moodle writes its columns
# in the language of the person who exports them.
ID_COLUMNS = (
    "id", "id number", "id-nummer", "numéro d'identification", "número de id", "sis user id", "sis login id", "sid",
    "orgdefinedid", "uid", "registration", "matrikelnummer", "username", "user name", "login", "anmeldename",
    "benutzername", "nom d'utilisateur", "nombre de usuario", "student id", "email address", "email", "e-mail",
    "e-mail-adresse", "adresse de courriel", "dirección de correo",
)  # fmt: skip
FIRST = ("first name", "firstname", "given name", "vorname", "prénom", "nombre")
LAST = ("last name", "lastname", "surname", "family name", "nachname", "nom de famille", "nom", "apellido(s)")
WHOLE = ("student", "name", "full name", "student name", "vollständiger name", "nom complet", "nombre completo")
MAIL = (
    "email address", "email", "e-mail", "e-mail address", "mail", "e-mail-adresse", "adresse de courriel",
    "dirección de correo",
)  # fmt: skip
OTHERS = ("sis user id", "sis login id", "sid", "id number", "username", "orgdefinedid", "student id", "login")
_CANVAS = {"id", "section"}
_OF_CANVAS = {"student", "sis user id", "sis login id", "lastname"}
# What a column's name is made of, whoever made the table.
_HEADINGS = {
    "id", "ids", "sid", "uid", "uin", "netid", "user", "users", "username", "login", "email", "mail", "student",
    "students", "number", "name", "names", "matriculation", "matrikel", "matrikelnummer", "registration", "section",
    "group", "identifier", "account",
}  # fmt: skip
_SIGNATURES = (b"PK\x03\x04", b"\xd0\xcf\x11\xe0")  # of a workbook


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


def of_course(course: Path, known: Iterable[str] = ()) -> list[Person]:
    """The students in the course's own roster.csv; nobody where it is not there, or has no line yet."""
    path = course / ROSTER
    return read_roster(path, known) if path.is_file() else []


def read_roster(path: Path, known: Iterable[str] = (), column: str = "") -> list[Person]:
    """The students of a table; StaffError says what is wrong with it.

    Their ids stand in `column`, or else in the first usual one; of several, one with ids that are `known`. A table
    without a head is a list of ids; its first line is no student where it reads like the names of columns.
    """
    rows = _rows(path)
    if not rows:
        raise StaffError(
            "roster", f"{path} is empty; it needs a line for each student, with the id in a column called id"
        )
    head = [plain_heading(name) for name in rows[0]]
    if column or _is_head(path, head, rows):
        table = [dict(zip(head, map(str.strip, row), strict=False)) for row in rows[1:]]
        people = _people(path, head, [row for row in table if _is_student(row)], set(known), plain_heading(column))
    else:
        people = [Person(id=row[0].strip()) for row in rows]
    _refuse_odd(path, [person.id for person in people])
    return people


def _rows(path: Path) -> list[list[str]]:
    content = path.read_bytes()
    if content.startswith(_SIGNATURES):
        raise StaffError("roster", f"{path} is a workbook, not text; save it as CSV in the program that wrote it")
    text = _text(content)
    if told := re.match(r"sep=(.)\s*\n", text):  # a line for spreadsheets
        text = text[told.end() :]
        return _split(text, told[1])
    return max((_split(text, separator) for separator in ",;\t"), key=_columns_known)


def _split(text: str, separator: str) -> list[list[str]]:
    return [row for row in csv.reader(io.StringIO(text), delimiter=separator) if any(map(str.strip, row))]


def _columns_known(rows: list[list[str]]) -> tuple[int, int, int]:
    """How many cells of the first line are names of columns of ids, or of names, and how many cells it has."""
    head = {plain_heading(name) for name in rows[0]} if rows else set()
    return len(head & set(ID_COLUMNS)), len(head & {*WHOLE, *FIRST, *LAST}), len(head)


def _text(content: bytes) -> str:
    """A table's text in UTF-8, UTF-16, or what older programs write."""
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        return content.decode("utf-16", "replace").lstrip("\ufeff")
    if b"\0" in content[:2]:
        return content.decode("utf-16-be" if content[0] == 0 else "utf-16-le", "replace")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return content.decode("cp1252", "replace")


def plain_heading(name: str) -> str:
    """The name of a column as it is compared: case, spaces and underscores say nothing."""
    return " ".join(name.replace("_", " ").replace("\xa0", " ").replace("’", "'").casefold().split())


def _is_head(path: Path, head: list[str], rows: list[list[str]]) -> bool:
    """Whether the first line names columns; StaffError where it could as well be a student."""
    if any(_columns_known(rows)[:2]) or any(_HEADINGS & set(re.findall(r"\w+", name)) for name in head):
        return True
    told = re.compile(r"[\d@]")  # what most ids have in them, and no column's name has
    if any(map(told.search, head)):
        return False
    if len(head) > 1 or (rows[1:] and all(told.search(row[0]) for row in rows[1:])):
        raise StaffError(
            "roster",
            f"{path}: it is not certain whether its first line ({', '.join(rows[0])}) is a student or the names of "
            "columns; write a line above it that calls the column of ids id",
        )
    return False


def _is_canvas(head: Iterable[str]) -> bool:
    return set(head) >= _CANVAS and not _OF_CANVAS.isdisjoint(head)


def _is_student(row: Mapping[str, str]) -> bool:
    """Whether a row is about a student: Canvas puts the points, how they are posted, and a test student among them."""
    first, second, *_ = [*row.values(), "", ""]
    test = "Student, Test" in first or (first, second) == ("Student", "Test")
    return not _is_canvas(row) or not ("Points Possible" in first or test or not row["id"])


def _people(path: Path, head: list[str], rows: list[dict[str, str]], known: set[str], wanted: str) -> list[Person]:
    canvas = _is_canvas(head)
    ids = [name for name in ID_COLUMNS if name in head and not (canvas and name == "id")]
    if wanted:
        if wanted not in head:
            raise StaffError("roster", f"{path} has no column {wanted!r}{did_you_mean(wanted, head)}")
        ids = [wanted]
    elif not ids:
        raise StaffError(
            "roster",
            f"{path}: none of its columns is known to hold ids; it has {', '.join(filter(None, head))}; name one with "
            "--column",
        )
    filled = {name: [row[name].lstrip("#") for row in rows if row.get(name)] for name in ids}
    chosen = max(ids, key=lambda name: (len(known.intersection(filled[name])), len(filled[name])))
    for row in rows:
        if not row.get(chosen):
            said = ", ".join(filter(None, row.values()))
            raise StaffError("roster", f"{path}: a line has no {chosen!r}, which names a student's folder: {said}")
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
