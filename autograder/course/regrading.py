"""`autograder regrade`: the answers in `reports/` judged again by the problem as it is now; no student's code is run.

The judge asks the same hidden questions as when the notebook ran, and reads the answers from the report. A question
that was never put then is no wrong answer: its part keeps its mark, and needs a run.
"""

from __future__ import annotations

import dataclasses
import functools
import shutil
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from autograder.authoring.pseudonyms import Called
from autograder.authoring.sealing import MINE, is_ours
from autograder.authoring.voids import CHECK as VOID
from autograder.authoring.voids import FULL, Void, is_void
from autograder.core import Answer, Outcome, Question, Report
from autograder.course.lock import alone
from autograder.errors import AutograderError
from autograder.grading import report as reports
from autograder.grading.feedback import add_staff_notes
from autograder.grading.forgotten import is_forgotten
from autograder.grading.notebook import DEATH, Graded, grade, mark, steps
from autograder.grading.repeatability import CODE as UNSTABLE
from autograder.grading.submission import Submission, load_submission
from autograder.nbgrader.course_api import opened
from autograder.nbgrader.folder import Folder, Handed
from autograder.nbgrader.scale import fits
from autograder.protocol.answering import question_key
from autograder.sandbox import CellResult
from autograder.sandbox.task import Unasked


@dataclass(frozen=True, kw_only=True)
class Move:
    """A part whose verdicts are others now: its points and its codes, before and after."""

    student: str
    part: str
    before: float
    after: float
    was: tuple[str, ...]
    now: tuple[str, ...]


@dataclass(kw_only=True)
class Regraded:
    """What judging again changes. `unasked` parts need a run; `failed` could not be judged, each with its reason.

    `voids` say what holds for parts that should not have been asked as they were, `notes` what was left alone.
    """

    judged: int = 0
    voids: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    moves: list[Move] = field(default_factory=list)
    unasked: list[tuple[str, str]] = field(default_factory=list)
    failed: list[tuple[str, str]] = field(default_factory=list)

    @property
    def exit_code(self) -> int:
        """0 where every part could be judged from what is stored, else 1."""
        return int(bool(self.unasked or self.failed))


def run(course: Path, assignment: str, students: Iterable[str] = (), *, dry_run: bool, feedback: bool) -> Regraded:
    """Judge every stored report of an assignment again; write what changes, unless it is a dry run.

    Without `students` it is the whole class, and the gradebook's points become those of the assignment.
    """
    result, wanted = Regraded(), set(students)
    with opened(course) as api, alone(course, assignment, shared=bool(api.coursedir.groupshared)):
        folder = Folder(api, assignment)
        try:
            result.voids = folder.scale.sentences()
            if foreign := sorted(name for name, source in folder.sources.items() if not is_ours(source)):
                result.notes.append(
                    f"{', '.join(foreign)}: marked by tests in the notebook, which only a run repeats; the marks "
                    f"stay as they are. To run them again: autograder grade {assignment}"
                )
            if dry_run:
                fits(folder.rows.gradebook, assignment, folder.scale.points)
            else:
                folder.rows.agree(folder.scale, everybody=not wanted)
            stored = _stored(folder, wanted)
            forgotten = [handed for handed in stored if _is_forgotten(folder, handed)]
            if forgotten:
                result.notes.append(f"The answers of {len(forgotten)} students are forgotten; their marks stay.")
            for handed in (handed for handed in stored if handed not in forgotten):
                try:
                    graded = _judged_again(folder, handed, result)
                    if graded and not dry_run:
                        _write(folder, handed, graded, feedback=feedback)
                    elif not dry_run:
                        folder.rows.penalties(handed.student)
                except (AutograderError, OSError, ValueError, KeyError) as error:
                    result.failed.append((handed.student, str(error)))
        finally:
            folder.close()
    return result


def for_graders(result: Regraded, called: Called) -> Regraded:
    """The same, in which students are called as graders see them."""
    return dataclasses.replace(
        result,
        moves=[dataclasses.replace(move, student=called.of(move.student)) for move in result.moves],
        unasked=[(called.of(student), part) for student, part in result.unasked],
        failed=[(called.of(student), called.text(why)) for student, why in result.failed],
    )


