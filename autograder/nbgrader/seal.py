"""Sealing what is handed out: a step of nbgrader's own generate_assignment, and of a student's own notebooks."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

from nbgrader.preprocessors import NbGraderPreprocessor

from autograder.authoring import ledger, loading, sealing
from autograder.authoring.sealing import is_ours
from autograder.authoring.variants import course_secret, variant
from autograder.nbgrader.handouts import has_own_variants


class PutSeal(NbGraderPreprocessor):  # type: ignore[misc]
    """Seals each released notebook of ours, and puts it on the course's list."""

    def preprocess(self, nb: Any, resources: Any) -> Any:
        """Seal one notebook."""
        if is_ours(nb):
            course = Path(self.parent.parent.coursedir.root)
            ledger.record(course, [sealed(nb, course=course, assignment=resources["nbgrader"]["assignment"])])
        return nb, resources


def sealed(notebook: Any, *, course: Path, assignment: str, student: str = "") -> ledger.Made:
    """Seal a released notebook, the class's or a student's own; the line that it gets in the ledger.

    Its version is that of the source, which is older than the problem's where nobody built it again.
    """
    marks, secret = notebook["metadata"][sealing.MINE], course_secret(course)
    problem = loading.load(marks["slug"], loading.find_problems(course))
    drawn = dataclasses.replace(variant(problem, marks["seed"]), version=marks["version"])
    identity = sealing.identity_of(drawn, assignment=assignment, student=student, secret=secret)
    sealing.put(notebook, identity, secret)
    own = has_own_variants(notebook)
    return ledger.made(notebook, drawn, step="released", assignment=assignment, student=student, own=own)
