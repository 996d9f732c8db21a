"""Which key an assignment's hidden inputs follow from: its own, or the course's secret by the rule of before.

Before assignments had keys of their own, all hidden inputs followed from the secret itself. An assignment that has
reports from that time keeps the rule: its answers are judged again as they were asked, and all of a class are asked the
same. Its key cannot be told.
"""

from __future__ import annotations

import json
from pathlib import Path

from autograder.authoring.derived_keys import assignment_key, fingerprint
from autograder.core import Report
from autograder.grading.report import FOLDER


def hidden_key(course: Path, assignment: str, secret: bytes) -> bytes:
    """The key by which an assignment's next submission is asked: the one by which its others were."""
    own = assignment_key(secret, assignment)
    for path in sorted((course / FOLDER / assignment).glob("*/*.json")):
        try:
            content = json.loads(path.read_text(encoding="utf-8"))
            slug, told = content["slug"], content.get("key", "")
        except (OSError, ValueError, KeyError, TypeError):
            continue
        if slug:  # a notebook of the instructor's own has no hidden inputs
            return _by(told, own, secret)
    return own


def key_of(report: Report, assignment: str, secret: bytes) -> bytes:
    """The key by which a report's questions were asked."""
    return _by(report.key, assignment_key(secret, assignment), secret)


def has_own_key(course: Path, assignment: str, secret: bytes) -> bool:
    """Whether the hidden inputs of an assignment follow from a key that can be told."""
    return hidden_key(course, assignment, secret) != secret


def _by(told: str, own: bytes, secret: bytes) -> bytes:
    return own if told == fingerprint(own) else secret
