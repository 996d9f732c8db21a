"""`autograder release`: zips with all that a student needs, and with nothing that a student must not have."""

from __future__ import annotations

import json
import shutil
import zipfile

import nbformat
import pytest
from click.testing import CliRunner
from traitlets.config import Config

from autograder.authoring import sealing, wheel
from autograder.authoring.new_course import PROBLEM, init
from autograder.authoring.variants import course_secret, student_seed
from autograder.cli import main
from autograder.nbgrader import course_api
from autograder.nbgrader.handouts import released_form
from tests.leaks import ROOT, answers_of, leaks, text_of

SLUG = "merged_query_key"


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    """A course with an assignment for the class and one with own variants: both released, that one to two students."""
    place = tmp_path_factory.mktemp("release") / "course"
    init(place)
    shutil.copytree(ROOT / "problems" / SLUG, place / "problems" / SLUG)
    text = (place / "ps1.toml").read_text().replace(f'["{PROBLEM}"]', f'["{PROBLEM}", "{SLUG}"]')
    (place / "ps1.toml").write_text(f"{text}due = 2027-05-10T23:59:00+02:00\nhand_in = 'In <Moodle>, under PS 1.'\n")
    (place / "own.toml").write_text(f'title = "Own & new"\nvariants = "student"\nproblems = ["{SLUG}"]\n')
    (place / "roster.csv").write_text("id,last_name\nada,L\nbob,B\n")
    for name in ("ps1", "own"):
        assert command(place, "build", name).exit_code == 0
    (place / "source/ps1/data.csv").write_text("1,2\n")
    for name in ("ps1", "own"):
        ended = command(place, "release", name, "--zip")
        assert ended.exit_code == 0, ended.output
    return place


def command(place, *words):
    """A command in a course."""
    return CliRunner().invoke(main, [*words, "--course", str(place)], env={"COLUMNS": "400"})


def zips(course):
    """What students get."""
    return [course / "zips/ps1.zip", course / "zips/own/ada.zip", course / "zips/own/bob.zip"]


def test_a_zip_holds_all_that_a_student_needs(course):
    """Notebooks with the files beside them, the wheel, what to install, and a page that says how, in one folder."""
    assert sorted((course / "zips").rglob("*.zip")) == sorted(zips(course))
    with zipfile.ZipFile(course / "zips/ps1.zip") as archive:
        names = set(archive.namelist())
        needs = archive.read("ps1/requirements.txt").decode().splitlines()
        page = archive.read("ps1/how-to-work-and-hand-in.html").decode()
        package = archive.read(f"ps1/{wheel.FILE}")
    files = (f"{PROBLEM}.ipynb", f"{SLUG}.ipynb", "data.csv", wheel.FILE, "requirements.txt")
    assert names == {f"ps1/{name}" for name in (*files, "how-to-work-and-hand-in.html")}
    assert needs[0] == f"./{wheel.FILE}" and {need.split(">")[0] for need in needs[1:]} == {
        "jupyter", "jupyterlab", "torch"
    }  # fmt: skip
    for word in (PROBLEM, SLUG, wheel.FILE, r".venv\Scripts\pip", "Colab", "VS Code", "10 May 2027, 23:59 (UTC+0200)",
                 "<p>In &lt;Moodle&gt;, under PS 1.</p>"):  # fmt: skip
        assert word in page
    assert "the place that your course says" not in page
    assert package == wheel.content(for_students=True)


def test_the_wheel_is_pure_python_with_the_base_dependencies(tmp_path):
    """Every module of the package, the data beside them, and a list by which pip checks them.

    That of students is without the problem that a new course begins with, and without the README's examples.
    """
    package = {path.relative_to(ROOT).as_posix() for path in (ROOT / "autograder").rglob("*.py")}
    for for_students in (False, True):
        with zipfile.ZipFile(wheel.write_wheel(tmp_path, for_students=for_students)) as archive:
            names = set(archive.namelist())
            place = f"{wheel.FILE.removesuffix('-py3-none-any.whl')}.dist-info"
            record, told = (archive.read(f"{place}/{name}").decode() for name in ("RECORD", "METADATA"))
        missing = {f"autograder/{wheel.NOT_FOR_STUDENTS}"} if for_students else set()
        assert package - names == missing and not any(name.endswith((".so", ".pyd", ".pyc")) for name in names)
        assert {line.split(",")[0] for line in record.splitlines()} == names
        assert ("def scores" in told) is not for_students
    assert {need.split(">")[0] for need in wheel.requirements()} == {"click", "numpy", "rich"}


