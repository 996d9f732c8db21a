"""The demo: a term in a temporary folder, and a table that tells the truth about it."""

import contextlib
import os
import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from autograder.authoring import loading
from autograder.authoring.variants import variant
from autograder.cli import main
from autograder.course import bundle, revealing, verifying
from autograder.errors import StaffError
from autograder.grading import receipt
from autograder.simulation import demo
from autograder.simulation.classroom import Work

COURSE = Path(__file__).parents[1] / "data" / "course"


@pytest.fixture
def in_course(monkeypatch):
    """The demo takes the problems of the test course."""
    monkeypatch.chdir(COURSE)


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """A finished demo of sixteen students, its folder still there, and what was told on the way."""
    told = []
    with contextlib.chdir(COURSE):
        place = tmp_path_factory.mktemp("demo")
        result = demo.run(place, students=16, seconds=2, progress=lambda *item: told.append(item))
    return result, told


def test_everybody_gets_what_was_deserved(finished):
    """Each total is the sum of what the persona deserves, in the reports and in nbgrader's exported table."""
    result, _ = finished
    (problem,) = result.problems
    p = variant(problem, 1).parameters
    for student in result.students:
        deserved = sum(student.does["tiny"].deserves(problem, p).values())
        assert (student.name, student.score) == (student.name, deserved)
        assert result.exported[student.name] == deserved if student.reports else student.name not in result.exported


def test_the_class_went_through_the_exchange(finished):
    """Submissions lie in the exchange's inbound folder and were collected from there, time stamps included."""
    result, _ = finished
    inbound = [path.name for path in (result.folder / "exchange/demo/inbound").iterdir()]
    handed_in = [student.name for student in result.students if student.reports]
    assert sorted(name.split("+")[0] for name in inbound) == sorted(handed_in)
    for name in handed_in:
        assert (result.folder / f"notebooks/submitted/{name}/ps1/timestamp.txt").is_file()
        assert (result.folder / f"notebooks/feedback/{name}/ps1/tiny.html").is_file()


def test_all_marks_replay_from_receipts_and_bundle(finished, tmp_path, monkeypatch):
    """Whoever has a page, the notebook that was handed in, and the bundle comes to the same marks, without a course."""
    result, _ = finished
    course, desks = result.folder / "notebooks", result.folder / "students"
    revealed = revealing.reveal(course, "ps1", tmp_path / "ps1-bundle.zip")
    handed_in = [student for student in result.students if student.reports]
    assert (revealed.receipts, revealed.notes) == (len(handed_in), [])
    pages = {student.name: (course / f"feedback/{student.name}/ps1/tiny.html").read_text() for student in handed_in}
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("AUTOGRADER_SECRET", raising=False)
    opened = bundle.opened(revealed.path, tmp_path / "bundle")
    decided = 0
    for student in handed_in:
        (notebook,) = (desks / student.name / "ps1").glob("*.ipynb")
        found = verifying.verify(receipt.read(pages[student.name]), opened, notebook, revealed.commitments[-1].hash)
        assert (student.name, [part for part in found.parts if part.same is False], found.notes) == (
            student.name,
            [],
            [],
        )
        assert sum(part.points for part in found.receipt.parts.values()) == student.score
        decided += sum(part.same is True for part in found.parts)
    assert decided == 4 * (len(handed_in) - 1)  # one file could not be read, and in each other one a part is in words


def test_progress_is_told_step_by_step(finished):
    """Each step ends with all its pieces."""
    _, told = finished
    last = {step: (done, pieces) for step, done, pieces in told}
    assert list(last) == ["build and release", "students fetch, work and submit", "autograde", "generate feedback"]
    assert all(done == pieces for done, pieces in last.values())


def test_the_table_says_who_did_what_and_why(finished):
    """Marks per part with held ones apart, codes with the first hint, and what was mended."""
    result, _ = finished
    (problem,) = result.problems
    rows = {student.name: (demo.marks(student, problem), demo.why(student)) for student in result.students}
    assert rows["ada"] == ("4 3 2 1 ?", "")
    assert rows["carl"] == (
        "0 3 2 1 ?",
        "over_batch. You took the mean over the batch; it is taken over the last axis, row by row.",
    )
    assert rows["leonhard"] == ("–", "nothing was handed in")
    assert rows["katherine"][0] == "? ? ? ? ?"
    assert rows["katherine"][1].startswith("notebook. The notebook could not be read")
    assert "2 cells have the id" in rows["henri"][1]


def test_the_command_prints_the_table_and_leaves_nothing_behind(in_course, tmp_path, monkeypatch):
    """`autograder demo`: the path, the bars, a table, and no folder afterwards."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    result = CliRunner().invoke(main, ["demo", "--students", "2"], env={"COLUMNS": "200"})
    assert result.exit_code == 0, result.output
    assert re.search(r"ada .*Everything correct.*4 3 2 1 [?] .*10 ", result.output)
    assert str(tmp_path) in result.output
    assert [path for path in tmp_path.iterdir() if path.name.startswith("autograder-demo")] == []


def test_the_folder_is_kept_on_request(tmp_path, monkeypatch):
    """`--keep` leaves it, without it is removed, read-only folders of the exchange included."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    for keep in (True, False):
        with demo.folder(keep) as place:
            (place / "inner").mkdir()
            (place / "inner" / "file").touch()
            (place / "inner").chmod(0o500)
        assert place.exists() == keep


def test_a_user_without_a_home_gets_one_for_the_time(tmp_path, monkeypatch):
    """Jupyter does not start without one; a user id that nobody registered has none."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr(demo, "_homeless", lambda: True)
    monkeypatch.setenv("HOME", "/nonexistent")
    with demo.folder(keep=False) as place:
        assert os.environ["HOME"] == str(place)
    assert "HOME" not in os.environ


def test_a_class_of_nobody_is_refused(in_course, tmp_path):
    """The message says how many there can be."""
    with pytest.raises(StaffError) as caught:
        demo.run(tmp_path, students=0)
    assert "1 to 22" in caught.value.message


def test_a_failure_of_nbgraders_is_shown(in_course, tmp_path, monkeypatch):
    """What nbgrader says is in the message, and the command ends with 1."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr(demo, "CONFIG", demo.CONFIG + "c.CourseDirectory.course_id = ''\n")
    result = CliRunner().invoke(main, ["demo", "--students", "1"])
    assert result.exit_code == 1
    assert "No course id specified" in result.output


def test_every_persona_hands_in_something_it_can_be_told_by():
    """The table's names are all there, each with a description, and the class draws on no other."""
    problem = loading.load("tiny", COURSE / "problems")
    from autograder.simulation.personas import personas

    names = [persona.name for persona in personas(problem)]
    assert len(set(names)) == len(names)
    assert all(persona.description for persona in personas(problem))
    kinds = {name.split("_")[0] for name in names} | set(names)
    assert set(demo.CLASS.values()) <= kinds


def test_a_persona_does_not_change_the_released_notebook():
    """Everybody starts from a fresh copy."""
    from autograder.authoring.source_notebook import build
    from autograder.simulation.personas import personas

    problem = loading.load("tiny", COURSE / "problems")
    released = build(problem, 7, root=COURSE / "problems")
    before = repr(released)
    for persona in personas(problem):
        persona.make(Work(released, problem, variant(problem, 7).parameters))
    assert repr(released) == before