def _stored(folder: Folder, students: set[str]) -> list[Handed]:
    """Everybody who has a report, with the folder of autograded notebooks."""
    place = folder.coursedir
    found = sorted(
        {path.parent.name for path in reports.path_of(folder.root, folder.assignment, "", "").parent.glob("*/*.json")}
    )
    return [
        Handed(
            student=student,
            folder=Path(place.format_path(place.autograded_directory, student, folder.assignment)),
            notebooks=tuple(name for name, source in folder.sources.items() if is_ours(source)),
        )
        for student in found
        if not students or student in students
    ]


def _is_forgotten(folder: Folder, handed: Handed) -> bool:
    """Whether the answers of a submission were forgotten."""
    places = (reports.path_of(folder.root, folder.assignment, handed.student, name) for name in handed.notebooks)
    return any(map(is_forgotten, places))


def _judged_again(folder: Folder, handed: Handed, result: Regraded) -> dict[str, Graded]:
    """A submission's notebooks, where anything about one of them has changed; nothing otherwise."""
    graded, changed = {}, False
    for name in handed.notebooks:
        place = reports.path_of(folder.root, folder.assignment, handed.student, name)
        if not place.is_file():
            continue
        old = reports.load(place)
        notebook = _revalued(folder.autograded(handed.student, name), folder.scale.points.get(name, {}))
        submission = load_submission(
            notebook,
            course=folder.root,
            secret=folder.key_of(old),
            asked_by=old.version,
            voids=folder.scale.voids(name),
        )
        graded[name], unasked = again(submission, old)
        result.judged += 1
        result.unasked += [(handed.student, part) for part in unasked]
        moves = list(_moves(handed.student, old, graded[name].report))
        result.moves += moves
        changed = changed or any(True for _ in _differing(old, graded[name].report))
    return graded if changed else {}


def _revalued(notebook: dict[str, Any], points: Mapping[str, float]) -> dict[str, Any]:
    """The notebook with each part's points as they are now."""
    for cell in notebook["cells"]:
        marks = cell["metadata"].get("nbgrader") or {}
        if marks.get("grade"):
            marks["points"] = points.get(marks["grade_id"], marks["points"])
    return notebook


def again(submission: Submission, old: Report) -> tuple[Graded, list[str]]:
    """A submission marked by its stored answers, and the parts that keep their outcome until it is run."""
    stored = Stored(submission.notebook, old)
    new = mark(submission, [functools.partial(grade, session=stored)])
    before = {outcome.part: outcome for outcome in old.outcomes}
    granted = {part for part, void in submission.voids.items() if void.effect == FULL}
    kept = {part for part in before.keys() - granted if part in stored.unasked or _unstable(before[part])}
    for cell, shown in zip(code_cells(new.notebook), code_cells(submission.notebook), strict=True):
        if (cell["metadata"].get("nbgrader") or {}).get("grade_id") in kept:
            cell["outputs"] = shown["outputs"]
    points = {part.name: part.points for _, part in steps(submission.notebook, submission.paper.parts) if part}
    outcomes = tuple(
        _as_before(before[outcome.part], points[outcome.part], submission.voids.get(outcome.part))
        if outcome.part in kept
        else outcome
        for outcome in new.report.outcomes
    )
    add_staff_notes(new.notebook, outcomes, submission.paper.reference)
    one = not (kept & stored.unasked) or new.report.tests == old.tests  # else two sets of tests have judged it
    report = dataclasses.replace(
        old, parameters=new.report.parameters, outcomes=outcomes, flags=new.report.flags,
        key=new.report.key, tests=new.report.tests if one else "",
    )  # fmt: skip
    return Graded(notebook=new.notebook, report=report), sorted(stored.unasked - granted)


def _as_before(old: Outcome, points: float, void: Void | None) -> Outcome:
    """An outcome that cannot be judged again, with its share of what the part is worth now."""
    share = points / old.max_points if old.max_points else 1.0
    outcome = dataclasses.replace(old, points=round(old.points * share, 4), max_points=float(points))
    return void.settled(outcome) if void and not is_void(old) else outcome


