"""A whole class: the marks of `nbgrader autograde`, whatever one submission does to itself."""

from __future__ import annotations

import json
import shutil
import sqlite3
from pathlib import Path

import pytest
from sqlalchemy.exc import IntegrityError

from autograder.authoring.variants import course_secret
from autograder.course import run
from autograder.course.run import Options
from autograder.grading import report as reports
from autograder.nbgrader.course_api import done, opened
from autograder.nbgrader.first_rows import FirstRows
from autograder.nbgrader.folder import Folder

LATE = "c.LateSubmissionPlugin.penalty_method = 'zero'\n"
COMMENTS = """
    select student_id, name, auto_comment, manual_comment from comment
    join submitted_notebook on comment.notebook_id = submitted_notebook.id
    join submitted_assignment on submitted_notebook.assignment_id = submitted_assignment.id
    join base_cell on comment.cell_id = base_cell.id order by 1, 2
"""
SUBMISSIONS = """
    select student_id, timestamp, late_submission_penalty from submitted_assignment
    join submitted_notebook on submitted_notebook.assignment_id = submitted_assignment.id order by 1
"""


@pytest.fixture(scope="module")
def both(build_course, tmp_path_factory):
    """The same class graded by us and by nbgrader's own commands; two of them were late, one has data beside."""
    folder = tmp_path_factory.mktemp("both")
    ours = build_course(folder / "ours", LATE)
    with sqlite3.connect(ours.path / "gradebook.db") as database:
        database.execute("update assignment set duedate = '2026-05-04 12:00:00.000000'")
    for name, day in (("perfect", "05"), ("prints", "03"), ("untouched", "06")):
        (ours.path / f"submitted/{name}/ps1/timestamp.txt").write_text(f"2026-05-{day} 12:00:00.000000 UTC")
    (ours.path / "submitted/prints/ps1/numbers.csv").write_text("1,2\n")
    course_secret(ours.path)  # made on first use: both are to have the same hidden inputs
    shutil.copytree(folder / "ours", folder / "theirs", symlinks=True)
    theirs = type(ours)(folder / "theirs" / "notebooks")
    figures = ours.grade()
    with opened(theirs.path) as api:
        done("autograde", api.autograde("ps1", "*"))
        done("generate_feedback", api.generate_feedback("ps1", "*"))
    return ours, theirs, figures


def test_the_marks_are_nbgraders(both):
    """Scores, what a person must look at, comments, times of handing in and late penalties: row by row."""
    ours, theirs = both[:2]
    for query in (None, COMMENTS, SUBMISSIONS):
        rows = ours.rows(query) if query else ours.rows()
        assert rows and rows == (theirs.rows(query) if query else theirs.rows())
    assert {row[0]: row[2] for row in ours.rows(SUBMISSIONS)}["perfect"] == 10.0
    assert all(type(row[2]) in (float, type(None)) for row in ours.rows())


@pytest.mark.parametrize("step", ["autograded", "feedback"])
def test_the_files_are_nbgraders(both, step):
    """Autograded notebooks, the files beside them, and feedback pages: byte by byte, with the same permissions."""
    ours, theirs = both[:2]
    assert ours.pages(step) == theirs.pages(step)
    modes = [{name: (course.path / step / name).stat().st_mode for name in course.pages(step)} for course in both[:2]]
    assert modes[0] == modes[1]


def test_the_reports_are_the_same(both, tmp_path):
    """A regrade finds the same in either. Who was graded first holds what others gave as well: all are put together."""
    kept = [
        {
            name: reports._to_json(reports.load(course.path / "reports" / name), tmp_path, False)
            for name in course.pages("reports")
            if name.endswith(".json")
        }
        for course in both[:2]
    ]
    assert kept[0] == kept[1] and kept[0]


def test_the_figures_say_what_happened(both):
    """The last line is JSON: how many were graded, wait for a person, were flagged, handed in nothing to grade."""
    figures = both[2]
    wanted = {"submissions": 16, "graded": 15, "failed": 0, "unfinished": 0, "empty": 1, "exit": 0, "stopped": ""}
    assert {key: figures[key] for key in wanted} == wanted
    assert figures["held"] >= 13 and figures["flagged"] >= 2


def test_who_handed_in_nothing_is_named(classroom):
    """Somebody whom the gradebook knows and who has no submission is counted and named; an empty folder is no fault."""
    with sqlite3.connect(classroom.path / "gradebook.db") as database:
        database.execute("insert into student (id) values ('ada')")
    (classroom.path / "submitted/bea/ps1").mkdir(parents=True)
    run = classroom.call("grade", "--json", "--student", "ada", "--student", "bea", "--student", "perfect")
    assert run.returncode == 0 and "No submission from ada." in run.stderr
    assert '"without_submission": 1' in run.stdout and '"empty": 1' in run.stdout and '"graded": 1' in run.stdout


