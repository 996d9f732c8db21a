"""Running and judging in place of nbgrader's Execute and SaveAutoGrades: marks go to the gradebook as plain floats."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import nbformat
from nbconvert.preprocessors import ClearMetadataPreprocessor
from nbgrader.api import Gradebook
from nbgrader.preprocessors import Execute, IgnorePattern, LimitOutput, NbGraderPreprocessor, SaveAutoGrades
from traitlets import Bool, Float, Integer, List, Unicode

from autograder.authoring.source_notebook import answer_id
from autograder.authoring.variants import course_secret
from autograder.core import Report
from autograder.errors import StaffError
from autograder.grading import report as reports
from autograder.grading.feedback import student_comment, summary
from autograder.grading.notebook import mark, run_and_grade
from autograder.grading.submission import load_submission
from autograder.nbgrader.files import files_beside
from autograder.nbgrader.intake import is_ours
from autograder.sandbox import Limits


class RunAndJudge(NbGraderPreprocessor):  # type: ignore[misc]
    """Runs the student's cells in a process of their own, judges the answers here, and records marks and comments."""

    cell_seconds = Float(60, help="Seconds for one cell").tag(config=True)
    question_seconds = Float(20, help="Seconds for one call of a student's function").tag(config=True)
    notebook_seconds = Float(300, help="Seconds for one notebook with all its questions").tag(config=True)
    memory_megabytes = Integer(4096, help="Memory of one notebook's process").tag(config=True)
    require_wall = Bool(False, help="Refuse to run students' code if the sandbox is incomplete").tag(config=True)
    visible = List(Unicode(), help="Folders that every notebook may read, such as a data set's").tag(config=True)
    runs = Integer(1, help="2: run each notebook twice and hold parts whose marks differ").tag(config=True)

    others = (Execute, IgnorePattern, ClearMetadataPreprocessor, LimitOutput, SaveAutoGrades)

    def preprocess(self, nb: Any, resources: Any) -> Any:
        """Grade a notebook of ours; leave any other to nbgrader's own steps."""
        if not is_ours(nb):
            if self.require_wall:
                raise StaffError(
                    "wall", "the sandbox is required, but this runs in nbgrader's own kernel, which has none"
                )
            for step in self.others:
                nb, resources = step(parent=self.parent)(nb, resources)
            return nb, resources
        course, names = Path(resources["autograder"]["root"]), resources["nbgrader"]
        files = files_beside(Path(resources["metadata"]["path"])).files
        submission = load_submission(nb, course=course, secret=course_secret(course), files=files)
        place = reports.path_of(course, names["assignment"], names["student"], names["notebook"])
        attempts = [functools.partial(run_and_grade, limits=self.limits())] * max(self.runs, 1)
        graded = mark(submission, attempts, report_at(place))
        record(graded.report, names)
        reports.save(graded.report, place, shared=resources["autograder"]["shared"])
        line = summary(graded.report)
        self.log.info("%s, %s, %s: %s", names["student"], names["assignment"], names["notebook"], line)
        return nbformat.from_dict(graded.notebook), resources

    def limits(self) -> Limits:
        """What the course's configuration allows one submission."""
        return Limits(
            cell_seconds=self.cell_seconds,
            question_seconds=self.question_seconds,
            notebook_seconds=self.notebook_seconds,
            memory_megabytes=self.memory_megabytes,
            require_wall=self.require_wall,
            visible=tuple(self.visible),
        )


def report_at(place: Path) -> Report | None:
    """What an earlier run found, if that can be read."""
    try:
        return reports.load(place)
    except StaffError:
        return None


def record(report: Report, names: dict[str, Any]) -> None:
    """Write a notebook's marks and comments through nbgrader's gradebook."""
    with Gradebook(names["db_url"]) as gradebook:
        row = gradebook.find_submission_notebook(names["notebook"], names["assignment"], names["student"])
        grades, comments = ({item.name: item for item in items} for items in (row.grades, row.comments))
        fill_in(report, grades, comments)
        gradebook.db.commit()


def fill_in(report: Report, grades: Mapping[str, Any], comments: Mapping[str, Any]) -> None:
    """Each part's score, whether a person must look, and its comment, in the gradebook's rows by their cells' names."""
    for outcome in report.outcomes:
        grade, held = grades[outcome.part], outcome.standing == "held"
        grade.auto_score = None if held else float(outcome.points)
        # As nbgrader does: a mark given by hand stays, and is to be looked at again.
        grade.needs_manual_grade = held or grade.manual_score is not None
        place = answer_id(outcome.part)  # a written part is its own answer
        comments[place if place in comments else outcome.part].auto_comment = student_comment(outcome)
