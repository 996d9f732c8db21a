"""What a course commits itself to for an assignment: the key of its hidden inputs, its tests, its students' seeds.

A commitment is a text with digests; its hash is published, and tells nothing before the text is. The bytes that it
speaks of are kept beside it, in `commitments/ASSIGNMENT/NUMBER/`. Each names the hash of the one before.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from autograder.authoring import privacy
from autograder.errors import StaffError

FOLDER = "commitments"
FILE = "commitment.json"
FORMAT = 1


@dataclass(frozen=True, kw_only=True)
class Commitment:
    """One of an assignment's: its number, from 1 on, its text, and the folder of its files, where they are kept."""

    number: int
    text: bytes
    folder: Path

    @property
    def hash(self) -> str:
        """What is published: SHA-256 of the text, in hexadecimal digits."""
        return hashlib.sha256(self.text).hexdigest()

    @property
    def said(self) -> dict[str, Any]:
        """The text, read."""
        said: dict[str, Any] = json.loads(self.text)
        return said


def read(course: Path, assignment: str) -> list[Commitment]:
    """All commitments to an assignment, the newest one last."""
    place = course / FOLDER / assignment
    numbers = sorted(int(path.parent.name) for path in place.glob(f"[0-9]*/{FILE}"))
    try:
        return [
            Commitment(number=number, text=(place / str(number) / FILE).read_bytes(), folder=place / str(number))
            for number in numbers
        ]
    except OSError as error:
        raise StaffError("commitment", f"a commitment cannot be read: {error}") from error


def write(course: Path, assignment: str, said: Mapping[str, Any], files: Mapping[str, bytes]) -> Commitment:
    """The commitment that says this: a new one, or the newest that there is where it says the same."""
    before = read(course, assignment)
    last = before[-1] if before else None
    if last and {**last.said, "before": ""} == {**said, "before": ""}:
        return last
    number = last.number + 1 if last else 1
    folder = course / FOLDER / assignment / str(number)
    new = folder.with_name(f".{number}.new")
    shutil.rmtree(new, ignore_errors=True)
    shared = privacy.shared(course)
    for place in (course / FOLDER, new.parent, new):
        privacy.make_folder(place, shared=shared)
    for name, content in files.items():
        (new / name).parent.mkdir(parents=True, exist_ok=True)
        (new / name).write_bytes(content)
    text = canonical({**said, "before": last.hash if last else ""})
    (new / FILE).write_bytes(text)
    new.replace(folder)
    return Commitment(number=number, text=text, folder=folder)


def canonical(said: Any) -> bytes:
    """One text for what is the same: keys in order, no blanks."""
    return json.dumps(said, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def hash_of_key(key: bytes) -> str:
    """What a commitment says of a key."""
    return hashlib.sha256(b"autograder commitment to a key\0" + key).hexdigest()


def hash_of_seed(salt: bytes, slug: str, who: str, seed: int) -> str:
    """What a commitment says of the seed of a student or a seat; without the salt nobody can guess whose it is."""
    return hashlib.sha256(canonical(["autograder seed", salt.hex(), slug, who, seed])).hexdigest()


def package_digest() -> str:
    """The same for the same code of this package."""
    package = Path(__file__).resolve().parents[1]
    digest = hashlib.sha256()
    for path in sorted(package.rglob("*.py")):
        content = path.read_bytes()
        digest.update(f"{path.relative_to(package).as_posix()}\0{len(content)}\0".encode())
        digest.update(content)
    return digest.hexdigest()
