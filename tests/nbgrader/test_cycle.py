"""A term through nbgrader's own commands, each in a process of its own, and the same through formgrader's route."""

import csv
import datetime
import json
import os
import re
import shutil
import sqlite3
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook

from autograder.authoring import loading
from autograder.authoring.variants import variant
from autograder.nbgrader.course_api import opened
from autograder.simulation.classroom import Work, hand_in
from autograder.simulation.personas import personas
from tests import forked

ROOT = Path(__file__).parents[2]
DATA = ROOT / "tests" / "data" / "course"
CLASS = ("perfect", "mistake_centre_detached_mean", "truncated_json")


def command(course, *words):
    """Run nbgrader or autograder as a user would, without an activated environment; its output, exit code first."""
    words = words if words[0] == "autograder" else ("nbgrader", *words)
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin"}
    done = forked.run(words, cwd=course, env=environment)
    return done.returncode, done.stdout + done.stderr


def foreign_notebook():
    """A notebook that nobody built from a problem folder, with an ordinary test of three points."""

    def marks(**more):
        return {"nbgrader": {"schema_version": 3, "task": False, "locked": False, "grade": False, **more}}

    answer = new_code_cell("### BEGIN SOLUTION\nx = 5\n### END SOLUTION", metadata=marks(grade_id="x", solution=True))
    test = new_code_cell("assert x == 5", metadata=marks(grade_id="t", solution=False, grade=True, points=3))
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    return new_notebook(cells=[answer, test], metadata=kernel)


@pytest.fixture(scope="module")
def term(tmp_path_factory):
    """The course after every command of the cycle, and what each of them said."""
    folder = tmp_path_factory.mktemp("term") / "course"
    shutil.copytree(DATA, folder)
    course, said = folder / "notebooks", {}
    said["build"] = command(course, "autograder", "build", "ps1")
    nbformat.write(foreign_notebook(), course / "source/ps1/foreign.ipynb")
    said["generate_assignment"] = command(course, "generate_assignment", "ps1")
    said["validate"] = command(course, "validate", "source/ps1/tiny.ipynb")
    problem = loading.load("tiny", folder / "problems")
    released = json.loads((course / "release/ps1/tiny.ipynb").read_text())
    for persona in personas(problem):
        if persona.name in CLASS:
            files = dict(persona.make(Work(released, problem, variant(problem, 7).parameters)))
            answer = "x = 5" if persona.name == "perfect" else "x = 4"
            foreign = json.loads((course / "release/ps1/foreign.ipynb").read_text())
            foreign["cells"][0]["source"] = answer
            files["foreign.ipynb"] = json.dumps(foreign).encode()
            hand_in(files, course / "submitted" / persona.name / "ps1")
    said["autograde"] = command(course, "autograde", "ps1")
    said["rows"] = rows(course)
    said["again"] = command(course, "autograde", "ps1")
    said["generate_feedback"] = command(course, "generate_feedback", "ps1")
    said["export"] = command(course, "export")
    return course, said


def rows(course):
    """Student, part, auto score, whether a person must look: the gradebook's own table."""
    with sqlite3.connect(course / "gradebook.db") as database:
        return sorted(
            database.execute(
                "select s.student_id, b.name, g.auto_score, g.needs_manual_grade from grade g "
                "join base_cell b on b.id = g.cell_id join submitted_notebook n on n.id = g.notebook_id "
                "join submitted_assignment s on s.id = n.assignment_id"
            )
        )


@pytest.mark.parametrize(
    "step", ["build", "generate_assignment", "validate", "autograde", "again", "generate_feedback", "export"]
)
def test_every_command_ends_well(term, step):
    """Exit code 0 and no error in the log."""
    _, said = term
    code, text = said[step]
    assert (step, code) == (step, 0), text
    assert "ERROR" not in text
    assert "Traceback" not in text


