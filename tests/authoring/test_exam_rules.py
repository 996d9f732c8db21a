"""`[exam]`: what it says, what is refused with a way out, and who has which accommodation."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from autograder.authoring.exam_rules import Accommodation, Exam, accommodated, read_exam
from autograder.errors import StaffError

LABELS = "[accommodations.more-time]\ntime = 1.25\n[accommodations.large]\nlarge = true\ntime = 1.1\n"


def read(text: str) -> Exam:
    """The table of a file."""
    return read_exam(Path("ps1.toml"), tomllib.loads(text))


def test_what_it_says() -> None:
    """Nothing is required; labels give a factor of the time and large print."""
    assert read("") == Exam()
    exam = read(f'minutes = 90\nversions = "seat"\nfixed = false\nrow = 8\n{LABELS}')
    assert (exam.minutes, exam.versions, exam.fixed, exam.row) == (90, "seat", False, 8)
    assert exam.accommodations["large"] == Accommodation(label="large", large=True, time=1.1)


MINUTES = [(90, 1.0, 90), (90, 1.25, 113), (90, 1.1, 99), (100, 1.25, 125), (0, 1.5, 0)]


@pytest.mark.parametrize(("minutes", "time", "wanted"), MINUTES)
def test_a_share_of_a_minute_is_given(minutes: int, time: float, wanted: int) -> None:
    """Never less than the factor says, and a factor that makes whole minutes makes just these."""
    assert Exam(minutes=minutes).minutes_for(Accommodation(time=time)) == wanted


REFUSED = [
    ("minute = 3", "unknown key 'minute' (did you mean minutes?)"),
    ('minutes = "90"', "minutes of [exam] must be a int"),
    ("minutes = true", "must be a int"),
    ("minutes = -1", "is not negative"),
    ("versions = 0", 'a number from 1 to 26, "seat" or "student", not 0'),
    ("versions = 27", "from 1 to 26"),
    ('versions = "chair"', "not 'chair'"),
    ("rules = [1]", "a list of sentences"),
    ("accommodations.x = 2", "write [exam.accommodations.x]"),
    ("[accommodations.x]\ntime = 0.5", "a factor of at least 1"),
    ("[accommodations.x]\nlarger = true", "did you mean large?"),
]


@pytest.mark.parametrize(("text", "wanted"), REFUSED)
def test_what_is_refused(text: str, wanted: str) -> None:
    """With the file and the key."""
    with pytest.raises(StaffError) as caught:
        read(text)
    assert wanted in caught.value.message and "ps1.toml" in caught.value.message


def test_who_has_what(tmp_path) -> None:
    """Several labels give the longest time, and large print if one does."""
    exam = read(LABELS)
    assert accommodated(tmp_path, exam) == {}
    (tmp_path / "accommodations.csv").write_text("id,label\nada,more-time\nada,large\nbob,large\n,\n")
    found = accommodated(tmp_path, exam)
    assert found["ada"] == Accommodation(label="more-time large", time=1.25, large=True)
    assert found["bob"].time == 1.1 and found.keys() == {"ada", "bob"}


@pytest.mark.parametrize(("line", "wanted"), [("ada,largo", "did you mean large?"), ("ada,", "write id and label")])
def test_an_unknown_label_is_refused(line: str, wanted: str, tmp_path) -> None:
    """Nobody loses time by a slip."""
    (tmp_path / "accommodations.csv").write_text(f"id,label\n{line}\n")
    with pytest.raises(StaffError) as caught:
        accommodated(tmp_path, read(LABELS))
    assert wanted in caught.value.message and "line 2" in caught.value.message
