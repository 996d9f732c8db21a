"""Two runs of one submission: the same marks, or a person looks."""

from __future__ import annotations

import dataclasses
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from autograder.core import Answer, Outcome, Question, Report
from autograder.grading import report as reports
from autograder.grading.repeatability import digest, steady
from autograder.sandbox import layers
from tests.submissions import PROBLEMS, hosted, run

QUESTION = Question(kind="value", name="a")


def graded(answer: Answer, standing: Any = "lost", points: float = 0.0) -> Report:
    """A report with one part and one answer."""
    outcome = Outcome(part="a", standing=standing, points=points, max_points=4.0, answers=((QUESTION, answer),))
    return Report(slug="s", version=1, parameters={}, outcomes=(outcome,), digest="same")


VALUE = Answer(value=np.array([1.0, 2.0]))


@pytest.mark.parametrize(
    ("old", "new", "flagged"),
    [
        (VALUE, Answer(value=np.array([1.0, 2.0])), False),
        (VALUE, Answer(value=np.array([1.0, 2.0 + 1e-12])), False),
        (VALUE, Answer(value=np.array([1.0, 2.1])), True),
        (VALUE, Answer(value=[1.0, 2.0]), True),
        (VALUE, Answer(failure="raised", detail="x"), True),
        (Answer(value=float("nan")), Answer(value=float("nan")), False),
        (Answer(value=b"1"), Answer(value=b"2"), True),
        (Answer(value={"a": 1 + 2j}), Answer(value={"a": 1 - 2j}), True),
        (Answer(failure="raised", detail="at 0x1"), Answer(failure="raised", detail="at 0x2"), False),
        (Answer(failure="timeout"), Answer(failure="raised"), True),
    ],
)
def test_answers_that_differ_are_flagged(old: Answer, new: Answer, flagged: bool) -> None:
    """Another value or another failure is flagged; rounding, and the text of a failure, are not."""
    found = steady(graded(new), graded(old))
    assert bool(found.flags) == flagged
    assert [outcome.standing for outcome in found.outcomes] == ["lost"]  # the mark is the same either way


def test_a_mark_that_moves_is_held_until_two_runs_agree() -> None:
    """Earned once and lost once is neither; the third run, which is as the second, decides."""
    first, second = graded(VALUE, "earned", 4.0), graded(Answer(value=0.0))
    held = steady(second, first)
    assert [(outcome.standing, outcome.points) for outcome in held.outcomes] == [("held", 0.0)]
    assert steady(first, held).outcomes[0].standing == "held"
    assert steady(second, held).outcomes[0].standing == "lost"


def test_another_submission_says_nothing(tmp_path: Path) -> None:
    """A student who hands in again is not unstable; reports keep what tells the two apart."""
    first, second = graded(VALUE, "earned", 4.0), graded(Answer(value=0.0))
    assert steady(dataclasses.replace(second, digest="other"), first).flags == ()
    reports.save(first, tmp_path / "r.json")
    assert reports.load(tmp_path / "r.json").digest == "same"
    cells = {"cells": [{"cell_type": "code", "source": "x", "outputs": []}]}
    assert digest(cells, {}) == digest({"cells": [{**cells["cells"][0], "outputs": [1]}]}, {})
    assert (
        len({digest(cells, {}), digest(cells, {"a": b""}), digest(cells, {"a": b"1"}), digest({"cells": []}, {})}) == 4
    )


@pytest.mark.skipif(not all(layers.found().values()), reason="this machine cannot give the whole wall")
def test_a_submission_that_depends_on_the_clock(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Run twice, its right answer is no longer one, and is held; a steady one gives the same report, bit by bit."""
    monkeypatch.setenv("AUTOGRADER_PROBLEMS", str(PROBLEMS))
    with hosted(tmp_path) as host:
        steady_one = run(host, ["x = hash('order')"]).report
        late = f"import time\ndef right(x):\n    return 2 * x + (time.time() > {time.time() + 3})"
        earlier = run(host, [], answers={"right": late}).report
        time.sleep(3)
        now = run(host, [], answers={"right": late}).report
        assert [outcome.standing for outcome in steady(now, earlier).outcomes] == ["held", "lost"]
        again = steady(run(host, ["x = hash('order')"]).report, steady_one)
        assert reports._to_json(again, tmp_path, False) == reports._to_json(steady_one, tmp_path, False)
