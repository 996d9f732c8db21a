"""What a notebook is graded by: loaded once, before anything runs, and marked by one function."""

from __future__ import annotations

import copy
import dataclasses
from pathlib import Path
from typing import Any

import pytest

from autograder.authoring import loading, source_notebook
from autograder.core import Answer, Outcome, Question, Report
from autograder.grading import submission as submissions
from autograder.grading.notebook import Graded, grade, mark
from autograder.grading.submission import Paper, Submission, load_submission, paper_of
from autograder.sandbox import CellResult

FOLDER = Path(__file__).parents[1] / "data" / "problems"
COURSE = FOLDER.parent
PROBLEM = loading.load("attacked", FOLDER)
NOTEBOOK = source_notebook.build(PROBLEM, 0, root=FOLDER)
SECRET = b"a secret of thirty-two characters"


def handed_in(notebook: dict[str, Any] = NOTEBOOK, **marks: Any) -> Submission:
    """A submission of the small problem, with other marks in its metadata."""
    notebook = copy.deepcopy(notebook)
    notebook["metadata"]["autograder"] |= marks
    return load_submission(notebook, course=COURSE, secret=SECRET)


class Silent:
    """A run in which no cell shows anything, and no question is answered."""

    flags = ("silent",)

    def run(self, source: str) -> CellResult:
        """Nothing is shown."""
        return CellResult()

    def ask(self, question: Question) -> Answer:
        """Nothing is defined."""
        return Answer(failure="missing")


def paper(**other: Any) -> Paper:
    """The paper of seed 0, or one that differs."""
    made = paper_of(PROBLEM, folder=FOLDER, seed=0, secret=SECRET)
    return dataclasses.replace(made, **other)


@pytest.mark.parametrize(
    ("other", "equal"),
    [
        ({}, True),
        ({"parameters": {"n": 1}}, True),  # they follow from the others
        ({"folder": FOLDER.parent}, False),
        ({"slug": "another"}, False),
        ({"version": PROBLEM.version + 1}, False),
        ({"seed": 1}, False),
        ({"secret": b"another"}, False),
    ],
)
def test_equal_papers_ask_equal_questions(other: dict[str, Any], equal: bool) -> None:
    """Whatever changes hidden inputs makes another paper: its questions are not those foreseen for the first."""
    assert (paper(**other) == paper()) == equal
    assert (hash(paper(**other)) == hash(paper())) == equal
    inputs_follow = "folder" not in other
    assert (paper(**other).key("right") == paper().key("right")) == (equal or not inputs_follow)
    assert paper().key("right") != paper().key("wrong")
    assert SECRET.decode() not in repr(paper())


def test_an_older_version_asks_its_own_questions() -> None:
    """Judging stored answers again puts the hidden inputs of the version that they were given to."""
    marks = {"course": COURSE, "secret": SECRET}
    again = load_submission(NOTEBOOK, **marks, asked_by=PROBLEM.version + 1).paper
    assert again == paper(version=PROBLEM.version + 1) and load_submission(NOTEBOOK, **marks).paper == paper()


def test_a_submission_says_what_was_noticed() -> None:
    """Flags and reasons to hold come from the notebook's metadata; another version than the handed out is flagged."""
    made = handed_in(version=PROBLEM.version + 6, flags=["late"], held={"right": "Two cells."})
    assert made.held == {"right": "Two cells."} and made.fault == ""
    assert made.flags == (
        "late",
        f"graded by version {PROBLEM.version} of the problem, handed out as version {PROBLEM.version + 6}",
    )
    assert handed_in().flags == () and handed_in().held == {}


def test_grading_fills_in_a_copy() -> None:
    """A submission can be attempted again: what was shown, judged and noted is in the graded notebook alone."""
    made = handed_in(held={"right": "Two cells."})
    before, digest = copy.deepcopy(made.notebook), made.digest
    first = grade(made, Silent())
    assert made.notebook == before and first.notebook != before
    assert [(outcome.part, outcome.standing) for outcome in first.report.outcomes] == [
        ("right", "held"), ("wrong", "lost")]  # fmt: skip
    assert first.report.flags == ("silent",) and first.report.digest == digest
    # Graded before, it is the same submission: the notes for staff are no cell of the student's.
    assert len(first.notebook["cells"]) == len(before["cells"]) + 1
    again = load_submission(first.notebook, course=COURSE, secret=SECRET)
    second = grade(again, Silent())
    assert again.digest == digest and second.notebook == first.notebook


def test_a_problem_that_cannot_be_loaded_is_not_attempted() -> None:
    """Every part waits for a person, with its points and what is wrong for staff; nothing is run, no process begun."""
    made = handed_in(slug="lost", flags=["late"])
    graded = mark(made, [lambda _: pytest.fail("it was attempted")])
    assert [(item.part, item.standing, item.max_points) for item in graded.report.outcomes] == [
        (part.name, "held", part.points) for part in PROBLEM.parts]  # fmt: skip
    assert "there is no problem 'lost'" in graded.report.outcomes[0].verdicts[0].staff
    assert (graded.report.slug, graded.report.flags, graded.report.parameters) == ("lost", ("late",), {})


def graded(made: Submission, value: float, standing: Any, points: float) -> Graded:
    """An attempt whose one part was answered so."""
    answers = ((Question(kind="value", name="right"), Answer(value=value)),)
    outcome = Outcome(part="right", standing=standing, points=points, max_points=4.0, answers=answers)
    report = Report(slug="attacked", version=1, parameters={}, outcomes=(outcome,), digest=made.digest)
    return Graded(notebook={}, report=report)


def test_each_attempt_is_compared_with_the_one_before() -> None:
    """The last attempt counts; it is held where its mark differs from that of the attempt, or the report, before."""
    made = handed_in()
    right, wrong = graded(made, 1.0, "earned", 4.0), graded(made, 0.0, "lost", 0.0)

    def standing(*attempts: Graded, earlier: Graded | None = None) -> str:
        found = mark(made, [lambda _, item=item: item for item in attempts], earlier and earlier.report)
        return found.report.outcomes[0].standing

    assert standing(right) == standing(right, right) == "earned"
    assert standing(right, wrong) == standing(wrong, right) == "held"
    assert standing(right, earlier=wrong) == standing(right, wrong, earlier=wrong) == "held"
    assert standing(wrong, earlier=wrong) == standing(wrong, wrong, earlier=wrong) == "lost"


def test_the_problem_is_loaded_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two attempts at a submission load its problem and draw its variant once, before the first."""
    calls = []
    for module, name in ((submissions.loading, "load"), (submissions, "variant")):
        real = getattr(module, name)
        monkeypatch.setattr(module, name, lambda *a, real=real, name=name: (calls.append(name), real(*a))[1])
    made = handed_in()
    mark(made, [lambda item: (calls.append("attempt"), grade(item, Silent()))[1]] * 2)
    assert calls == ["load", "variant", "attempt", "attempt"]
