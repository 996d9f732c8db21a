"""One submitted notebook from cells to a report: run what the student wrote, ask at each test, judge outside."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Protocol

from autograder.authoring import loading
from autograder.authoring.source_notebook import WRITTEN_MARK, answer_id
from autograder.authoring.variants import part_key, variant
from autograder.core import Answer, Ask, Outcome, Part, Question, Report, Verdict
from autograder.errors import AutograderError
from autograder.grading.feedback import add_staff_notes, as_html, as_text
from autograder.grading.judge import judge_part
from autograder.grading.repair import is_picture, writable
from autograder.grading.repeatability import digest
from autograder.protocol.answering import last_line, one_thread
from autograder.sandbox import CellResult, Limits, Session

DEATH = "This cell did not come to an end: "


class Runs(Protocol):
    """Runs cells and puts questions, as `Session` does."""

    @property
    def flags(self) -> tuple[str, ...]: ...  # noqa: D102 - as Session's

    def run(self, source: str) -> CellResult: ...  # noqa: D102

    def ask(self, question: Question) -> Answer: ...  # noqa: D102


def grade(
    notebook: dict[str, Any],
    *,
    secret: bytes,
    limits: Limits | None = None,
    files: Mapping[str, bytes] | None = None,
    flags: tuple[str, ...] = (),
    held: Mapping[str, str] | None = None,
    near: Path | None = None,
    session: Runs | None = None,
    asked_by: int | None = None,
) -> Report:
    """Run the mended notebook, fill in its outputs, and report on every part.

    Only what the student wrote is run; a test cell is never run, it is where the questions of its part are asked. A
    part that `held` gives a reason for, or one that cannot be judged through a fault of ours, is held. The folder of
    problems is looked for in and above `near` (the working directory, if it is not given). `session` stands in for the
    run where there has been one already, with the hidden inputs of the version `asked_by`.
    """
    one_thread()
    marks = notebook["metadata"]["autograder"]
    add_staff_notes(notebook, [])  # it may have been graded before
    try:
        problem = loading.load(marks["slug"], loading.find_problems(near))
    except AutograderError as error:
        return _all_held(notebook, error, flags)
    if problem.version != marks["version"]:
        flags += (f"graded by version {problem.version} of the problem, handed out as version {marks['version']}",)
    p = variant(problem, marks["seed"]).parameters
    made = digest(notebook, files or {})
    outcomes = []
    stops: dict[str, str] = {}
    with contextlib.ExitStack() as stack:
        session = session or stack.enter_context(Session(limits, dict(files or {})))
        for cell in notebook["cells"]:
            part = tested(cell, problem.parts)
            if part is not None:
                key = part_key(secret, problem.slug, asked_by or problem.version, marks["seed"], part.name)
                ask = _text_of(cell) if part.judged_by_person else session.ask
                outcome = _held_if((held or {}).get(part.name), judge_part(part, p, ask, key))
                outcome = _with_stop(outcome, stops.get(answer_id(part.name)))
                outcomes.append(outcome)
                _show(cell, outcome)
            elif runs(cell):
                stops[(cell["metadata"].get("nbgrader") or {}).get("grade_id", "")] = _run(cell, session)
        flags += session.flags
    add_staff_notes(notebook, outcomes)
    return Report(
        slug=problem.slug,
        version=problem.version,
        parameters=p,
        outcomes=tuple(outcomes),
        flags=flags,
        digest=made,
    )


def tested(cell: dict[str, Any], parts: Any) -> Part | None:
    """The part that a cell marks, if it does, worth what the instructor's notebook says."""
    marks = cell["metadata"].get("nbgrader") or {}
    part = next((part for part in parts if marks.get("grade") and marks["grade_id"] == part.name), None)
    return part and dataclasses.replace(part, points=marks["points"])


def runs(cell: dict[str, Any]) -> bool:
    """Whether a cell that marks nothing is run."""
    return bool(cell["cell_type"] == "code" and cell["source"].strip())


def _run(cell: dict[str, Any], session: Runs) -> str:
    """Run one cell and show what it showed. Says why it did not come to its end; empty where it did."""
    result = session.run(cell["source"])
    cell["outputs"] = [kept for kept in map(harmless, result.outputs) if kept]
    if result.death:
        text = f"{DEATH}{result.detail}. The rest of the notebook was graded without it.\n"
        cell["outputs"].append({"output_type": "stream", "name": "stderr", "text": text})
        return f"did not come to an end: {result.detail}"
    errors = [output for output in result.outputs if output["output_type"] == "error"]
    return f"stopped with {errors[-1]['ename']}: {errors[-1]['evalue']}"[:300] if errors else ""


def _with_stop(outcome: Outcome, stop: str | None) -> Outcome:
    """The outcome with a note where the answer's own cell did not come to its end; a stub says so by itself."""
    if not stop or "NotImplementedError" in stop or outcome.standing == "earned":
        return outcome
    return dataclasses.replace(outcome, notes=(*outcome.notes, f"The cell of this answer {stop}"))


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
    add_staff_notes(notebook, outcomes)
    return Report(slug=marks["slug"], version=marks["version"], parameters={}, outcomes=tuple(outcomes), flags=flags)
