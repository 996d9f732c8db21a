"""A receipt: what was judged, by which committed tests, what the judge found, and what a person decided. It is signed.

It stands on a student's feedback page, as JSON of one line. Whoever has the commitment can tell whether the course has
signed it, and `autograder verify` judges again what it tells of. What people decided is told, and cannot be replayed.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any, Literal

from autograder.authoring.commitment import canonical
from autograder.core import Outcome, Standing
from autograder.errors import StaffError

FORMAT = 1
MOST = 2_000_000  # characters of a page
PLACE = "receipt"  # the id of the element that holds it
_ON_PAGE = re.compile(rf'<pre id="{PLACE}">(.*?)</pre>', re.DOTALL)
By = Literal["judge", "person", "nobody"]


@dataclass(frozen=True, kw_only=True)
class Judged:
    """One part. `verdicts` are the judge's: check, code, and whether it is fulfilled (None: undecided).

    `standing`, `judged` and `of` are what the judge made of them; `points` is the mark of now, decided `by` the judge,
    by a person, or by nobody yet.
    """

    standing: Standing
    judged: float
    of: float
    verdicts: tuple[tuple[str, str, bool | None], ...]
    points: float
    by: By


@dataclass(frozen=True, kw_only=True)
class Receipt:
    """One notebook of one student. `commitment` is the hash of the one whose tests have judged it.

    `asked` is the version of the hidden inputs, `version` that of what was handed out. `digest` is that of the mended
    notebook and the files that lay `beside` it, by their digests. `who` and `salt` show a seed that is somebody's own:
    a student's or a seat's. `late` is what was taken off. `transcribed`: a person typed the answers, from paper.
    """

    assignment: str
    notebook: str
    student: str
    commitment: str
    seed: int
    version: int
    asked: int
    digest: str
    parts: Mapping[str, Judged]
    beside: Mapping[str, str] = field(default_factory=dict)
    who: str = ""
    salt: str = ""
    late: float = 0.0
    transcribed: bool = False


def verdicts_of(outcome: Mapping[str, Any]) -> tuple[tuple[str, str, bool | None], ...]:
    """The verdicts of a stored outcome."""
    return tuple((item["check"], item["code"], item["ok"]) for item in outcome["verdicts"])


def judged_now(outcome: Outcome) -> tuple[tuple[str, str, bool | None], ...]:
    """The same of an outcome."""
    return tuple((item.check, item.code, item.ok) for item in outcome.verdicts)


def public_key(private: bytes) -> str:
    """What a commitment says of the key that signs, in hexadecimal digits."""
    return str(_private(private).public_key().public_bytes_raw().hex())


def signed(receipt: Receipt, private: bytes) -> str:
    """The text of a receipt, with its signature."""
    said = {"format": FORMAT, **asdict(receipt)}
    return canonical({**said, "signature": _private(private).sign(canonical(said)).hex()}).decode()


def _private(key: bytes) -> Any:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    return Ed25519PrivateKey.from_private_bytes(key)


@dataclass(frozen=True, kw_only=True)
class Shown:
    """A receipt as somebody shows it: nobody has signed it yet, as far as is known."""

    receipt: Receipt
    said: Mapping[str, Any] = field(repr=False)
    signature: str

    def is_signed(self, public: str) -> bool:
        """Whether the key of a commitment has signed just this."""
        from cryptography.exceptions import InvalidSignature
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

        try:
            key = Ed25519PublicKey.from_public_bytes(bytes.fromhex(public))
            key.verify(bytes.fromhex(self.signature), canonical(self.said))
        except (InvalidSignature, ValueError):
            return False
        return True


def read(text: str) -> Shown:
    """The receipt in a text or on a feedback page; StaffError where there is none."""
    found = _ON_PAGE.search(text[:MOST])
    try:
        said = json.loads(html.unescape(found[1]) if found else text[:MOST])
        if not isinstance(said, dict) or said.pop("format", None) != FORMAT:
            raise ValueError("it is no receipt of a form that this version knows")
        signature = said.pop("signature", "")
        receipt = _receipt(said)
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise StaffError("receipt", f"there is no receipt that can be read: {error}") from error
    return Shown(receipt=receipt, said={"format": FORMAT, **said}, signature=str(signature))


_KINDS: dict[str, type | tuple[type, ...]] = {
    "seed": int, "version": int, "asked": int, "late": (int, float), "judged": (int, float), "of": (int, float),
    "points": (int, float), "parts": dict, "beside": dict, "transcribed": bool, "verdicts": list,
}  # fmt: skip


def _receipt(said: Mapping[str, Any]) -> Receipt:
    _check(said, Receipt)
    parts = {}
    for name, part in said["parts"].items():
        _check(part, Judged)
        verdicts = [tuple(item) for item in part["verdicts"]]
        if not all(len(item) == 3 for item in verdicts):
            raise ValueError(f"the verdicts of {name} are no list of checks")
        parts[name] = Judged(**{**part, "verdicts": tuple(verdicts)})
    return Receipt(**{**said, "parts": parts})


def _check(said: Any, kind: type) -> None:
    """ValueError unless there is just what a receipt, or a part of one, is made of."""
    names = {item.name for item in fields(kind)}
    if not isinstance(said, dict) or said.keys() != names:
        raise ValueError(f"it does not say {', '.join(sorted(names))}")
    for name, value in said.items():
        if not isinstance(value, _KINDS.get(name, str)):
            raise ValueError(f"its {name} is {value!r}")
