"""`nbgrader autograde`: before any submission is touched, the gradebook's points are those of the assignment."""

from __future__ import annotations

from typing import Any

from nbgrader.api import Gradebook, MissingEntry
from nbgrader.converters import Autograde
from nbgrader.converters.base import NbGraderException

from autograder.errors import AutograderError
from autograder.nbgrader.intake import SubmissionExporter
from autograder.nbgrader.scale import agree, scale_in


class GradingExporter(SubmissionExporter):
    """Reads what was handed in. nbgrader removes what was graded before when a submission fails, so it is made first.

    With `--force` and no student named, the whole class is marked, and the gradebook's points may change.
    """

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        if isinstance(self.parent, Autograde):
            try:
                self._agree(self.parent)
            except AutograderError as error:
                self.log.error("Nothing was graded. %s", error.message)
                raise NbGraderException(error.message) from error

    def _agree(self, converter: Autograde) -> None:
        coursedir = converter.coursedir
        with Gradebook(coursedir.db_url, coursedir.course_id) as gradebook:
            try:
                names = [row.name for row in gradebook.find_assignment(coursedir.assignment_id).notebooks]
            except MissingEntry:
                return  # nbgrader says so
            scale = scale_in(coursedir, coursedir.assignment_id, names)
            everybody = (coursedir.student_id, coursedir.notebook_id) == ("*", "*") and converter.force
            agree(gradebook, scale, everybody=everybody)
