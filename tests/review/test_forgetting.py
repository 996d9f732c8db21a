"""Forgetting answers: nothing of them is found in the course, and marks are as they were, whatever interrupts."""

from __future__ import annotations

import csv
import json
import re
import sqlite3
import zlib
from base64 import b64decode
from datetime import date
from pathlib import Path

import pytest
from click.testing import CliRunner

from autograder.cli import main
from autograder.course import forgetting
from autograder.course.given import take
from autograder.grading import report as reports
from autograder.nbgrader.class_gradebook import read_class

OLD, NEW = "2026-03-01 12:00:00", "2030-01-01 12:00:00"
ITEM = "geometric.{}".format
# What ada and eve wrote, and what people wrote of it; bob's words are others, and his submission is a later one.
QUOTED = ("1/(1-e^(-b))", "1/(1-e^(-c))", "The ratio $e^{-", "of b you said", "named e^(-c)", "look at my e^(-c)")


@pytest.fixture
def decided(course, desk) -> Path:
    """Everything is decided, with comments that quote answers; bob handed in years later."""
    bob = course / "submitted/bob/ps1/geometric.ipynb"
    assert "1 / (1 - e^(-b))" in bob.read_text()
    from autograder.reporting.review_journal import LookRequest

    desk.take_in([LookRequest(id="r1", time=1.0, student="eve", item=ITEM("total"), text="look at my e^(-c)")])
    for group in desk.groups():
        comment = {"ada": "of b you said", "eve": "named e^(-c)"} if len(group.answers) == 1 else {}
        desk.decide(group.answers, 1.0, by="Dr A", comment=comment.get(group.first.student, "for all of you"))
    table = course.parent / "t.csv"
    table.write_text("id,part,points,comment\nada,count,1.5,of b you said\n")
    take(course, "ps1", table, columns={}, id_column="", grader="Dr B", dry_run=False)
    table.unlink()
    with sqlite3.connect(course / "gradebook.db") as database:
        for student in ("ada", "bob", "eve"):
            when = NEW if student == "bob" else OLD
            database.execute("update submitted_assignment set timestamp = ? where student_id = ?", (when, student))
    return course


def run(course: Path, *words: str, code: int = 0) -> str:
    """A command's output."""
    result = CliRunner().invoke(main, [*words, "--course", str(course)])
    assert result.exit_code == code, result.output
    return result.output


def content(course: Path) -> dict[str, str]:
    """Every file of the course as text; what is packed in reports unpacked beside it."""
    found = {}
    for path in sorted(course.rglob("*")):
        if path.is_file():
            text = path.read_bytes().decode("utf-8", "replace")
            packed = re.findall(r'"(?:answers|parameters)": "(e[AJ][\w+/]+=*)"', text)
            found[str(path.relative_to(course))] = text + "".join(
                zlib.decompress(b64decode(item)).decode("utf-8", "replace") for item in packed
            )
    return found


def where(course: Path, quoted: tuple[str, ...] = QUOTED) -> dict[str, list[str]]:
    """In which files each text is found, also as JSON has it, and in the course's own folders of the others not."""
    files = {name: text for name, text in content(course).items() if "/bob/" not in name}
    return {
        item: there
        for item in quoted
        if (there := [n for n, text in files.items() if item in text or json.dumps(item)[1:-1] in text])
    }


def marks(course: Path, tmp_path: Path) -> list[str]:
    """The tables that leave, without what the judge said in words."""
    wide, long = tmp_path / "wide.csv", tmp_path / "long.csv"
    run(course, "export", "ps1", "--out", str(wide))
    run(course, "export", "ps1", "--long", "--out", str(long))
    with long.open(newline="") as file:
        return [wide.read_text(), *(json.dumps(row | {"hint": ""}) for row in csv.DictReader(file))]


