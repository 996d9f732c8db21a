"""Archives that strangers made or filled, read with care: into memory, within limits, and each file by a safe name.

Zip files, and tar files, compressed or not.

No name leads out of its archive, nothing in one is a link, and no file is larger than what was allowed for, whatever
its header says. What could not be taken is named with a reason.
"""

from __future__ import annotations

import contextlib
import io
import re
import stat
import struct
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from autograder.nbgrader import tar_files
from autograder.nbgrader.tar_files import NotTar, TarMember

MAX_FILES = 2_000
MAX_BYTES = 64 * 2**20
MAX_DEPTH = 3  # of archives in archives
_ENTRY = b"PK\x01\x02"  # begins what an archive says about one of its files
_UTF8 = 0x800
_ENCRYPTED = 0x1
_BROKEN = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, ValueError, struct.error)
_ARCHIVE = re.compile(r"\.(?:zip|tar|tgz|tbz2?|txz|tar\.(?:gz|bz2|xz))$", re.IGNORECASE)
_LITTER = {"__MACOSX", ".DS_Store", "Thumbs.db", "desktop.ini"}


class NotAnArchive(Exception):
    """The file cannot be opened as an archive; the text says why."""


@dataclass(kw_only=True)
class Room:
    """How much may still be taken: files, and bytes of all together."""

    files: int = MAX_FILES
    bytes: int = MAX_BYTES


@dataclass(kw_only=True)
class Unpacked:
    """The files of an archive by their paths; `left_out` gives a reason for each that was not taken.

    `renamed` gives the path that the archive had for a file which has another one here.
    """

    files: dict[str, bytes] = field(default_factory=dict)
    left_out: dict[str, str] = field(default_factory=dict)
    renamed: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Member:
    """A file in an archive that has not been read yet, by its safe path."""

    path: str
    source: ZipMember | TarMember

    @property
    def called(self) -> str:
        """The path that the archive has for it."""
        return self.source.called

    def read(self, most: int) -> bytes:
        """The file's content; ValueError with a sentence where it has more than `most` bytes or cannot be read."""
        content = self.source.content(most + 1)
        if len(content) > most:
            raise ValueError(f"it is larger than {most // 2**20} MB" if most >= 2**20 else "there is no room for it")
        return content


@dataclass(frozen=True, kw_only=True)
class ZipMember:
    """A file in a zip file, by the path that the archive has for it."""

    called: str
    archive: zipfile.ZipFile = field(repr=False)
    info: zipfile.ZipInfo = field(repr=False)

    @property
    def same(self) -> tuple[int, int]:
        """What tells two files of one path apart."""
        return self.info.CRC, self.info.file_size

    def content(self, most: int) -> bytes:
        """At most so many bytes; ValueError with a sentence where it is no file, or cannot be read."""
        kind = stat.S_IFMT(self.info.external_attr >> 16)
        if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
            raise ValueError("it is a link" if kind == stat.S_IFLNK else "it is a special file")
        if self.info.flag_bits & _ENCRYPTED:
            raise ValueError("it is protected by a password")
        try:
            with self.archive.open(self.info) as file:
                return file.read(most)
        except _BROKEN as error:
            raise ValueError("it is damaged") from error


@contextlib.contextmanager
def opened(archive: Path | bytes, most: int = MAX_FILES) -> Iterator[list[Member]]:
    """The files of a zip file, or of the bytes of one, in its order; NotAnArchive for what is none or has too many."""
    if isinstance(archive, bytes) and archive.count(_ENTRY) > 2 * most:
        raise NotAnArchive(f"it holds more than {most:,} files")
    try:
        file = _zip_file(archive)
    except (*_BROKEN, OSError, OverflowError) as error:
        raise NotAnArchive("it cannot be opened as a zip file") from error
    with file:
        if len(file.filelist) > 2 * most:
            raise NotAnArchive(f"it holds more than {most:,} files")
        yield list(_each_once([ZipMember(called=_called(info), archive=file, info=info) for info in file.filelist]))


def _zip_file(archive: Path | bytes) -> zipfile.ZipFile:
    try:
        return zipfile.ZipFile(io.BytesIO(archive) if isinstance(archive, bytes) else archive)
    except UnicodeDecodeError:
        return _without_utf8(bytearray(archive if isinstance(archive, bytes) else archive.read_bytes()))


