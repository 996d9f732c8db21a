"""`autograder print`: what is written, what is the same when it is printed again, and what is not overwritten."""

from __future__ import annotations

import shutil
from pathlib import Path

import pypdfium2
import pytest
from click.testing import CliRunner

from autograder.authoring import loading
from autograder.cli import main
from autograder.printing.seats import read_seats

DATA = Path(__file__).resolve().parents[1] / "data" / "course"
EXAM = '\n[exam]\nminutes = 60\nversions = "seat"\n[exam.accommodations.large]\nlarge = true\ntime = 1.25\n'
ROSTER = "id,last_name,first_name\nada,Lovelace,Ada\nbob,王,小\n"


@pytest.fixture
def course(tmp_path, monkeypatch) -> Path:
    """A course with one small problem and two students."""
    monkeypatch.delenv("AUTOGRADER_PROBLEMS", raising=False)
    monkeypatch.setenv("AUTOGRADER_SECRET", "a secret of the tests, forty letters long")
    shutil.copytree(DATA, tmp_path / "course")
    path = tmp_path / "course" / "notebooks"
    (path / "ps1.toml").write_text((path / "ps1.toml").read_text() + EXAM)
    (path / "roster.csv").write_text(ROSTER)
    loading._load.cache_clear()
    return path


def run(course: Path, *words: str, code: int = 0) -> str:
    """What the command says."""
    done = CliRunner().invoke(main, ["print", "ps1", *words, "--course", str(course)])
    assert done.exit_code == code, done.output
    return done.output


def written(course: Path) -> dict[str, bytes]:
    """All files, by their names."""
    folder = course / "print/ps1"
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def words(course: Path, name: str) -> str:
    """The text of a PDF."""
    document = pypdfium2.PdfDocument(course / "print/ps1" / name)
    return " ".join(" ".join(page.get_textpage().get_text_range() for page in document).split())


def test_sheets_keys_and_the_table(course) -> None:
    """For everybody on the roster, for you alone; all sheets together have the pages of each; the same bytes again."""
    (course / "accommodations.csv").write_text("id,label\nbob,large\n")
    said = run(course)
    assert "2 seats" in said and "neighbours share at most" in said
    assert "the name of bob has signs that no font here has (小王)" in said
    first = written(course)
    assert first.keys() == {"A-001.pdf", "A-002.pdf", "all.pdf", "key/A-001.pdf", "key/A-002.pdf", "seats.csv"}
    one, two = read_seats(course, "ps1")
    assert (one.student, two.student, two.given.large, two.given.time) == ("ada", "bob", True, 1.25)
    assert len(pypdfium2.PdfDocument(course / "print/ps1/all.pdf")) == one.pages + two.pages
    assert "75 minutes" in words(course, "A-002.pdf") and "60 minutes" in words(course, "A-001.pdf")
    assert "Key to A-001 (ada)" in words(course, "key/A-001.pdf") and "over batch" in words(course, "key/A-001.pdf")
    assert all(path.stat().st_mode & 0o077 == 0 for path in (course / "print").rglob("*"))
    run(course)
    assert written(course) == first


def test_who_is_new_gets_a_seat_of_their_own(course) -> None:
    """Nobody else's sheet changes, whatever the order of the roster."""
    run(course)
    before = written(course)
    (course / "roster.csv").write_text("id,last_name,first_name\ncleo,New,\n" + "".join(ROSTER.splitlines(True)[:0:-1]))
    run(course)
    after = written(course)
    assert [seat.student for seat in read_seats(course, "ps1")] == ["ada", "bob", "cleo"]
    assert after["A-001.pdf"] == before["A-001.pdf"] and "A-003.pdf" in after


def test_what_was_printed_is_not_overwritten(course) -> None:
    """By sheets that ask something else, unless it is said."""
    run(course)
    before = written(course)
    path = course.parent / "problems/tiny/statement.md"
    path.write_text(path.read_text().replace("Small on purpose", "Large on purpose"))
    said = run(course, code=1)
    assert "A-001, A-002 would ask something else now" in said and "--force" in said
    assert written(course) == before
    run(course, "--seat", "A-002", "--force")
    after = written(course)
    assert after["A-001.pdf"] == before["A-001.pdf"] and "Large on purpose" in words(course, "A-002.pdf")


def test_one_seat_again(course) -> None:
    """In large print, without a word of force: it asks the same. A slip in its code is named."""
    run(course)
    before = written(course)
    run(course, "--seat", "A-001", "--large")
    after = written(course)
    assert after["A-002.pdf"] == before["A-002.pdf"] and after["A-001.pdf"] != before["A-001.pdf"]
    assert read_seats(course, "ps1")[0].given.large and "Lovelace" in words(course, "A-001.pdf")
    assert "there is no seat 'A-0001' (did you mean A-001?)" in run(course, "--seat", "A-0001", code=1)


def test_versions_without_seats(course) -> None:
    """One sheet and one key for each, to be copied; the first asks what the notebooks ask."""
    (course / "roster.csv").unlink()
    assert "say for whom" in run(course, code=1)
    (course / "ps1.toml").write_text((course / "ps1.toml").read_text().replace('"seat"', "2"))
    run(course)
    assert written(course).keys() == {"A.pdf", "B.pdf", "all.pdf", "key/A.pdf", "key/B.pdf", "seats.csv"}
    assert read_seats(course, "ps1")[0].seeds["tiny"] == 7
    assert words(course, "A.pdf") != words(course, "B.pdf")


def test_seats_in_versions_have_a_key_each_version(course) -> None:
    """Four seats of two versions: two keys."""
    (course / "roster.csv").unlink()
    (course / "ps1.toml").write_text((course / "ps1.toml").read_text().replace('"seat"', "2"))
    assert "Seats have no students yet" in run(course, "--seats", "4")
    assert [seat.code for seat in read_seats(course, "ps1")] == ["A-001", "B-002", "A-003", "B-004"]
    assert {name for name in written(course) if name.startswith("key")} == {"key/A.pdf", "key/B.pdf"}


def test_own_variants_of_students(course) -> None:
    """They need a roster, and are those of their notebooks."""
    path = course / "ps1.toml"
    path.write_text(path.read_text().replace('"seat"', '"student"'))
    run(course)
    assert len({seat.seeds["tiny"] for seat in read_seats(course, "ps1")}) == 2
    (course / "roster.csv").unlink()
    shutil.rmtree(course / "print")
    assert "needs a roster" in run(course, "--seats", "2", code=1)
