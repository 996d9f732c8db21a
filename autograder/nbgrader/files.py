"""Files as nbgrader writes them, put in their place whole; and files that were handed in, read with care."""

from __future__ import annotations

import contextlib
import datetime
import errno
import fnmatch
import functools
import hashlib
import os
import re
import stat
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from nbformat.v4.rwbase import split_lines, strip_transient
from nbgrader import utils

from autograder.grading.json_values import copied, written
from autograder.nbgrader import archives

STAMP = "timestamp.txt"
REFUSED = ".refused"  # what a note is called that took the place of a link or a special file
MAX_FILE_BYTES = 32 * 2**20
MAX_FILES_BYTES = 64 * 2**20
MAX_FILES = 2_000
MAX_HASHED_BYTES = 2**30
_PIECE = 2**20


def as_text(notebook: Any) -> str:
    """A notebook as nbgrader writes it."""
    return written(strip_transient(split_lines(copied(notebook)))) + "\n"


def replace_folder(new: Path, target: Path, permissions: int) -> None:
    """Give a finished folder's files their permissions and put it in the place of the old one."""
    mode = int(str(permissions), 8)
    for file in new.rglob("*"):
        if file.is_file():
            file.chmod(mode)
    if target.exists():
        utils.rmtree(str(target))
    new.replace(target)


def printable(text: str) -> str:
    """The same text with every character escaped that a terminal would act on, or that no file can hold."""
    return "".join(
        letter if letter.isprintable() else letter.encode("unicode_escape", "surrogatepass").decode() for letter in text
    )


def opened_regular(path: Path) -> Any:
    """A regular file, opened to be read as bytes; OSError for any other, which is neither followed nor waited for."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, "not a regular file")
    return os.fdopen(descriptor, "rb")


@dataclass(kw_only=True)
class Beside:
    """What lies beside a notebook, by its path from there; `left_out` names with a reason what could not be taken."""

    files: dict[str, bytes] = field(default_factory=dict)
    left_out: dict[str, str] = field(default_factory=dict)

    def remarks(self) -> Iterator[str]:
        """A sentence for each file that was left out, up to twenty."""
        for name, why in list(self.left_out.items())[:20]:
            yield f"The file {printable(name)!r} was left out: {why}."
        if len(self.left_out) > 20:
            yield f"{len(self.left_out) - 20} more files were left out."


def files_beside(folder: Path, origin: str = "", over: Beside | None = None) -> Beside:
    """What a notebook may read: the regular files next to it, up to a size each and in sum, under the instructor's.

    `origin` is where the notebook was found, a folder or an archive in `folder`; what lies beside it there lies beside
    it here as well. The instructor's files, `over`, come before the student's of the same names.
    """
    found = _of_student(folder)
    for name, content in _below(folder, origin, found).items() if origin else ():
        found.files.setdefault(name, content)
    if over:
        found.files |= over.files
        found.left_out = {name: why for name, why in found.left_out.items() if name not in over.files} | over.left_out
    return found


def _of_student(folder: Path) -> Beside:
    found, left = Beside(), MAX_FILES_BYTES
    aside = aside_of(folder)
    for path, _ in entries(aside) if aside.is_dir() else ():
        if path != aside / STAMP and not os.path.lexists(folder / path.relative_to(aside)):
            found.left_out[str(path.relative_to(aside))] = "it is too large or could not be read, and was put aside"
    for path, trouble in entries(folder):
        name = str(path.relative_to(folder))
        if path.suffix.lower() == ".ipynb":
            continue
        try:
            if trouble:
                raise trouble
            name.encode()
            if len(found.files) >= MAX_FILES:
                raise OSError(errno.EFBIG, f"more than {MAX_FILES:,} files")
            with opened_regular(path) as file:
                size = os.fstat(file.fileno()).st_size
                if size > MAX_FILE_BYTES:
                    raise OSError(errno.EFBIG, f"it is larger than {MAX_FILE_BYTES // 2**20} MB")
                if size > left:
                    raise OSError(errno.EFBIG, f"all files together are larger than {MAX_FILES_BYTES // 2**20} MB")
                content = file.read(size)
        except UnicodeEncodeError:
            found.left_out[name] = "its name is not text"
        except OSError as error:
            found.left_out[name] = error.strerror or "it could not be read"
        else:
            found.files[name] = content
            left -= len(content)
            if name.endswith(REFUSED):
                found.left_out[name.removesuffix(REFUSED)] = "it was a link, or no regular file"
    return found


def _below(folder: Path, origin: str, beside: Beside) -> dict[str, bytes]:
    """The files in a folder of a submission or in an archive there, by their paths from it."""
    files = beside.files
    if archive := archive_of(folder / origin):
        inner = str((folder / origin).relative_to(archive))
        start, files = "" if inner == "." else f"{inner}/", unpacked_at(archive).files
    else:
        start = f"{origin}/"
    return {
        name.removeprefix(start): content
        for name, content in files.items()
        if name.startswith(start) and not name.lower().endswith(".ipynb")
    }


def instructors_files(source: Path, ignored: Sequence[str] = (), kept: Collection[str] = ()) -> Beside:
    """The data and helper files of an assignment; `kept` are those of which the student's own version counts."""
    found, left = Beside(), MAX_FILES_BYTES
    for name in own_files(source, [*ignored, "*.ipynb"]):
        path = source / name
        if name in kept:
            continue
        try:
            if path.stat().st_size > left:
                limit = f"{MAX_FILES_BYTES // 2**20} MB"
                raise OSError(errno.EFBIG, f"the assignment's files are larger than {limit}; see c.RunAndJudge.visible")
            found.files[name] = path.read_bytes()
            left -= len(found.files[name])
        except OSError as error:
            found.left_out[name] = error.strerror or "it could not be read"
    return found