def test_nothing_that_a_student_gets_holds_an_answer(course):
    """Every file of every zip, and of the wheel in it: no problem, no mistake, no model, no solution, no secret."""
    secret = (course / ".course-secret").read_text().strip()
    assert {str(path): leaks(path, (secret,)) for path in zips(course)} == {str(path): [] for path in zips(course)}
    for path in sorted(course.glob("source/*/*.ipynb")):
        released = json.loads((course / "release" / path.relative_to(course / "source")).read_text())
        assert [line for line in answers_of(json.loads(path.read_text())) if line in text_of(released)] == []


LEAKED = {
    "a problem": ("ps1/problems/x/problem.py", b""),
    "a model": ("ps1/model.py", (ROOT / "solutions/ugrnn.py").read_bytes()),
    "a mistake": ("ps1/notes.txt", (ROOT / "problems/ugrnn_gates/mistakes.py").read_bytes()),
    "a solution": ("ps1/a.ipynb", b'{"cells": ["### BEGIN SOLUTION"]}'),
    "the first problem of a course": ("autograder/x.py", (ROOT / "autograder" / wheel.NOT_FOR_STUDENTS).read_bytes()),
    "a secret": ("ps1/a.ipynb", b'{"metadata": "0123456789abcdef"}'),
}


@pytest.mark.parametrize("what", LEAKED)
def test_a_leak_is_found(what, tmp_path):
    """The test above can fail: whatever is planted is found, in a wheel within a zip too."""
    name, content = LEAKED[what]
    with zipfile.ZipFile(tmp_path / "x.whl", "w") as archive:
        archive.writestr(name, content)
    with zipfile.ZipFile(tmp_path / "x.zip", "w") as archive:
        archive.write(tmp_path / "x.whl", "ps1/x.whl")
    assert leaks(tmp_path / "x.zip", ("0123456789abcdef",))


@pytest.mark.parametrize("path", sorted((ROOT / "notebooks/source").glob("*/*.ipynb")), ids=lambda path: path.stem)
def test_no_released_notebook_of_ours_holds_its_answers(path):
    """The lines of every solution but those of the stub are gone from what students get; so are the hidden tests."""
    source = nbformat.read(path, as_version=4)
    stubs = "\n".join(cell.metadata.get("autograder", {}).get("stub", "") for cell in source.cells)
    answers, text = answers_of(source), text_of(released_form(source, Config())[0])
    assert answers and [line for line in answers if line in text and line not in stubs] == []


def test_each_student_gets_their_own(course):
    """Own numbers under an own seal, in a zip of that student's alone."""
    secret = course_secret(course)
    for student in ("ada", "bob"):
        with zipfile.ZipFile(course / f"zips/own/{student}.zip") as archive:
            notebook = json.loads(archive.read(f"own/{SLUG}.ipynb"))
            page = archive.read("own/how-to-work-and-hand-in.html").decode()
            assert "Own &amp; new" in page and "the place that your course says" in page
        seal = sealing.read(notebook, secret)
        assert seal.state == "verified" and seal.identity and seal.identity.student == student
        assert seal.identity.seed == student_seed(secret, "own", SLUG, student)


def test_the_gradebook_knows_the_roster(course):
    """Who hands in nothing has a line in the marks too: everybody is known by name from the release on."""
    with course_api.opened(course) as api:
        told = {student["id"]: student["last_name"] for student in course_api.students(api)}
    assert told == {"ada": "L", "bob": "B"}


def test_who_has_left_is_named(course):
    """Somebody who is not on the roster any more is named; what was made for them stays."""
    (course / "roster.csv").write_text("id,last_name\nbob,B\n")
    said = command(course, "build", "own", "--per-student", str(course / "roster.csv")).output
    assert "not on the roster any more: ada" in said and (course / f"students/ada/own/{SLUG}.ipynb").is_file()
    (course / "roster.csv").write_text("id,last_name\n")
    assert "has no students yet" in command(course, "release", "own").output
    (course / "roster.csv").unlink()
    assert "there is no " in command(course, "release", "own").output


def test_what_cannot_be_released_is_said(course):
    """Without source notebooks nothing happens; of one that is not what its problem says, a note is made."""
    (course / "new.toml").write_text(f'title = "New"\nproblems = ["{PROBLEM}"]\n')
    ended = command(course, "release", "new")
    assert ended.exit_code == 1 and "autograder build new" in ended.output
    before = (course / "zips/ps1.zip").read_bytes()
    statement = course / "problems" / PROBLEM / "statement.md"
    statement.write_text(statement.read_text().replace("opens the notebook", "opens every notebook"))
    ended = command(course, "release", "ps1", "--zip")
    assert ended.exit_code == 0 and "is not what its problem says now" in ended.output
    assert (course / "zips/ps1.zip").read_bytes() == before  # same content, same bytes
