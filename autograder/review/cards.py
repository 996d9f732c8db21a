"""What the queue's page shows of a group of equal answers, as data and HTML that needs neither script nor network."""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import html
import re
import time
from collections.abc import Mapping
from typing import Any

from autograder.authoring.pseudonyms import Called
from autograder.course.answer_keys import spelled_of, why_in_a_line
from autograder.course.waiting import Group, Waiting
from autograder.errors import AutograderError
from autograder.grading import typeset
from autograder.grading.feedback import ONE_DECISION, PERSON
from autograder.grading.pictures import is_picture
from autograder.grading.repair import inert
from autograder.protocol.cell_text import written_text
from autograder.review.rubric_items import rubric_items

LONG = 4_000  # characters of a student's words that are typeset
_WIDE = 60_000  # characters of a student's text that are shown
_SECONDS = 2.0  # to look for another reading
_UNDECLARED = re.compile(r"(?P<name>\w+) is not declared[^;]*; the variables are: (?P<known>\w+(?:, \w+)*)")


def group_card(group: Group, most: float) -> dict[str, Any]:
    """Everything about a group: its answer, reference and reasons, the rubric, and who is in it."""
    first = group.first
    items, rest = rubric_items(first.part, first.outcome, most)
    return {
        "id": group.id,
        "item": first.item,
        "kind": first.part.kind if first.part else "",
        "maximum": most,
        "whole": first.whole,
        "question": "" if first.whole else typeset.words(first.question),
        "answer": answer_html(first),
        "reference": reference_html(first),
        "why": why_html(first),
        "rubric": [dataclasses.asdict(item) for item in items],
        "rest": typeset.words(rest) if rest else "",
        "listable": bool(first.part and not first.part.judged_by_person and not first.whole),
        "members": [_member(each, first) for each in group.answers],
    }


def nameless_card(card: dict[str, Any], called: Called) -> dict[str, Any]:
    """A card in which students are called as graders see them, their own texts included."""
    if not called.hidden:
        return card
    members = [
        {**each, "student": called.of(each["student"]), "mark": called.of(each["student"]),
         "text": called.answer(each["text"])}
        for each in card["members"]
    ]  # fmt: skip
    return {**card, "members": members, "why": called.page(card["why"]),
            "answer": called.page(card["answer"], called.answer)}  # fmt: skip


def _member(answer: Waiting, first: Waiting) -> dict[str, Any]:
    """One student of a group; the answer and the reference where more than spaces differs."""
    differs = spelled_of(_shown(answer)) != spelled_of(_shown(first))
    reference = reference_html(answer) if answer.p != first.p else ""
    return {
        "student": answer.student,
        "mark": nameless(answer.student),
        "stamp": answer.stamp,
        "text": _shown(answer) if differs else "",
        "variant": ", ".join(f"{name} = {value}" for name, value in answer.p.items()),
        "reference": reference if reference != reference_html(first) else "",
        "by_hand": answer.by_hand,
    }


def nameless(student: str) -> str:
    """How a student is called while names are hidden."""
    return f"student {hashlib.sha256(student.encode()).hexdigest()[:4]}"


def answer_html(answer: Waiting) -> str:
    """The answer as the judge reads it; words with their mathematics and pictures; code with its colours."""
    if answer.whole:
        return f"<p>{ONE_DECISION}</p>"
    pictures = "".join(_picture(name, bundle) for name, bundle in answer.pictures.items())
    if answer.part and answer.part.judged_by_person:
        text = re.sub(r"!\[[^\]]*\]\(attachment:[^)]*\)", "", written(answer))
        return student_words(text) + pictures
    if answer.part and answer.value is not None and not answer.part.runs:
        return typeset.answer(answer.part, answer.value, answer.p) + pictures
    return typeset.code(answer.text[:_WIDE]) + pictures


def student_words(text: str) -> str:
    """Markdown of a student's, with its mathematics and no markup; a long text as it was typed."""
    return typeset.words(inert(text, {})) if len(text) <= LONG else f"<p>{html.escape(text[:_WIDE])}</p>"


def _picture(name: str, bundle: Any) -> str:
    """A picture of a written answer, within the page."""
    for kind, content in bundle.items() if isinstance(bundle, Mapping) else ():
        if is_picture(kind, content):
            return f'<img src="data:{kind};base64,{html.escape(str(content))}" alt="{html.escape(name)}">'
    return ""


def written(answer: Waiting) -> str:
    """A student's words: as they were judged, or what stands in the cell."""
    return answer.value if isinstance(answer.value, str) else written_text(answer.text)


def _shown(answer: Waiting) -> str:
    if answer.value is not None and answer.part and not answer.part.runs:
        return typeset.as_typed(answer.value)[:_WIDE]
    return written(answer)[:_WIDE]


def reference_html(answer: Waiting) -> str:
    """The right answer of the student's own variant."""
    if answer.part is None or answer.whole:
        return ""
    try:
        return typeset.reference(answer.part, answer.p)
    except Exception:  # a fault of the problem's is told where it is judged
        return ""


def other_reading(answer: Waiting) -> tuple[str, str] | None:
    """A name that the question has not, and the one of its names with which the answer would be right, if there is one.

    The grader decides whether that was meant.
    """
    found = _UNDECLARED.search(answer.key.reason)
    decide = getattr(answer.part, "decide", None)
    if found is None or decide is None or not isinstance(answer.value, str) or not answer.key.right:
        return None
    end = time.monotonic() + _SECONDS
    for name in found["known"].split(", "):
        read = re.sub(rf"(?<![\w\\]){re.escape(found['name'])}(?!\w)", name, answer.value)
        with contextlib.suppress(AutograderError, NotImplementedError):
            if time.monotonic() < end and decide(answer.key.right, read, answer.p).equal:
                return found["name"], name
    return None


def why_html(answer: Waiting) -> str:
    """Why a person must look, what each check came to, and what is written beside it."""
    if answer.outcome is None:
        return "<p>A grader marks this part: the notebook is graded by nbgrader alone.</p>"
    lines = []
    for verdict in answer.outcome.verdicts:
        word = {True: "✓", False: "✗", None: "?"}[verdict.ok]
        if verdict.code == PERSON:
            lines.append("<p>It is answered in words.</p>")
            continue
        said = " ".join(filter(None, (why_in_a_line(verdict), verdict.witness)))
        head = f"{word} <b>{html.escape(verdict.check)}</b> <code>{html.escape(verdict.code)}</code>"
        staff = f'<pre class="typed">{html.escape(verdict.staff[:LONG])}</pre>' if verdict.staff else ""
        lines.append(f"<p>{head} {html.escape(said)}</p>{staff}")
    lines += [f"<p>{html.escape(note)}</p>" for note in answer.outcome.notes]
    if found := other_reading(answer):
        lines.append(f"<p>With {html.escape(' read as '.join(found))}, it equals the reference.</p>")
    if answer.key.earlier:
        lines.append(f"<p>It may follow from this earlier answer: <code>{html.escape(answer.key.earlier)}</code></p>")
    if answer.by_hand is not None:
        lines.append(f"<p>It has {answer.by_hand:g} points by hand, given for another answer.</p>")
    return "".join(lines)
