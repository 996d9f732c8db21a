"""Marks that come back: what a table changes, and what is refused with its line."""

from __future__ import annotations

from typing import Any

import pytest

from autograder.errors import StaffError
from autograder.reporting import marks_table
from autograder.reporting.given_marks import read_given
from autograder.reporting.sheet import read_sheet


def changes(tmp_path, marks, text: str, **options: Any) -> list[tuple[str, str, float | None, float]]:
    """Student, part, before and after."""
    (tmp_path / "t.csv").write_text(text)
    given = read_given(read_sheet(tmp_path / "t.csv"), marks, **options)
    return [(item.student, item.item.name, item.before, item.after) for item in given]


TAKEN = [
    ("wide, by part", "student_id,ugrnn\nblaise,2\n", [("blaise", "gates.ugrnn", 1, 2)]),
    ("wide, by notebook and part", "id,gates.open_gate\nblaise,1.5\n", [("blaise", "gates.open_gate", None, 1.5)]),
    ("a decimal comma", "id;open_gate\nblaise;1,5\n", [("blaise", "gates.open_gate", None, 1.5)]),
    ("nothing differs", "id,ugrnn\n007,5\nblaise,1.0\n", []),
    ("empty cells", "id,ugrnn,merge\n007,,\nblaise,-,\ncarl,,\n", []),
    ("long", "student_id,part,points\nblaise,merge,2\n", [("blaise", "heads.merge", 3, 2)]),
    ("another assignment's lines", "id,assignment,part,points\nblaise,ps2,merge,2\n007,ps1,merge,0\n",
     [("007", "heads.merge", 2.125, 0)]),
    ("on paper", "id,ugrnn\ncarl,0\n", [("carl", "gates.ugrnn", None, 0)]),
    ("zeros at an id's head", '"SID","Name","ugrnn"\n"007","Able",4\n', [("007", "gates.ugrnn", 5, 4)]),
    ("twice the same", "id,part,points\nblaise,merge,2\nblaise,merge,2\n", [("blaise", "heads.merge", 3, 2)]),
    ("strangers without a mark", "id,ugrnn\nnobody,\nblaise,2\n", [("blaise", "gates.ugrnn", 1, 2)]),
]  # fmt: skip


@pytest.mark.parametrize(("name", "text", "wanted"), TAKEN, ids=[row[0] for row in TAKEN])
def test_what_a_table_changes(name: str, text: str, wanted: list[Any], marks, tmp_path) -> None:
    """Only what differs, by the student's id."""
    assert changes(tmp_path, marks, text) == wanted


REFUSED = [
    ("no such student", "id,ugrnn\n007,1\nblaize,2\n", "no student 'blaize' (did you mean blaise?)"),
    ("too many points", "id,ugrnn\nblaise,5.5\n", "line 2: gates.ugrnn: 5.5 is not between 0 and 5 points"),
    ("below nought", "id,ugrnn\nblaise,-1\n", "is not between"),
    ("no number", "id,ugrnn\nblaise,good\n", "'good' is no number"),
    ("two commas", "id;ugrnn\nblaise;1,2,3\n", "is no number"),
    ("not a number", "id,ugrnn\nblaise,nan\n", "is no number"),
    ("infinity", "id,ugrnn\nblaise,inf\n", "is no number"),
    ("an exponent", "id,ugrnn\nblaise,1e0\n", "is no number"),
    ("no such part", "id,part,points\nblaise,mergo,1\n", "no part 'mergo' (did you mean merge?)"),
    ("two marks for one part", "id,part,points\nblaise,merge,2\nblaise,merge,1\n", "2 points in another line, 1 here"),
    ("another name", "student_id,last_name,ugrnn\n007,Abel,1\n", "007 is 'Able' in the gradebook, and 'Abel' here"),
    ("no column of ids", "who,ugrnn\nblaise,1\n", "no column of the table holds ids"),
    ("no part at all", "id,sum\nblaise,1\n", "no column is called like a part"),
    ("a part twice", "id,ugrnn,gates.ugrnn\nblaise,1,1\n", "'gates.ugrnn' is the second"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "text", "said"), REFUSED, ids=[row[0] for row in REFUSED])
def test_what_is_refused(name: str, text: str, said: str, marks, tmp_path) -> None:
    """With its line and what to do."""
    with pytest.raises(StaffError) as raised:
        changes(tmp_path, marks, text)
    assert said in raised.value.message


def test_everything_wrong_is_said_at_once(marks, tmp_path) -> None:
    """And then nothing of the table is taken."""
    with pytest.raises(StaffError) as raised:
        changes(tmp_path, marks, "id,ugrnn\nx,1\nblaise,9\n007,4\n")
    assert raised.value.message.count("line ") == 2 and "nothing has changed" in raised.value.message


def test_another_platforms_column(marks, tmp_path) -> None:
    """A part's points may stand under any heading that is named."""
    text = 'First Name,SID,"3: Merge (3.0 pts)"\nB,blaise,1.25\n'
    assert changes(tmp_path, marks, text, columns={"merge": "3: Merge (3.0 pts)"}) == [
        ("blaise", "heads.merge", 3, 1.25)
    ]
    with pytest.raises(StaffError, match="no column '4: Merge'"):
        changes(tmp_path, marks, text, columns={"merge": "4: Merge"})


@pytest.mark.parametrize("table", [marks_table.wide, marks_table.long])
def test_our_own_export_changes_nothing(table, marks, tmp_path) -> None:
    """Read back as it was written, with a mark of a third as well."""
    assert changes(tmp_path, marks, table(marks)) == []
