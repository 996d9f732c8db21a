"""What a released notebook says of itself, sealed with a key that follows from the course's secret.

A notebook's metadata can be edited by anybody. Its seal is a keyed digest (HMAC) of all that it says of itself, so that
grading believes what a seal vouches for, and nothing else. The parameters are sealed as a keyed digest as well: whoever
guesses them cannot check the guess.
"""

from __future__ import annotations

import dataclasses
import hashlib
import hmac
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from autograder.core import Parameters, Variant

MINE = "autograder"  # where a notebook's metadata hold what is ours
SEAL = "seal"
State = Literal["verified", "broken", "absent"]


@dataclass(frozen=True, kw_only=True)
class Identity:
    """What a notebook was handed out as; `student` is empty where the class has the variant in common."""

    assignment: str
    slug: str
    version: int
    seed: int
    parameters: str
    student: str = ""

    def __str__(self) -> str:
        whose = f", {self.student}'s own" if self.student else ""
        return f"{self.slug} of {self.assignment} (seed {self.seed}, version {self.version}{whose})"


@dataclass(frozen=True, kw_only=True)
class Seal:
    """How a notebook's seal stands. It has an identity only where it is verified."""

    state: State
    identity: Identity | None = None


def identity_of(drawn: Variant, *, assignment: str, secret: bytes, student: str = "") -> Identity:
    """What a notebook of this variant is handed out as."""
    return Identity(
        assignment=assignment,
        slug=drawn.slug,
        version=drawn.version,
        seed=drawn.seed,
        parameters=parameters_digest(drawn.parameters, secret),
        student=student,
    )


def parameters_digest(p: Parameters, secret: bytes) -> str:
    """Equal for equal parameters, and of no use to whoever does not know the secret."""
    return _keyed(secret, "parameters", as_json(p))[:32]


def as_json(p: Parameters) -> str:
    """Parameters as one line of text."""
    return json.dumps(p, sort_keys=True, default=str)


def put(notebook: Any, identity: Identity, secret: bytes) -> None:
    """Write an identity and its seal into a notebook's metadata, beside what stands there of ours."""
    marks = notebook["metadata"].setdefault(MINE, {})
    marks.update(dataclasses.asdict(identity))
    marks[SEAL] = _seal(identity, secret)


def read(notebook: Any, secret: bytes) -> Seal:
    """The seal of a notebook, whatever was made of its metadata."""
    metadata = notebook.get("metadata") if isinstance(notebook, Mapping) else None
    marks = metadata.get(MINE) if isinstance(metadata, Mapping) else None
    if not isinstance(marks, Mapping) or SEAL not in marks:
        return Seal(state="absent")
    said: dict[str, Any] = {field.name: marks.get(field.name) for field in dataclasses.fields(Identity)}
    kinds = {name: int if name in ("version", "seed") else str for name in said}
    if any(type(said[name]) is not kind for name, kind in kinds.items()) or not isinstance(marks[SEAL], str):
        return Seal(state="broken")
    identity = Identity(**said)
    if not hmac.compare_digest(marks[SEAL].encode("utf-8", "replace"), _seal(identity, secret).encode()):
        return Seal(state="broken")
    return Seal(state="verified", identity=identity)


def _seal(identity: Identity, secret: bytes) -> str:
    return _keyed(secret, "seal", json.dumps(dataclasses.asdict(identity), sort_keys=True))


def _keyed(secret: bytes, purpose: str, text: str) -> str:
    key = hmac.digest(secret, f"notebook {purpose}".encode(), hashlib.sha256)
    return hmac.new(key, text.encode(), hashlib.sha256).hexdigest()


def is_ours(notebook: Any) -> bool:
    """Whether a notebook of the instructor's was built from a problem folder; others are left to nbgrader's own steps.

    What was handed in does not say so of itself: ask the source.
    """
    marks = notebook.get("metadata", {}).get(MINE)
    return isinstance(marks, dict) and {"slug", "version", "seed"} <= set(marks)