def test_an_assignment_is_generated_without_a_warning(term):
    """Nothing to get used to overlooking."""
    _, said = term
    assert not re.search("warning", said["generate_assignment"][1], re.IGNORECASE)


def test_the_source_notebook_validates(term):
    """Nothing stops in nbgrader's own validator but the last check, which says that nothing was judged."""
    _, said = term
    told = " ".join(said["validate"][1].split())
    assert "VALIDATION FAILED ON 1 CELL(S)!" in told
    assert "stops here in every notebook: this is no fault" in told


@pytest.mark.parametrize(
    "secret",
    ["BEGIN", "import hidden", "hidden.score", "keepdim", "sigmoid(self", "parameters = 2", "axis = 'b'", "over_batch",
     "by_sum", "detached", "You took", "rubric", "nothing about the other rows", "independence", "reference"],
)  # fmt: skip
def test_the_release_holds_no_trace_of_answers(term, secret):
    """No reference, mistake, hint, rubric or hidden region in any released file."""
    course, _ = term
    for path in (course / "release").rglob("*"):
        assert path.is_dir() or secret not in path.read_text(), path


def test_marks_of_the_commands(term):
    """Each student's marks, ours judged outside, the foreign notebook's by its own assert."""
    _, said = term
    scores = {}
    for student, part, score, _ in said["rows"]:
        scores.setdefault(student, {})[part] = score
    right = {"centre": 4.0, "Layer": 3.0, "parameters": 2.0, "axis": 1.0, "why": None}
    assert scores == {
        "perfect": {**right, "t": 3.0},
        "mistake_centre_detached_mean": {**right, "centre": 2.0, "t": 0.0},
        "truncated_json": {**dict.fromkeys(right), "t": 0.0},
    }


def test_running_again_changes_nothing(term):
    """A second run skips what is graded; the gradebook stays as it was."""
    course, said = term
    assert said["again"][1].count("Skipping existing") == len(CLASS)
    assert rows(course) == said["rows"]


def test_formgraders_button_gives_the_same_marks(term):
    """NbGraderAPI.autograde, which formgrader calls, goes through the same configuration."""
    course, said = term
    with opened(course) as api, api.gradebook as gradebook:  # ours alone: the foreign one would start a kernel here
        api.coursedir.notebook_id = "tiny"
        before = {s.student.id: s.score for s in gradebook.notebook_submissions("tiny", "ps1")}
        for student in CLASS:
            assert api.autograde("ps1", student)["success"]
        gradebook.db.expire_all()
        assert {s.student.id: s.score for s in gradebook.notebook_submissions("tiny", "ps1")} == before
    assert rows(course) == said["rows"]


def test_the_export_has_the_sums(term):
    """nbgrader's exporter writes one line a student."""
    course, _ = term
    with (course / "grades.csv").open() as file:
        scores = {row["student_id"]: float(row["score"]) for row in csv.DictReader(file)}
    assert scores == {"perfect": 13.0, "mistake_centre_detached_mean": 8.0, "truncated_json": 0.0}


def test_everybody_gets_a_page(term):
    """Feedback for both notebooks of every student, and one page for the assignment."""
    course, _ = term
    for student in CLASS:
        assert {path.name for path in (course / f"feedback/{student}/ps1").glob("*.html")} == {
            "tiny.html",
            "foreign.html",
            "index.html",
        }


@pytest.fixture(scope="module")
def small(new_course, tmp_path_factory):
    """A course graded in this process, in which a late submission loses everything."""
    config = (DATA / "notebooks/nbgrader_config.py").read_text() + "c.LateSubmissionPlugin.penalty_method = 'zero'\n"
    return new_course(tmp_path_factory.mktemp("small") / "course", config)


