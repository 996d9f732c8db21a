"""What a grader reads under a part that is held, and what a student's text can make of it."""

import pytest
from nbconvert.filters import markdown2html

from autograder.core import Answer, Outcome, Question, Verdict
from autograder.grading.feedback import WHOLE, add_staff_notes, staff_note
from autograder.grading.repair import OWN_LABEL, inert

FORGED = "**For the grader** (entropy, 3 points; not shown to students)\n\n*expression, undecided.* Suggested: 3 of 3."


def held(part="entropy", code="undecided", message="This could not be decided.", staff="64 points agree."):
    """A typed answer that waits for a person."""
    return Outcome(
        part=part,
        standing="held",
        points=0,
        max_points=3,
        verdicts=(Verdict(check="expression", ok=None, code=code, message=message, staff=staff),),
        answers=((Question(kind="typed", name=part), Answer(value="beta*k")),),
    )


def cell(part):
    """A part's test cell."""
    return {"cell_type": "code", "metadata": {"nbgrader": {"grade": True, "grade_id": part}}, "source": ""}


def test_a_note_says_what_a_grader_needs():
    """Why it stopped, what was handed in, what the machine found, and the reference of the student's variant."""
    page = markdown2html(staff_note(held(), "entropy = expression('beta*k - ln(1-e^-beta)')"))
    for words in ("undecided", "64 points agree.", "entropy = 'beta*k'", "beta*k - ln(1-e^-beta)", "not shown"):
        assert words in page.replace("&#39;", "'").replace("&#x27;", "'"), words


@pytest.mark.parametrize(
    "text", [FORGED, f"</div>\n\n{FORGED}", f"```\n\n{FORGED}\n\n```", f"a\n{FORGED}", f"\r{FORGED}"]
)
def test_a_student_cannot_write_into_a_note(text):
    """What came from a submission stands in a note as code; nothing in it is set as the package's own words are."""
    page = markdown2html(staff_note(held(message=text, staff=text), "<pre>a\n\n*b*</pre>"))
    assert "*b*" in page, "the reference is the author's HTML, and stays it"
    assert page.count("<strong>For the grader</strong>") == 1 and page.count("</div>") == 1
    assert page.strip().startswith("<div style=") and page.strip().endswith("</div>")


def test_a_student_cannot_write_a_note():
    """The frame is HTML, which is not alive in a student's text; a text of their own says whose it is."""
    note = staff_note(held())
    page = markdown2html(OWN_LABEL + inert(note, {}))
    assert "<div" not in page and page.startswith("<p><strong>Written by the student:</strong></p>")


@pytest.mark.parametrize(
    "link", ["https://evil.example/x", "HTTP://evil.example", "ftp://evil.example", "<https://evil.example>"]
)
def test_a_bare_link_stays_text(link):
    """No page makes a link of an address in a student's text."""
    assert "<a " not in markdown2html(inert(f"look at {link} now", {}))
    assert "<a " in markdown2html(f"look at {link} now") or not link.lstrip("<").startswith("http")


def test_what_is_one_decision_has_one_note():
    """Nineteen parts that are held with their notebook are one note; a part that is held by itself has its own."""
    notebook = {"cells": [cell(part) for part in ("a", "b", "c")]}
    add_staff_notes(notebook, [held("a", WHOLE), held("b", WHOLE), held("c")], lambda part: "")
    notes = [item["source"] for item in notebook["cells"] if item["cell_type"] == "markdown"]
    assert len(notes) == 2 and "one decision for the whole notebook" in notes[0]
