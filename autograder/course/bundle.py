"""A bundle as somebody reads it: a stranger's zip file, of which nothing is believed that its digests do not bear out.

What is checked here is that the bundle is what was committed. It holds Python that is run to judge by it; so a bundle
is to be trusted as far as the course that published it.
"""

from __future__ import annotations

import hashlib
import json
import re
import zipfile
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

from autograder.authoring import commitment
from autograder.authoring.commitment import Commitment
from autograder.course.revealing import BUNDLE
from autograder.errors import StaffError

MOST_BYTES = 512 * 2**20
MOST_FILES = 20_000
_TREES = ("problems/", "source/")


@dataclass(frozen=True, kw_only=True)
class Bundle:
    """The key of an assignment, and its commitments by their hashes, whose bytes lie in folders."""

    assignment: str
    key: bytes = field(repr=False)
    commitments: dict[str, Commitment]

    @property
    def newest(self) -> Commitment:
        """The last that was made."""
        return max(self.commitments.values(), key=lambda item: item.number)


def opened(path: Path, into: Path) -> Bundle:
    """The bundle in a file, its committed bytes written into a folder.

    StaffError where a byte is not what was committed, the key is another one, or the file is no bundle.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            if sum(item.file_size for item in archive.infolist()) > MOST_BYTES or len(archive.infolist()) > MOST_FILES:
                raise _refused(path, f"it holds more than {MOST_BYTES // 2**20} MB or {MOST_FILES:,} files")
            said = json.loads(archive.read(BUNDLE))
            name, key, newest = said["assignment"], bytes.fromhex(said["key"]), int(said["newest"])
            if not re.fullmatch(r"\w[\w. -]*", name) or not 0 < newest < 1_000 or said["format"] != commitment.FORMAT:
                raise _refused(path, "its form is none that this version knows")
            found, before = {}, ""
            for number in range(1, newest + 1):
                item = _commitment(archive, number, into / str(number))
                _check(path, item, name, key, before)
                found[item.hash], before = item, item.hash
    except StaffError:
        raise
    except (OSError, ValueError, KeyError, TypeError, AttributeError, zipfile.BadZipFile, RuntimeError) as error:
        raise _refused(path, f"{type(error).__name__}: {error}") from error
    return Bundle(assignment=name, key=key, commitments=found)


def _refused(path: Path, why: str) -> StaffError:
    return StaffError("bundle", f"{path} was refused, and nothing in it was run: {why}")


def _commitment(archive: zipfile.ZipFile, number: int, folder: Path) -> Commitment:
    """One of the commitments, its files written, each of which has the digest that is said of it."""
    text = archive.read(f"{number}/{commitment.FILE}")
    item = Commitment(number=number, text=text, folder=folder)
    for name, digest in item.said["files"].items():
        _check_name(name)
        content = archive.read(f"{number}/{name}")
        if hashlib.sha256(content).hexdigest() != digest:
            raise _refused(Path(str(archive.filename)), f"{name} is not what was committed (commitment {number})")
        place = folder / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content)
    return item


def _check_name(name: str) -> None:
    """ValueError for a path that could lie elsewhere than in a course's folders of problems and notebooks."""
    parts = PurePosixPath(name).parts
    top = len(parts) == 1 and name.endswith(".toml")
    if "\\" in name or "\0" in name or ".." in parts or name.startswith("/") or not (top or name.startswith(_TREES)):
        raise ValueError(f"{name!r} is no path of a bundle")


def _check(path: Path, item: Commitment, name: str, key: bytes, before: str) -> None:
    said: dict[str, Any] = item.said
    if said["assignment"] != name or said["format"] != commitment.FORMAT or said["before"] != before:
        raise _refused(path, f"commitment {item.number} does not follow on the one before it")
    if said["key"] != commitment.hash_of_key(key):
        raise _refused(path, f"its key is not the one that was committed (commitment {item.number})")