def archive_of(path: Path) -> Path | None:
    """The archive that a path leads into, if it leads into one."""
    places = (path, *path.parents)
    return next((place for place in places if archives.is_archive(place.name) and _is_regular(place)), None)


def _is_regular(path: Path) -> bool:
    try:
        return stat.S_ISREG(path.lstat().st_mode)
    except OSError:
        return False


def unpacked_at(archive: Path) -> archives.Unpacked:
    """What is in an archive of a submission; NotAnArchive where it cannot be opened."""
    try:
        facts = archive.lstat()
        return _unpacked(archive, (facts.st_ino, facts.st_size, facts.st_mtime_ns))
    except OSError as error:
        raise archives.NotAnArchive(f"it could not be read: {error.strerror}") from error


@functools.lru_cache(maxsize=1)
def _unpacked(archive: Path, facts: tuple[int, int, int]) -> archives.Unpacked:
    with opened_regular(archive) as file:
        content = file.read(archives.MAX_BYTES + 1)
    if len(content) > archives.MAX_BYTES:
        raise archives.NotAnArchive(f"it is larger than {archives.MAX_BYTES // 2**20} MB")
    return archives.unpacked(content)


def entries(folder: Path) -> Iterator[tuple[Path, OSError | None]]:
    """Every file in and below a folder, in order, and each folder that cannot be looked into, with the reason."""
    troubles: list[OSError] = []
    listed: list[tuple[Path, OSError | None]] = []
    for place, directories, names in os.walk(folder, onerror=troubles.append):
        links = [name for name in directories if os.path.islink(os.path.join(place, name))]
        listed += [(Path(place, name), None) for name in (*names, *links)]
    listed += [(Path(trouble.filename), trouble) for trouble in troubles]
    yield from sorted(listed, key=lambda item: item[0])


def own_files(folder: Path, ignored: Iterable[str]) -> Iterator[str]:
    """The names of all files in and below a folder, but for those (and what is in those) that a pattern names.

    As nbgrader's own, which takes the folder's path for a pattern, too.
    """
    patterns = list(ignored)
    for path, trouble in entries(folder):
        name = path.relative_to(folder)
        if not trouble and not any(fnmatch.fnmatch(part, pattern) for part in name.parts for pattern in patterns):
            yield str(name)


def aside_of(folder: Path) -> Path:
    """Where that of a submission is put which nbgrader's own steps could not get past."""
    return folder.with_name(f".{folder.name}.left-out")


