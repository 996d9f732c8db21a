"""Tar files that strangers made, plain or compressed, read with the care that zip files get."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import tarfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import IO, Any

_MEMORY = 256 * 2**20  # that unpacking may take
_BROKEN = (tarfile.TarError, lzma.LZMAError, zlib.error, EOFError, OSError, OverflowError, ValueError, MemoryError)
_HEADERS = 8 * 2**20  # besides the files themselves


class _Header(tarfile.TarInfo):
    """A header whose file does not have less than nothing: Python's reader would go back, and for ever."""

    def _block(self, count: int) -> int:
        if count < 0:
            raise tarfile.HeaderError("a negative size")
        return int(super()._block(count))  # type: ignore[misc]


class NotTar(Exception):  # named for what it is not
    """The bytes are no tar file that is read; the text says why."""


@dataclass(frozen=True, kw_only=True)
class TarMember:
    """A file in a tar file, by the path that the archive has for it."""

    called: str
    archive: tarfile.TarFile = field(repr=False)
    info: tarfile.TarInfo = field(repr=False)

    @property
    def same(self) -> tuple[int, int]:
        """What tells two files of one path apart."""
        return self.info.offset_data, self.info.size

    def content(self, most: int) -> bytes:
        """At most so many bytes; ValueError with a sentence where it is no file, or cannot be read."""
        if not self.info.isreg():
            raise ValueError("it is a link" if self.info.issym() or self.info.islnk() else "it is a special file")
        try:
            file: IO[bytes] | None = self.archive.extractfile(self.info)
            return file.read(most) if file else b""
        except _BROKEN as error:
            raise ValueError("it is damaged") from error


def is_tar(content: bytes) -> bool:
    """Whether these bytes begin as a tar file does, or as a compressed one."""
    return content[257:262] == b"ustar" or content.startswith((b"\x1f\x8b", b"BZh", b"\xfd7zXZ"))


def members(content: bytes, most: int, room: int) -> list[TarMember]:
    """The files in it, in their order; NotTar where it has more than `most`, or unpacks to more than `room` bytes."""
    try:
        plain = _plain(content, room + _HEADERS)
        file = tarfile.TarFile(fileobj=io.BytesIO(plain), tarinfo=_Header, errorlevel=1)
        found = []
        for info in _until(file, 2 * most):
            if not info.isdir():
                found.append(TarMember(called=info.name.replace("\\", "/"), archive=file, info=info))
    except NotTar:
        raise
    except _BROKEN as error:
        raise NotTar("it cannot be opened as a tar file") from error
    return found


def _until(file: tarfile.TarFile, most: int) -> Iterator[tarfile.TarInfo]:
    for number, info in enumerate(file):
        if number == most:
            raise NotTar(f"it holds more than {most // 2:,} files")
        yield info


def _plain(content: bytes, most: int) -> bytes:
    """The bytes without compression; a few bytes may stand for many, so no more are unpacked than may be taken."""
    reader: Any = None
    if content.startswith(b"\x1f\x8b"):
        reader = gzip.GzipFile(fileobj=io.BytesIO(content))
    elif content.startswith(b"BZh"):
        reader = bz2.BZ2File(io.BytesIO(content))
    elif content.startswith(b"\xfd7zXZ"):
        plain = lzma.LZMADecompressor(memlimit=_MEMORY).decompress(content, max_length=most + 1)
    else:
        plain = content
    if reader is not None:
        with reader:
            plain = reader.read(most + 1)
    if len(plain) > most:
        raise NotTar(f"it holds more than {most // 2**20} MB")
    return plain
