"""Plain `nbgrader autograde` on submissions that nbgrader alone gives up: graded as `autograder grade` grades them."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys

import pytest

from autograder.grading import report
from autograder.nbgrader import as_typed
from autograder.nbgrader.files import aside_of, put_aside, time_handed_in
from autograder.nbgrader.intake import is_odd
from tests.course.conftest import environment
from tests.course.test_odd_submissions import alone, as_ordinary_user, notebook_of, submit

STAMPS = {
    b"2026-05-04 12:00:00 UTC": "12:00",
    b"\xef\xbb\xbf2026-05-04 12:00:00 UTC": "12:00",
    "2026-05-04 12:00:00 UTC".encode("utf-16"): "12:00",
    b"Sonntag, 28. November 2026, 23:15": None,
    b"05.11.2026 10:00": None,
}
FORMULA = "=cmd|' /C calc'!A0"


@pytest.fixture(scope="module")
def term(built, tmp_path_factory):
    """The class after nbgrader's own command, by somebody to whom files that are shut are shut; and by ours."""
    found = []
    for name in ("plain", "ours"):
        folder = tmp_path_factory.mktemp(name) / "course"
        shutil.copytree(built.path.parent, folder, symlinks=True)
        classroom = type(built)(folder / "notebooks")
        solved = notebook_of(classroom)
        alone(classroom)
        for student in ("good", "data", "huge", "inner", "fifo", "notebook", FORMULA, "\x1b[2J"):
            submit(classroom, student, {"tiny.ipynb": solved, "data.csv": b"1", "sub/more.csv": b"2", "z.csv": b"3"})
        for number, stamp in enumerate(STAMPS):
            submit(classroom, f"stamp{number}", {"tiny.ipynb": solved, "timestamp.txt": stamp})
        place = classroom.path / "submitted"
        os.truncate(place / "huge/ps1/data.csv", 200 * 2**30)
        (place / "fifo/ps1/data.csv").unlink()
        os.mkfifo(place / "fifo/ps1/data.csv")
        (place / "data/ps1/data.csv").chmod(0)
        (place / "notebook/ps1/tiny.ipynb").chmod(0)
        (place / "inner/ps1/sub").chmod(0o644)
        found.append(classroom)
    words = [sys.executable, "-m", "nbgrader", "autograde", "ps1"]
    streams = {"capture_output": True, "text": True, "timeout": 300}
    plain = subprocess.run(words, cwd=found[0].path, env=environment(), preexec_fn=as_ordinary_user, **streams)
    ours = found[1].call("grade", "--no-feedback", "--json", preexec_fn=as_ordinary_user)
    return found, plain, ours


def test_both_routes_give_the_same(term):
    """Marks row by row, times of submission, flags, and the files beside the notebooks."""
    (plain, ours), said, graded = term
    rows = [[row for row in course.rows() if row[0] != "notebook"] for course in (plain, ours)]
    assert rows[0] == rows[1] and rows[0], said.stderr[-3000:]
    query = "select student_id, timestamp from submitted_assignment where student_id != 'notebook' order by 1"
    assert plain.rows(query) == ours.rows(query)
    students = [name for name, *_ in ours.rows(query)]
    assert len(students) == 5 + len(STAMPS), graded.stderr
    for student in students:
        pairs = [report.load(report.path_of(course.path, "ps1", student, "tiny")).flags for course in (plain, ours)]
        assert len(pairs[0]) == len(pairs[1]) and bool(pairs[0]) == (
            student not in ("good", "stamp0", "stamp1", "stamp2")
        )
        for course in (plain, ours):
            assert (course.path / f"autograded/{student}/ps1/z.csv").is_file() or student.startswith("stamp")
            assert not (course.path / f"autograded/{student}/ps1/data.csv").exists() or student in ("good", "inner")


def test_times_that_nbgrader_cannot_read(term):
    """One in another coding is the same time; one that nobody can be sure of is none."""
    (plain, _), _, _ = term
    times = dict(plain.rows("select student_id, timestamp from submitted_assignment"))
    for number, wanted in enumerate(STAMPS.values()):
        assert (wanted or "None") in str(times[f"stamp{number}"])


