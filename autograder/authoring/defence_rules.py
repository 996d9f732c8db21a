"""What an assignment says of its defence, and what a sheet's answers do to a mark.

    [defence]
    weight = 0.2         # two tenths of the points depend on the sheet
    talk_below = 0.5     # whoever answers fewer than half is talked to first

Nothing is taken from anybody for a low score: it is held until a person has talked to the student and says so.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from autograder.errors import StaffError, did_you_mean

_WANTED = ("weight", "talk_below")


@dataclass(frozen=True, kw_only=True)
class Defence:
    """The share of the points that depends on the sheet, and the share of right answers below which a person talks."""

    weight: float = 0.0
    talk_below: float = 0.5

    def lost(self, points: float, share: float) -> float:
        """The points that a share of right answers costs."""
        return round(points * self.weight * (1 - share), 4)


def read_defence(path: Path, table: Mapping[str, Any]) -> Defence:
    """The table `[defence]` of an assignment's file; StaffError says what is wrong with it."""
    for key, value in table.items():
        if key not in _WANTED:
            raise StaffError("defence", f"{path}: [defence] has an unknown key {key!r}{did_you_mean(key, _WANTED)}")
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
            raise StaffError("defence", f"{path}: {key} of [defence] is a share from 0 to 1, not {value!r}")
    return Defence(**table)
