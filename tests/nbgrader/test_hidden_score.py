"""`hidden.score`, for courses without our configuration: the same seals, and the same voids."""

import json

import pytest

from autograder import hidden
from autograder.authoring import sealing
from autograder.authoring.assignment import read_assignment
from autograder.authoring.building import notebook_text
from autograder.authoring.variants import course_secret, variant

VOIDS = """
[void.'tiny.parameters']
as = {effect}
reason = "The statement named no unit."
"""


@pytest.fixture(scope="module")
def course(new_course, tmp_path_factory):
    """A course whose notebooks are sealed as our configuration does it."""
    return new_course(tmp_path_factory.mktemp("hidden") / "course")


@pytest.fixture
def scored(course, monkeypatch, capsys):
    """Points and words for an answer to `parameters`, in a notebook that was handed in by ada; without one, as told."""
    monkeypatch.setattr(hidden, "_BEFORE", {})
    here = course.path / "autograded" / "ada" / "ps1"
    here.mkdir(parents=True, exist_ok=True)
    monkeypatch.chdir(here)

    def score(notebook, value, void=""):
        place = course.path / "submitted" / "ada" / "ps1" / "tiny.ipynb"
        place.parent.mkdir(parents=True, exist_ok=True)
        place.unlink(missing_ok=True)
        if notebook:
            place.write_text(json.dumps(notebook))
        file = course.path / "ps1.toml"
        text = file.read_text()
        try:
            file.write_text(text + VOIDS.format(effect=void) if void else text)
            version, points = course.problem.version, course.problem.part("parameters").points
            names = {"parameters": value}
            capsys.readouterr()
            found = hidden.score("tiny", "parameters", version=version, seed=7, points=points, names=names)
        finally:
            file.write_text(text)
        return found, capsys.readouterr().out

    return score


def sealed(course, *, seed=7, student=""):
    """A released notebook of a variant, sealed for a student or for the class."""
    text = notebook_text(read_assignment(course.path, "ps1"), "tiny", seed, course.path.parent / "problems")
    notebook, secret = json.loads(text), course_secret(course.path)
    drawn = variant(course.problem, seed)
    sealing.put(notebook, sealing.identity_of(drawn, assignment="ps1", secret=secret, student=student), secret)
    return notebook


def right(course, seed=7):
    """The number that is right in a variant."""
    part = course.problem.part("parameters")
    return part.reference(variant(course.problem, seed).parameters)


OTHER = 12345


def test_a_notebook_is_judged_as_what_it_was_handed_out_as(course, scored):
    """By its seal: the class's variant, or another one, whose numbers are then the right ones."""
    assert right(course) != right(course, OTHER)
    assert scored(None, right(course))[0] == scored(sealed(course), right(course))[0] == 2.0
    assert scored(sealed(course), right(course, OTHER))[0] == 0.0
    points, said = scored(sealed(course, seed=OTHER), right(course, OTHER))
    assert points == 2.0 and "was graded by that" in said
    assert scored(sealed(course, seed=OTHER), right(course))[0] == 0.0


def test_what_only_a_person_can_decide_has_no_points_yet(course, scored):
    """Somebody else's notebook, and one of which nobody can tell what it is.

    Where the statement is right, a broken seal does no harm.
    """
    points, said = scored(sealed(course, student="bob"), right(course))
    assert points == 0.0 and "handed out to somebody else. A grader will check this." in said
    assert scored(sealed(course, student="ada"), right(course))[0] == 2.0
    broken = sealed(course)
    broken["metadata"]["autograder"]["seal"] = "0" * 64
    points, said = scored(broken, right(course))
    assert points == 2.0 and "was changed" in said
    for cell in broken["cells"]:
        cell["source"] = cell["source"] if cell["cell_type"] == "code" else "Something else."
    points, said = scored(broken, right(course))
    assert points == 0.0 and "cannot be told" in said


@pytest.mark.parametrize(
    ("void", "value", "points", "said"),
    [
        ('"full"', 0, 2.0, "has the points of this part. The statement named no unit."),
        ('"drop"', 0, 0.0, "does not count"),
        ('"drop"', None, 2.0, "Points that were earned in it are kept."),
        ('["77"]', 77, 2.0, "Other answers are correct here as well: 77."),
        ('["77"]', 78, 0.0, "Other answers are correct here as well: 77."),
        ('["77"]', None, 2.0, "Other answers are correct here as well: 77."),
    ],
)
def test_what_the_assignments_file_says_of_a_part_holds(course, scored, void, value, points, said):
    """Full, dropped with what was earned, further answers; `None` stands for the right answer."""
    found, words = scored(sealed(course), right(course) if value is None else value, void)
    assert found == points and said in words


def test_a_void_of_other_variants_changes_nothing(course, scored):
    """It holds for the seeds that it names."""
    assert scored(sealed(course), 0, '"full"\nvariants = [8]')[0] == 0.0
    assert scored(sealed(course), 0, '"full"\nvariants = [7]')[0] == 2.0
