"""From paper: answers that somebody typed are judged as any other and wait for a person, and points come by seat."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from autograder.authoring import loading
from autograder.authoring.variants import variant
from autograder.cli import main
from autograder.course.waiting import ByJudge, Group, Reading, grouped
from autograder.nbgrader.class_gradebook import read_class
from autograder.nbgrader.course_api import opened
from autograder.nbgrader.folder import Folder
from autograder.printing.seats import read_seats
from autograder.review.rubric_items import RubricItem, rubric_items
from tests.course.conftest import Classroom

PEOPLE = "id,last_name,first_name\nada,Lovelace,Ada\nbob,Bell,Bob\ncleo,Łukasz,Cleo\n"


def command(course: Path, verb: str, *words: str, code: int = 0) -> str:
    """What a command prints."""
    done = CliRunner().invoke(main, [verb, "ps1", *words, "--course", str(course)], env={"COLUMNS": "200"})
    assert done.exit_code == code, done.output
    return done.output


@pytest.fixture(scope="module")
def printed(build_course, tmp_path_factory) -> Path:
    """A course of three whose exam was printed: each seat has numbers of its own."""
    course: Path = build_course(tmp_path_factory.mktemp("paper") / "course", people=()).path
    (course / "roster.csv").write_text(PEOPLE)
    with (course / "ps1.toml").open("a") as file:
        file.write('\n[exam]\nminutes = 60\nversions = "seat"\n')
    command(course, "print")
    return course


def table(folder: Path, text: str) -> str:
    """A file."""
    path = folder / "t.csv"
    path.write_text(text)
    return str(path)


def right_answers(course: Path, student: str) -> dict[str, str]:
    """What is right on a student's sheet, with the letters of the paper."""
    seat = next(seat for seat in read_seats(course, "ps1") if seat.student == student)
    problem = loading.load("tiny", course.parent / "problems")
    p = variant(problem, seat.seeds["tiny"]).parameters
    return {part.name: seat.paper_letters(f"tiny.{part.name}", part.typed_answer(p)) for part in problem.parts}


REFUSED = [
    ("seat,part,answer\nA-009,parameters,3\n", "no seat 'A-009' was printed"),
    ("seat,part,answer\nA-001,parametres,3\n", "no part 'parametres' (did you mean parameters?)"),
    ("seat,part,answer\nA-001,axis,maybe\n", "write the letters that are ticked, of a to c"),
    ("seat,part,answer\nA-001,axis,d\n", "of a to c"),
    ("seat,part,answer\nA-001,parameters,3\nA-001,parameters,4\n", "line 3: tiny.parameters of seat A-001 has another"),
    ("seat,id,part,answer\nA-001,bob,parameters,3\n", "bob does not sit on seat A-001: that is ada's"),
    ("id,part,answer\nbop,parameters,3\n", "'bop' has no seat (did you mean bob?)"),
    ("seat,answer\nA-001,3\n", "has columns seat, part and answer"),
]


@pytest.mark.parametrize(("text", "wanted"), REFUSED)
def test_what_is_refused(text: str, wanted: str, printed, tmp_path) -> None:
    """With its line, and then nothing is taken."""
    assert wanted in command(printed, "marks", table(tmp_path, text), code=1)
    assert not (printed / "reports/ps1.transcribed.json").exists() and not (printed / "submitted/ada").exists()