def test_an_odd_name_makes_no_student(term):
    """A formula, and an order to a terminal: not graded, said in words, and not in the gradebook."""
    (plain, ours), said, graded = term
    for course in (plain, ours):
        students = {name for (name,) in course.rows("select id from student")}
        assert FORMULA not in students and "\x1b[2J" not in students
    for text in (said.stderr, graded.stderr + graded.stdout):
        assert "cannot be a student's by itself" in text and "\x1b[2J" not in text
    assert graded.returncode == 1


@pytest.mark.parametrize(
    ("student", "odd"),
    [
        ("=1+1", True),
        ("+49", True),
        ("-2", True),
        ("@SUM(1)", True),
        ("a,=1", True),
        ('a"=1', True),
        ("a\tb", True),
        ("a\x1b[2J", True),
        ("a\u202eb", True),
        ("a\n", True),
        ("ada", False),
        ("a-b", False),
        ("ada@example.org", False),
        ("O'Brien", False),
        ("Müller Anna", False),
        ("a=b", False),
        ("1+1", False),
        ("a_b.c", False),
    ],
)
def test_what_an_odd_name_is(student, odd):
    """What a spreadsheet or a terminal would act on, at the beginning of a field; and nothing else."""
    assert is_odd(student) == odd


def test_what_is_put_aside_is_there_and_named(tmp_path):
    """Nothing is changed or lost; a second time does nothing more."""
    folder = tmp_path / "ada" / "ps1"
    folder.mkdir(parents=True)
    (folder / "timestamp.txt").write_bytes("2026-05-04 12:00:00 UTC".encode("utf-16"))
    (folder / "small.csv").write_text("1")
    (folder / "a.bin").touch()
    os.truncate(folder / "a.bin", 2**40)
    for _ in range(2):
        put_aside(folder)
        assert sorted(path.name for path in folder.iterdir()) == ["small.csv", "timestamp.txt"]
        assert sorted(path.name for path in aside_of(folder).iterdir()) == ["a.bin", "timestamp.txt"]
    assert (folder / "timestamp.txt").read_text() == "2026-05-04 12:00:00.000000 UTC"
    assert time_handed_in(folder)[0].hour == 12 and (aside_of(folder) / "a.bin").stat().st_size == 2**40


SLOW = {
    "[[": True,
    "![": True,
    "[a](": True,
    "$a$ ": True,
    "# a\n": True,
    "a ": False,
    "- a\n": False,
    "word\n\n": False,
}


@pytest.mark.parametrize("piece", SLOW)
def test_what_no_page_can_hold_is_shown_as_typed(piece):
    """Fifty thousand characters that take long to convert or become a megabyte; and as many that do not."""
    text = piece * (48_000 // len(piece))
    cell = {"cell_type": "markdown", "metadata": {}, "id": "own-1", "source": text}
    answer = {**cell, "metadata": {"nbgrader": {"solution": True}}, "source": f"<!-- your answer: why -->\n{text}"}
    locked = {**cell, "metadata": {"nbgrader": {"solution": False}}}
    assert len(list(as_typed.as_typed({"cells": [locked]}))) == 0
    for item in (cell, answer):
        found = list(as_typed.as_typed({"cells": [item]}))
        assert bool(found) == SLOW[piece]
        assert (as_typed.NOTE in item["source"]) == SLOW[piece]
        kept = item["source"].replace("\n", "")
        assert text.replace("\n", "")[:350] in kept and kept.startswith("<!--") == (item is answer)
        assert not list(as_typed.as_typed({"cells": [{**item, "source": item["source"]}]})) or piece == "# a\n"


def test_a_short_text_is_left_alone():
    """Whatever it is."""
    cell = {"cell_type": "markdown", "metadata": {}, "id": "x", "source": "[" * as_typed.LONG}
    assert not list(as_typed.as_typed(json.loads(json.dumps({"cells": [cell]}))))
