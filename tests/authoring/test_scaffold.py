"""`autograder new` and `autograder variants`: a folder that passes the audit at once, and names that are refused."""

import sys

import pytest
from click.testing import CliRunner

from autograder.audit.problem import audit
from autograder.authoring.loading import load, statement_text
from autograder.authoring.scaffold import scaffold
from autograder.cli import main
from autograder.errors import StaffError


def test_a_new_folder_passes_the_audit(tmp_path):
    """The scaffold is a working problem: every mistake loses, the equivalent keeps, the statement shows what counts."""
    scaffold(tmp_path / "problems", "scaled_scores")
    root = tmp_path / "problems"
    report = audit(load("scaled_scores", root), statement_text("scaled_scores", root), variants=2)
    assert report.faults == ()
    assert report.kill_score == (2, 2)


@pytest.mark.parametrize("slug", ["Scores", "two words", "1st", "class", "../up", "", "a-b", "é"])
def test_bad_names_are_refused(tmp_path, slug):
    """A name that cannot be a folder and a Python name is refused before anything is written."""
    with pytest.raises(StaffError):
        scaffold(tmp_path / "problems", slug)
    assert not (tmp_path / "problems").exists()


def test_a_folder_that_exists_is_left_alone(tmp_path):
    """Nothing of an author's is overwritten."""
    scaffold(tmp_path, "mine")
    (tmp_path / "mine" / "problem.py").write_text("# mine")
    with pytest.raises(StaffError):
        scaffold(tmp_path, "mine")
    assert (tmp_path / "mine" / "problem.py").read_text() == "# mine"


def test_the_students_package_has_no_problem_to_begin_with(tmp_path, monkeypatch):
    """It is said in a sentence, before anything is written."""
    monkeypatch.setitem(sys.modules, "autograder.authoring.example", None)
    monkeypatch.delattr("autograder.authoring.example", raising=False)
    with pytest.raises(StaffError, match="for instructors"):
        scaffold(tmp_path / "problems", "mine")
    assert not (tmp_path / "problems").exists()


def test_a_folder_that_is_still_empty_is_taken(tmp_path, monkeypatch):
    """A course begins with an empty problems/ folder: the audit says so, and the first problem goes there."""
    (tmp_path / "problems").mkdir()
    monkeypatch.chdir(tmp_path)
    run = CliRunner().invoke(main, ["audit"], env={"COLUMNS": "400"})
    assert run.exit_code == 0 and "There are no problems in " in run.output and "autograder new NAME" in run.output
    assert CliRunner().invoke(main, ["audit", "first"]).exit_code == 1
    assert CliRunner().invoke(main, ["new", "first"]).exit_code == 0
    assert (tmp_path / "problems/first/problem.py").is_file()


def test_a_folder_without_problems_above_is_refused(tmp_path, monkeypatch):
    """Without any problems/ folder there is no place to put one."""
    monkeypatch.chdir(tmp_path)
    for words in (["audit"], ["new", "first"]):
        run = CliRunner().invoke(main, words)
        assert run.exit_code == 1 and "there is no problems/ folder" in run.output
    assert list(tmp_path.iterdir()) == []


def test_variants_are_shown(tmp_path, monkeypatch):
    """One variant shows statement and solution side by side; many show a table of parameters."""
    scaffold(tmp_path / "problems", "scaled_scores")
    monkeypatch.setenv("AUTOGRADER_PROBLEMS", str(tmp_path / "problems"))
    one = CliRunner().invoke(main, ["variants", "scaled_scores", "--seed", "3"], env={"COLUMNS": "160"})
    assert one.exit_code == 0
    assert "query @ key.T" in one.output
    assert "inner product" in one.output
    many = CliRunner().invoke(main, ["variants", "scaled_scores", "--count", "5"], env={"COLUMNS": "160"})
    assert many.exit_code == 0
    assert "2 distinct variants of 5" in many.output
    refused = CliRunner().invoke(main, ["variants", "scaled_scores", "--student", "ada"])
    assert refused.exit_code == 2
