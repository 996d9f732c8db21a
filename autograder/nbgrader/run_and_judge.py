"""Running and judging in place of nbgrader's Execute and SaveAutoGrades: marks go to the gradebook as plain floats."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import nbformat
from nbgrader.api import Gradebook
from nbgrader.preprocessors import Execute, NbGraderPreprocessor, SaveAutoGrades
from traitlets import Bool, Float, Integer, List, Unicode

from autograder.authoring.assignment import read_if_there
from autograder.authoring.source_notebook import answer_id
from autograder.authoring.variants import course_secret
from autograder.authoring.voids import is_void, yields_to_void
from autograder.core import Outcome, Report
from autograder.errors import StaffError
from autograder.grading import report as reports
from autograder.grading.feedback import decides_all, student_comment, summary
from autograder.grading.hidden_key import hidden_key
from autograder.grading.notebook import Graded, mark
from autograder.grading.plan import grade_task, task_of
from autograder.grading.repeatability import unchanged
from autograder.grading.submission import Submission, load_submission
from autograder.nbgrader import foreign
from autograder.nbgrader.config import say
from autograder.nbgrader.execution import NOTHING_RUNS, is_run, kernel_named, not_kept, why_outside
from autograder.nbgrader.files import Beside, files_beside, instructors_files
from autograder.nbgrader.handouts import read_source
from autograder.sandbox import Limits
from autograder.sandbox.task import answer


class RunAndJudge(NbGraderPreprocessor):  # type: ignore[misc]
    """Runs the student's cells in a process of their own, judges the answers here, and records marks and comments."""

    cell_seconds = Float(60, help="Seconds for one cell").tag(config=True)
    question_seconds = Float(20, help="Seconds for one call of a student's function").tag(config=True)
    notebook_seconds = Float(300, help="Seconds for one notebook with all its questions").tag(config=True)
    memory_megabytes = Integer(4096, help="Memory of one notebook's process").tag(config=True)
    require_wall = Bool(False, help="Refuse to run students' code if the sandbox is incomplete").tag(config=True)
    visible = List(Unicode(), help="Folders that every notebook may read, such as a data set's").tag(config=True)
    runs = Integer(1, help="2: run each notebook twice and hold parts whose marks differ").tag(config=True)

    others = (Execute, *foreign.AFTER, SaveAutoGrades)

    def preprocess(self, nb: Any, resources: Any) -> Any:
        """Grade a notebook of ours by its problem, and any other by its own tests."""
        course, names = Path(resources["autograder"]["root"]), resources["nbgrader"]
        places = resources["autograder"]
        over = instructors_files(**places["instructors"])
        if not places["ours"]:
            return self._foreign(nb, over, names, places), resources
        files = files_beside(Path(places["submitted"]), nb.metadata["autograder"].get("origin", ""), over).files
        written, slug = read_if_there(course, names["assignment"]), nb.metadata["autograder"]["slug"]
        voids = written.voids.get(slug) if written else None
        key = hidden_key(course, names["assignment"], course_secret(course))
        submission = load_submission(nb, course=course, secret=key, files=files, voids=voids)
        place = reports.path_of(course, names["assignment"], names["student"], names["notebook"])
        earlier = report_at(place)
        graded = mark(submission, [self._attempt_ours] * max(self.runs, 1), earlier)
        reports.save(record(graded.report, names, earlier), place, shared=resources["autograder"]["shared"])
        line = summary(graded.report)
        self.log.info("%s, %s, %s: %s", names["student"], names["assignment"], names["notebook"], line)
        return nbformat.from_dict(graded.notebook), resources

    def _attempt_ours(self, submission: Submission) -> Graded:
        return grade_task(submission, task_of(submission, self.limits()), answer)

    def _foreign(self, nb: Any, over: Beside, names: dict[str, Any], places: dict[str, Any]) -> Any:
        """Run a notebook of the instructor's own, and record nbgrader's scores."""
        source = read_source(self.parent.parent.coursedir, names["assignment"], names["notebook"])
        run, config = is_run(self.parent.parent), self.parent.parent.config
        outside = why_outside(source, over.files, kernel_named(config)) if run else ""
        if outside:
            self.log.warning("%s runs in nbgrader's own kernel: %s", names["notebook"], outside)
        for sentence in not_kept(config) if run else [NOTHING_RUNS]:
            say(sentence)
        files = files_beside(Path(places["submitted"]), "", over).files
        own = [*over.files, *places["instructors"]["kept"]]
        submission = foreign.Foreign.of(nb, files, self.parent.parent, outside, own)
        graded = foreign.settled([self._attempt(submission, names) for _ in range(max(self.runs, 1))])
        place = reports.path_of(Path(places["root"]), names["assignment"], names["student"], names["notebook"])
        reports.save(record(graded.report, names, None), place, shared=places["shared"])
        told = (names["student"], names["assignment"], names["notebook"])
        self.log.info("%s, %s, %s: %s", *told, summary(graded.report))
        for flag in graded.report.flags:
            self.log.warning("%s, %s, %s: %s", *told, flag)
        return graded.notebook

    def _attempt(self, submission: foreign.Foreign, names: dict[str, Any]) -> foreign.ForeignAttempt:
        try:
            attempt = foreign.ForeignAttempt(submission, self.limits())
        except StaffError as error:
            raise StaffError(error.code, f"{names['notebook']}: {error.message}") from error
        if attempt.task:
            attempt.heard(answer(attempt.task))
        return attempt

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


