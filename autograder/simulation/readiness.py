"""`autograder ready`: can an assignment be handed out? A line for each check, and the way out where one fails.

Everything is looked at as it will be used: notebooks are compared with what would be built, problems are audited, the
exam is printed, and a class of four hands in a copy of the course, whose marks are known beforehand. Nothing in the
course is touched, but for its secret where it has none yet.
"""

from __future__ import annotations

import os
import shlex
import tempfile
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

from autograder.audit.leaks import search_leaks
from autograder.audit.parallel import audit_all
from autograder.authoring import building, ledger, loading, privacy
from autograder.authoring.assignment import Assignment, read_assignment
from autograder.authoring.exam_rules import accommodated
from autograder.authoring.roster import of_course
from autograder.authoring.variants import SECRET_FILE, SECRET_VARIABLE, class_seed, course_secret
from autograder.errors import AutograderError
from autograder.printing.exam import Printing
from autograder.printing.seats import Seat, planned
from autograder.simulation.four_students import CLASS, differing

_PRINTED = 3  # seats, one of them in large print


@dataclass(frozen=True, kw_only=True)
class Check:
    """One thing that was looked at. `way_out` says what to do where it is not in order."""

    name: str
    ok: bool
    found: str
    way_out: str = ""


@dataclass(frozen=True, kw_only=True)
class Faulty(Exception):
    """Why a check fails, and the way out."""

    found: str
    way_out: str


def checks(
    course: Path, name: str, pool: ProcessPoolExecutor, *, variants: int
) -> Iterator[tuple[str, Callable[[], Check]]]:
    """The checks by their names, in order, to be made one after the other. The file of the assignment must be read."""
    here = _Course(course.resolve(), read_assignment(course, name), pool, variants)
    for title, look in (
        ("secret", here.secret),
        ("permissions", here.permissions),
        ("notebooks", here.notebooks),
        ("problems", here.problems),
        ("leaks", here.leaks),
        ("paper", here.paper),
        ("students", here.students),
        ("demo class", here.demo_class),
    ):
        yield title, lambda title=title, look=look: _made(title, look)  # type: ignore[misc]


def _made(title: str, look: Callable[[], str]) -> Check:
    try:
        return Check(name=title, ok=True, found=look())
    except Faulty as fault:
        return Check(name=title, ok=False, found=fault.found, way_out=fault.way_out)
    except AutograderError as error:
        return Check(name=title, ok=False, found=error.message, way_out="mend this first")


