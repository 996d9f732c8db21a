"""What decides marks, byte for byte."""

import shutil
from pathlib import Path

import pytest

from autograder.authoring.hidden_tests import digest_of_tests, folder_files
from autograder.authoring.voids import Void

TINY = Path(__file__).parents[1] / "data/course/problems/tiny"
NOTEBOOK = {"cells": [{"metadata": {"nbgrader": {"grade": True, "grade_id": "centre", "points": 4}}}, {"metadata": {}}]}


@pytest.fixture
def folder(tmp_path):
    """A copy of a problem's folder."""
    return Path(shutil.copytree(TINY, tmp_path / "tiny"))


def append(folder, name, content):
    """Add bytes to a file."""
    path = folder / name
    path.parent.mkdir(exist_ok=True)
    path.write_bytes((path.read_bytes() if path.exists() else b"") + content)


@pytest.mark.parametrize(
    "name", ["problem.py", "statement.md", "mistakes.py", "data/numbers.bin"], ids=lambda name: name
)
def test_one_more_byte_is_other_tests(folder, name):
    """A blank at the end of any file, and a file more."""
    before = digest_of_tests(folder, NOTEBOOK, {})
    append(folder, name, b" ")
    assert digest_of_tests(folder, NOTEBOOK, {}) != before


@pytest.mark.parametrize("name", ["__pycache__/problem.cpython-311.pyc", ".ipynb_checkpoints/problem.py", ".swp"])
def test_what_programs_leave_is_no_test(folder, name):
    """Caches and hidden files decide nothing."""
    before = digest_of_tests(folder, NOTEBOOK, {})
    append(folder, name, b"x")
    assert digest_of_tests(folder, NOTEBOOK, {}) == before
    assert sorted(folder_files(folder)) == ["problem.py", "statement.md"]


def test_points_and_voids_count(folder):
    """A point more, and whatever a void says, is another digest; an integer and a float are the same points."""
    before = digest_of_tests(folder, NOTEBOOK, {})
    marks = {**NOTEBOOK["cells"][0]["metadata"]["nbgrader"]}

    def worth(points):
        return {"cells": [{"metadata": {"nbgrader": {**marks, "points": points}}}]}

    assert digest_of_tests(folder, worth(4.0), {}) == before
    voids = [{"centre": Void(effect=effect, reason=reason)} for effect in ("full", "drop") for reason in ("", "Typo.")]
    others = [digest_of_tests(folder, worth(5), {}), *(digest_of_tests(folder, NOTEBOOK, void) for void in voids)]
    assert len({before, *others}) == 6
