"""Requests for another look, out of tables and mails."""

from __future__ import annotations

import email.message

import pytest

from autograder.errors import StaffError
from autograder.reporting.class_marks import ClassMarks, Item, Pupil
from autograder.reporting.look_requests import read_requests

ITEMS = (
    Item(notebook="geometric", part="total", maximum=4),
    Item(notebook="geometric", part="count", maximum=2),
    Item(notebook="other", part="count", maximum=2),
)
MARKS = ClassMarks(assignment="ps1", title="One", items=ITEMS, pupils=(Pupil(id="ada"), Pupil(id="0012")))
BODY = """Student: ada
Part: geometric.total
Code: 1a2b3c4d
Result: lost, 0 of 4 points

Please look again, because:
b is β.
"""
TABLES = {
    "our words": "student_id,part,text\nada,total,Why?\n",
    "other words": "ID;Part;Reason\nada;geometric.total;Why?\n",
    "with the assignment": "student,part,message\nada,ps1.geometric.total,Why?\n",
    "with the notebook": "student id,notebook,part,comment\nada,geometric,total,Why?\n,,,\n",
}
REFUSED = {
    "nobody": ("student_id,part,text\nadda,total,Why?\n", "ada"),
    "no part": ("student_id,part,text\nada,totl,Why?\n", "totl"),
    "a part of two notebooks": ("student_id,part,text\nada,count,Why?\n", "count"),
    "no column for the text": ("student_id,part\nada,total\n", "text"),
}


@pytest.mark.parametrize("table", TABLES.values(), ids=TABLES)
def test_a_table_is_read(table, tmp_path) -> None:
    """By its headings; the same request is the same one when it is read again."""
    (tmp_path / "wishes.csv").write_text(table)
    (asked,) = read_requests(tmp_path / "wishes.csv", MARKS)
    assert (asked.student, asked.item, asked.text, asked.state) == ("ada", "geometric.total", "Why?", "open")
    assert read_requests(tmp_path / "wishes.csv", MARKS)[0].id == asked.id


def mail(body: str) -> bytes:
    """A saved mail."""
    message = email.message.EmailMessage()
    message["Subject"] = "[ps1] another look: geometric.total"
    message.set_content(body, cte="quoted-printable")
    return bytes(message)


def test_a_folder_of_mails_is_read(tmp_path) -> None:
    """As the link on a student's page fills them in; an answered mail's quoted lines are not the student's words."""
    (tmp_path / "a.eml").write_bytes(mail(BODY))
    (tmp_path / "b.txt").write_text("> Student: 0012\nstudent = 0012\npart: other.count\n\nIt is 24.\n> old words\n")
    (tmp_path / "notes.pdf").write_bytes(b"%PDF")
    found = {(asked.student, asked.item): asked.text for asked in read_requests(tmp_path, MARKS)}
    assert found == {("ada", "geometric.total"): "b is β.", ("0012", "other.count"): "It is 24."}


@pytest.mark.parametrize(("table", "said"), REFUSED.values(), ids=REFUSED)
def test_what_names_nobody_or_no_part_is_said(table, said, tmp_path) -> None:
    """Nothing of the file is taken."""
    (tmp_path / "wishes.csv").write_text(table)
    with pytest.raises(StaffError, match=said):
        read_requests(tmp_path / "wishes.csv", MARKS)
