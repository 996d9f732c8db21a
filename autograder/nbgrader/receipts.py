"""The receipts of feedback pages: each of a stored report, the gradebook, and the commitment that it rests on."""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from autograder.authoring import commitment
from autograder.authoring.commitment import Commitment
from autograder.authoring.derived_keys import assignment_key, fingerprint, receipt_key, seed_salt
from autograder.authoring.sealing import MINE
from autograder.authoring.variants import course_secret
from autograder.grading import report as reports
from autograder.grading.receipt import By, Judged, Receipt, signed, verdicts_of
from autograder.nbgrader import transcribed
from autograder.nbgrader.standings import Mark, Standing


@dataclass(frozen=True, kw_only=True)
class Receipts:
    """Those of one assignment of a course."""

    course: Path
    assignment: str

    @functools.cached_property
    def _commitments(self) -> list[Commitment]:
        return commitment.read(self.course, self.assignment)

    @functools.cached_property
    def _by_tests(self) -> dict[tuple[str, str], tuple[Commitment, dict[str, Any]]]:
        """The newest commitment to the tests of a problem, by its name and their digest."""
        read = [(item, item.said) for item in self._commitments]
        return {
            (slug, problem["tests"]): (item, said) for item, said in read for slug, problem in said["problems"].items()
        }

    @functools.cached_property
    def _secret(self) -> bytes:
        return course_secret(self.course)

    @functools.cached_property
    def _transcripts(self) -> Mapping[str, transcribed.Transcript]:
        return transcribed.read(self.course, self.assignment)

    def missing(self, report: Mapping[str, Any]) -> str:
        """Why there is no receipt for what is in a report; empty where there is one."""
        if report.get("key") != fingerprint(assignment_key(self._secret, self.assignment)):
            return "its hidden inputs do not follow from the assignment's own key"
        if (report["slug"], report.get("tests")) not in self._by_tests:
            return "the tests that judged it are in no commitment"
        return ""

    def text(self, student: str, notebook: Any, name: str, standing: Standing) -> str:
        """The receipt of a notebook as it was graded; empty where it rests on no commitment."""
        if not self._commitments or not (report := self._report(student, name)) or self.missing(report):
            return ""
        if not {item["part"] for item in report["outcomes"]} <= standing.marks.keys():
            return ""  # the gradebook is that of other parts
        made, said = self._by_tests[report["slug"], report["tests"]]
        marks, paper = notebook.metadata[MINE], self._transcripts.get(student)
        own = said["problems"][report["slug"]].get("seed") != marks["seed"]
        who = (paper.seat if paper else student) if own else ""
        receipt = Receipt(
            assignment=self.assignment,
            notebook=report["slug"],
            student=student,
            commitment=made.hash,
            seed=marks["seed"],
            version=marks["version"],
            asked=report["version"],
            digest=report["digest"],
            beside=report["beside"],
            who=who,
            salt=seed_salt(self._secret, self.assignment, report["slug"], who).hex() if own else "",
            late=standing.late,
            transcribed=paper is not None,
            parts={item["part"]: _judged(item, standing) for item in report["outcomes"]},
        )
        return signed(receipt, receipt_key(self._secret, self.assignment))

    def _report(self, student: str, name: str) -> dict[str, Any]:
        place = reports.path_of(self.course, self.assignment, student, name)
        try:
            found: dict[str, Any] = json.loads(place.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        return found


def _judged(outcome: Mapping[str, Any], standing: Standing) -> Judged:
    mark = standing.marks[outcome["part"]]
    return Judged(
        standing=outcome["standing"],
        judged=outcome["points"],
        of=outcome["max_points"],
        verdicts=verdicts_of(outcome),
        points=mark.points,
        by=_by(mark, standing),
    )


def _by(mark: Mark, standing: Standing) -> By:
    if standing.word(mark)[0] == "held":
        return "nobody"
    return "person" if mark.by_hand is not None else "judge"