def record(report: Report, names: dict[str, Any], earlier: Report | None) -> Report:
    """Write a notebook's marks and comments through nbgrader's gradebook; the report to be kept."""
    with Gradebook(names["db_url"]) as gradebook:
        row = gradebook.find_submission_notebook(names["notebook"], names["assignment"], names["student"])
        grades, comments = ({item.name: item for item in items} for items in (row.grades, row.comments))
        kept = fill_in(report, grades, comments, earlier)
        gradebook.db.commit()
        return kept


def fill_in(
    report: Report, grades: Mapping[str, Any], comments: Mapping[str, Any], earlier: Report | None = None
) -> Report:
    """Each part's score, whether a person must look, and its comment, in the gradebook's rows by their cells' names.

    Of a notebook that is not ours that is nbgrader's own rule; what follows holds for ours.
    A mark given by hand stays, and is to be looked at again where the answer is another one than in the `earlier`
    report. One that yields to a void is kept in the report that is returned, and comes back when the void goes.
    """
    if isinstance(report, foreign.ForeignReport):
        return foreign.fill_in(report, grades, comments)
    same, before = unchanged(report, earlier), {item.part: item for item in earlier.outcomes} if earlier else {}
    first = next((outcome.part for outcome in report.outcomes if decides_all(outcome)), None)
    kept = []
    for outcome in report.outcomes:
        grade, held = grades[outcome.part], outcome.standing == "held"
        outcome = _by_hand(outcome, before.get(outcome.part), grade)
        kept.append(outcome)
        grade.auto_score = None if held else float(outcome.points)
        waiting = held and (outcome.part == first or not decides_all(outcome))
        if grade.manual_score is None:
            grade.needs_manual_grade = waiting
        elif outcome.part not in same or is_void(outcome):
            grade.needs_manual_grade = not is_void(outcome)
        comment_on(outcome.part, comments).auto_comment = student_comment(outcome)
    return dataclasses.replace(report, outcomes=tuple(kept))


def comment_on(part: str, comments: Mapping[str, Any]) -> Any:
    """The row of the comment on a part: that of its answer cell; a written part is its own answer."""
    place = answer_id(part)
    return comments[place if place in comments else part]


def _by_hand(outcome: Outcome, before: Outcome | None, grade: Any) -> Outcome:
    """Set a mark aside that was given by hand, where a void goes above it; give it back where one did."""
    aside = before.by_hand if before else None
    if yields_to_void(outcome):
        if grade.manual_score is not None:
            aside, grade.manual_score = grade.manual_score, None
        return dataclasses.replace(outcome, by_hand=aside)
    if grade.manual_score is None and aside is not None:
        grade.manual_score = aside
    return outcome
