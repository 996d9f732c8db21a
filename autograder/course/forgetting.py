"""`autograder forget`: answers that were handed in before a day go, with every copy of them; marks stay.

It is planned first, from what lies in the course now: so a run that was killed is gone on with by the next one. Reports
lose their answers first and go on to say that something was handed in; folders of submissions go last.
"""

from __future__ import annotations

import contextlib
import datetime
import shutil
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from autograder.authoring import privacy
from autograder.course import copies, personal_lines
from autograder.course.lock import alone
from autograder.errors import StaffError
from autograder.grading import forgotten
from autograder.grading import report as reports
from autograder.nbgrader import forgotten_rows
from autograder.nbgrader.course_directory import CourseDirectory, gradebook_of
from autograder.nbgrader.forgotten_rows import Row
from autograder.reporting.defence_marks import FOLDER as DEFENCE

STEPS = ("submitted", "autograded", "feedback")
_STAMP = "timestamp.txt"
SHEETS = "sheets"  # what else is named after a student below an assignment's name
_HANDED_OUT = ("students", "zips", "print", "release", "source")
Sheets = dict[tuple[str, str], list[Path]]
# What commands write about a class, beside the gradebook; all of it can be made again of what is left.
_PAGES = (
    "{}-report.html", "{}-report.json", "{}-report.csv", "{}-similar.html", "{}-similar.json", DEFENCE + "/{}/all.pdf",
)  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Going:
    """A submission whose answers go: its files by the step, its reports, and how many comments quote it.

    `named` is whether a journal has a line about it.
    """

    assignment: str
    student: str
    when: datetime.datetime
    files: Mapping[str, tuple[Path, ...]]
    reports: tuple[Path, ...] = ()
    comments: int = 0
    named: bool = False

    @property
    def anything(self) -> bool:
        """Whether anything is there to go."""
        return bool(any(self.files.values()) or self.reports or self.comments or self.named)


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What goes, and what stays though it is old enough: by assignment and student, with the reason.

    `pages` are about the class, and go as well. `stray` are assignments whose packs hold what no report speaks of.
    `elsewhere` are further files of the course that have lines of these answers: they are nobody's to delete but yours.
    """

    before: datetime.date
    going: tuple[Going, ...] = ()
    staying: Mapping[tuple[str, str], str] = field(default_factory=dict)
    pages: tuple[Path, ...] = ()
    stray: tuple[str, ...] = ()
    elsewhere: tuple[Path, ...] = ()

    @property
    def anything(self) -> bool:
        """Whether there is something to do."""
        return bool(self.going or self.stray)

    def by_assignment(self) -> dict[str, list[Going]]:
        """The submissions of each assignment."""
        found: dict[str, list[Going]] = defaultdict(list)
        for one in self.going:
            found[one.assignment].append(one)
        return dict(sorted(found.items()))


Watch = Callable[[list[Going]], Iterable[Going]]


def plan(course: Path, before: datetime.date, *, unmarked: bool = False) -> Plan:
    """What `forget` would do now. `unmarked`: also with what has no mark, or parts that wait for a person."""
    with gradebook_of(course) as (connection, place):
        rows = {(row.assignment, row.student): row for row in forgotten_rows.submissions(connection)}
    root, going = Path(place.root), []
    staying: dict[tuple[str, str], str] = {}
    found = _on_disk(place) | rows.keys()
    sheets, kept = _sheets(place), set()
    named = {name: personal_lines.named_in(root, name) for name in {assignment for assignment, _ in found}}
    for assignment, student in sorted(found):
        row = rows.get((assignment, student))
        one = _submission(place, assignment, student, row, sheets, student in named[assignment])
        if one is None or not one.anything:
            continue
        why = "" if unmarked else _no_mark(row)
        if one.when.date() >= before or why:
            kept.add(assignment)
            staying |= {(assignment, student): why} if one.when.date() < before else {}
        else:
            going.append(one)
    names = {one.assignment for one in going}
    return Plan(
        before=before,
        going=tuple(going),
        staying=staying,
        pages=(*_pages(root, names), *_of_whole_classes(root, names - kept)),
        stray=tuple(name for name in sorted(named) if forgotten.has_stray_answers(root / reports.FOLDER / name)),
        elsewhere=copies.elsewhere(root, copies.lines_of(root, _written(going)), _known(place, going)) if going else (),
    )


def _written(going: Iterable[Going]) -> Iterator[Path]:
    return (folder for one in going for step in ("submitted", "autograded") for folder in one.files[step])


def _no_mark(row: Row | None) -> str:
    if row is None:
        return "it was not graded"
    return f"{row.waiting} of its parts wait for a person" if row.waiting else ""


def _on_disk(place: CourseDirectory) -> set[tuple[str, str]]:
    """Assignment and student of every folder of a submission, and of every folder of reports."""
    found = set()
    for step in STEPS:
        name = getattr(place, f"{step}_directory")
        parts = Path(place.format_path(name, "*", "*")).relative_to(place.root)
        for path in Path(place.root).glob(str(parts)):
            if path.is_dir() and (pair := _pair(place, name, path)):
                found.add(pair)
    for path in Path(place.root, reports.FOLDER).glob("*/*"):
        if path.is_dir() and not path.name.startswith("."):
            found.add((path.parent.name, path.name))
    return found


def _pair(place: CourseDirectory, step: str, path: Path) -> tuple[str, str] | None:
    """The assignment and the student that a folder is named after, by the course's directory structure."""
    names = path.relative_to(place.root).parts
    for assignment in names:
        for student in names:
            if Path(place.format_path(step, student, assignment)) == path and not assignment.startswith("."):
                return assignment, student
    return None


