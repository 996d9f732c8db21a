"""The course's assignments can be read, and have a title and a text for students."""

from pathlib import Path

import pytest

from autograder.authoring.assignment import read_assignment
from autograder.authoring.loading import slugs

ROOT = Path(__file__).parents[2]
NAMES = sorted(path.stem for path in (ROOT / "notebooks").glob("*.toml"))


@pytest.mark.parametrize("name", NAMES)
def test_an_assignment_can_be_read(name):
    """Its problems are named once each, and some of them are here."""
    assignment = read_assignment(ROOT / "notebooks", name)
    assert assignment.title != name
    assert len(set(assignment.problems)) == len(assignment.problems)
    assert set(assignment.problems) & set(slugs(ROOT / "problems"))


def test_assignments_draw_different_variants():
    """No two have the same seed: a problem in two of them has other numbers in each."""
    seeds = [read_assignment(ROOT / "notebooks", name).seed for name in NAMES]
    assert len(set(seeds)) == len(seeds)
