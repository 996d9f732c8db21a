"""A dossier has all that a course keeps about one student, and nothing about another."""

from __future__ import annotations

import json
import re
import shutil
import zipfile
from pathlib import Path

import pytest
from click.testing import CliRunner

from autograder.cli import main
from autograder.course import personal_lines
from autograder.grading.feedback import FOR_STAFF
from autograder.reporting.review_journal import LookRequest
from tests.review.test_pseudonyms import ROSTER

OTHERS = re.compile(r"(?<![\w@])(?:bob|eve|bobson|evans|bob@uni\.edu|e@uni\.edu)(?!\w)|(?-i:Luck\.)", re.IGNORECASE)


@pytest.fixture
def decided(course, desk) -> Path:
    """Decisions about several, requests, seats, numbers of their own, and a note that names two students."""
    (course / "roster.csv").write_text(ROSTER)
    (course / "accommodations.csv").write_text("id,label\nada,more-time\nbob,large\n")
    (course / "print/ps1").mkdir(parents=True)
    (course / "print/ps1/seats.csv").write_text("seat,student,name\nA-001,ada,Ada Lovelace\nA-002,bob,Bob Bobson\n")
    (course / "defence/ps1").mkdir(parents=True)
    for student in ("ada", "bob"):
        (course / f"defence/ps1/{student}.html").write_text(f"a sheet for {student}")
    (course / "defence/ps1/marks.csv").write_text("student_id,status,right,asked\nada,counted,4,5\nbob,talk,1,5\n")
    keys = {name: [{"kind": "value", "text": f"asked of {name}", "answer": "5/2"}] for name in ("ada", "bob")}
    (course / "defence/ps1/keys.json").write_text(json.dumps(keys))
    (course / "defence/ps1/answers.csv").write_bytes("student_id;q1\nada;Größe\nbob;ada\n".encode("cp1252"))
    of = {"time": 1.0, "item": "geometric.why"}
    asked = [LookRequest(id=f"r{who}", student=who, text=f"I, {who}", **of) for who in ("ada", "eve")]
    desk.take_in(asked)
    for group in desk.groups():
        desk.decide(group.answers, 1.0, by="Dr A", comment=f"for {group.first.name}")
    report = course / "reports/ps1/ada/geometric.json"
    told = json.loads(report.read_text())
    report.write_text(json.dumps(told | {"flags": ["handed out to bob, and handed in by ada"]}))
    page = course / "autograded/ada/ps1/geometric.ipynb"
    notebook = json.loads(page.read_text())
    note = {"cell_type": "markdown", "metadata": {FOR_STAFF: True}, "source": "It was Eve Evans's.", "id": "n"}
    page.write_text(json.dumps({**notebook, "cells": [*notebook["cells"], note]}))
    return course


def write(course: Path, *words: str, code: int = 0) -> str:
    """The command's output."""
    result = CliRunner().invoke(main, ["dossier", *words, "--course", str(course)])
    assert result.exit_code == code, result.output
    return result.output


def files(folder: Path) -> dict[str, str]:
    """Every file as text."""
    return {str(p.relative_to(folder)): p.read_text(errors="replace") for p in folder.rglob("*") if p.is_file()}


def test_all_of_one_student_and_nothing_of_others(decided, tmp_path) -> None:
    """Tables, files, marks, comments, decisions, requests; others are not named, and their answers not quoted."""
    write(decided, "ada", "--out", str(tmp_path / "d"))
    found = files(tmp_path / "d")
    assert {name.split("/")[0] for name in found} == {
        "index.html", "submitted", "autograded", "feedback", "reports", "answers", "further",
    }  # fmt: skip
    for said in ("Lovelace", "ada@uni.edu", "more-time", "A-001", "for count", "Dr A", "I, ada", "another student",
                 "asked of ada", "Größe"):  # fmt: skip
        assert said in found["index.html"]
    assert json.loads(found["answers/ps1/geometric.json"])["total"][0]["value"] == "1/(1-e^(-b))"
    assert found["further/defence/ps1/ada.html"] == "a sheet for ada"
    assert "defence/ps1/marks.csv" in found["index.html"] and "counted" in found["index.html"]
    links = re.findall(r'<a href="([^"]+)"', found["index.html"])
    assert sorted([*links, "index.html"]) == sorted(found)
    assert not {name: OTHERS.findall(text) for name, text in found.items() if OTHERS.search(text)}
    assert all(path.stat().st_mode & 0o077 == 0 for path in (tmp_path / "d").rglob("*") if path.is_file())


def test_a_line_about_several_is_about_one(decided) -> None:
    """A decision names no other of its group, and does not quote the answer, which may be another's."""
    lines = personal_lines.about(decided, "ps1", "ada")["decisions"]
    told = [line for line in lines if line["kind"] == "decision"]
    assert len(told) == 3 and all(line["students"] == ["ada"] and list(line["before"]) == ["ada"] for line in told)
    assert not any("answer" in line for line in told)
    assert [line["student"] for line in lines if line["kind"] == "request"] == ["ada"]


def test_a_zip_file_has_the_same(decided, tmp_path) -> None:
    """By the name that is asked for."""
    write(decided, "ada", "--out", str(tmp_path / "d"))
    write(decided, "ada", "--out", str(tmp_path / "d.zip"))
    with zipfile.ZipFile(tmp_path / "d.zip") as archive:
        assert {n: archive.read(n).decode(errors="replace") for n in archive.namelist()} == files(tmp_path / "d")


def test_a_notebook_of_somebody_else_is_left_out(decided, tmp_path) -> None:
    """It was handed in under one's name, and is another's: the page says so, and its page is left out, too."""
    path = decided / "submitted/ada/ps1/geometric.ipynb"
    notebook = json.loads(path.read_text())
    notebook["metadata"]["autograder"]["student"] = "bob"
    path.write_text(json.dumps(notebook))
    assert "2 files were handed out to somebody else" in write(decided, "ada", "--out", str(tmp_path / "d"))
    found = files(tmp_path / "d")
    assert "submitted/ps1/geometric.ipynb" not in found and "feedback/ps1/geometric.html" not in found
    assert "submitted/ps1/geometric.ipynb" in found["index.html"]


def test_of_what_was_forgotten_the_marks_are_there(decided, tmp_path) -> None:
    """With the day, and without an answer."""
    result = CliRunner().invoke(main, ["forget", "--before", "2099-01-01", "--yes", "--course", str(decided)])
    assert result.exit_code == 0, result.output
    assert not (decided / "defence/ps1").exists()
    write(decided, "ada", "--out", str(tmp_path / "d"))
    found = files(tmp_path / "d")
    assert set(found) == {"index.html", "reports/ps1/geometric.json"}
    assert "The answers were forgotten: those from before 2099-01-01." in found["index.html"]
    assert "1/(1-e^(-b))" not in "".join(found.values())


def test_nothing_is_overwritten_or_made_for_nobody(decided, tmp_path) -> None:
    """A slip in the id is told with what was meant; a folder of other things is never removed."""
    assert "did you mean ada?" in write(decided, "adda", "--out", str(tmp_path / "d"), code=1)
    (tmp_path / "d").mkdir()
    (tmp_path / "d/mine.txt").write_text("mine")
    assert "is there already" in write(decided, "ada", "--out", str(tmp_path / "d"), code=1)
    assert "not overwritten" in write(decided, "ada", "--out", str(tmp_path / "d"), "--force", code=1)
    assert (tmp_path / "d/mine.txt").read_text() == "mine"
    shutil.rmtree(tmp_path / "d")
    for _ in range(2):
        write(decided, "ada", "--out", str(tmp_path / "d"), "--force")
