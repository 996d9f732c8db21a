"""The example at the top of the README is what a run gives."""

import re

import pytest

from autograder.audit.problem import audit
from autograder.authoring.loading import load, statement_text
from benchmarks.pages import written
from benchmarks.readme import EXAMPLE, README, SLUG, blocks


def timeless(text):
    """The text without the seconds that a run took."""
    return re.sub(r"in \d+ s\.", "in … s.", text)


def test_the_example_is_what_a_run_gives():
    """Building, releasing, handing in and grading give the three blocks; `python -m benchmarks.readme` writes them."""
    page = README.read_text(encoding="utf-8")
    assert timeless(written(page, blocks())) == timeless(page)


def test_the_example_passes_the_audit():
    """Its reference earns full marks and its mistake loses some."""
    problems = EXAMPLE / "problems"
    report = audit(load(SLUG, problems), statement_text(SLUG, problems), variants=1)
    assert report.faults == ()
    assert report.kill_score == (1, 1)


def test_a_lost_marker_is_named():
    """A page without a block's markers is not written in silence."""
    with pytest.raises(ValueError, match="0 places for the block 'grader'"):
        written("<!-- problem: x -->\n<!-- end problem -->\n", {"problem": "", "grader": ""})
