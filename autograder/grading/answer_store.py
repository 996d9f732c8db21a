"""Large answers on disk: once for all students of an assignment who gave the same, down to the last bit.

A *pack* holds what a notebook's report was the first to hold. It is named by the digest of its bytes, is on disk before
a report speaks of it, and is never changed.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from autograder.authoring import privacy

FOLDER = ".answers"
_MOST = 8192  # places that are remembered

Place = dict[str, Any]  # {"pack": its name, "start": in bytes, "length": in bytes}
_places: dict[tuple[Path, str], Place] = {}


def put(answers: Sequence[bytes], folder: Path, *, shared: bool) -> list[Place]:
    """Where each of these answers lies from now on, in the folder of an assignment's reports."""
    digests = [hashlib.sha256(content).hexdigest() for content in answers]
    known = {digest: place for digest in digests if (place := _known(folder, digest))}
    new = {digest: content for digest, content in zip(digests, answers, strict=True) if digest not in known}
    if new:
        known |= _packed(new, folder, shared)
    return [known[digest] for digest in digests]


def get(place: Place, folder: Path) -> bytes:
    """The answer at a place; ValueError or OSError where it is not there."""
    name, start, length = str(place["pack"]), int(place["start"]), int(place["length"])
    if not name.isalnum() or start < 0:
        raise ValueError(f"{name!r} is no pack of answers")
    with open(folder / FOLDER / name, "rb") as file:
        file.seek(start)
        content = file.read(length)
    if len(content) != length:
        raise ValueError(f"the pack of answers {name} breaks off")
    return content


def _known(folder: Path, digest: str) -> Place | None:
    place = _places.get((folder, digest))
    return place if place and (folder / FOLDER / place["pack"]).exists() else None


def pack(answers: Sequence[bytes], folder: Path, *, shared: bool) -> list[Place]:
    """Write a pack of these answers, in their order; where each lies."""
    content = b"".join(answers)
    name, start, places = hashlib.sha256(content).hexdigest(), 0, []
    for answer in answers:
        places.append({"pack": name, "start": start, "length": len(answer)})
        start += len(answer)
    path = folder / FOLDER / name
    if not (path.exists() and path.stat().st_size == len(content)):
        privacy.replace(path, content, shared=shared)
    return places


def _packed(new: dict[str, bytes], folder: Path, shared: bool) -> dict[str, Place]:
    places = dict(zip(new, pack(list(new.values()), folder, shared=shared), strict=True))
    for digest, place in places.items():
        while len(_places) >= _MOST:
            del _places[next(iter(_places))]
        _places[folder, digest] = place
    return places
