"""Seats: who gets which code, the table that keeps them, and letters between paper and notebook."""

from __future__ import annotations

import pytest

from autograder.authoring.exam_rules import Accommodation
from autograder.authoring.roster import Person
from autograder.errors import StaffError
from autograder.printing.seats import Seat, as_table, planned, read_seats, seat_of, shown_name

PEOPLE = [Person(id="ada", names=("Lovelace, Ada",)), Person(id="bob", names=("Bob Bell",)), Person(id="c")]


def test_a_seat_for_everybody() -> None:
    """Versions in turn, names as one says them."""
    made = planned(PEOPLE, 0, 2, [])
    assert [(seat.code, seat.student, seat.name) for seat in made] == [
        ("A-001", "ada", "Ada Lovelace"),
        ("B-002", "bob", "Bob Bell"),
        ("A-003", "c", ""),
    ]


def test_who_has_a_seat_keeps_it() -> None:
    """Whoever is new on the roster sits behind the others, whatever the order of the roster."""
    before = planned(PEOPLE[:2], 0, 1, [])
    after = planned([PEOPLE[2], *PEOPLE[1::-1]], 0, 1, before)
    assert [(seat.code, seat.student) for seat in after] == [("A-001", "ada"), ("A-002", "bob"), ("A-003", "c")]


def test_seats_without_a_roster() -> None:
    """As many as asked for; more when more are asked for."""
    five = planned([], 5, 1, [])
    assert [seat.code for seat in five] == [f"A-00{number}" for number in range(1, 6)]
    assert planned([], 3, 1, five) == five and len(planned([], 7, 1, five)) == 7


def test_the_table_says_it_all(tmp_path) -> None:
    """What is written is read."""
    seats = [
        Seat(code="A-001", student="ada", seeds={"p": 7, "q": 2**31}, orders={"p.x": "cab"}, pages=12, asked="f"),
        Seat(code="A-002", given=Accommodation(label="large", time=1.25, large=True), seeds={"p": 1}, sha256="ab"),
    ]
    place = tmp_path / "print/exam"
    place.mkdir(parents=True)
    (place / "seats.csv").write_text(as_table(seats))
    assert read_seats(tmp_path, "exam") == seats
    assert read_seats(tmp_path, "other") == []


BROKEN = [
    ("seat,student\nA-001,ada\n", "has no column 'orders'"),
    ("seat,student,seeds,orders\nA-001,ada,p,\n", "line 2 cannot be read: 'p' is no name=value"),
    ("seat,student,seeds,orders\nA-001,ada,p=1,\nA-001,bob,p=1,\n", "line 3: the seat A-001 stands there twice"),
    ("seat,student,seeds,orders\nA-001,ada,p=1,\nA-002,ada,p=1,\n", "line 3: ada has the seats A-001 and A-002"),
]


@pytest.mark.parametrize(("text", "wanted"), BROKEN)
def test_a_broken_table_is_refused(text: str, wanted: str, tmp_path) -> None:
    """With its line: marks go by it."""
    place = tmp_path / "print/exam"
    place.mkdir(parents=True)
    (place / "seats.csv").write_text(text)
    with pytest.raises(StaffError) as caught:
        read_seats(tmp_path, "exam")
    assert wanted in caught.value.message


def test_letters_go_both_ways() -> None:
    """What stands at a) on paper is c) in the notebook; a part without an order keeps its text."""
    seat = Seat(code="A-001", orders={"p.x": "cab"})
    assert [seat.notebook_letters("p.x", letter) for letter in "abc"] == ["c", "a", "b"]
    assert [seat.paper_letters("p.x", letter) for letter in "abc"] == ["b", "c", "a"]
    assert seat.notebook_letters("p.y", "abc") == "abc"


def test_an_unknown_seat_is_a_slip() -> None:
    """The near one is named."""
    with pytest.raises(StaffError) as caught:
        seat_of(planned([], 3, 1, []), "A-0003")
    assert "did you mean A-003?" in caught.value.message


@pytest.mark.parametrize(("name", "wanted"), [("Able, Ada", "Ada Able"), ("Ada Able", "Ada Able"), ("Cher", "Cher")])
def test_names_as_one_says_them(name: str, wanted: str) -> None:
    """First name first."""
    assert shown_name(Person(id="x", names=(name,))) == wanted