def _submission(
    place: CourseDirectory, assignment: str, student: str, row: Row | None, sheets: Sheets, named: bool
) -> Going | None:
    """What there is of a submission; None where nothing tells when it came."""
    files = {step: tuple(_files(place, step, assignment, student)) for step in STEPS}
    files[SHEETS] = tuple(sheets.get((assignment, student), ()))
    folder = Path(place.root, reports.FOLDER, assignment, student)
    left = [path for path in folder.iterdir() if not forgotten.is_forgotten(path)] if folder.is_dir() else []
    when = _when(row, files, left)
    if when is None:
        return None
    comments = row.comments if row else 0
    return Going(
        assignment=assignment,
        student=student,
        when=when,
        files=files,
        reports=tuple(left),
        comments=comments,
        named=named,
    )


def _files(place: CourseDirectory, step: str, assignment: str, student: str) -> Iterator[Path]:
    """The folder of a step, and what an interrupted run has left beside it."""
    folder = Path(place.format_path(getattr(place, f"{step}_directory"), student, assignment))
    if folder.is_dir() or folder.is_symlink():
        yield folder
    if folder.parent.is_dir():
        yield from folder.parent.glob(f".{folder.name}*")


def _sheets(place: CourseDirectory) -> Sheets:
    """Files named after a student that other commands wrote below an assignment's name; not what was handed out."""
    root = Path(place.root)
    known = {getattr(place, f"{step}_directory") for step in STEPS} | {*_HANDED_OUT, reports.FOLDER}
    found: Sheets = defaultdict(list)
    for path in personal_lines.all_files(root, known):
        names = path.relative_to(root).parts
        for assignment in names[:-1]:
            for student in personal_lines.named_after(path):
                found[assignment, student].append(path)
    return found


def _when(row: Row | None, files: Mapping[str, Iterable[Path]], left: Iterable[Path]) -> datetime.datetime | None:
    """When something was handed in last: by the gradebook, by its own note, or by the times of its files."""
    told = [row.timestamp] if row and row.timestamp else []
    for folder in files["submitted"]:
        with contextlib.suppress(OSError, ValueError):
            stamp = datetime.datetime.fromisoformat((folder / _STAMP).read_text().strip().removesuffix(" UTC"))
            told.append(stamp.astimezone(datetime.UTC).replace(tzinfo=None) if stamp.tzinfo else stamp)
    if not told:
        paths = [path for several in files.values() for folder in several for path in (folder, *folder.rglob("*"))]
        times = [path.lstat().st_mtime for path in (*paths, *left)]
        told = [datetime.datetime.fromtimestamp(max(times), datetime.UTC).replace(tzinfo=None)] if times else []
    return max(told, default=None)


def _pages(root: Path, assignments: Iterable[str]) -> Iterator[Path]:
    for name in sorted(assignments):
        places = [root / page.format(name) for page in _PAGES] + [root / reports.FOLDER / f"{name}.stubs"]
        yield from (path for path in places if path.exists())


def _of_whole_classes(root: Path, assignments: Iterable[str]) -> Iterator[Path]:
    return (path for name in sorted(assignments) if (path := root / DEFENCE / name).is_dir())


def _known(place: CourseDirectory, going: Iterable[Going]) -> list[Path]:
    """What need not be searched: other students' own files, what is written anew, and what is no student's."""
    root = Path(place.root)
    names = [getattr(place, f"{step}_directory") for step in STEPS]
    names += [place.source_directory, place.release_directory, reports.FOLDER, "problems", ".git", ".venv", "wheels"]
    return [root / name for name in names] + [
        *forgotten_rows.databases(place),
        *_pages(root, {one.assignment for one in going}),
    ]


def forget(course: Path, planned: Plan, watch: Watch = lambda going: going) -> tuple[Path, ...]:
    """Do it; the files in which lines of the answers are still found. StaffError where something cannot be removed."""
    with gradebook_of(course) as (_, place):
        pass
    root = Path(place.root)
    shared = privacy.shared(root)
    lines = copies.lines_of(root, _written(planned.going))
    groups = planned.by_assignment()
    with contextlib.ExitStack() as stack:
        for name in sorted(groups.keys() | set(planned.stray)):
            stack.enter_context(alone(root, name, shared=shared))
        for name in sorted(groups.keys() | set(planned.stray)):
            _reports(root, place, name, groups.get(name, []), planned.before, shared)
        for name, several in groups.items():
            personal_lines.forget(root, name, {one.student for one in several}, shared=shared)
        forgotten_rows.forget_comments(place, [(one.assignment, one.student) for one in planned.going])
        for path in planned.pages:
            _remove(path)
        for one in watch(list(planned.going)):
            for path in (path for several in one.files.values() for path in several):
                _remove(path)
                with contextlib.suppress(OSError):
                    path.parent.rmdir()  # of a student of whom nothing is left
    return copies.elsewhere(root, lines, _known(place, ())) if lines else ()


def _reports(
    root: Path, place: CourseDirectory, assignment: str, going: list[Going], day: datetime.date, shared: bool
) -> None:
    for one in going:
        graded = Path(place.format_path(place.autograded_directory, one.student, assignment))
        names = {path.stem for path in graded.glob("*.ipynb")} | {
            path.stem for path in one.reports if path.suffix == ".json"
        }
        for name in sorted(names):
            forgotten.forget(reports.path_of(root, assignment, one.student, name), day.isoformat(), shared=shared)
        for path in one.reports:
            if path.suffix != ".json":
                _remove(path)
    forgotten.repack(root / reports.FOLDER / assignment, shared=shared)


def _remove(path: Path) -> None:
    try:
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)
    except OSError as error:
        raise StaffError(
            "forget",
            f"{error.filename or path} could not be removed ({error.strerror}); what is done is done. Run this again "
            "when you may remove it",
        ) from error