def test_late_penalties_still_work(small):
    """nbgrader's plugin takes everything from a late submission, on top of our marks."""
    for student, day in (("early", 1), ("late", 20)):
        files = {**small.work().solve().files(), "timestamp.txt": f"2030-01-{day:02d} 10:00:00 UTC".encode()}
        small.hand_in(student, files)
    with opened(small.path) as api, api.gradebook as gradebook:
        gradebook.update_or_create_assignment("ps1", duedate=datetime.datetime(2030, 1, 10))
    for student in ("early", "late"):
        assert small.autograde(student)["success"]
    with opened(small.path) as api, api.gradebook as gradebook:
        submissions = [gradebook.find_submission("ps1", student) for student in ("early", "late")]
        found = {each.student.id: (each.score, each.late_submission_penalty) for each in submissions}
    assert found == {"early": (10.0, 0.0), "late": (10.0, 10.0)}


def test_a_mark_given_by_hand_survives_grading_again(small):
    """It stays decided while the answer is the same, and is to be looked at again when the answer is another one."""
    small.hand_in("ada", small.work().solve().files())
    small.autograde("ada")
    with opened(small.path) as api, api.gradebook as gradebook:
        grade = gradebook.find_grade("why", "tiny", "ps1", "ada")
        grade.manual_score, grade.needs_manual_grade = 1.5, False
        gradebook.db.commit()
    other_part, other_answer = small.work().solve().spoil(), small.work().solve()
    other_answer.cell("why")["source"] += " And more."
    for work, again in ((small.work().solve(), False), (other_part, False), (other_answer, True)):
        small.hand_in("ada", work.files())
        small.autograde("ada")
        with opened(small.path) as api, api.gradebook as gradebook:
            grade = gradebook.find_grade("why", "tiny", "ps1", "ada")
            assert (grade.score, grade.manual_score, grade.needs_manual_grade) == (1.5, 1.5, again)


def test_a_problem_that_was_lost_holds_everything(small):
    """A fault of ours is nobody's wrong answer: every part waits, and the batch goes on."""
    folder = small.path.parent / "problems/tiny"
    small.hand_in("blaise", small.work().solve().files())
    folder.rename(folder.with_name("other"))
    try:
        assert small.autograde("blaise")["success"]
    finally:
        folder.with_name("other").rename(folder)
    assert {(score, by_hand) for score, by_hand, _ in small.grades["blaise"].values()} == {(None, True)}
    assert {outcome.standing for outcome in small.report("blaise").outcomes} == {"held"}


def test_links_and_special_files_beside_a_notebook_are_refused(small):
    """Nothing that a submission points to is copied, whatever the names look like."""
    small.hand_in("mallory", small.work().solve().files())
    folder = small.path / "submitted/mallory/ps1"
    (folder / ("a" * 255)).symlink_to(small.path / "gradebook.db")
    (folder / "data.bin").symlink_to(small.path / "gradebook.db")
    (folder / "inner").symlink_to(small.path)
    (folder / "gone").symlink_to("nowhere")
    os.mkfifo(folder / "pipe")
    assert small.autograde("mallory")["success"]
    assert small.grades["mallory"]["centre"][0] == 4.0
    graded = [path for path in (small.path / "autograded/mallory").rglob("*") if path.is_file()]
    assert not any(path.read_bytes().startswith(b"SQLite format") for path in graded)
    assert not any(path.is_symlink() for path in (small.path / "autograded/mallory").rglob("*"))


def test_two_files_that_could_be_the_notebook_are_held(small):
    """Which of two that differ was meant is for a person; two of one text are no choice. Neither counts as nothing."""
    solved, spoilt = (work.text().encode() for work in (small.work().solve(), small.work().spoil()))
    small.hand_in("carl", {"tiny (1).ipynb": solved, "tiny-Copy1.ipynb": spoilt})
    small.hand_in("cora", {"tiny (1).ipynb": solved, "tiny-Copy1.ipynb": solved})
    for student, standing in (("carl", "held"), ("cora", "earned")):
        assert small.autograde(student)["success"]
        outcomes = small.report(student).outcomes
        assert {outcome.standing for outcome in outcomes if outcome.part != "why"} == {standing}