def test_who_is_not_on_the_roster_is_graded_and_named(classroom):
    """The course's roster.csv: who has not handed in, who is not on it and graded all the same, who has left.

    A roster that cannot be read is said, and stops nothing.
    """
    for folder in (classroom.path / "submitted").iterdir():
        if folder.name not in ("perfect", "untouched"):
            shutil.rmtree(folder)
    with sqlite3.connect(classroom.path / "gradebook.db") as database:
        database.execute("insert into student (id) values ('gone')")
    roster = classroom.path / "roster.csv"
    roster.write_text("id,last_name\nperfect,P\nlate,L\n")
    run = classroom.call("grade", "--json")
    figures = json.loads(run.stdout.splitlines()[-1])
    assert (figures["graded"], figures["without_submission"], figures["not_on_the_roster"]) == (2, 1, 1)
    assert "No submission from late." in run.stderr and "No longer on the roster: gone." in run.stderr
    assert "Not on the roster, and graded all the same: untouched." in run.stderr
    roster.write_text("Vorn.,Nachn.\nAda,Lovelace\n")
    run = classroom.call("grade", "--json", "--resume")
    assert run.returncode == 0 and "Nobody was compared with the roster" in run.stderr
    assert "No submission from gone." in run.stderr


def test_one_bad_submission_stops_no_other(classroom, monkeypatch):
    """A fault of ours with one submission is its own: the others are graded, and the exit code says that one is not."""
    read = Folder.read

    def fails(self, paths):
        if "perfect" in str(paths):
            raise RuntimeError("a fault of ours")
        return read(self, paths)

    monkeypatch.setattr(Folder, "read", fails)
    result = run.run(classroom.path, Options(assignment="ps1", students=("perfect", "prints", "untouched")))
    states = {row.student: row.state for row in result.rows}
    assert states == {"perfect": "failed", "prints": "done", "untouched": "done"}
    assert result.exit_code == 1 and "a fault of ours" in result.rows[0].why


def test_rows_that_cannot_be_written_are_one_students(classroom, monkeypatch):
    """Many are written in one transaction; who has a fault is left out of it, and the rest of the class is graded."""
    people, add = ("perfect", "prints", "untouched"), FirstRows.add

    def fails(self, student, **words):
        if student == "prints":
            raise RuntimeError("a fault of ours")
        return add(self, student, **words)

    with monkeypatch.context() as patched:
        patched.setattr(FirstRows, "add", fails)
        states = {row.student: row.state for row in run.run(classroom.path, _of(people)).rows}
    assert states == {"perfect": "done", "prints": "failed", "untouched": "done"}
    assert {name for name, *_ in classroom.rows()} == {"perfect", "untouched"}


def test_rows_that_another_program_has_made_meanwhile(classroom, graded, monkeypatch):
    """Where a whole transaction is refused, each submission has its own: the same rows, and nobody is failed."""
    people, write = ("perfect", "prints", "untouched"), FirstRows.write

    def beaten(self, session):
        write(self, session)
        raise IntegrityError("insert", {}, Exception("UNIQUE constraint failed"))

    monkeypatch.setattr(FirstRows, "write", beaten)
    assert {row.state for row in run.run(classroom.path, _of(people)).rows} == {"done"}
    assert classroom.rows() == [row for row in graded.rows() if row[0] in people]


def _of(people):
    return Options(assignment="ps1", students=people)


def test_grading_again_changes_nothing_but_keeps_marks_by_hand(graded, tmp_path):
    """A second run gives the same marks: hidden inputs follow from the secret. A mark by hand stays decided."""
    shutil.copytree(graded.path.parent, tmp_path / "course", symlinks=True)
    again = type(graded)(tmp_path / "course" / "notebooks")
    before, files = again.rows(), again.pages("feedback")
    assert again.grade()["graded"] == 15
    assert again.rows() == before and again.pages("feedback") == files
    with sqlite3.connect(again.path / "gradebook.db") as database:
        database.execute("update grade set manual_score = 1.5, needs_manual_grade = 0")
    again.grade("--student", "perfect")
    assert {row[3:] for row in again.rows() if row[0] == "perfect"} == {(1.5, 0)}


def test_a_part_that_is_marked_by_chance_is_held(classroom):
    """With --twice, a function that answers differently each time is held and flagged."""
    path = classroom.path / "submitted/perfect/ps1/tiny.ipynb"
    notebook = json.loads(path.read_text())
    for cell in notebook["cells"]:
        if "def centre" in "".join(cell["source"]):
            chance = "import os\nwrong = os.urandom(1)[0] < 128\n"  # for all calls of one run alike
            cell["source"] = chance + "".join(cell["source"]).replace(
                "return", "if wrong:\n        return x\n    return"
            )
    path.write_text(json.dumps(notebook))
    for _ in range(12):  # each shows it with probability one half
        classroom.grade("--twice", "--student", "perfect")
        marks = {row[1]: row for row in classroom.rows()}
        if marks["centre"][4]:
            break
    assert marks["centre"][2] is None and marks["centre"][4] == 1


@pytest.mark.parametrize(
    ("words", "code", "text"),
    [
        (("grade",), 1, "generate_assignment"),
        (("grade", "--jobs", "0"), 2, "--jobs"),
        (("grade", "--scheduler", "tcp://127.0.0.1:9"), 1, "scheduler"),
    ],
)
def test_what_cannot_begin_says_why(classroom, words, code, text):
    """An assignment that was not released, an option that makes no sense, a cluster that is not there."""
    if words == ("grade",):
        Path(classroom.path / "gradebook.db").unlink()
    run = classroom.call(*words)
    assert run.returncode == code and text in run.stderr and "Traceback" not in run.stderr
