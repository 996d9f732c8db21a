"""A variant for each student: what is shown is what is graded, by whichever command, and no list has to be kept."""

import json
import os
import shutil
import sqlite3
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from autograder.authoring.assignment import read_assignment
from autograder.authoring.building import notebook_text
from autograder.authoring.loading import load
from autograder.authoring.roster import read_roster
from autograder.authoring.variants import course_secret, student_seed, variant
from autograder.cli import main
from autograder.course.per_student import alike
from autograder.errors import StaffError
from tests import forked

ROOT = Path(__file__).parents[2]
SLUG = "merged_query_key"
STUDENTS = ("ada", "bob", "eve")
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT), "AUTOGRADER_SECRET": "a secret of the tests that is long enough"}


@pytest.fixture
def course(tmp_path, monkeypatch):
    """A course whose one assignment gives each student numbers of his own."""
    monkeypatch.setenv("AUTOGRADER_SECRET", ENVIRONMENT["AUTOGRADER_SECRET"])
    place = tmp_path / "notebooks"
    place.mkdir()
    shutil.copytree(ROOT / "problems" / SLUG, tmp_path / "problems" / SLUG)
    shutil.copy(ROOT / "notebooks" / "nbgrader_config.py", place)
    (place / "ps9.toml").write_text(f'title = "Own"\nproblems = ["{SLUG}"]\nvariants = "student"\n')
    (place / "roster.csv").write_text("id,first_name\n" + "".join(f"{name},{name.title()}\n" for name in STUDENTS))
    return place


def command(course, *words):
    """Run a command in the course; what it printed."""
    run = forked.run(words, cwd=course, env=ENVIRONMENT)
    assert run.returncode == 0, run.stdout + run.stderr
    return run.stdout + run.stderr


def marks(course):
    """Every part's automatic mark, by student."""
    query = """
        select student_id, name, auto_score from grade
        join submitted_notebook on grade.notebook_id = submitted_notebook.id
        join submitted_assignment on submitted_notebook.assignment_id = submitted_assignment.id
        join base_cell on grade.cell_id = base_cell.id
    """
    with sqlite3.connect(course / "gradebook.db") as database:
        rows = database.execute(query).fetchall()
    found = {}
    for student, part, score in rows:
        found.setdefault(student, {})[part] = score
    return found


def solved(course, student):
    """A student's own notebook with everything right."""
    seed = student_seed(course_secret(course), "ps9", SLUG, student)
    return notebook_text(read_assignment(course, "ps9"), SLUG, seed, course.parent / "problems")


def hand_in(course, **texts):
    """Put notebooks where collect would."""
    for student, text in texts.items():
        folder = course / "submitted" / student / "ps9"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{SLUG}.ipynb").write_text(text)


def test_each_student_is_graded_by_his_own_numbers(course):
    """Right answers to one's own notebook earn all, by nbgrader and by our command; another's notebook is held."""
    said = command(course, "autograder", "build", "ps9", "--per-student", "roster.csv", "--course", str(course))
    assert "3 students: 3 notebooks written" in said
    command(course, "nbgrader", "generate_assignment", "ps9")
    texts = {name: solved(course, name) for name in STUDENTS}
    problem = load(SLUG, course.parent / "problems")
    drawn = {
        name: variant(problem, student_seed(course_secret(course), "ps9", SLUG, name)).parameters for name in STUDENTS
    }
    assert drawn["ada"]["K"] * drawn["ada"]["I"] != drawn["bob"]["K"] * drawn["bob"]["I"]
    hand_in(course, ada=texts["ada"], bob=texts["ada"], eve=texts["eve"])
    command(course, "nbgrader", "autograde", "ps9")
    first = marks(course)
    assert sum(first["ada"].values()) == sum(first["eve"].values()) == 25
    assert set(first["bob"].values()) == {None}
    shown = (course / "autograded" / "bob" / "ps9" / f"{SLUG}.ipynb").read_text()
    assert "handed out to ada, and was handed in by bob" in shown
    command(course, "autograder", "grade", "ps9", "--course", str(course), "--no-feedback")
    assert marks(course) == first