class _Course:
    """An assignment of a course; each method is one check, and says what is in order."""

    def __init__(self, course: Path, assignment: Assignment, pool: ProcessPoolExecutor, variants: int) -> None:
        self._course, self._assignment, self._pool, self._variants = course, assignment, pool, variants
        self._root = loading.find_problems(course)
        self._where = f"--course {shlex.quote(str(course))}"

    def secret(self) -> str:
        """It is there, long enough, and nobody else's."""
        course_secret(self._course)
        if os.environ.get(SECRET_VARIABLE, "").strip():
            return f"from {SECRET_VARIABLE}"
        path = self._course / SECRET_FILE
        others = path.stat().st_mode & (0o007 if privacy.shared(self._course) else 0o077)
        if os.name == "posix" and others:
            raise Faulty(found=f"others can read {path}", way_out=f"chmod 600 {shlex.quote(str(path))}")
        return f"{path.name}, for you alone" if not privacy.shared(self._course) else f"{path.name}, for your group"

    def permissions(self) -> str:
        """Other users of this machine read nothing that decides marks."""
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            privacy.say_once.cache_clear()
            privacy.warn_where_open(self._course)
        if said:
            text, _, order = str(said[0].message).partition("; close it with: ")
            raise Faulty(found=text, way_out=order)
        return "nobody else on this machine can read the course"

    def notebooks(self) -> str:
        """The source notebooks are what would be built now, and what was released has the same numbers."""
        name, stale = self._assignment.name, []
        texts = dict(building.notebooks(self._assignment, None, self._root))
        for slug, text in texts.items():
            path = self._course / "source" / name / f"{slug}.ipynb"
            if not path.is_file() or path.read_text(encoding="utf-8") != text:
                stale.append(slug)
        if stale:
            raise Faulty(
                found=f"not built, or older than the problem: {', '.join(stale)}",
                way_out=f"autograder build {shlex.quote(name)} {self._where}",
            )
        released = any(item.step == "released" for item in ledger.read(self._course, name))
        return f"{len(texts)} up to date{', released' if released else ''}"

    def problems(self) -> str:
        """The audit finds no fault in some variants, that of the class first."""
        faults: list[str] = []
        mistakes = 0
        for slug in self._assignment.problems:
            seed = class_seed(self._assignment, loading.load(slug, self._root))
            for found in audit_all(self._pool, [slug], self._root, variants=self._variants, seed=seed):
                faults += found.faults
                mistakes += found.kill_score[0]
        if faults:
            raise Faulty(found=_first(faults), way_out=f"autograder audit {' '.join(self._assignment.problems)}")
        return f"{len(self._assignment.problems)} audited in {self._variants} variants, {mistakes} mistakes lose marks"

    def leaks(self) -> str:
        """No notebook shows what another one asks."""
        found = search_leaks(self._pool, self._assignment, self._root, variants=self._variants)
        if found.leaks:
            leak = found.leaks[0]
            raise Faulty(
                found=f"{len(found.leaks)}: {leak.text!r} in {leak.where} earns in {leak.slug}.{leak.part}",
                way_out=f"autograder audit --assignment {shlex.quote(self._assignment.name)} {self._where}",
            )
        return f"{found.tried} texts of the notebooks were handed in, and none earns"

    def paper(self) -> str:
        """Some seats are typeset, one of them in large print; neighbours share little."""
        printing = Printing(self._course, self._assignment)
        people = of_course(self._course)
        students = [seat.student for seat in planned(people, 0, 1, [])]
        if people:
            seats = printing.seats(people, 0)
        elif self._assignment.exam.versions == "student":
            raise Faulty(found="its sheets are the students', and there is no roster", way_out="write roster.csv")
        else:
            seats = printing.seats([], _PRINTED)
        printing.refuse_unprintable(seats)
        pages = [printing.page_count(seat) for seat in _with_large(seats[:_PRINTED])]
        shared = printing.drawing.most_shared(seats)
        told = f", neighbours share at most {shared.same} of {shared.of} answers" if shared else ""
        if missing := [seat.student for seat in seats if seat.name and printing.typesetter.missing(seat.name)]:
            raise Faulty(
                found=f"no font here has the signs of the names of {', '.join(missing)}",
                way_out=f"put a font that has them into {self._course / 'fonts'}",
            )
        return f"{pages[0]} pages, {pages[-1]} in large print, for {len(students) or 'any number of'} students{told}"

    def students(self) -> str:
        """The roster can be read, and everybody with an accommodation is on it."""
        people = of_course(self._course)
        given = accommodated(self._course, self._assignment.exam)
        strangers = sorted(given.keys() - {person.id for person in people})
        if people and strangers:
            raise Faulty(
                found=f"not on the roster, but in accommodations.csv: {', '.join(strangers)}",
                way_out="mend the ids in accommodations.csv",
            )
        return f"{len(people)} on the roster, {len(given)} with an accommodation" if people else "no roster"

    def demo_class(self) -> str:
        """Four students hand in what is right, right in other words, wrong, and nothing; each gets what is deserved."""
        with tempfile.TemporaryDirectory(prefix="autograder-ready-") as folder:
            said = differing(Path(folder), self._course, self._assignment, self._root)
        if said:
            raise Faulty(found=_first(said), way_out=f"autograder audit {' '.join(self._assignment.problems)}")
        return f"{len(CLASS)} students got the marks that they deserve"


def _first(sentences: list[str]) -> str:
    more = f" (and {len(sentences) - 1} more)" if len(sentences) > 1 else ""
    return f"{sentences[0]}{more}"


def _with_large(seats: list[Seat]) -> list[Seat]:
    """The last of them in large print."""
    return [*seats, replace(seats[-1], given=replace(seats[-1].given, large=True))]
