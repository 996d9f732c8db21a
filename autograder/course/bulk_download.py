"""What learning platforms give an instructor who downloads all submissions: which files are whose, and when they came.

    Canvas      lovelaceada_LATE_4711_99001_tiny-1.ipynb      sortable name, user, file; `anon_…` for a name
    Moodle      Ada Lovelace_12345_assignsubmission_file/tiny.ipynb      also `…_file_/`, and `…_file_tiny.ipynb`
    Gradescope  assignment_8_export/submission_77/tiny.ipynb  and submission_metadata.yml, which tells who and when

The zip file is read as it is, or the folder into which a browser has unpacked it.
"""

from __future__ import annotations

import contextlib
import datetime
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any, Protocol

from autograder.errors import StaffError
from autograder.nbgrader import archives
from autograder.nbgrader.files import entries, opened_regular

MAX_FILES = 100_000
MAX_METADATA = 64 * 2**20
METADATA = "submission_metadata.yml"
_CANVAS = re.compile(
    r"(?P<name>.+?_)??(?P<late>LATE_)?(?P<user>\d+|anon_[A-Za-z0-9]+)_(?:(?P<order>\d+)_)?(?P<file>.+)"
)
_ONLINE = re.compile(r"(?:text|link)(?:-\d+)?\.html")
_MOODLE = re.compile(r"(?P<name>.+?)_(?P<user>\d+)_assignsubmission_(?P<kind>[a-z]+)(?:_(?P<file>.*))?")
_GRADESCOPE = re.compile(r"submission_\d+")
_RESUBMITTED = re.compile(r"-\d+$")


class File(Protocol):
    """A file of a download, by its safe path and the path that the download has for it."""

    @property
    def path(self) -> str: ...  # noqa: D102 - as Member's

    @property
    def called(self) -> str: ...  # noqa: D102

    def read(self, most: int) -> bytes: ...  # noqa: D102


@dataclass(frozen=True, kw_only=True)
class Unzipped:
    """A file in a folder into which a download was unpacked."""

    path: str
    place: Path = field(repr=False)

    @property
    def called(self) -> str:
        """The path in the folder."""
        return self.path

    def read(self, most: int) -> bytes:
        """The file's content; ValueError with a sentence where it has more than `most` bytes or cannot be read."""
        try:
            with opened_regular(self.place) as file:
                content: bytes = file.read(most + 1)
        except OSError as error:
            raise ValueError("it is a link or cannot be read") from error
        if len(content) > most:
            raise ValueError(f"it is larger than {most // 2**20} MB")
        return content


@dataclass(frozen=True, kw_only=True)
class Submitter:
    """A student as the platform knows them; `numbers` and what they are good for: see `Person`."""

    names: tuple[str, ...] = ()
    mail: str = ""
    id: str = ""
    numbers: Mapping[str, str] = field(default_factory=dict)


@dataclass(kw_only=True)
class Packet:
    """What one student, or a group, has handed in: each file with its path in the submission.

    `label` is what the platform calls it. `time` and `order` (a number that is greater for a later upload) are there
    where the platform tells them.
    """

    label: str
    submitters: list[Submitter]
    files: list[tuple[str, File]] = field(default_factory=list)
    late: bool = False
    time: datetime.datetime | None = None
    order: int = 0


@dataclass(kw_only=True)
class Download:
    """A download taken apart; `strange` are the files that belong to nobody."""

    platform: str
    packets: list[Packet]
    strange: list[str]


@contextlib.contextmanager
def opened(path: Path) -> Iterator[list[File]]:
    """The files of a download, a zip file or a folder; StaffError for any other."""
    if path.is_dir():
        yield [
            Unzipped(path=place.relative_to(path).as_posix(), place=place)
            for place, trouble in entries(path)
            if not trouble and not archives.is_litter(place.relative_to(path).as_posix())
        ]
        return
    try:
        with archives.opened(path, MAX_FILES) as members:
            yield list(members)
    except archives.NotAnArchive as error:
        raise StaffError("download", f"{path}: {error}; give the zip file as the platform made it") from error


def taken_apart(files: Iterable[File], notebooks: Iterable[str]) -> Download:
    """Whose each file is; StaffError where the files are named as by none of the platforms.

    `notebooks` are the assignment's: Canvas numbers the files of a second upload, which get their names back.
    """
    files = list(files)
    for top in _tops(files):
        inside = [(file.path.removeprefix(top), file) for file in files if file.path.startswith(top)]
        for reader in (_gradescope, _moodle, _canvas):
            found = reader(inside, set(notebooks))
            if found.packets:
                found.strange += [file.path for file in files if not file.path.startswith(top)]
                return found
    names = ", ".join(sorted({file.path.split("/")[0] for file in files})[:3]) or "nothing"
    raise StaffError(
        "download",
        f"this is no download of Canvas, Moodle or Gradescope: it holds {names}. Their names look like "
        "lovelaceada_4711_99001_ps1.ipynb, 'Ada Lovelace_12345_assignsubmission_file/ps1.ipynb', and submission_77/"
        f"ps1.ipynb beside a {METADATA}",
    )


def _tops(files: list[File]) -> Iterator[str]:
    """The folder in which everything lies, and those in it: some programs put one around."""
    top = ""
    for _ in range(3):
        yield top
        heads = {file.path.removeprefix(top).split("/")[0] for file in files}
        if len(heads) != 1 or any(file.path == top + next(iter(heads)) for file in files):
            return
        top += f"{heads.pop()}/"


