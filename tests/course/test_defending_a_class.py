"""`autograder defend` after `autograder grade`: from a class's notebooks to sheets, and to the marks that leave."""

from __future__ import annotations

import csv
import json
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner

from autograder.cli import main
from autograder.defence.course_sheets import write
from autograder.nbgrader.class_gradebook import read_class
from autograder.reporting import marks_table


def run(course: Path, *words: str) -> tuple[int, str]:
    """A command's exit code and what it prints."""
    done = CliRunner().invoke(main, [*words, "--course", str(course)])
    return done.exit_code, done.output


@pytest.fixture(scope="module")
def course(graded, tmp_path_factory) -> Path:
    """A graded class with sheets."""
    folder = tmp_path_factory.mktemp("defended") / "course"
    shutil.copytree(graded.path.parent, folder, symlinks=True)
    toml = folder / "notebooks" / "ps1.toml"
    toml.write_text(toml.read_text() + "\n[defence]\nweight = 0.5\n")
    assert run(folder / "notebooks", "defend", "ps1")[0] == 0
    return folder / "notebooks"


def test_sheets_and_keys_lie_in_the_course(course) -> None:
    """For those who handed in work; a sheet has no key on it, and nobody else can read either."""
    folder = course / "defence" / "ps1"
    for place in (folder, folder / "key"):
        assert (place / "perfect.pdf").read_bytes().startswith(b"%PDF")
        assert place.stat().st_mode & 0o077 == 0
    sheet, key = ((place / "perfect.html").read_text() for place in (folder, folder / "key"))
    assert 'class="right"' not in sheet
    assert 'class="right"' in key
    assert "is no accusation" in sheet
    assert not (folder / "untouched.pdf").exists()
    assert (folder / "all.pdf").read_bytes().startswith(b"%PDF")


def test_the_same_sheets_come_again_and_others_are_refused(course) -> None:
    """Printed sheets are not overwritten by others."""
    keys = course / "defence" / "ps1" / "keys.json"
    before = keys.read_bytes()
    write(course, "ps1", force=False)
    assert keys.read_bytes() == before
    changed = json.loads(before)
    changed["perfect"][0]["answer"] = "another"
    keys.write_text(json.dumps(changed))
    code, said = run(course, "defend", "ps1")
    assert code == 1
    assert "sheets that ask something else (perfect)" in said
    assert run(course, "defend", "ps1", "--force")[0] == 0
    assert keys.read_bytes() == before


def test_answers_count_and_a_low_score_waits_for_a_talk(course) -> None:
    """All right: nothing is taken. Few right: there is no total, until a person has talked."""
    keys = json.loads((course / "defence" / "ps1" / "keys.json").read_text())
    whole = {pupil.id: pupil for pupil in read_class(course, "ps1").pupils}

    def entered(**rows: list[str]) -> tuple[int, str]:
        table = course / "given.csv"
        with table.open("w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(["student_id", "q1", "q2", "q3", "q4", "q5", "talk"])
            writer.writerows([name, *cells] for name, cells in rows.items())
        return run(course, "defend", "ps1", "--marks", str(table))

    right = [item["answer"] for item in keys["perfect"]]
    code, said = entered(perfect=[*right, ""], prints=["no", "no", "no", "no", "yes", ""])
    assert code == 1
    assert "talk with them first" in said
    found = {pupil.id: pupil for pupil in read_class(course, "ps1").pupils}
    assert found["perfect"].undefended == 0
    assert found["prints"].status == "held"
    assert found["prints"].total is None
    assert "talk" in marks_table.wide(read_class(course, "ps1"))
    assert entered(perfect=["no", *right[1:], ""], prints=["no", "no", "no", "no", "yes", "keep"])[0] == 0
    found = {pupil.id: pupil for pupil in read_class(course, "ps1").pupils}
    assert found["perfect"].undefended == pytest.approx(whole["perfect"].decided * 0.5 / 5)
    assert found["prints"].undefended == 0
    assert found["prints"].status == whole["prints"].status
