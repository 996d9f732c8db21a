"""`autograder collect`: what a platform's download holds, put into `submitted/STUDENT/ASSIGNMENT/`.

A submission goes to a student of the roster or to nobody: where its number, mail address and name do not mean one and
the same person, it stays where it is, and is named. One that is there already is replaced by a later one alone, where
the platform tells which is later.
"""

from __future__ import annotations

import dataclasses
import datetime
import difflib
import hashlib
import shutil
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from autograder.authoring.assignment import read_assignment
from autograder.authoring.new_course import ROSTER
from autograder.authoring.roster import Person, keys_of, named, read_roster
from autograder.course.bulk_download import Download, File, Packet, Submitter, opened, taken_apart
from autograder.errors import StaffError
from autograder.nbgrader import collected, course_api
from autograder.nbgrader.archives import is_archive
from autograder.nbgrader.files import entries, opened_regular, time_handed_in
from autograder.nbgrader.handouts import Handouts
from autograder.nbgrader.intake import make_safe

MAX_FILES = 2_000  # of one submission
MAX_BYTES = 256 * 2**20  # of one submission
MAX_NAME = 240  # of a file, in bytes: a system takes 255, and nbgrader adds to it
STAMP = "timestamp.txt"

# What became of a submission; the last four leave work for a person.
STATES = ("new", "replaced", "unchanged", "older", "differs", "unmatched", "ambiguous", "failed")
WAITING = STATES[-4:]


@dataclass(frozen=True, kw_only=True)
class Options:
    """What the command line was given; `told` names the student for what the platform calls a submission."""

    assignment: str
    download: Path
    roster: Path | None = None
    column: str = ""
    told: Mapping[str, str] = field(default_factory=dict)
    force: bool = False
    dry_run: bool = False


@dataclass(kw_only=True)
class Row:
    """What became of one submission, for one student."""

    label: str
    state: str
    student: str = ""
    files: int = 0
    late: bool = False
    time: str = ""
    why: str = ""


@dataclass(kw_only=True)
class Result:
    """A download in rows; `strange` are files that belong to nobody, `absent` students without a submission."""

    platform: str
    rows: list[Row] = field(default_factory=list)
    strange: list[str] = field(default_factory=list)
    absent: list[str] = field(default_factory=list)

    @property
    def exit_code(self) -> int:
        """0 where every submission has its place, else 1."""
        return int(any(row.state in WAITING for row in self.rows))


def run(course: Path, options: Options) -> Result:
    """Put a download's submissions into the course; StaffError comes before anything was written."""
    course, options = course.resolve(), _absolute(options)
    read_assignment(course, options.assignment)  # there is one of that name
    with course_api.opened(course) as api, opened(options.download) as files:
        place = _Place(api, course, options)
        download = taken_apart(files, place.notebooks())
        owners, rows = _owners(download, options, place.people)
        rows += [place.put(packet, student) for student, packet in sorted(owners.items())]
        place.record()
        there = {row.student for row in rows}
        return Result(
            platform=download.platform,
            rows=sorted(rows, key=lambda row: (row.state in WAITING, row.student, row.label)),
            strange=download.strange,
            absent=sorted(person.id for person in place.people if person.id not in there),
        )


def _absolute(options: Options) -> Options:
    """The same options for another working directory."""
    roster = options.roster.resolve() if options.roster else None
    return dataclasses.replace(options, download=options.download.resolve(), roster=roster)


def _owners(download: Download, options: Options, people: Sequence[Person]) -> tuple[dict[str, Packet], list[Row]]:
    """Each student's submission, and a row for each that belongs to nobody for sure."""
    matcher = Matcher(people, options.told, download)
    found: dict[str, list[Packet]] = {}
    rows = []
    for packet in download.packets:
        for submitter in packet.submitters or [Submitter()]:
            match matcher.person(packet.label, submitter):
                case Person() as person:
                    found.setdefault(person.id, []).append(packet)
                case state, why:
                    label = _label(packet, submitter)
                    rows.append(Row(label=label, state=state, files=len(packet.files), late=packet.late, why=why))
    owners = {}
    for student, packets in found.items():
        times = [packet.time for packet in packets if packet.time]
        if len(packets) == 1 or len(set(times)) == len(packets):
            owners[student] = max(packets, key=lambda packet: packet.time or datetime.datetime.min)
            continue
        names = ", ".join(packet.label for packet in packets)
        why = f"more than one submission means this student: {names}; say whose each is with --match"
        rows += [Row(label=packet.label, state="ambiguous", student=student, why=why) for packet in packets]
    return owners, rows


def _label(packet: Packet, who: Submitter) -> str:
    """What the platform calls a submission, and whoever is meant, where that does not say it."""
    told = " ".join(filter(None, (*who.names[:1], who.mail)))
    return packet.label if not told or packet.label.startswith(told) else f"{packet.label} ({told})"