def _canvas(files: list[tuple[str, File]], notebooks: set[str]) -> Download:
    packets: dict[str, Packet] = {}
    strange = []
    for path, file in files:
        match = _CANVAS.fullmatch(path) if "/" not in path else None
        if match is None or not (match["order"] or _ONLINE.fullmatch(match["file"])):
            strange.append(file.path)
            continue
        name = (match["name"] or "").removesuffix("_")
        numbers = {"canvas": match["user"]} if match["user"].isdigit() else {}
        who = Submitter(names=(name,) if name else (), numbers=numbers)
        label = f"{match['name'] or ''}{match['user']}"
        packet = packets.setdefault(label, Packet(label=label, submitters=[who]))
        packet.late |= bool(match["late"])
        packet.order = max(packet.order, int(match["order"] or 0))
        packet.files.append((match["file"], file))
    for packet in packets.values():
        packet.files = list(_with_own_names(packet.files, notebooks))
    return Download(platform="Canvas", packets=list(packets.values()), strange=strange)


def _with_own_names(files: list[tuple[str, File]], notebooks: set[str]) -> Iterator[tuple[str, File]]:
    """Undo Canvas's numbers: `tiny-1.ipynb` is `tiny.ipynb` again; a file that code may read has both names."""
    taken = {name for name, _ in files}
    for name, file in files:
        path = PurePosixPath(name)
        own = path.with_stem(_RESUBMITTED.sub("", path.stem) or path.stem)
        free = str(own) not in taken and path.stem not in notebooks
        if free:
            taken.add(str(own))
            yield str(own), file
        if not free or not (path.suffix.lower() == ".ipynb" or archives.is_archive(path)):
            yield name, file


def _moodle(files: list[tuple[str, File]], notebooks: set[str]) -> Download:
    packets: dict[str, Packet] = {}
    strange = []
    for path, file in files:
        head, _, rest = path.partition("/")
        match = _MOODLE.fullmatch(head)
        inner = "/".join(filter(None, (match["file"], rest))) if match else ""
        if match is None or not inner:
            strange.append(file.path)
            continue
        label = f"{match['name']}_{match['user']}"
        who = Submitter(names=(match["name"],), numbers={"moodle": match["user"]})
        packets.setdefault(label, Packet(label=label, submitters=[who])).files.append((inner, file))
    if packets and all("-" in label for label in packets):  # in a team's submission, its name stands before a person's
        for packet in packets.values():
            (who,) = packet.submitters
            _, *ends = who.names[0].split("-")
            names = (who.names[0], *("-".join(ends[place:]) for place in range(len(ends))))
            packet.submitters = [Submitter(names=names, numbers=who.numbers)]
    return Download(platform="Moodle", packets=list(packets.values()), strange=strange)


def _gradescope(files: list[tuple[str, File]], notebooks: set[str]) -> Download:
    told = next((_metadata(file) for path, file in files if path == METADATA), None)
    packets: dict[str, Packet] = {}
    strange = []
    for path, file in files:
        head, _, rest = path.partition("/")
        if told is None or not rest or not _GRADESCOPE.fullmatch(head):
            strange += [file.path] if path != METADATA else []
            continue
        facts = told.get(head)
        facts = facts if isinstance(facts, dict) else {}
        people = _of(facts, "submitters")
        who = [_submitter(person) for person in people if isinstance(person, dict)] if isinstance(people, list) else []
        packet = Packet(label=head, submitters=who, time=_time(_of(facts, "created_at")))
        packets.setdefault(head, packet).files.append((rest, file))
    return Download(platform="Gradescope", packets=list(packets.values()), strange=strange)


def _metadata(file: File) -> dict[str, Any]:
    """Gradescope's list of submissions; every value as text, so that numbers keep their zeros."""
    import yaml

    try:
        told = yaml.load(file.read(MAX_METADATA), Loader=getattr(yaml, "CBaseLoader", yaml.BaseLoader))  # noqa: S506 - text
    except (ValueError, yaml.YAMLError, RecursionError) as error:
        raise StaffError("download", f"{file.path} cannot be read: {error}") from error
    return told if isinstance(told, dict) else {}


def _of(facts: Mapping[str, Any], name: str) -> Any:
    """A value by its name, which Gradescope writes with a colon before it."""
    return facts.get(f":{name}", facts.get(name, ""))


def _submitter(facts: Mapping[str, Any]) -> Submitter:
    name, mail, number = (_of(facts, key) for key in ("name", "email", "sid"))
    return Submitter(names=(str(name),) if name else (), mail=str(mail or ""), id=str(number or ""))


def _time(told: Any) -> datetime.datetime | None:
    """A time of submission in UTC; Gradescope writes it in several ways, and always with its zone."""
    if isinstance(told, dict):
        told = _of(told, "utc")
    text = re.sub(r"(\.\d{6})\d*", r"\1", str(told).strip().replace(" Z", "+00:00").replace(" UTC", "+00:00"))
    try:
        found = datetime.datetime.fromisoformat(re.sub(r" ([+-]\d\d:?\d\d)$", r"\1", text))
    except ValueError:
        return None
    return found.astimezone(datetime.UTC).replace(tzinfo=None) if found.tzinfo else None
