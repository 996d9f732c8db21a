"""One submitted notebook from cells to a report: run what the student wrote, ask at each test, judge outside."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from autograder.authoring.derived_keys import fingerprint
from autograder.authoring.source_notebook import OVERVIEW, WRITTEN_MARK
from autograder.authoring.voids import Void
from autograder.core import Answer, Ask, Outcome, Parameters, Part, Question, Report, Verdict
from autograder.grading import typeset
from autograder.grading.feedback import WHOLE, add_staff_notes, as_html, as_text
from autograder.grading.json_values import copied
from autograder.grading.judge import judge_part
from autograder.grading.output_limit import kept, limit_outputs
from autograder.grading.pictures import is_picture
from autograder.grading.repair import writable
from autograder.grading.repeatability import beside, steady
from autograder.grading.stops import Stop, with_stops
from autograder.grading.submission import Submission
from autograder.protocol.cell_text import written_text
from autograder.protocol.respondents import filled
from autograder.sandbox import CellResult, Limits, Session
from autograder.sandbox.task import Replayed

DEATH = "This cell did not finish: "
ANSWER, FOUND = "answer", "found"  # what an output of ours shows
SUBMISSION = "submission"  # the check that holds a part whatever the judge says
VOIDED = "autograder_void"  # in the metadata of a part's cell: what holds for the part


class Runs(Protocol):
    """Runs cells and puts questions, as `Session` does."""

    @property
    def flags(self) -> tuple[str, ...]: ...  # noqa: D102 - as Session's

    def run(self, source: str) -> CellResult: ...  # noqa: D102

    def ask(self, question: Question) -> Answer: ...  # noqa: D102


@dataclass(frozen=True, kw_only=True)
class Graded:
    """A notebook as it will be shown, and its report."""

    notebook: dict[str, Any]
    report: Report


def mark(
    submission: Submission, attempts: Iterable[Callable[[Submission], Graded]], earlier: Report | None = None
) -> Graded:
    """The one road to a mark: the last of at least one attempt at a submission, each compared with the one before it.

    The first is compared with an `earlier` report, if there is one; parts that were marked by chance are held. Where
    the problem cannot be loaded, nothing is attempted.
    """
    if submission.fault:
        return _all_held(submission)
    for attempt in attempts:
        graded = attempt(submission)
        if earlier:
            graded = dataclasses.replace(graded, report=steady(graded.report, earlier))
        earlier = graded.report
    return graded


def run_and_grade(submission: Submission, limits: Limits | None = None) -> Graded:
    """An attempt in a process of its own, which ends with it."""
    with Session(limits, dict(submission.files)) as session:
        return grade(submission, session)


def grade(submission: Submission, session: Runs) -> Graded:
    """Run a notebook's cells by way of `session`, and judge each part where its test stands.

    Only what the student wrote is run; a test cell is never run, it is where the questions of its part are asked. A
    part that is held already, or that cannot be judged through a fault of ours, is held.
    """
    notebook, paper = copied(submission.notebook), submission.paper
    judged: list[Outcome] = []
    outcomes: list[Outcome] = []
    stops: list[Stop] = []
    for cell, part in steps(notebook, paper.parts):
        if part is None:
            if stopped := _run(cell, session):
                stops.append(Stop.of(cell, stopped))
            continue
        ask = _text_of(cell) if part.judged_by_person else session.ask
        given = session.given() if isinstance(session, Replayed) and not part.judged_by_person else None
        outcome = judge_part(part, paper.parameters, ask, paper.key(part.name), judged, given)
        outcome = with_stops(_held_if(submission, outcome), stops)
        judged.append(outcome)
        outcomes.append(_settled(submission, outcome))
        _show(cell, outcomes[-1], submission.voids.get(part.name), part, paper.parameters)
    return _reported(submission, notebook, outcomes, flags=session.flags, digest=submission.digest)


def steps(notebook: dict[str, Any], parts: Sequence[Part]) -> Iterator[tuple[dict[str, Any], Part | None]]:
    """The cells to be run, and those that mark a part, each with the part as the instructor's notebook values it."""
    for cell in notebook["cells"]:
        marks = _marks(cell)
        part = next((part for part in parts if marks.get("grade") and marks["grade_id"] == part.name), None)
        if part is not None:
            yield cell, part.at(marks["points"])
        elif cell["cell_type"] == "code" and cell["source"].strip() and marks.get("grade_id") != OVERVIEW:
            yield cell, None


def _marks(cell: dict[str, Any]) -> dict[str, Any]:
    """What nbgrader says about a cell; nothing about the student's own."""
    return cell["metadata"].get("nbgrader") or {}


def _reported(
    submission: Submission,
    notebook: dict[str, Any],
    outcomes: Sequence[Outcome],
    *,
    flags: tuple[str, ...] = (),
    digest: str = "",
) -> Graded:
    """The notebook with what graders are to read in it, and the report."""
    outcomes, large = kept(outcomes)
    flags += limit_outputs(notebook) + large
    paper = submission.paper
    add_staff_notes(notebook, outcomes, paper.reference)
    report = Report(
        slug=paper.slug,
        version=paper.version,
        parameters=paper.parameters,
        outcomes=tuple(outcomes),
        flags=(*submission.flags, *flags),
        digest=digest,
        beside=beside(submission.files) if digest else {},
        key=fingerprint(paper.secret),
        tests=submission.tests,
    )
    return Graded(notebook=notebook, report=report)


