"""From an outcome to what the student reads under each test, and what the grader reads beside it."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from autograder.authoring.voids import CHECK as VOID
from autograder.authoring.voids import is_void
from autograder.core import Outcome, Report, Verdict, in_points
from autograder.grading.repair import inert
from autograder.grading.typeset import said

FOR_STAFF = "autograder_staff"
WHOLE = "notebook"  # the code of a part that is held with its whole notebook: all of them are one decision
PERSON = "person"  # the code of an answer in words
MOST = 1_000  # characters of an answer
_BLANK, _EMPTY = re.compile(r"\n(?=\s*\n)"), "\n&#8203;"  # Markdown ends HTML at an empty line
_NUMBER = re.compile(r"(.+) (\d+)")
_FRAME = '<div style="border-left: 6px solid #6f42c1; background: #f6f2fd; padding: 0.1em 1em">'
ONE_DECISION = (
    "This is one decision for the whole notebook. Put a readable file in its place and grade the student again, or "
    "give a mark here: it is the mark of the whole notebook, and the other parts stay without one."
)
_WORDS = {True: "earned", False: "lost", None: "waiting"}
_MARKS = {True: "✓", False: "✗", None: "…"}


def headline(outcome: Outcome) -> str:
    """One line: the part and what it earned."""
    if outcome.standing == "held":
        return f"{outcome.part}: waiting for a grader ({in_points(outcome.max_points)})"
    return f"{outcome.part}: {outcome.points:g} of {in_points(outcome.max_points)}"


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


# What to try next: by the code of the verdict, else by the check.
_BY_CODE = {
    "missing": "Write your answer in its own cell, under this name; run the notebook from the top before you hand in.",
    "raised": "Call it yourself with small arguments whose sizes all differ; read the last lines of what it prints.",
    "timeout": "Try it on larger and larger arguments: how does the time grow?",
    "memory": "Look for the largest array that it makes, and whether it is needed.",
    "exit": "Take out what ends the process.",
    "parameters": "Compare the parameters of your class with those that the question names.",
    "shape": "Print the shape after each step, for arguments whose sizes all differ.",
    "dtype": "Look where the result gets its type: an array that is made without one has the default.",
    "type": "Compare what you give back with what the question asks for.",
    "length": "Count the entries that the question asks for.",
    "finite": "Look for a division by zero, the logarithm of zero, and the exponential of something large.",
    "step": "Put numbers for the variables into this line and into the one above it: they must agree.",
    "start": "Begin with the line that the question gives.",
    "rejects_right": "Write the function as the question describes it, and find the assertion at which it stops.",
}
_BY_CHECK = {
    "gradient": "Look for what cuts the gradient off: detach(), item(), data, or an array of numpy on the way.",
    "expression": "Put numbers for the variables into your formula, and compare with what the question says of them.",
    "matrix": "Put numbers for the variables into one entry, and compare with what the question says of it.",
    "equation": "Compare both sides index by index: which are free, and which are summed over?",
    "growth": "Double one variable at a time: by what factor does the effort grow?",
    "derivation": "Put numbers for the variables into each line: where do two lines differ?",
    "choice": "Read the options again with this in mind.",
    "selection": "Read the options again with this in mind.",
    "ordering": "Say for each line what must have been done before it.",
    "order": "Say for each line what must have been done before it.",
    "number": "Work out the smallest case by hand, and count it again in another way.",
    "vector": "Work out the smallest case by hand, and count it again in another way.",
    "counterexample": "Work out by hand what the printed code gives for your input, and what it should give.",
    "tests": "Change one place of the function at a time: which of your assertions would notice it?",
}
MOST_STEPS = 2
_ELSE = "Work a small case out by hand, and compare it with what your code gives."


def as_html(outcome: Outcome, kind: str = "") -> str:
    """The same for a browser, under headings: what is wrong, where it shows, what to try next.

    `kind` is the part's. How it stands is said in words, not by colour alone; what checks say alike, once.
    """
    told = [verdict for verdict in outcome.verdicts if verdict.check != VOID]
    alike: dict[tuple[str, str], list[Verdict]] = {}
    for verdict in told:
        if not verdict.ok and verdict.code != "not_reached":
            alike.setdefault((verdict.message, verdict.witness), []).append(verdict)
    steps = dict.fromkeys(next_step(same[0], kind) for same in alike.values() if same[0].ok is False)
    rows = [row for same in alike.values() for row in _found(same, several=len(told) > 1)]
    rows += [("What to try next", step) for step in list(steps)[:1]] + [
        ("", step) for step in list(steps)[1:MOST_STEPS]
    ]
    pieces = [
        _checks(told) if len(told) > 1 else "",
        f"<dl>{''.join(map(_row, rows))}</dl>" if rows else "",
        *(f"<p>{html.escape(note)}</p>" for note in _notes(outcome) if not is_void(outcome)),
    ]
    return f'<div class="found {outcome.standing}">{"".join(pieces)}</div>'


def _checks(verdicts: Sequence[Verdict]) -> str:
    alike: dict[tuple[bool | None, str], list[Verdict]] = {}
    for place, verdict in enumerate(verdicts):
        name, number = _numbered(verdict)
        alike.setdefault((verdict.ok, name if number else f"{place}"), []).append(verdict)
    items = (
        f"<li>{_MARKS[same[0].ok]} {_WORDS[same[0].ok]}: {html.escape(', '.join(_names(same)))}</li>"
        for same in alike.values()
    )
    return f'<ul class="checks">{"".join(items)}</ul>'


def _found(same: Sequence[Verdict], *, several: bool) -> Iterator[tuple[str, str]]:
    """What one or more checks say alike, under its headings."""
    first = same[0]
    yield "What is wrong" if first.ok is False else "Why it waits", first.message or "This is not correct."
    where = "; ".join(filter(None, [first.witness, f"in {_listed(same)}" if several else ""]))
    if where:
        yield "Where it shows", where


def _row(row: tuple[str, str]) -> str:
    label, text = row
    return (f"<dt>{label}</dt>" if label else "") + f"<dd>{said(text)}</dd>"


def next_step(verdict: Verdict, kind: str = "") -> str:
    """What a student may do about a check that was lost: by the verdict's code, its check, or the kind of the part."""
    return _BY_CODE.get(verdict.code) or _BY_CHECK.get(verdict.check) or _BY_CHECK.get(kind) or _ELSE