class Matcher:
    """Finds out who a submitter is."""

    def __init__(self, people: Sequence[Person], told: Mapping[str, str], download: Download) -> None:
        self.people = people
        self.told = {key.strip(): value for key, value in told.items()}
        by_id = {person.id: person for person in people}
        for key, student in self.told.items():
            if student not in by_id:
                raise StaffError("no_student", f"--match {key}={student}: {student!r} is not on the roster")
        self.by_id = by_id
        self.numbers_are_ids = self._numbers_are_ids(download)

    def _numbers_are_ids(self, download: Download) -> bool:
        """Whether the roster's ids must be Canvas's numbers: it tells nothing else, and has all of them."""
        numbers = [who.numbers.get("canvas") for packet in download.packets for who in packet.submitters]
        bare = not any(person.names or person.mail for person in self.people)
        return bare and bool(numbers) and all(number in self.by_id for number in numbers)

    def person(self, label: str, who: Submitter) -> Person | tuple[str, str]:
        """The student, or, where it is not certain who it is, a state and a sentence."""
        for key in (label, who.id, who.mail, *who.names, *who.numbers.values()):
            if key and key in self.told:
                return self.by_id[self.told[key]]
        meant = {kind: people for kind, people in self._meant(who).items() if people}
        common = [person for person in self.people if meant and all(person in people for people in meant.values())]
        if len(common) == 1:
            return common[0]
        if common:
            names = ", ".join(map(str, common))
            return "ambiguous", f"more than one student could be meant: {names}; {_say(label)}"
        if meant:
            told = "; ".join(f"{kind} is that of {', '.join(map(str, people))}" for kind, people in meant.items())
            return "ambiguous", f"{told}; {_say(label)}"
        return "unmatched", self._nobody(label, who)

    def _meant(self, who: Submitter) -> dict[str, list[Person]]:
        """The students that each thing which the platform tells could mean."""
        mail = who.mail.casefold()
        return {
            "its number": [person for person in self.people if self._has_number(person, who)],
            "its id": [person for person in self.people if who.id and who.id in (person.id, *person.others)],
            "its address": [p for p in self.people if mail and mail in (p.mail.casefold(), p.id.casefold())],
            "its name": list(dict.fromkeys(named(self.people, who.names))),
        }

    def _has_number(self, person: Person, who: Submitter) -> bool:
        if any(person.numbers.get(system) == number for system, number in who.numbers.items()):
            return True
        return self.numbers_are_ids and person.id == who.numbers.get("canvas")

    def _nobody(self, label: str, who: Submitter) -> str:
        if not (who.names or who.mail or who.id):
            return f"the platform does not say whose it is; {_say(label)}"
        keys = {key: person for person in self.people for name in person.names for key in keys_of(name)}
        wanted = [key for name in who.names for key in keys_of(name)]
        near = next((keys[close] for key in wanted for close in difflib.get_close_matches(key, keys, 1, 0.8)), None)
        asked = f" (is it {near}?)" if near else ""
        return f"nobody on the roster is called so{asked}; add them to the roster, or {_say(label)}"


def _say(label: str) -> str:
    return f"say who it is with --match '{label}=STUDENT'"


class _Place:
    """Where submissions lie, and who may have one."""

    def __init__(self, api: Any, course: Path, options: Options) -> None:
        self.api, self.course, self.options = api, course, options
        self.coursedir = api.coursedir
        self.records = collected.read(course, options.assignment)
        self.people = self._people()
        self.handouts = Handouts.of(self.coursedir, options.assignment, api.config)

    def _people(self) -> list[Person]:
        students, table = course_api.students(self.api), self.options.roster or self.course / ROSTER
        known = [item["id"] for item in students]
        given = self.options.roster or table.is_file()
        if given and (people := read_roster(table, known, self.options.column)):
            return people
        if not students:
            raise StaffError(
                "no_roster",
                f"the gradebook knows no students, and {ROSTER} has none, so nobody can be found; put their list "
                "there, or give it with --roster FILE.csv (columns id, first_name, last_name, email; or an export of "
                "the platform)",
            )
        return [_known(item) for item in students]

    def notebooks(self) -> list[str]:
        """The names of the assignment's notebooks."""
        return list(read_assignment(self.course, self.options.assignment).problems)

    def _folder(self, student: str) -> Path:
        place = self.coursedir
        return Path(place.format_path(place.submitted_directory, student, self.options.assignment))

    def put(self, packet: Packet, student: str) -> Row:
        """Put a submission into its student's folder, unless what is there must stay."""
        time = f"{packet.time:%Y-%m-%d %H:%M:%S} UTC" if packet.time else ""
        row = Row(label=packet.label, state="new", student=student, late=packet.late, time=time)
        files, left_out = _read(packet)
        row.files = len(files)
        notes = [f"{name} was left out: {why}" for name, why in left_out.items()]
        notes += [f"{name}: its path led out of the submission" for name in _led_out(packet)]
        record = collected.Record(
            label=packet.label, late=packet.late, order=packet.order, files={k: _digest(v) for k, v in files.items()}
        )
        folder = self._folder(student)
        try:
            if folder.exists():
                row.state, why = self._instead(folder, student, packet, record)
                notes.insert(0, why)
            if row.state in ("new", "replaced") and not self.options.dry_run:
                _write(folder, files, packet.time)
                make_safe(folder, self.handouts, student)  # nbgrader sees no notebook in an archive
        except OSError as error:
            row.state = "failed"
            notes.insert(0, f"{error.filename or folder} could not be written: {error.strerror}")
        if row.state in ("new", "replaced", "unchanged"):
            self.records[student] = record
        if not any(".ipynb" in name.lower() or is_archive(name) for name in files):
            notes.append("there is no notebook in it")
        row.why = "; ".join(filter(None, notes))
        return row

    def _instead(self, folder: Path, student: str, packet: Packet, record: collected.Record) -> tuple[str, str]:
        """Whether a submission takes the place of the one that is there, and why."""
        earlier = self.records.get(student)
        mine = earlier is not None and collected.is_still_there(earlier, folder)
        there = earlier.files if earlier and mine else _digests(folder)
        before, _ = time_handed_in(folder)
        before = before.replace(tzinfo=None) if before else None
        if there == record.files and (packet.time is None or before is None or packet.time == before):
            return "unchanged", ""
        if self.options.force:
            return "replaced", "another one was there (--force)"
        if packet.time and before and packet.time != before:
            if packet.time > before:
                return "replaced", f"the one before was of {before:%Y-%m-%d %H:%M:%S} UTC"
            return "older", f"the one that is there is later: {before:%Y-%m-%d %H:%M:%S} UTC"
        if earlier and mine and packet.order and earlier.order and packet.order != earlier.order:
            return ("replaced", "it was uploaded later") if packet.order > earlier.order else ("older", "")
        return "differs", "another one is there, and nothing tells which is later; to take this one: --force"

    def record(self) -> None:
        """Note what was collected, for grading and for the next download."""
        if not self.options.dry_run:
            collected.write(self.course, self.options.assignment, self.records, shared=bool(self.coursedir.groupshared))