def _run(cell: dict[str, Any], session: Runs) -> str:
    """Run one cell and show what it showed. Says why it did not come to its end; empty where it did."""
    result = session.run(cell["source"])
    cell["outputs"] = [shown for shown in map(harmless, result.outputs) if shown]
    if result.death:
        text = f"{DEATH}{result.detail}. The rest of the notebook was graded without this cell.\n"
        cell["outputs"].append({"output_type": "stream", "name": "stderr", "text": text})
        return f"did not finish: {result.detail}"
    errors = [output for output in result.outputs if output["output_type"] == "error"]
    return f"stopped with {errors[-1]['ename']}: {errors[-1]['evalue']}"[:300] if errors else ""


def harmless(output: dict[str, Any]) -> dict[str, Any] | None:
    """An output that a browser can only show: text that a file can hold, and pictures that are pictures; or nothing.

    LaTeX and HTML would be put into the page as they are.
    """
    if output["output_type"] == "error":
        trace = [writable(line) for line in output["traceback"]]
        return {**output, "ename": writable(output["ename"]), "evalue": writable(output["evalue"]), "traceback": trace}
    if "data" not in output:
        return {**output, "text": writable(output["text"])}
    data = {
        kind: writable(content)
        for kind, content in output["data"].items()
        if kind == "text/plain" or is_picture(kind, content)
    }
    return {**output, "data": data} if data else None


def _text_of(cell: dict[str, Any]) -> Ask:
    """Answers for a written part: the text of its cell, without the mark; a stub left as it was is missing."""

    def ask(question: Question) -> Answer:
        text = written_text(cell["source"].replace(WRITTEN_MARK.format(name=question.name), ""))
        if not text:
            return Answer(failure="missing", detail="the text is empty")
        return Answer(value=text)

    return ask


def _held_if(submission: Submission, outcome: Outcome) -> Outcome:
    """Held if a person must look at its answer, or at the whole notebook: that is one decision for all its parts."""
    reason = submission.broken or submission.held.get(outcome.part)
    if not reason:
        return outcome
    code = WHOLE if submission.broken else "held"
    staff = "\n\n".join(flag for flag in submission.flags if submission.broken and flag != reason)
    verdict = Verdict(check=SUBMISSION, ok=None, code=code, message=f"{reason} A grader will check this.", staff=staff)
    return Outcome(
        part=outcome.part,
        standing="held",
        points=0.0,
        max_points=outcome.max_points,
        verdicts=(verdict, *(() if submission.broken else outcome.verdicts)),
        answers=outcome.answers,
    )


def _settled(submission: Submission, outcome: Outcome) -> Outcome:
    """The outcome as the assignment's voids have it, with what tells whether the answer's cell is another one."""
    void = submission.voids.get(outcome.part)
    outcome = dataclasses.replace(outcome, answered=submission.answered(outcome.part))
    return void.settled(outcome) if void else outcome


def _typeset(part: Part, outcome: Outcome, p: Parameters) -> dict[str, str]:
    """What was judged, as people read it; nothing for code and words, which stand in their own cell."""
    given = (reply.value for question, reply in outcome.answers if _is_answer(question, reply, part))
    value = next((value for value in given if filled(value)), None)
    if value is None or part.runs:
        return {}
    return {"text/plain": typeset.as_typed(value)[: typeset.MOST], "text/html": typeset.answer(part, value, p)}


def _is_answer(question: Question, reply: Answer, part: Part) -> bool:
    return question.by_name and question.name == part.name and not reply.failure


def _show(cell: dict[str, Any], outcome: Outcome, void: Void | None, part: Part, p: Parameters) -> None:
    """Put the answer and the outcome under the test cell, and what holds for the part into the cell's metadata."""
    cell["metadata"].pop(VOIDED, None)
    if void:
        cell["metadata"][VOIDED] = void.sentence()
    if cell["cell_type"] == "code":
        found = {"text/plain": as_text(outcome), "text/html": as_html(outcome, part.kind)}
        cell["outputs"] = [
            {"output_type": "display_data", "data": _writable(data), "metadata": {"autograder": role}}
            for role, data in ((ANSWER, _typeset(part, outcome, p)), (FOUND, found))
            if data
        ]


def _writable(data: dict[str, str]) -> dict[str, str]:
    """Half of a surrogate pair, which no file can hold, as its escape."""
    return {kind: text.encode(errors="backslashreplace").decode() for kind, text in data.items()}


def _all_held(submission: Submission) -> Graded:
    """Every part waits for a person: that the problem cannot be loaded is our fault."""
    verdict = Verdict(
        check="problem",
        ok=None,
        code="staff",
        message="This could not be graded. It is not your fault; a grader will check it.",
        staff=submission.fault,
    )
    notebook = copied(submission.notebook)
    outcomes = [
        _settled(
            submission,
            Outcome(
                part=marks["grade_id"],
                standing="held",
                points=0.0,
                max_points=float(marks["points"]),
                verdicts=(verdict,),
            ),
        )
        for marks in map(_marks, notebook["cells"])
        if marks.get("grade")
    ]
    return _reported(submission, notebook, outcomes)
