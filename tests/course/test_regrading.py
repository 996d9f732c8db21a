"""Stored answers judged again: who moves and why, without running anybody's code."""

from __future__ import annotations

import json
import shutil

import pytest
import torch

from autograder.course import regrading
from autograder.grading import notebook
from autograder.grading.judge import judge_part
from autograder.sandbox import session


@pytest.fixture
def course(graded, tmp_path):
    """A graded course of one's own."""
    shutil.copytree(graded.path.parent, tmp_path / "course", symlinks=True)
    return type(graded)(tmp_path / "course" / "notebooks")


def change(course, old, new):
    """Change the problem's file."""
    path = course.path.parent / "problems/tiny/problem.py"
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def without_a_bias(course):
    """Take the count without the bias for the right one, and that with it for a mistake."""
    change(course, "reference=with_bias, mistakes=[without_bias]", "reference=without_bias, mistakes=[with_bias]")
    change(course, "def with_bias(p):\n", 'def with_bias(p):\n    """There is no bias."""\n')


def regrade(course, *words):
    """The command and what it prints as JSON."""
    run = course.call("regrade", "--json", *words)
    assert run.stdout, run.stderr
    return {**json.loads(run.stdout), "exit": run.returncode}


def test_nobody_moves_where_nothing_changed(course, monkeypatch):
    """Every stored answer leads to the same verdicts, whatever was wrong with the submission; and nothing is run."""
    monkeypatch.setattr(session.Session, "_running", lambda self: pytest.fail("a notebook was run"))
    result = regrading.run(course.path, "ps1", dry_run=True, feedback=True)
    assert (result.judged, result.moves, result.unasked, result.failed) == (15, [], [], [])


def test_torch_takes_one_thread(course, monkeypatch):
    """Whatever torch was told before, stored answers are judged on one thread, as when the notebook ran."""
    seen = []

    def noting(*arguments):
        seen.append(torch.get_num_threads())
        return judge_part(*arguments)

    monkeypatch.setattr(notebook, "judge_part", noting)
    torch.set_num_threads(2)
    assert regrading.run(course.path, "ps1", dry_run=True, feedback=False).failed == []
    assert set(seen) == {1}


def test_a_dry_run_says_who_moves_and_writes_nothing(course):
    """Another answer is right now: whoever gives either moves, with points and codes before and after."""
    without_a_bias(course)
    before = (course.rows(), course.pages("reports"), course.pages("feedback"))
    result = regrade(course, "--dry-run")
    assert (course.rows(), course.pages("reports"), course.pages("feedback")) == before
    moves = {move["student"]: move for move in result["moves"]}
    assert {move["part"] for move in result["moves"]} == {"parameters"} and result["exit"] == 0
    assert moves["mistake_parameters_without_bias"]["after"] - moves["mistake_parameters_without_bias"]["before"] == 2
    assert (moves["perfect"]["was"], moves["perfect"]["now"]) == (["earned", "ok"], ["lost", "with_bias"])


def test_a_regrade_writes_and_keeps_what_was(course):
    """Marks, notebooks, pages and reports change for those who move; their old reports stay beside the new ones."""
    without_a_bias(course)
    old = (course.path / "reports/ps1/perfect/tiny.json").read_bytes()
    result = regrade(course, "--student", "perfect", "--student", "mistake_parameters_without_bias")
    marks = {row[:2]: row[2] for row in course.rows()}
    assert marks["perfect", "parameters"] == 0 and result["exit"] == 0
    assert marks["mistake_parameters_without_bias", "parameters"] == 2
    assert marks["prints", "parameters"] == 2  # was not asked for
    assert (course.path / "reports/ps1/perfect/tiny.json.1").read_bytes() == old
    assert "There is no bias." in (course.path / "feedback/perfect/ps1/tiny.html").read_text()
    assert regrade(course, "--dry-run", "--student", "perfect")["moves"] == []


def test_what_was_never_asked_needs_a_run(course):
    """A check that asks something new leaves the part's mark as it is, and says so; other parts are judged."""
    change(course, "inputs=[inputs, one_row]", "inputs=[one_row, inputs]")
    result = regrade(course, "--student", "perfect")
    assert result["unasked"] == [["perfect", "centre"]] and result["moves"] == [] and result["exit"] == 1
    assert {row[:2]: row[2] for row in course.rows()}["perfect", "centre"] == 4


def test_a_new_version_is_judged_by_the_old_questions(course):
    """Raising a problem's version, as every change of a mark must, does not make stored answers useless."""
    change(course, "version=1", "version=2")
    result = regrade(course)
    assert (result["judged"], result["moves"], result["unasked"]) == (15, [], [])