def test_copied_answers_are_judged_and_wait(printed, tmp_path) -> None:
    """The key's answers come to full marks by the judge, a wrong one to none; all wait, and what was not copied too."""
    right = right_answers(printed, "ada")
    lines = [["seat", "part", "answer", "transcribed by"]]
    lines += [["A-001", part, right[part], "Dr T"] for part in ("centre", "parameters", "axis")]
    lines += [["A-002", "parameters", "1", ""], ["A-002", "axis", "", ""]]
    with (tmp_path / "t.csv").open("w", newline="") as file:
        csv.writer(file).writerows(lines)
    assert "4 answers of 2 students would be taken" in command(printed, "marks", str(tmp_path / "t.csv"), "--dry-run")
    assert not (printed / "submitted/ada").exists()
    said = command(printed, "marks", str(tmp_path / "t.csv"), "--grader", "Dr B")
    assert "4 answers of 2 students taken" in said and "autograder review ps1" in said
    assert "0 answers of 0 students taken" in command(printed, "marks", str(tmp_path / "t.csv"))
    assert Classroom(printed).grade()["exit"] == 0
    found = {}
    for student in ("ada", "bob"):
        report = json.loads((printed / f"reports/ps1/{student}/tiny.json").read_text())
        assert {outcome["standing"] for outcome in report["outcomes"]} == {"held"} and report["points"] == 0
        found[student] = {outcome["part"]: outcome["verdicts"] for outcome in report["outcomes"]}
    assert "Transcribed from paper by Dr T." in found["ada"]["axis"][0]["message"]
    assert "Transcribed from paper by Dr B." in found["bob"]["parameters"][0]["message"]
    assert "not marked yet" in found["ada"]["Layer"][0]["message"]
    for part in ("centre", "parameters", "axis"):
        assert all(verdict["ok"] for verdict in found["ada"][part][1:]) and found["ada"][part][1:]
    assert found["bob"]["parameters"][1]["ok"] is False
    assert read_class(printed, "ps1").pupil("ada").status == "held"  # type: ignore[union-attr]
    with opened(printed) as api:
        folder = Folder(api, "ps1")
        groups = grouped(Reading(folder).waiting(), ByJudge())
        folder.close()
    assert len(groups) == 10 and all(len(group.answers) == 1 for group in groups)  # what is not marked yet is no answer
    chosen = {group.first.item: [item.label for item in rubric(group) if item.chosen] for group in groups}
    assert chosen["tiny.Layer"] == chosen["tiny.why"] == []
    proposed = {(group.first.student, group.first.name): rubric(group) for group in groups}
    assert [item.points for item in proposed["bob", "parameters"] if item.chosen] == [0]
    assert [item.points for item in proposed["ada", "axis"] if item.chosen] == [1]


def rubric(group: Group) -> list[RubricItem]:
    """What a grader can click."""
    return rubric_items(group.first.part, group.first.outcome, group.first.maximum)[0]


def test_words_are_copied_as_well(printed, tmp_path) -> None:
    """They are what a person reads."""
    command(printed, "marks", table(tmp_path, 'seat,part,answer\nA-001,why,"Rows, and\nrows."\n'))
    notebook = json.loads((printed / "submitted/ada/ps1/tiny.ipynb").read_text())
    assert any("Rows, and\nrows." in cell["source"] for cell in notebook["cells"])
    assert any("axis = " in cell["source"] for cell in notebook["cells"])  # what was copied before is there still


def test_points_come_by_seat(printed, tmp_path) -> None:
    """A seat that nobody has graded: what is marked counts, all else waits, and is no nought."""
    assert "no seat 'A-004'" in command(printed, "marks", table(tmp_path, "seat,axis\nA-004,1\n"), code=1)
    assert "is not between" in command(printed, "marks", table(tmp_path, "seat,axis\nA-003,99\n"), code=1)
    assert "is no number" in command(printed, "marks", table(tmp_path, "seat,part,points\nA-003,axis,x\n"), code=1)
    file = table(tmp_path, "seat,axis,parameters\nA-003,1,\n")
    assert "1 marks of 1 students would change" in command(printed, "marks", file, "--dry-run")
    assert "1 marks of 1 students changed" in command(printed, "marks", file)
    pupil = read_class(printed, "ps1").pupil("cleo")
    assert pupil is not None and pupil.status == "held" and pupil.decided == 1
    statuses = {name: mark.status for name, mark in pupil.marks.items()}
    assert statuses.pop("tiny.axis") == "graded" and set(statuses.values()) == {"held"}


def test_a_seat_without_a_student_is_named(printed, tmp_path) -> None:
    """The way out is the table of seats."""
    path = printed / "print/ps1/seats.csv"
    before = path.read_text()
    path.write_text(before.replace("A-003,cleo", "A-003,"))
    try:
        said = command(printed, "marks", table(tmp_path, "seat,axis\nA-003,0\n"), code=1)
        assert "seat A-003 has no student yet" in said and "seats.csv" in said
    finally:
        path.write_text(before)


def test_who_has_handed_in_is_not_overwritten(printed, tmp_path) -> None:
    """A folder that nobody transcribed is a student's own."""
    own = printed / "submitted/cleo/ps1"
    own.mkdir(parents=True)
    (own / "tiny.ipynb").write_text("{}")
    said = command(printed, "marks", table(tmp_path, "seat,part,answer\nA-003,parameters,3\n"), code=1)
    assert "cleo has handed in ps1" in said and (own / "tiny.ipynb").read_text() == "{}"