def test_no_answer_is_found_and_the_marks_are_the_same(decided, tmp_path) -> None:
    """In no file of the course, the gradebook among them; the tables are the same to the last sign."""
    run(decided, "report", "ps1", "--out", str(decided / "ps1-report.html"))
    run(decided, "similar", "ps1", "--out", str(decided / "ps1-similar.html"))
    before, stubs = marks(decided, tmp_path), decided / "reports/ps1.stubs"
    stubs.mkdir()
    (stubs / "geometric.py").write_text("return '1/(1-e^(-b))'")
    with sqlite3.connect(decided / "gradebook.db") as database:  # what was deleted once, and never written over
        database.execute("pragma secure_delete = off")
        database.execute("create table old as select 'look at my e^(-c)' as said")
        database.execute("drop table old")
    assert "gradebook.db" in where(decided)["look at my e^(-c)"]
    (decided / "gradebook.2026.db").write_bytes((decided / "gradebook.db").read_bytes())
    assert where(decided).keys() == set(QUOTED)  # each of them is there to be found
    run(decided, "forget", "--before", "2027-01-01", "--yes")
    assert where(decided) == {}
    assert marks(decided, tmp_path) == before
    assert not list(decided.rglob("*/ada/ps1/*.ipynb")) and not (decided / "submitted/eve").exists()
    assert run(decided, "forget", "--before", "2027-01-01", "--yes").startswith("Nothing is kept")


def test_the_others_are_as_they_were(decided) -> None:
    """Bob's report has its answers, his decision can be taken back, and his marks can be judged again."""
    place = reports.path_of(decided, "ps1", "bob", "geometric")
    before, files = reports.load(place), {n: t for n, t in content(decided).items() if "/bob/" in n}
    run(decided, "forget", "--before", "2027-01-01", "--yes")
    assert reports.load(place) == before
    assert {n: t for n, t in content(decided).items() if "/bob/" in n} == files
    lines = (decided / "reports/ps1.decisions.jsonl").read_text()
    assert '"bob"' in lines and "ada" not in lines and "eve" not in lines
    assert "The answers of 2 students are forgotten" in run(decided, "regrade", "ps1")


@pytest.mark.parametrize(
    ("table", "left"),
    [
        ("student_id,q1\nada,A\nbob,B\n", "student_id,q1\nbob,B\n"),
        ("q1;q2;student_id\r\nbob;2,5;ada\r\nada;Ω;bob\r\n", "q1;q2;student_id\r\nada;Ω;bob\r\n"),
        ('\ufeff"student_id"\t"q1"\n"ada"\t"A"\n"bob"\t"a ""b"""', '\ufeff"student_id"\t"q1"\n"bob"\t"a ""b"""'),
        ('student_id,q1\n="ada",A\n', ""),
        ("student_id,q1\n", ""),
    ],
    ids=("ours", "semicolons", "tabs", "as text", "empty"),
)
def test_the_keys_of_a_defence_keep_the_others(decided, table, left) -> None:
    """The keys and the table lose who is forgotten, however it was saved; the document of all quotes them, and goes."""
    folder = decided / "defence/ps1"
    folder.mkdir(parents=True)
    (folder / "keys.json").write_text(json.dumps({name: [{"text": f"{name} wrote it"}] for name in ("ada", "bob")}))
    (folder / "answers.csv").write_bytes(table.encode())
    (folder / "all.pdf").write_bytes(b"%PDF")
    run(decided, "forget", "--before", "2027-01-01", "--yes")
    assert json.loads((folder / "keys.json").read_text()) == {"bob": [{"text": "bob wrote it"}]}
    assert b"".join(path.read_bytes() for path in folder.glob("*.csv")).decode() == left
    assert not (folder / "all.pdf").exists()


@pytest.mark.parametrize(
    "words", [("regrade", "--dry-run"), ("review", "--list"), ("report",), ("similar",), ("grade",)], ids=lambda w: w[0]
)
def test_the_other_commands_go_on(decided, tmp_path, monkeypatch, words) -> None:
    """With a class whose answers are partly forgotten, and no mark moves."""
    run(decided, "forget", "--before", "2027-01-01", "--yes")
    before = marks(decided, tmp_path)
    monkeypatch.chdir(tmp_path)
    if words[0] == "grade":
        from autograder.course.run import Options
        from autograder.course.run import run as grade

        assert grade(decided, Options(assignment="ps1", jobs=1)).exit_code == 0
    else:
        run(decided, words[0], "ps1", *words[1:])
    assert marks(decided, tmp_path) == before


