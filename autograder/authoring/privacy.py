"""Who else on this machine may read what a course keeps: nobody, or its group where a group shares the course.

Reports hold hidden questions and their answers, source notebooks hold solutions. Git keeps no modes, and the usual
umask lets everybody read.
"""

from __future__ import annotations

import contextlib
import functools
import os
import warnings
from pathlib import Path

# What decides marks, or is a student's.
KEPT = ("source", "submitted", "autograded", "feedback", "students", "gradebook.db")


class PrivacyWarning(UserWarning):
    """Others on this machine can read what decides marks."""


def make_folder(path: Path, *, shared: bool = False) -> None:
    """A folder that its owner, or the owner's group, may enter; one that was open is closed."""
    path.mkdir(mode=0o770 if shared else 0o700, parents=True, exist_ok=True)
    close(path, shared=shared)


def close(path: Path, *, shared: bool = False) -> None:
    """Take a file or folder from all others; what a colleague of the group owns is left to them."""
    inherited = path.stat().st_mode & 0o2000  # the group of what is made in a folder
    mode = (0o770 if shared else 0o700) if path.is_dir() else (0o660 if shared else 0o600)
    with contextlib.suppress(PermissionError):
        path.chmod(mode | inherited)


def write(path: Path, content: bytes | str) -> None:
    """Write a file that nobody else can read; a student's text may hold what is no character."""
    path.write_bytes(content.encode("utf-8", "replace") if isinstance(content, str) else content)
    close(path)


def replace(path: Path, content: bytes, *, shared: bool = False) -> None:
    """Put a whole file in the place of an old one, or leave the old one; it is then on disk, and closed to others."""
    make_folder(path.parent, shared=shared)
    temporary = path.with_suffix(".tmp")
    temporary.unlink(missing_ok=True)
    with open(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    close(temporary, shared=shared)
    temporary.replace(path)


def shared(course: Path) -> bool:
    """Whether a group shares the course: it may write to its folder, as nbgrader's `groupshared` wants it."""
    return bool(course.stat().st_mode & 0o020)


def open_to_all(folder: Path) -> bool:
    """Whether everybody on this machine may enter a folder: one closed folder on the way closes all below it."""
    return all(place.stat().st_mode & 0o001 for place in (folder.resolve(), *folder.resolve().parents))


def warn_where_open(course: Path) -> None:
    """Say what of a course others can read, and how to close it; nothing where there is nothing to read yet."""
    if os.name != "posix" or not open_to_all(course):
        return
    if read := [name for name in KEPT if _readable(course / name)]:
        say_once(
            f"other users of this machine can enter {course}, and read there what is not closed by itself "
            f"({', '.join(read)}); close it with: chmod o-rwx {course}"
        )


def _readable(path: Path) -> bool:
    """Whether others can read a file, or one in or below a folder."""
    for place, folders, files in os.walk(path):
        folders[:] = [name for name in folders if os.lstat(os.path.join(place, name)).st_mode & 0o001]
        if any(os.lstat(os.path.join(place, name)).st_mode & 0o004 for name in files):
            return bool(path.stat().st_mode & 0o001)
    return path.is_file() and bool(path.stat().st_mode & 0o004)


@functools.cache
def say_once(text: str) -> None:
    """Warn, once in a process, however often it is noticed."""
    warnings.warn(text, PrivacyWarning, stacklevel=3)
