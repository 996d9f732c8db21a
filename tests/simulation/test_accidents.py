"""`autograder demo --accidents`: no deserved mark is lost, and what waits or failed is said."""

from __future__ import annotations

import contextlib
import inspect
import io
import shutil
from pathlib import Path

import pytest
from rich.console import Console

from autograder.commands.accident_report import show
from autograder.simulation import accidents, rehearsal

COURSE = Path(__file__).parents[1] / "data" / "course"


@pytest.fixture(scope="module")
def rehearsed(tmp_path_factory):
    """The class with two notebooks, graded."""
    home = tmp_path_factory.mktemp("home")
    shutil.copytree(COURSE, home, dirs_exist_ok=True)
    shutil.copytree(home / "problems" / "tiny", home / "problems" / "second")
    with contextlib.chdir(home):
        return rehearsal.run(tmp_path_factory.mktemp("place"), slugs=("tiny", "second"))


NAMES = [accident.student for accident in accidents.accidents(2)]


@pytest.mark.parametrize("student", NAMES)
def test_nothing_deserved_is_lost(rehearsed, student):
    """Each submission came to what may come of it; where that is no full mark, there is a reason in words."""
    came = next(came for came in rehearsed.came if came.accident.student == student)
    assert came.in_order, (came.outcome, came.why)
    assert came.outcome == "right" or came.why


def test_honest_students_have_full_marks(rehearsed):
    """Whatever others handed in: ten points of each notebook, and the written part waits."""
    honest = [came for came in rehearsed.came if came.accident.make is accidents.honest and came.outcome == "right"]
    assert [(came.points, came.of) for came in honest] == [(20, 24)] * accidents.SOME


def test_the_exit_code_and_the_summary_say_what_waits(rehearsed):
    """1, since some could not be read; each of these is named, and the figures count the others."""
    outcomes = [came.outcome for came in rehearsed.came]
    assert rehearsed.exit_code == 1
    assert rehearsed.figures["failed"] == outcomes.count("failed")
    assert (
        rehearsed.figures["graded"] + rehearsed.figures["kept"]
        == len(outcomes) - rehearsed.figures["failed"] - (rehearsed.figures["empty"])
    )
    assert f"{outcomes.count('failed')} could not be graded" in rehearsed.summary
    assert "\x1b" not in rehearsed.summary and "\nFORGED" not in rehearsed.summary


def test_a_run_is_killed_and_two_go_on(rehearsed):
    """kill -9 in the middle; of the two that go on at once one waits, and everybody is graded once."""
    assert rehearsed.waited and 0 < rehearsed.before_the_kill < len(rehearsed.came)
    assert rehearsed.figures["kept"] >= 1


def test_the_table_says_what_happened(rehearsed):
    """Each student has a line with what was done to the files; the exit code is that of the demo."""
    console = Console(file=io.StringIO(), width=200)
    assert show(rehearsed, console) == 0
    text = console.file.getvalue()
    assert "kill -9" in text and "one waited for the other" in text
    assert "no deserved mark was lost" in text and "NOT IN ORDER" not in text
    assert all(student.split("-")[0][:20] in text for student in NAMES)


def test_every_accident_is_described():
    """In words that the table can show."""
    table = accidents.accidents(2)
    assert len({accident.student for accident in table}) == len(table) > 40
    assert all((inspect.getdoc(accident.make) or "").strip() for accident in table)
    assert len(accidents.accidents(1)) == len(table) - len(accidents.NEEDS_SEVERAL)