def _known(student: Mapping[str, Any]) -> Person:
    """A student as the gradebook has them."""
    name = ", ".join(filter(None, (student["last_name"], student["first_name"])))
    numbers = {"canvas": student["lms_user_id"]} if student["lms_user_id"] else {}
    return Person(id=student["id"], names=(name,) if name else (), mail=student["email"] or "", numbers=numbers)


def _read(packet: Packet) -> tuple[dict[str, bytes], dict[str, str]]:
    """A submission's files within the limits, and why others were left out."""
    files: dict[str, bytes] = {}
    left_out = {}
    left = MAX_BYTES
    for path, file in packet.files:
        try:
            if path == STAMP:
                raise ValueError("the time of submission is not the student's to say")
            _refuse_odd(path, files)
            content = file.read(left)
        except ValueError as error:
            left_out[path] = str(error)
            continue
        left -= len(content)
        files[_free(path, files)] = content
    return files, left_out


def _refuse_odd(path: str, taken: Mapping[str, bytes]) -> None:
    """ValueError where a file cannot lie beside the others."""
    if len(taken) >= MAX_FILES:
        raise ValueError(f"there are more than {MAX_FILES:,} files")
    if any(len(part.encode(errors="surrogateescape")) > MAX_NAME for part in path.split("/")) or len(path) > 1_000:
        raise ValueError("its name is too long")
    if any(name.startswith(f"{path}/") for name in taken) or any(str(place) in taken for place in Path(path).parents):
        raise ValueError("it has the name of a folder")


def _free(path: str, taken: Iterable[str]) -> str:
    """The path, or another one where it is taken already."""
    taken, place = set(taken), Path(path)
    numbers = (str(place.with_stem(f"{place.stem} ({number})")) for number in range(2, len(taken) + 3))
    return path if path not in taken else next(free for free in numbers if free not in taken)


def _led_out(packet: Packet) -> list[str]:
    return [file.called for _, file in packet.files if _odd(file)]


def _odd(file: File) -> bool:
    return file.called.startswith("/") or ".." in file.called.split("/") or file.called[1:2] == ":"


def _write(folder: Path, files: Mapping[str, bytes], time: datetime.datetime | None) -> None:
    """A submission's folder, made beside the old one and then put in its place."""
    new = folder.with_name(f".{folder.name}.new")
    shutil.rmtree(new, ignore_errors=True)
    new.mkdir(parents=True)
    for name, content in files.items():
        path = new / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    if time:
        (new / STAMP).write_text(f"{time:%Y-%m-%d %H:%M:%S.%f} UTC")
    if folder.exists():
        old = folder.with_name(f".{folder.name}.old")
        shutil.rmtree(old, ignore_errors=True)
        folder.replace(old)
        new.replace(folder)
        shutil.rmtree(old)
    else:
        new.replace(folder)


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _digests(folder: Path) -> dict[str, str]:
    """The files of a submission that is there, each by its digest."""
    found = {}
    for path, trouble in entries(folder):
        name = path.relative_to(folder).as_posix()
        if trouble or name == STAMP:
            continue
        try:
            with opened_regular(path) as file:
                found[name] = hashlib.file_digest(file, "sha256").hexdigest()
        except OSError:
            found[name] = ""
    return found