def put_aside(folder: Path) -> None:
    """Make a submission one that nbgrader itself can read: it copies every file, and gives up a student at the first
    that it cannot copy, or at a time of submission that it cannot read.

    What `files_beside` leaves out is moved, not changed; a time that can be read is written as nbgrader writes it.
    """
    for name in files_beside(folder).left_out:
        with contextlib.suppress(OSError):
            if (folder / name) != folder and not _is_special(folder / name):  # those become notes
                _move(folder / name, aside_of(folder) / name)
    time, _ = time_handed_in(folder)
    stamp = folder / STAMP
    with contextlib.suppress(OSError):
        if os.path.lexists(stamp) and (not time or _as_nbgrader_reads(stamp) != time):
            _move(stamp, aside_of(folder) / STAMP)
            if time:
                stamp.write_text(f"{time:%Y-%m-%d %H:%M:%S.%f} UTC", encoding="ascii")


def _is_special(path: Path) -> bool:
    try:
        mode = path.lstat().st_mode
    except OSError:
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


def _move(path: Path, target: Path) -> None:
    target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    try:
        path.replace(target)
    except PermissionError:  # of the folder that is to be moved, or of the one in which it is
        for place in (path.parent, path):
            if place.is_dir() and not place.is_symlink():
                place.chmod(0o700)
        path.replace(target)


def _as_nbgrader_reads(stamp: Path) -> datetime.datetime | None:
    try:
        text = stamp.read_text(encoding="utf-8").strip()
        time: datetime.datetime | None = utils.parse_utc(text) if text else None
        return time
    except (ValueError, OverflowError, TypeError, AttributeError):
        return None


def fingerprint(folder: Path) -> bytes:
    """Equal for equal files in a folder; what cannot be read, or is very large, is told by its size and time."""
    digest, left = hashlib.sha256(), MAX_HASHED_BYTES
    for path, _ in entries(folder):
        digest.update(f"\0{path.relative_to(folder)}\0".encode(errors="surrogateescape"))
        try:
            with opened_regular(path) as file:
                facts = os.fstat(file.fileno())
                if facts.st_size > left:
                    digest.update(f"{facts.st_size} {facts.st_mtime_ns}".encode())
                    continue
                left -= facts.st_size
                content = hashlib.sha256()
                while piece := file.read(_PIECE):
                    content.update(piece)
                digest.update(content.digest())
        except OSError as error:
            digest.update(f"{error.errno}".encode())
    return digest.digest()


def time_handed_in(folder: Path) -> tuple[datetime.datetime | None, str]:
    """When a submission was handed in, in UTC as nbgrader has it, and a remark where its `timestamp.txt` does not tell.

    Times of other forms than the usual (`2026-05-04 12:00:00 UTC`) are not guessed: of `05.11.2026` nobody knows
    whether it is in May.
    """
    path = folder / STAMP
    if not os.path.lexists(path):
        path = aside_of(folder) / STAMP
    try:
        with opened_regular(path) as file:
            content = file.read(1_000)
    except FileNotFoundError:
        return None, ""
    except OSError as error:
        return None, f"The time of submission could not be read ({error.strerror}); none was recorded."
    text = _decoded(content).strip("\ufeff\0 \t\r\n")
    if not text:
        return None, ""
    try:
        if not re.search(r"\b\d{4}-\d\d?-\d\d?(?!\d)|\b\d{8}T|[A-Za-z]{3}", text) or not re.search(r"\d{4}", text):
            raise ValueError("no date of a known form")
        return utils.parse_utc(text), ""
    except (ValueError, OverflowError, TypeError, AttributeError):
        return None, f"The time of submission could not be read ({text[:60]!r}); none was recorded."


def _decoded(content: bytes) -> str:
    """Text in UTF-8 or UTF-16, with a mark of its order or without."""
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        return content.decode("utf-16", "replace")
    if content[1:2] == b"\0":
        return content.decode("utf-16-le", "replace")
    if content[:1] == b"\0":
        return content.decode("utf-16-be", "replace")
    return content.decode("utf-8-sig", "replace")