def _numbered(verdict: Verdict) -> tuple[str, str]:
    """The name of a check, and the number behind it, where there is one."""
    found = _NUMBER.fullmatch(verdict.check.replace("_", " "))
    return (found[1], found[2]) if found else (verdict.check.replace("_", " "), "")


def _names(verdicts: Iterable[Verdict]) -> list[str]:
    """What checks are called, each once; of those that differ in a number alone, the others by their numbers."""
    found: dict[str, dict[str, None]] = {}
    for name, number in map(_numbered, verdicts):
        found.setdefault(name, {})[number] = None
    return [f"{name} {', '.join(filter(None, numbers))}".strip() for name, numbers in found.items()]


def _listed(same: Sequence[Verdict]) -> str:
    several = len({verdict.check for verdict in same}) > 1
    return f"the check{'s' if several else ''} {', '.join(_names(same))}"


def student_comment(outcome: Outcome) -> str | None:
    """What nbgrader shows as the comment on the answer; None where everything was earned and nothing is to be said.

    It is rendered as markdown, and an exception's text is the student's: no markup in it may live.
    """
    lines = [verdict.message for verdict in outcome.verdicts if verdict.check == VOID] or [
        _sentence(verdict) for verdict in outcome.verdicts if not verdict.ok and verdict.code != "not_reached"
    ]
    lines += outcome.notes
    return inert("\n\n".join(lines), {}) or None


def staff_note(outcome: Outcome, reference: str = "") -> str:
    """What a grader reads in formgrader beside a part that is held.

    It says why the part stopped, what was handed in and tried, the rubric, and the reference of the student's variant,
    which is HTML. So is its frame, which no text of a student's has; what may be a student's words stands as code.
    """
    lines = [f"**For the grader** ({outcome.part}, {in_points(outcome.max_points)}; not shown to students)"]
    for verdict in outcome.verdicts:
        if verdict.ok is None and verdict.code != "not_reached":
            lines += [f"*{verdict.check}, {verdict.code}.*", _quoted(verdict.message)]
            lines.append(verdict.staff if verdict.code == PERSON else _quoted(verdict.staff))
    if decides_all(outcome):
        lines.append(ONE_DECISION)
    else:
        lines += _tried(outcome)
    text = inert("\n\n".join(filter(None, lines)), {})
    if reference and not decides_all(outcome):
        text += f"\n\nThe reference for this student's variant:\n\n{_BLANK.sub(_EMPTY, reference)}"
    return f"{_FRAME}\n\n{text}\n\n</div>"


def decides_all(outcome: Outcome) -> bool:
    """Whether the part is held with its whole notebook."""
    return any(verdict.code == WHOLE for verdict in outcome.verdicts)


def _tried(outcome: Outcome) -> list[str]:
    """The answers that were read, and what each check came to."""
    asked = [(question, reply) for question, reply in outcome.answers if question.by_name]
    given = [
        f"{item.name} = {reply.value!r}" if not reply.failure else f"{item.name}: {reply.detail}"
        for item, reply in asked
    ]
    checks = [f"{verdict.check}: {_WORDS[verdict.ok]} ({verdict.code})" for verdict in outcome.verdicts]
    return [
        *_labelled("What was handed in:", "\n".join(text[:MOST] for text in given)),
        *(_labelled("What was tried:", "\n".join(checks)) if len(checks) > 1 else []),
        *_labelled("Beside it:", "\n".join(outcome.notes)),
    ]


def _labelled(label: str, text: str) -> list[str]:
    return [label, _quoted(text)] if text.strip() else []


def _quoted(text: str) -> str:
    """A text as a block of code, out of which no line can break."""
    return "\n".join(f"    {line}" for line in text.strip("\n").splitlines())


def is_for_staff(cell: Mapping[str, Any]) -> bool:
    """Whether a cell of a graded notebook is one that only graders see."""
    return bool(cell["cell_type"] == "markdown" and cell["metadata"].get(FOR_STAFF))


def add_staff_notes(notebook: dict[str, Any], outcomes: Sequence[Outcome], reference: Callable[[str], str]) -> None:
    """Under each part that is held, a cell with what a grader should know; no student's page shows it.

    `reference` gives a part's solution. What is one decision has one note. Notes of an earlier grading go.
    """
    first = next((outcome.part for outcome in outcomes if decides_all(outcome)), None)
    shown = [outcome for outcome in outcomes if outcome.part == first or not decides_all(outcome)]
    notes = {item.part: staff_note(item, reference(item.part)) for item in shown if item.standing == "held"}
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
    words = [f"{report.points:g} of {in_points(total)}"]
    for outcome in report.outcomes:
        if outcome.standing != "earned":
            codes = dict.fromkeys(
                verdict.code for verdict in outcome.verdicts if not verdict.ok and verdict.code != "not_reached"
            )
            words.append(f"{outcome.part} {outcome.standing} ({', '.join(codes)})")
    return "; ".join([*words, *report.flags])
