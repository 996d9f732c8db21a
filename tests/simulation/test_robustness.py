"""The page on robustness is in step with the class: every persona has its line, and our marks are as deserved."""

from pathlib import Path

import pytest

from autograder.authoring import loading
from autograder.simulation.personas import personas

ROOT = Path(__file__).parents[2]
LINES = [line.split(" | ") for line in (ROOT / "docs/robustness.md").read_text().splitlines() if line.startswith("| `")]
ROWS = {cells[0].strip("| `"): cells for cells in LINES}
PROBLEM = loading.load("tiny", ROOT / "tests/data/course/problems")


def test_the_page_has_a_line_for_everybody():
    """Run `python -m benchmarks.robustness` after a change to the table of personas."""
    assert list(ROWS) == [persona.name for persona in personas(PROBLEM)]


@pytest.mark.parametrize("name", ROWS)
def test_our_marks_are_as_deserved(name):
    """No bold in our column; who handed in no notebook has no submission."""
    _, _, deserved, ours, *_ = ROWS[name]
    assert ours == deserved or ours == "no submission"