def test_a_dry_run_writes_nothing(decided) -> None:
    """It names what would go."""
    before = content(decided)
    told = json.loads(run(decided, "forget", "--before", "2027-01-01", "--dry-run", "--json").splitlines()[-1])
    assert told["would_forget"] == [["ps1", "ada"], ["ps1", "eve"]] and told["left"] == []
    assert content(decided) == before


@pytest.mark.parametrize("steps", [0, 1, 2, 3, 4, 5, 7])
def test_it_goes_on_where_it_was_interrupted(decided, tmp_path, monkeypatch, steps) -> None:
    """Killed after any number of its steps, and run again: the marks never differ, and nothing is left."""
    before, done = marks(decided, tmp_path), 0

    def then_killed(work):
        def step(*args, **options):
            nonlocal done
            if done == steps:
                raise KeyboardInterrupt
            done += 1
            return work(*args, **options)

        return step

    with monkeypatch.context() as patched:
        for owner, name in (
            (forgetting.forgotten, "forget"), (forgetting.forgotten, "repack"), (forgetting.personal_lines, "forget"),
            (forgetting.forgotten_rows, "forget_comments"), (forgetting, "_remove"),
        ):  # fmt: skip
            patched.setattr(owner, name, then_killed(getattr(owner, name)))
        planned = forgetting.plan(decided, date(2027, 1, 1))
        with pytest.raises(KeyboardInterrupt):
            forgetting.forget(decided, planned)
    assert marks(decided, tmp_path) == before
    run(decided, "forget", "--before", "2027-01-01", "--yes")
    assert where(decided) == {} and marks(decided, tmp_path) == before


def test_what_waits_stays_unless_it_is_asked_for(course, tmp_path) -> None:
    """A part without a mark is not made undecidable in passing; with --unmarked it is, and goes on to wait."""
    before = marks(course, tmp_path)
    assert "stays: ada, ps1: 3 of its parts wait" in run(course, "forget", "--before", "2099-01-01", "--yes", code=1)
    assert (course / "submitted/ada/ps1/geometric.ipynb").is_file()
    run(course, "forget", "--before", "2099-01-01", "--yes", "--unmarked")
    assert not (course / "submitted").exists() or not list((course / "submitted").rglob("*.ipynb"))
    assert marks(course, tmp_path) == before
    assert {pupil.status for pupil in read_class(course, "ps1").pupils} == {"held"}


def test_the_day_itself_is_kept(decided) -> None:
    """Before a day is before its beginning."""
    out = run(decided, "forget", "--before", "2026-03-01", "--dry-run")
    assert "Nothing is kept" in out
    assert "Nothing is kept" not in run(decided, "forget", "--before", "2026-03-02", "--dry-run")


def test_copies_elsewhere_are_named_and_left(decided) -> None:
    """A download, a grader's notes, a page: each is found by a line that only this student wrote."""
    import zipfile

    line = "total = expression('1/(1-e^(-b))')"
    with zipfile.ZipFile(decided / "submissions.zip", "w") as archive:
        archive.write(decided / "submitted/ada/ps1/geometric.ipynb", "ada.ipynb")
    (decided / "notes.txt").write_text(f"ada wrote\n{line}\n")
    (decided / "mine.txt").write_text("nothing of anybody's stands here\n")
    out = run(decided, "forget", "--before", "2027-01-01", "--yes", code=1)
    assert "left to you: notes.txt" in out and "left to you: submissions.zip" in out and "mine.txt" not in out
    assert (decided / "notes.txt").is_file()


def test_it_asks_first(decided) -> None:
    """Without a terminal to ask in, nothing goes without --yes."""
    before = content(decided)
    assert "--yes" in run(decided, "forget", "--before", "2027-01-01", code=2)
    assert content(decided) == before
