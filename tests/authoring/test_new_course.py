"""`autograder init`: a course outside any checkout, in which every command finds what it needs."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from autograder.authoring import loading
from autograder.authoring.assignment import find_course, read_assignment
from autograder.authoring.new_course import PROBLEM, init
from autograder.cli import main
from autograder.cli.command import ANYWHERE
from autograder.errors import StaffError
from autograder.simulation import demo

ROOT = Path(__file__).parents[2]
PRIVATE = (
    ".course-secret", "ledger.jsonl", "gradebook.db", "release/ps1/a.ipynb", "submitted/ada/ps1/a.ipynb",
    "autograded/ada/ps1/a.ipynb", "feedback/ada/ps1/a.html", "students/ada/ps1/a.ipynb", "reports/ps1.jsonl",
    "zips/ps1.zip", "download.zip", "roster.csv", "ps1.csv", "ps1-report.html",
)  # fmt: skip
KEPT = ("problems/scaled_scores/problem.py", "source/ps1/a.ipynb", "source/ps1/data.csv", "ps1.toml",
        "nbgrader_config.py", "README.md", "requirements.txt", "wheels/x.whl", ".gitignore")  # fmt: skip


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A new course, to be copied."""
    place = tmp_path_factory.mktemp("init") / "made"
    init(place)
    return place


@pytest.fixture
def course(made, tmp_path, monkeypatch):
    """A new course, entered."""
    shutil.copytree(made, tmp_path / "my course")
    monkeypatch.chdir(tmp_path / "my course")
    monkeypatch.delenv("AUTOGRADER_PROBLEMS", raising=False)
    return tmp_path / "my course"


def run(*words):
    """A command, in process."""
    return CliRunner().invoke(main, words, env={"COLUMNS": "400"})


def test_a_new_course_can_be_read(course):
    """Configuration, an assignment with a working problem, a roster, and the package that a colleague installs."""
    assert find_course() == course and loading.find_problems() == course / "problems"
    assert read_assignment(course, "ps1").problems == (PROBLEM,)
    (wheel,) = (course / "wheels").iterdir()
    assert (course / "requirements.txt").read_text() == f"./wheels/{wheel.name}[instructor]\n"
    assert course.stat().st_mode & 0o077 == 0
    assert run("build", "ps1").exit_code == 0 and (course / f"source/ps1/{PROBLEM}.ipynb").is_file()
    assert run("variants", PROBLEM, "--count", "2").exit_code == 0


def test_nothing_is_overwritten(course):
    """A folder with something in it is no place for a course; an empty one is."""
    before = (course / "README.md").read_text()
    refused = run("init", ".")
    assert refused.exit_code == 1 and "not empty" in refused.output
    assert (course / "README.md").read_text() == before
    (course.parent / "empty").mkdir()
    assert run("init", str(course.parent / "empty")).exit_code == 0


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
def test_what_is_private_is_not_committed(course):
    """Secret, gradebook, submissions, feedback, reports: git does not see them. The course itself it does."""
    for name in (*PRIVATE, *KEPT):
        (course / name).parent.mkdir(parents=True, exist_ok=True)
        (course / name).touch()
    subprocess.run(["git", "init", "-q", "."], check=True)
    for names, ignored in ((PRIVATE, True), (KEPT, False)):
        for name in names:
            assert (subprocess.run(["git", "check-ignore", "-q", name]).returncode == 0) is ignored, name


def test_the_readme_says_commands_that_there_are(course):
    """Its five commands, and every other one that it names, take the words that stand behind them."""
    text = (course / "README.md").read_text()
    block = text.split("five commands:")[1].split("```")[1]
    assert len([line for line in block.splitlines() if line.startswith(("autograder ", "nbgrader "))]) == 5
    told = re.findall(r"^autograder ([^#\n]+)", block, re.MULTILINE) + re.findall(r"`autograder ([^`-][^`]*)`", text)
    assert {words.split()[0] for words in told} >= {"audit", "build", "release", "grade", "collect", "demo", "new"}
    for words in told:
        name, *rest = shlex.split(words.replace("DOWNLOAD", "."))
        assert name in main.commands or words == "--help"
        if rest:
            main.commands[name].make_context(name, rest)


def test_an_empty_problems_folder_is_the_courses_own(course, made):
    """Below another course, a course without a problem yet does not take that one's; the audit says what to do."""
    inner = course / "archive/inner"
    shutil.copytree(made, inner)
    shutil.rmtree(inner / "problems" / PROBLEM)
    assert loading.find_problems(inner) == inner / "problems"
    (inner / "nbgrader_config.py").unlink()
    assert loading.find_problems(inner) == course / "problems"


def test_a_problem_is_copied(course):
    """`new --from`: every file but caches, and the copy passes as the original; an unknown one is named."""
    (course / "problems" / PROBLEM / "__pycache__").mkdir()
    assert run("new", "mine", "--from", PROBLEM).exit_code == 0
    files = {path.name: path.read_text() for path in (course / "problems/mine").iterdir()}
    assert files == {p.name: p.read_text() for p in (course / "problems" / PROBLEM).iterdir() if p.is_file()}
    assert loading.load("mine", course / "problems").slug == "mine"
    for words, said in ((("mine", "--from", PROBLEM), "exists already"), (("other", "--from", "min"), "mine")):
        refused = run("new", *words)
        assert refused.exit_code == 1 and said in refused.output
    assert "deep-learning-autograder-problems" in run("new", "other", "--from", "ugrnn_gates").output
    assert not (course / "problems/other").exists()


def test_the_demo_plays_what_there_is(course, tmp_path, monkeypatch):
    """The problems of the course around; where it has none, or there is none, that of a new course."""
    assert demo.problems_around(tmp_path / "place") == course / "problems"
    shutil.rmtree(course / "problems" / PROBLEM)
    for number, folder in enumerate((course, tmp_path)):
        monkeypatch.chdir(folder)
        place = tmp_path / f"place{number}"
        root = demo.problems_around(place)
        assert (root, demo.chosen(root)) == (place / "problems", [PROBLEM])


@pytest.mark.parametrize("name", sorted(main.commands))
def test_a_machine_without_posix_says_what_is_needed(name, monkeypatch):
    """On Windows: a sentence about WSL before anything is done, for all commands but those that run anywhere."""
    command = main.commands[name]
    monkeypatch.setitem(sys.modules, "fcntl", None)
    monkeypatch.setattr(command, "callback", lambda **options: "done")
    if name in ANYWHERE:
        assert command.invoke(click.Context(command)) == "done"
        return
    with pytest.raises(StaffError, match="WSL"):
        command.invoke(click.Context(command))
