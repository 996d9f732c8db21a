"""The course's assignments can be read, and have a title and a text for students."""

from pathlib import Path

import pytest

from autograder.authoring.assignment import read_assignment
from autograder.authoring.loading import slugs
from autograder.errors import StaffError

ROOT = Path(__file__).parents[2]
NAMES = sorted(path.stem for path in (ROOT / "notebooks").glob("*.toml"))


@pytest.mark.parametrize("name", NAMES)
def test_an_assignment_can_be_read(name):
    """Its problems are named once each, and some of them are here."""
    assignment = read_assignment(ROOT / "notebooks", name)
    assert assignment.title != name
    assert len(set(assignment.problems)) == len(assignment.problems)
    assert set(assignment.problems) & set(slugs(ROOT / "problems"))


def test_notebooks_of_the_courses_own_need_no_building(tmp_path):
    """Who builds them is told what to do instead; a name that nothing has is answered with those that there are."""
    (tmp_path / "source/hw").mkdir(parents=True)
    (tmp_path / "source/hw/count.ipynb").write_text("{}")
    (tmp_path / "ps1.toml").write_text("")
    with pytest.raises(StaffError, match=r"nothing is to be built: source/hw .* \(count\.ipynb\)"):
        read_assignment(tmp_path, "hw")
    (tmp_path / "source/hw/built.ipynb").write_text('{"metadata": {"autograder": {"slug": "count"}}}')
    with pytest.raises(StaffError, match=r"there is no hw\.toml .*there are ps1"):
        read_assignment(tmp_path, "hw")
    with pytest.raises(StaffError, match=r"there is no ps2\.toml .*ps1"):
        read_assignment(tmp_path, "ps2")


def test_assignments_draw_different_variants():
    """No two have the same seed: a problem in two of them has other numbers in each."""
    seeds = [read_assignment(ROOT / "notebooks", name).seed for name in NAMES]
    assert len(set(seeds)) == len(seeds)