def _without_utf8(content: bytearray) -> zipfile.ZipFile:
    """An archive whose names claim to be UTF-8, and are not: the claim is taken out wherever it stands."""
    end = content.rfind(b"PK\x05\x06")
    (start,) = struct.unpack_from("<L", content, end + 16)
    for match in re.finditer(re.escape(_ENTRY), content[start:end]):
        _clear_utf8(content, start + match.start() + 8)
    for info in zipfile.ZipFile(io.BytesIO(content)).filelist:
        _clear_utf8(content, info.header_offset + 6)
    return zipfile.ZipFile(io.BytesIO(content))


def _clear_utf8(content: bytearray, place: int) -> None:
    (flags,) = struct.unpack_from("<H", content, place)
    struct.pack_into("<H", content, place, flags & ~_UTF8)


def _each_once(members: Sequence[ZipMember | TarMember]) -> Iterator[Member]:
    """Every file of an archive, once: of several with one path, those that differ are numbered."""
    taken: dict[str, tuple[int, int]] = {}
    for member in members:
        path = safe_path(member.called)
        if member.called.endswith("/") or not path or is_litter(path):
            continue
        free, number = path, 1
        while free in taken and taken[free] != member.same:
            number += 1
            free = str(PurePosixPath(path).with_stem(f"{PurePosixPath(path).stem} ({number})"))
        if free not in taken:
            taken[free] = member.same
            yield Member(path=free, source=member)


def _called(info: zipfile.ZipInfo) -> str:
    """The path that an archive has for a file: UTF-8 where it can be, though most programs do not say so."""
    name = info.orig_filename
    if not info.flag_bits & _UTF8:
        with contextlib.suppress(UnicodeError):
            name = name.encode("cp437").decode("utf-8")
    return name.replace("\\", "/")


def safe_path(called: str) -> str:
    """The same path, below whatever folder it is put into: no drive, no root, no way up, no sign that ends a name."""
    parts = re.sub(r"^[A-Za-z]:", "", called).replace("\0", "").split("/")
    return "/".join(part for part in parts if part.strip() not in ("", ".", ".."))


def is_litter(path: str) -> bool:
    """Whether a system or a program left this file for itself."""
    parts = PurePosixPath(path).parts
    return bool(_LITTER & set(parts)) or parts[-1].startswith("._")


def is_archive(path: str | PurePosixPath) -> bool:
    """Whether a file is a zip file or a tar file by its name."""
    return _ARCHIVE.search(str(path)) is not None


def unpacked(content: bytes, room: Room | None = None, depth: int = 1) -> Unpacked:
    """All files of an archive, those of archives within it included; NotAnArchive if it is none."""
    room, found = room or Room(), Unpacked()
    with _opened(content, room) as members:
        for member in members:
            _take(found, member, room, depth)
    return found


def _opened(content: bytes, room: Room) -> contextlib.AbstractContextManager[list[Member]]:
    if not tar_files.is_tar(content):
        return opened(content)
    try:
        return contextlib.nullcontext(list(_each_once(tar_files.members(content, MAX_FILES, room.bytes))))
    except NotTar as error:
        raise NotAnArchive(str(error)) from error


def _take(found: Unpacked, member: Member, room: Room, depth: int) -> None:
    try:
        if not room.files:
            raise ValueError(f"there are more than {MAX_FILES:,} files")
        content = member.read(room.bytes)
    except ValueError as error:
        found.left_out[member.path] = str(error)
        return
    room.files, room.bytes = room.files - 1, room.bytes - len(content)
    found.files[member.path] = content
    if member.path != member.called:
        found.renamed[member.path] = member.called
    if is_archive(member.path):
        _take_inner(found, member.path, content, room, depth)


def _take_inner(found: Unpacked, path: str, content: bytes, room: Room, depth: int) -> None:
    """Put the files of an archive in an archive below its name."""
    if depth >= MAX_DEPTH:
        found.left_out[path] = f"there are archives in archives, more than {MAX_DEPTH} deep"
        return
    try:
        inner = unpacked(content, room, depth + 1)
    except NotAnArchive as error:
        found.left_out[path] = str(error)
        return
    found.files.update({f"{path}/{name}": content for name, content in inner.files.items()})
    for mine, its in ((found.left_out, inner.left_out), (found.renamed, inner.renamed)):
        mine.update({f"{path}/{name}": why for name, why in its.items()})
