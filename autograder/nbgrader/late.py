"""Late submissions: the due date, penalty and grace days of an assignment's file, by nbgrader's own plugin."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from nbgrader.plugins import LateSubmissionPlugin

from autograder.authoring.assignment import read_if_there

DAY = 24 * 60 * 60


class LatePenalty(LateSubmissionPlugin):  # type: ignore[misc]
    """Takes a share of a notebook's points for each day that has begun after the due date and the grace days.

    An assignment whose file has no `penalty` is left to nbgrader's `penalty_method`. Extensions are in the seconds that
    nbgrader gives.
    """

    def late_submission_penalty(self, student_id: str, score: float, total_seconds_late: float) -> float | None:
        """The points that are taken; None where nothing is said about that."""
        coursedir = _coursedir(self)
        assignment = read_if_there(Path(coursedir.root), coursedir.assignment_id) if coursedir else None
        if assignment is None or assignment.penalty is None:
            penalty: float | None = super().late_submission_penalty(student_id, score, total_seconds_late)
            return penalty
        days = math.ceil(max(total_seconds_late / DAY - assignment.grace_days, 0))
        return round(min(days * assignment.penalty, 1.0) * score, 4)


def _coursedir(item: Any) -> Any:
    """The course folder of the converter that a plugin works for."""
    while item is not None:
        if found := getattr(item, "coursedir", None):
            return found
        item = item.parent
    return None
