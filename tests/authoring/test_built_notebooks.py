"""Every assignment of the course can be built, and what was built is fresh."""

from pathlib import Path

import pytest

from autograder.authoring.assignment import read_assignment
from autograder.authoring.building import notebooks

COURSE = Path(__file__).parents[2] / "notebooks"
NAMES = sorted(path.stem for path in COURSE.glob("*.toml"))


@pytest.mark.parametrize("name", NAMES)
def test_built_notebooks_are_fresh(name):
    """The notebook of each problem is the one that its folder gives now; `autograder build` makes it again."""
    for slug, text in notebooks(read_assignment(COURSE, name), root=COURSE.parent / "problems"):
        path = COURSE / "source" / name / f"{slug}.ipynb"
        assert path.read_text(encoding="utf-8") == text, f"stale: run `autograder build {name}`"


def test_no_notebook_is_left_over():
    """A built notebook belongs to an assignment that still lists its problem."""
    listed = {(name, slug) for name in NAMES for slug in read_assignment(COURSE, name).problems}
    assert {(path.parent.name, path.stem) for path in (COURSE / "source").glob("*/*.ipynb")} == listed
