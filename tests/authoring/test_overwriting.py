"""`build` leaves numbers alone that were handed out, unless it is told otherwise."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from autograder.authoring import ledger
from autograder.authoring.assignment import read_assignment
from autograder.authoring.variants import SECRET_VARIABLE
from autograder.cli import main

PROBLEMS = Path(__file__).parents[1] / "data" / "identity"
SECRET = "a secret of the tests that is long enough"


@pytest.fixture
def course(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A course in which ps1 was built."""
    monkeypatch.setenv(SECRET_VARIABLE, SECRET)
    shutil.copytree(PROBLEMS, tmp_path / "problems")
    path = tmp_path / "notebooks"
    path.mkdir()
    (path / "nbgrader_config.py").touch()
    (path / "ps1.toml").write_text('problems = ["sums", "powers"]\nseed = 1\n[points]\nsums = 8\n')
    (path / "own.toml").write_text('problems = ["sums"]\nvariants = "student"\n')
    (path / "roster.csv").write_text("id\nada\nbob\n")
    monkeypatch.chdir(path)
    assert run("build", "ps1") == 0
    return path


def run(*words: str, says: str = "") -> int:
    """A command's exit code."""
    done = CliRunner().invoke(main, [*words])
    assert says in done.output, done.output
    return done.exit_code


def release(course: Path, assignment: str = "ps1") -> None:
    """What nbgrader and the step that `configure` adds leave behind."""
    (course / "release" / assignment).mkdir(parents=True)
    made = [item for item in ledger.read(course, assignment) if item.step == "built"]
    for item in made:
        shutil.copy(course / "source" / assignment / f"{item.slug}.ipynb", course / "release" / assignment)
    ledger.record(course, [ledger.Made(**{**vars(item), "step": "released"}) for item in made])


def seed_of(course: Path, assignment: str = "ps1") -> Any:
    """Which numbers lie in source/."""
    text = (course / "source" / assignment / "sums.ipynb").read_text()
    return json.loads(text)["metadata"]["autograder"]["seed"]


def test_numbers_that_nobody_has_may_change(course: Path) -> None:
    """Before a release a seed is tried after another."""
    assert run("build", "ps1", "--seed", "7") == 0
    assert seed_of(course) == 7


@pytest.mark.parametrize("known_by", ["ledger and release", "ledger", "release", "submission"])
def test_numbers_that_were_handed_out_stay(course: Path, known_by: str) -> None:
    """Refused in a sentence, with nothing written; the same numbers again are no matter, and --force overwrites."""
    release(course)
    if known_by != "ledger and release" and known_by != "release":
        shutil.rmtree(course / "release")
    if known_by in ("release", "submission"):
        (course / ledger.FILE).unlink()
    if known_by == "submission":
        (course / "submitted/ada/ps1").mkdir(parents=True)
        (course / "submitted/ada/ps1/sums.ipynb").touch()
    assert run("build", "ps1", "--seed", "7", says="--seed SEED --name NAME") == 1
    assert run("build", "ps1", "--seed", "7", says="it has seed 1 (a = ") == 1
    assert seed_of(course) == 1
    assert run("build", "ps1") == 0
    assert run("build", "ps1", "--seed", "7", "--force") == 0
    assert seed_of(course) == 7


def test_another_draw_is_other_numbers(course: Path) -> None:
    """The seed may be the same: what counts is what students read."""
    release(course)
    problem = course.parent / "problems" / "sums" / "problem.py"
    other = course.parent / "other"
    shutil.copytree(course.parent / "problems", other / "problems")  # what was loaded from a folder is not loaded again
    (other / "problems/sums/problem.py").write_text(problem.read_text().replace("(10, 500)", "(10, 400)"))
    shutil.move(course, other / "notebooks")
    os.chdir(other / "notebooks")
    assert run("build", "ps1", says="seed 1 (a = ") == 1


def test_a_mended_statement_is_no_other_number(course: Path) -> None:
    """Titles, texts and points may change; `build` writes them."""
    release(course)
    (course / "ps1.toml").write_text('title = "New"\nproblems = ["sums", "powers"]\nseed = 1\n[points]\nsums = 4\n')
    assert run("build", "ps1", says="wrote") == 0


def test_a_second_version_has_a_name_of_its_own(course: Path) -> None:
    """--name makes another assignment of the same problems, and leaves the first as it is."""
    release(course)
    (course / "ps1.toml").write_text('title = "One"\nproblems = ["sums", "powers"]\nseed = 1\n[points]\nsums = 8\n')
    assert run("build", "ps1", "--name", "make-up", says="--seed") == 2
    for _ in range(2):
        assert run("build", "ps1", "--seed", "7", "--name", "make-up", says="release make-up") == 0
    assert (seed_of(course), seed_of(course, "make-up")) == (1, 7)
    second = read_assignment(course, "make-up")
    assert (second.seed, second.points, second.problems) == (7, {"sums": 8}, ("sums", "powers"))
    assert run("build", "ps1", "--seed", "8", "--name", "make-up", says="choose another name") == 1
    assert run("build", "ps1", "--seed", "8", "--name", "../up", says="cannot be an assignment's name") == 1


def test_a_students_own_numbers_stay(course: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They depend on the secret: with another one, or as the class's, they would be others."""
    build = ("build", "own", "--per-student", "roster.csv")
    assert run(*build, says="2 notebooks written") == 0
    before = (course / "students/ada/own/sums.ipynb").read_text()
    assert run(*build, says="0 notebooks written, 2 unchanged") == 0
    assert run("build", "own", "--seed", "3") == 0  # nobody's
    monkeypatch.setenv(SECRET_VARIABLE, SECRET + " or not")
    assert run(*build, says="ada's own notebook of it has seed") == 1
    assert (course / "students/ada/own/sums.ipynb").read_text() == before
    (course / "own.toml").write_text('problems = ["sums"]\n')
    assert run("build", "own", says="released") == 1
    (course / "own.toml").write_text('problems = ["sums"]\nvariants = "student"\n')
    assert run(*build, "--force", says="2 notebooks written") == 0
