"""How students are called on graders' screens and pages: by their ids, or by names that only the course's secret gives.

A pseudonym is a keyed digest (HMAC) of the id, so it is the same on every day and machine of the course, and says
nothing to whoever has no secret. Ids and names in texts of ours are replaced as well. Files go on to have ids.
"""

from __future__ import annotations

import functools
import hashlib
import hmac
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from autograder.authoring.course_settings import read_settings
from autograder.authoring.roster import Person, of_course
from autograder.authoring.variants import course_secret
from autograder.errors import StaffError

_LETTERS = "abcdefghjkmnpqrstuvwxyz23456789"  # none that is read as another
_SHORT, _LONG = 6, 12  # signs; the long form is for those whose short one is another's, too
_NO_WORD, _TELLING = re.compile(r"[\d@ ]"), 5  # what tells an id or a name from a word of an answer, of such a length
_TAG = re.compile(r"(<[^<>]*>)")
ANOTHER = "another student"
_PURPOSE = b"pseudonym"
_FOLDERS = ("submitted", "autograded", "feedback", "students")


@dataclass(frozen=True, kw_only=True)
class Called:
    """What the students of a course are called: by their own ids, if `secret` is empty.

    `known` are all of the course. `names` are further names and addresses of students, each with the id.
    """

    secret: bytes = field(default=b"", repr=False)
    known: Mapping[str, str] = field(default_factory=dict)
    names: Mapping[str, str] = field(default_factory=dict, repr=False)

    @property
    def hidden(self) -> bool:
        """Whether ids are not shown."""
        return bool(self.secret)

    def of(self, student: str) -> str:
        """How a student is called."""
        return (self.known.get(student) or _digest(self.secret, student)[:_LONG]) if self.hidden else student

    def id(self, called: str) -> str:
        """Whom a pseudonym means; an id, and what nobody is called, as it is."""
        return next((student for student, name in self.known.items() if name == called), called)

    def ids(self, called: Iterable[str]) -> tuple[str, ...]:
        """The same of several."""
        return tuple(map(self.id, called))

    def text(self, said: str) -> str:
        """A text of ours in which students are called so: ids where they stand as words, names, and addresses."""
        if not self.hidden or not said:
            return said
        return self._sought.sub(lambda found: self._instead[found[0].casefold()], said)

    def answer(self, said: str) -> str:
        """A text of a student's: only whole names, addresses, and ids that are no word go out of it."""
        return self._telling.sub(lambda found: self._instead[found[0].casefold()], said) if self.hidden else said

    def page(self, said: str, words: Callable[[str], str] | None = None) -> str:
        """The same of HTML; its tags stay as they are. `words` is `text` or `answer`."""
        pieces = _TAG.split(said) if self.hidden else [said]
        return "".join(piece if place % 2 else (words or self.text)(piece) for place, piece in enumerate(pieces))

    @functools.cached_property
    def _instead(self) -> Mapping[str, str]:
        told = {name.casefold(): self.of(student) for name, student in self.names.items()}
        return told | {student.casefold(): name for student, name in self.known.items()}

    @functools.cached_property
    def _sought(self) -> re.Pattern[str]:
        return _any_of(self._instead)

    @functools.cached_property
    def _telling(self) -> re.Pattern[str]:
        return _any_of(word for word in self._instead if _NO_WORD.search(word) and len(word) >= _TELLING)


def _any_of(words: Iterable[str]) -> re.Pattern[str]:
    """One of the words, where it stands by itself; the longest first."""
    longest = sorted(words, key=len, reverse=True)
    return re.compile(rf"(?<![\w@])(?:{'|'.join(map(re.escape, longest))})(?![\w@])" if longest else r"(?!)", re.I)


def called_in(course: Path, enrolled: Iterable[Person] = ()) -> Called:
    """How the students of a course are called on screens; the `enrolled` are known by a gradebook.

    StaffError where two have the same long pseudonym, which one chance in many million millions gives.
    """
    if not read_settings(course).pseudonyms:
        return Called()
    secret, people = course_secret(course), [*enrolled, *of_course(course)]
    ids = {*(person.id for person in people), *in_folders(course)}
    return Called(secret=secret, known=pseudonyms(secret, ids), names=_names(people))


def all_but(student: str, people: Iterable[Person], ids: Iterable[str]) -> Called:
    """The same for what is shown to one student: everybody else is called "another student"."""
    others = [person for person in people if person.id != student]
    known = dict.fromkeys({*(person.id for person in others), *ids} - {student}, ANOTHER)
    mine = {word.casefold() for person in people if person.id == student for word in _names([person])}
    names = {word: who for word, who in _names(others).items() if word.casefold() not in mine}
    return Called(secret=b"-", known=known, names=names)


def pseudonyms(secret: bytes, students: Iterable[str]) -> dict[str, str]:
    """Everybody's pseudonym, no two the same: longer where a short one would be."""
    digests = {student: _digest(secret, student) for student in sorted(set(students))}
    short = Counter(digest[:_SHORT] for digest in digests.values())
    found = {student: digest[: _SHORT if short[digest[:_SHORT]] == 1 else _LONG] for student, digest in digests.items()}
    if len(set(found.values())) < len(found):
        raise StaffError("pseudonyms", "two students would be called the same; give one of them another id")
    return found


def _digest(secret: bytes, student: str) -> str:
    """Twelve signs, the first of which is a letter."""
    key = hmac.digest(secret, _PURPOSE, hashlib.sha256)
    number = int.from_bytes(hmac.digest(key, student.encode("utf-8", "surrogateescape"), hashlib.sha256), "big")
    number, first = divmod(number, _LETTERS.index("2"))
    signs = [_LETTERS[first]]
    while len(signs) < _LONG:
        number, place = divmod(number, len(_LETTERS))
        signs.append(_LETTERS[place])
    return "".join(signs)


def in_folders(course: Path) -> Iterable[str]:
    """Everybody who has a folder; by the usual structure, or by reports, which have no other."""
    places = [path for name in _FOLDERS for path in (course / name).glob("*")] + [*(course / "reports").glob("*/*")]
    return (path.name for path in places if path.is_dir() and not path.name.startswith("."))


def _names(people: Iterable[Person]) -> dict[str, str]:
    """Names in the orders in which they are written, addresses, and ids of other systems, by the student."""
    found: dict[str, str] = {}
    for person in people:
        turned = {" ".join(reversed(name.split(", ", 1))) for name in person.names if ", " in name}
        own = {*person.names, *turned, person.mail, *person.others}
        found |= dict.fromkeys(filter(None, own), person.id)
    return found