def _unstable(outcome: Outcome) -> bool:
    """Two runs disagreed: no judging can help."""
    return any(verdict.code == UNSTABLE for verdict in outcome.verdicts)


def code_cells(notebook: dict[str, Any]) -> list[dict[str, Any]]:
    """The cells of a notebook that can show something."""
    return [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]


class Stored:
    """Stands in for a run: cells show what they showed, questions get the answers of the report."""

    def __init__(self, notebook: dict[str, Any], old: Report) -> None:
        known = notebook["metadata"][MINE].get("flags", ())
        self.flags = tuple(flag for flag in old.flags if flag not in known and not flag.startswith("graded by version"))
        self.unasked: set[str] = set()
        self._shown: dict[str, list[list[dict[str, Any]]]] = {}
        for cell in code_cells(notebook):
            self._shown.setdefault(cell["source"], []).append(cell["outputs"])
        self._answers: dict[str, Answer] = {}
        for question, answer in (pair for outcome in old.outcomes for pair in outcome.answers):
            self._answers.setdefault(question_key(question), answer)  # as it was at the part's own test

    def run(self, source: str) -> CellResult:
        """What the cell showed, and how it ended."""
        outputs = self._shown[source].pop(0)
        last = outputs[-1].get("text", "") if outputs else ""
        text = last if isinstance(last, str) else "".join(last)
        if text.startswith(DEATH):
            return CellResult(
                outputs=outputs[:-1], death="exit", detail=text.removeprefix(DEATH).split(". The rest")[0]
            )
        return CellResult(outputs=outputs)

    def ask(self, question: Question) -> Answer:
        """What was answered when the notebook ran."""
        found = self._answers.get(question_key(question))
        if found is None:
            self.unasked.add(question.name)
            raise Unasked(f"{question.name} was not asked this question in the stored run")
        return found


def _codes(outcome: Outcome) -> tuple[str, ...]:
    return tuple(verdict.code for verdict in outcome.verdicts)


def _state(outcome: Outcome) -> tuple[Any, ...]:
    """What of an outcome is in the gradebook or on a page, beside the words of its checks."""
    voids = tuple(verdict.message for verdict in outcome.verdicts if verdict.check == VOID)
    return (outcome.standing, outcome.points, outcome.max_points, _codes(outcome), outcome.notes, voids)


def _differing(old: Report, new: Report) -> Iterator[tuple[Outcome | None, Outcome]]:
    """Each part that stands otherwise now, before and after."""
    before = {outcome.part: outcome for outcome in old.outcomes}
    for outcome in new.outcomes:
        was = before.get(outcome.part)
        if was is None or _state(was) != _state(outcome):
            yield was, outcome


def _moves(student: str, old: Report, new: Report) -> Iterator[Move]:
    for was, outcome in _differing(old, new):
        if was and (was.standing, was.points, _codes(was)) == (outcome.standing, outcome.points, _codes(outcome)):
            continue  # the same, in a part that has other words or another maximum
        yield Move(
            student=student,
            part=outcome.part,
            before=was.points if was else 0.0,
            after=outcome.points,
            was=(was.standing, *_codes(was)) if was else ("new",),
            now=(outcome.standing, *_codes(outcome)),
        )


def _write(folder: Folder, handed: Handed, graded: Mapping[str, Graded], *, feedback: bool) -> None:
    """Keep a copy of each old report, then write as after a run."""
    for name in graded:
        place = reports.path_of(folder.root, folder.assignment, handed.student, name)
        number = 1
        while (kept := place.with_suffix(f".json.{number}")).exists():
            number += 1
        shutil.copy2(place, kept)
    folder.write(handed, graded, feedback=feedback, untouched=_not_ours(folder, handed.student))


def _not_ours(folder: Folder, student: str) -> list[str]:
    """The notebooks of the instructor's own that were handed in: they stay as they were graded."""
    place = folder.coursedir
    there = Path(place.format_path(place.autograded_directory, student, folder.assignment))
    return [
        name for name, source in folder.sources.items() if not is_ours(source) and (there / f"{name}.ipynb").is_file()
    ]
