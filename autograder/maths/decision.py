"""What every answer language decides: equal, different with a witness, or undecided."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Outcome = Literal["equal", "different", "undecided"]


@dataclass(frozen=True, kw_only=True)
class Decision:
    """Whether an answer means the same as the reference.

    `code` is stable and holds no number (`agree`, `value`, `domain`, `constant_factor`, `time`, …). `message` speaks to
    the student and never shows the reference. `witness` is the evidence for *different*, printable: a point and the
    two values, a growth regime, an index tuple. `detail` carries what feedback computes with.
    """

    outcome: Outcome
    code: str
    message: str = ""
    witness: str = ""
    detail: dict[str, object] | None = None

    @property
    def equal(self) -> bool:
        """True only for a proved or overwhelmingly supported equality."""
        return self.outcome == "equal"


def equal(code: str = "agree", message: str = "") -> Decision:
    """The answer means the same as the reference."""
    return Decision(outcome="equal", code=code, message=message)


def different(code: str, message: str = "", *, witness: str = "", **detail: object) -> Decision:
    """The answer means something else; `witness` shows where."""
    return Decision(outcome="different", code=code, message=message, witness=witness, detail=detail or None)


def undecided(code: str, message: str = "") -> Decision:
    """Neither could be shown: a person must look."""
    return Decision(outcome="undecided", code=code, message=message)