def test_what_a_student_gets_holds_his_numbers_and_no_solution(course):
    """The notebook to hand out is the released form of his variant."""
    command(course, "autograder", "build", "ps9", "--per-student", "roster.csv", "--course", str(course))
    problem = load(SLUG, course.parent / "problems")
    for name in STUDENTS:
        text = (course / "students" / name / "ps9" / f"{SLUG}.ipynb").read_text()
        assert "BEGIN SOLUTION" not in text
        assert "import hidden" not in text and "HIDDEN TESTS" not in text
        p = variant(problem, student_seed(course_secret(course), "ps9", SLUG, name)).parameters
        cells = "".join("".join(cell["source"]) for cell in json.loads(text)["cells"])
        assert str(p["K"]) in cells
        assert str(p["I"]) in cells


def test_without_our_configuration_the_hidden_cell_finds_the_numbers(course):
    """Plain nbgrader gives each student's right answers their points too, by the folder that the notebook lies in."""
    command(course, "autograder", "build", "ps9", "--course", str(course))
    config = course / "nbgrader_config.py"
    config.write_text("c = get_config()\nc.CourseDirectory.course_id = 'plain'\n")
    bin_first = {**ENVIRONMENT, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    for step in ("generate_assignment", "autograde"):
        if step == "autograde":
            hand_in(course, eve=solved(course, "eve"))
        run = forked.run(["nbgrader", step, "ps9"], cwd=course, env=bin_first)
        assert run.returncode == 0, run.stderr
    assert sum(marks(course)["eve"].values()) == 25


@pytest.mark.parametrize(
    ("text", "students"),
    [
        ("id,last\nada,L\nbob,M\n", ["ada", "bob"]),
        ("last,id\nL,ada\nM,bob\n", ["ada", "bob"]),
        ("ada\nbob\n", ["ada", "bob"]),
        ("\ufeffid\nada\n\n", ["ada"]),
        ("student_id,name\n007,A B\n", ["007"]),
        ("SID,Email\n0012345,a@x.org\n", ["0012345"]),
        ('Student,ID,SIS User ID,SIS Login ID,Section\n Points Possible,,,,\n"L, A",4711,ada,a.l,A\n', ["ada"]),
        ("id;last_name\nada;L\n", ["ada"]),
        ("Username\tLast Name\nada\tL\n", ["ada"]),
    ],
)
@pytest.mark.parametrize("coding", ["utf-8", "utf-16", "cp1252"])
def test_rosters(tmp_path, text, students, coding):
    """nbgrader's own format and those of platforms, any order of columns, any usual encoding, or a bare list."""
    (tmp_path / "r.csv").write_text(text if coding != "cp1252" else text.replace("\ufeff", ""), encoding=coding)
    assert [person.id for person in read_roster(tmp_path / "r.csv")] == students


def test_a_roster_is_read_by_the_ids_that_the_course_knows(tmp_path):
    """Of several columns with ids, the one that names the course's students; or the one that is named."""
    (tmp_path / "r.csv").write_text('Student,ID,SIS User ID,SIS Login ID,Section\n"L, A",4711,0099,ada,A\n')
    for known, column, wanted in (((), "", "0099"), (("ada",), "", "ada"), ((), "SIS Login ID", "ada")):
        (person,) = read_roster(tmp_path / "r.csv", known, column)
        assert person.id == wanted and person.numbers == {"canvas": "4711"}


@pytest.mark.parametrize(
    "text",
    ["", "id\nada\nada\n", "id\n../up\n", "id\n..\n", "id\na/b\n", "Name,Points\nA B,1\n", "id,name\n,A B\n"],
)
def test_rosters_that_are_refused(tmp_path, text):
    """Empty, an id twice or not there, one that would leave the folder, or a table without ids."""
    (tmp_path / "r.csv").write_text(text)
    with pytest.raises(StaffError):
        read_roster(tmp_path / "r.csv")


def test_a_class_assignment_says_what_to_write(course):
    """--per-student needs variants = "student" in the file, and says so."""
    (course / "ps9.toml").write_text(f'problems = ["{SLUG}"]\n')
    refused = CliRunner().invoke(
        main,
        ["build", "ps9", "--course", str(course), "--per-student", str(course / "roster.csv")],
        env={"AUTOGRADER_PROBLEMS": str(course.parent / "problems")},
    )
    assert refused.exit_code == 1
    assert 'variants = "student"' in refused.output


def test_students_who_share_numbers_are_counted(course):
    """With more students than variants, some must share; with two, none do."""
    assignment = read_assignment(course, "ps9")
    assert alike(course, assignment, ["ada", "bob"]) == {SLUG: 0}
    many = [f"s{i}" for i in range(400)]
    assert alike(course, assignment, many)[SLUG] > 100
