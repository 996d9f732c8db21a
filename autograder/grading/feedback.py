"""From an outcome to what the student reads under each test, and what the grader reads beside it."""

from __future__ import annotations

import html
from collections.abc import Iterable, Mapping
from typing import Any

from autograder.core import Outcome, Report, Verdict
from autograder.grading.repair import inert

FOR_STAFF = "autograder_staff"
_WORDS = {True: "earned", False: "lost", None: "waiting"}
_MARKS = {True: "✓", False: "✗", None: "…"}


def headline(outcome: Outcome) -> str:
    """One line: the part and what it earned."""
    if outcome.standing == "held":
        return f"{outcome.part}: waiting for a grader ({outcome.max_points:g} points)"
    return f"{outcome.part}: {outcome.points:g} of {outcome.max_points:g} points"


def _sentence(verdict: Verdict) -> str:
    text = f"{_WORDS[verdict.ok]}: {verdict.check}"
    extra = " ".join(filter(None, (verdict.message, verdict.witness)))
    return f"{text} — {extra}" if extra else text


def _notes(outcome: Outcome) -> list[str]:
    """What is said beside the checks."""
    gate = outcome.verdicts[0] if outcome.verdicts else None
    if gate and gate.ok is False and any(verdict.ok for verdict in outcome.verdicts):
        return [*outcome.notes, f"The other checks count only if {gate.check} is correct."]
    return list(outcome.notes)


def as_text(outcome: Outcome) -> str:
    """Every check, earned or lost, with its hint, as plain text."""
    lines = [f"  {_MARKS[verdict.ok]} {_sentence(verdict)}" for verdict in outcome.verdicts]
    return "\n".join([headline(outcome), *lines, *(f"  · {note}" for note in _notes(outcome))])


def as_html(outcome: Outcome) -> str:
    """The same for a browser; the standing is said in words, not by colour alone."""
    items = "".join(f"<li>{_MARKS[verdict.ok]} {html.escape(_sentence(verdict))}</li>" for verdict in outcome.verdicts)
    notes = "".join(f"<li>· {html.escape(note)}</li>" for note in _notes(outcome))
    return f"<p><strong>{html.escape(headline(outcome))}</strong></p><ul>{items}{notes}</ul>"


def student_comment(outcome: Outcome) -> str | None:
    """What nbgrader shows as the comment on the answer; None where everything was earned and nothing is to be said.

    It is rendered as markdown, and an exception's text is the student's: no markup in it may live.
    """
    lines = [_sentence(verdict) for verdict in outcome.verdicts if not verdict.ok and verdict.code != "not_reached"]
    lines += outcome.notes
    return inert("\n\n".join(lines), {}) or None


def staff_note(outcome: Outcome) -> str | None:
    """What a grader reads in formgrader beside a part that is held: why, and the rubric; None where it is not held."""
    if outcome.standing != "held":
        return None
    lines = [f"**For the grader** ({outcome.part}, {outcome.max_points:g} points; not shown to students)"]
    for verdict in outcome.verdicts:
        if verdict.ok is None and verdict.code != "not_reached":
            lines.append(f"*{verdict.check}, {verdict.code}.* {verdict.message}\n\n{verdict.staff}".strip())
    return inert("\n\n".join(lines), {})


def is_for_staff(cell: Mapping[str, Any]) -> bool:
    """Whether a cell of a graded notebook is one that only graders see."""
    return bool(cell["cell_type"] == "markdown" and cell["metadata"].get(FOR_STAFF))


def add_staff_notes(notebook: dict[str, Any], outcomes: Iterable[Outcome]) -> None:
    """Under each part that is held, a cell that says why, and what the rubric is; no student's page shows it.

    Notes of an earlier grading go.
    """
    notes = {outcome.part: note for outcome in outcomes if (note := staff_note(outcome))}
    cells = []
    for cell in notebook["cells"]:
        if is_for_staff(cell):
            continue
        cells.append(cell)
        marks = cell["metadata"].get("nbgrader") or {}
        if marks.get("grade") and marks["grade_id"] in notes:
            part = marks["grade_id"]
            name = f"staff-{part.replace('_', '-')}"[:64]
            cells.append(
                {"cell_type": "markdown", "id": name, "metadata": {FOR_STAFF: True}, "source": notes.pop(part)}
            )
    notebook["cells"] = cells


def summary(report: Report) -> str:
    """One line for the grader's log: points, what was lost and why, what is held, what was flagged."""
    total = sum(outcome.max_points for outcome in report.outcomes)
    words = [f"{report.points:g} of {total:g} points"]
    for outcome in report.outcomes:
        if outcome.standing != "earned":
            codes = dict.fromkeys(
                verdict.code for verdict in outcome.verdicts if not verdict.ok and verdict.code != "not_reached"
            )
            words.append(f"{outcome.part} {outcome.standing} ({', '.join(codes)})")
    return "; ".join([*words, *report.flags])
