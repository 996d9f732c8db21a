"""One submitted notebook from cells to a report: run what the student wrote, ask at each test, judge outside."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from autograder import library
from autograder.answering import last_line
from autograder.core import Answer, Ask, Outcome, Part, Question, Report, Verdict
from autograder.errors import AutograderError
from autograder.feedback import as_html, as_text
from autograder.hidden import part_key
from autograder.judge import judge_part
from autograder.notebook import WRITTEN_MARK
from autograder.sandbox import Limits, Session
from autograder.variants import variant

SHOWN = ("text/plain", "text/latex", "image/png", "image/jpeg")


def grade(
    notebook: dict[str, Any],
    *,
    secret: bytes,
    limits: Limits | None = None,
    files: Mapping[str, bytes] | None = None,
    flags: tuple[str, ...] = (),
    held: Mapping[str, str] | None = None,
) -> Report:
    """Run the mended notebook, fill in its outputs, and report on every part.

    Only what the student wrote is run; a test cell is never run, it is where the questions of its part are asked. A
    part that `held` gives a reason for, or one that cannot be judged through a fault of ours, is held.
    """
    marks = notebook["metadata"]["autograder"]
    try:
        problem = library.load(marks["slug"])
    except AutograderError as error:
        return _all_held(notebook, error, flags)
    if problem.version != marks["version"]:
        flags += (f"graded by version {problem.version} of the problem, handed out as version {marks['version']}",)
    p = variant(problem, marks["seed"]).parameters
    outcomes = []
    with Session(limits, dict(files or {})) as session:
        for cell in notebook["cells"]:
            part = _tested(cell, problem.parts)
            if part is not None:
                key = part_key(secret, problem.slug, problem.version, marks["seed"], part.name)
                ask = _text_of(cell) if part.judged_by_person else session.ask
                outcome = _held_if((held or {}).get(part.name), judge_part(part, p, ask, key))
                outcomes.append(outcome)
                _show(cell, outcome)
            elif cell["cell_type"] == "code" and cell["source"].strip():
                _run(cell, session)
        flags += session.flags
    return Report(slug=problem.slug, version=problem.version, parameters=p, outcomes=tuple(outcomes), flags=flags)


def _tested(cell: dict[str, Any], parts: Any) -> Part | None:
    """The part that a cell marks, if it does."""
    marks = cell["metadata"].get("nbgrader") or {}
    return next((part for part in parts if marks.get("grade") and marks["grade_id"] == part.name), None)


def _run(cell: dict[str, Any], session: Session) -> None:
    result = session.run(cell["source"])
    cell["outputs"] = [_harmless(output) for output in result.outputs]
    if result.death:
        text = f"This cell did not come to an end: {result.detail}. The rest of the notebook was graded without it.\n"
        cell["outputs"].append({"output_type": "stream", "name": "stderr", "text": text})


def _harmless(output: dict[str, Any]) -> dict[str, Any]:
    """An output without what a grader's browser would execute: text, images and LaTeX stay."""
    if "data" not in output:
        return output
    return {**output, "data": {kind: content for kind, content in output["data"].items() if kind in SHOWN}}


def _text_of(cell: dict[str, Any]) -> Ask:
    """Answers for a written part: the text of its cell, without the mark; a stub left as it was is missing."""

    def ask(question: Question) -> Answer:
        text = cell["source"].replace(WRITTEN_MARK.format(name=question.name), "").strip()
        if not text or text == "YOUR ANSWER HERE":
            return Answer(failure="missing", detail="the text is empty")
        return Answer(value=text)

    return ask


def _held_if(reason: str | None, outcome: Outcome) -> Outcome:
    if not reason:
        return outcome
    verdict = Verdict(check="submission", ok=None, code="held", message=f"{reason} A person looks.", staff=reason)
    return Outcome(
        part=outcome.part,
        standing="held",
        points=0.0,
        max_points=outcome.max_points,
        verdicts=(verdict, *outcome.verdicts),
        answers=outcome.answers,
    )


def _show(cell: dict[str, Any], outcome: Outcome) -> None:
    """Put the outcome under its test cell."""
    if cell["cell_type"] == "code":
        data = {"text/plain": as_text(outcome), "text/html": as_html(outcome)}
        cell["outputs"] = [{"output_type": "display_data", "data": data, "metadata": {"autograder": True}}]


def _all_held(notebook: dict[str, Any], error: AutograderError, flags: tuple[str, ...]) -> Report:
    """A report for a problem that cannot be loaded: our fault, so every part waits for a person."""
    marks = notebook["metadata"]["autograder"]
    verdict = Verdict(
        check="problem",
        ok=None,
        code="staff",
        message="This could not be graded; it is not your fault, and a person will look.",
        staff=last_line(error),
    )
    outcomes = [
        Outcome(
            part=cell["metadata"]["nbgrader"]["grade_id"],
            standing="held",
            points=0.0,
            max_points=float(cell["metadata"]["nbgrader"]["points"]),
            verdicts=(verdict,),
        )
        for cell in notebook["cells"]
        if (cell["metadata"].get("nbgrader") or {}).get("grade")
    ]
    return Report(slug=marks["slug"], version=marks["version"], parameters={}, outcomes=tuple(outcomes), flags=flags)
