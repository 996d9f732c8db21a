"""`autograder defend` in a course: sheets for those who were graded, and a table of answers that becomes marks."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from autograder.authoring.defence_rules import Defence, read_defence
from autograder.defence.marking import take
from autograder.errors import StaffError
from autograder.reporting.defence_marks import as_table, path_of, read_defended

KEYS = {
    "ada": [
        {"kind": "change", "part": "n.f", "answer": "b", "text": ""},
        {"kind": "shape", "part": "n.f", "answer": "[2, 3]", "text": ""},
        {"kind": "value", "part": "n.f", "answer": "1/2", "text": ""},
        {"kind": "line", "part": "n.g", "answer": "a", "text": ""},
    ],
}
HEAD = "student_id,q1,q2,q3,q4,q5,talk"


@pytest.fixture
def course(tmp_path) -> Path:
    """A course in which a sheet was made."""
    (tmp_path / "ps1.toml").write_text('title = "P"\nproblems = ["p"]\n[defence]\nweight = 0.2\n')
    folder = tmp_path / "defence" / "ps1"
    folder.mkdir(parents=True)
    (folder / "keys.json").write_text(json.dumps(KEYS))
    return tmp_path


def taken(course: Path, *lines: str) -> list[tuple[str, float, int]]:
    """What follows from a table of these lines."""
    table = course / "answers.csv"
    table.write_text("\n".join([HEAD, *lines]) + "\n")
    return [(item.status, item.right, item.asked) for item in take(course, "ps1", table, dry_run=False)]


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ('ada,b,"[2, 3]",1/2,a,,', ("counted", 4, 4)),
        ('ada,B),"2,3", 1/2 ,(a),,', ("counted", 4, 4)),  # as people write
        ("ada,b,2 3,0.5,a,,", ("counted", 3, 4)),  # a decimal number is that fraction; no comma: a grader says yes
        ("ada,b,no,0.51,a,,", ("counted", 2, 4)),
        ("ada,b,no,half,a,,", ("counted", 2, 4)),
        ("ada,b,yes,yes,a,,", ("counted", 4, 4)),
        ("ada,no,yes,yes,a,,", ("counted", 3, 4)),
        ("ada,b,,,a,,", ("counted", 2, 4)),  # half of them is not below the half
        ("ada,b,,,c,,", ("held", 1, 4)),  # no mark before a talk
        ("ada,b,,,c,,keep", ("kept", 1, 4)),
        ("ada,b,,,c,,3", ("counted", 3, 4)),
        ("ada,b,,,c,,0", ("counted", 0, 4)),
        ("ada,,,,,,", ("open", 0, 4)),
    ],
)
def test_answers_become_a_standing(course, line: str, found: tuple[str, float, int]) -> None:
    """Few right answers hold a mark; a talk decides; nothing entered is nothing."""
    assert taken(course, line) == [found]
    assert read_defended(course, "ps1")["ada"].status == found[0]


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        (["ad,b"], "did you mean ada"),
        (["ada,b", "ada,b"], "has a line already"),
        (["ada,7"], "it is a letter"),
        (["ada,b,,,,x"], "this sheet has 4 questions"),
        (["ada,b,,,,,perhaps"], "it is 'keep', or a number from 0 to 4"),
        (["ada,b,,,,,5"], "it is 'keep', or a number from 0 to 4"),
    ],
)
def test_a_fault_in_the_table_takes_nothing(course, lines: list[str], told: str) -> None:
    """All faults are told at once, and what was kept before stays."""
    taken(course, "ada,b,yes,yes,a,,")
    with pytest.raises(StaffError) as error:
        taken(course, *lines)
    assert told in error.value.message
    assert read_defended(course, "ps1")["ada"].right == 4


def test_a_dry_run_writes_nothing(course) -> None:
    """It only says what follows."""
    table = course / "answers.csv"
    table.write_text(f"{HEAD}\nada,b,yes,yes,a,,\n")
    assert take(course, "ps1", table, dry_run=True)[0].right == 4
    assert not path_of(course, "ps1").exists()


def test_the_table_of_standings_is_read_as_it_was_written(course) -> None:
    """An id that a spreadsheet would compute is text."""
    from autograder.reporting.defence_marks import Defended

    items = [Defended(student="=ada", status="held", right=1.5, asked=5), Defended(student="b", status="kept", asked=5)]
    path_of(course, "ps1").write_text(as_table(items))
    assert list(read_defended(course, "ps1").values()) == items
    assert [item.share for item in items] == [1.0, 1.0]  # nothing is taken while a talk waits, or where points stay


@pytest.mark.parametrize(
    ("table", "told"),
    [({"wieght": 0.2}, "weight"), ({"weight": 2}, "share from 0 to 1"), ({"talk_below": True}, "share from 0 to 1")],
)
def test_rules_that_cannot_be_read(table: dict, told: str) -> None:
    """A sentence says what is wrong."""
    with pytest.raises(StaffError, match=told):
        read_defence(Path("ps1.toml"), table)


def test_what_a_share_costs() -> None:
    """The weight's part of the points, as far as questions were wrong."""
    assert Defence(weight=0.2).lost(50, 0.4) == pytest.approx(6)
    assert Defence(weight=0.2).lost(50, 1.0) == 0
    assert Defence().lost(50, 0.0) == 0


def test_nobody_was_graded(course) -> None:
    """The way out is said."""
    from autograder.defence.course_sheets import graded

    with pytest.raises(StaffError, match="autograder grade ps1"):
        graded(course, "ps1")
    (course / "ps2.toml").write_text('problems = ["p"]\n')
    with pytest.raises(StaffError, match="autograder defend ps2"):
        take(course, "ps2", course / "ps1.toml", dry_run=True)
