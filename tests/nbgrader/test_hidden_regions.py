"""What students do not see of an instructor's own tests."""

from __future__ import annotations

import pytest
from nbformat.v4 import new_code_cell
from traitlets.config import Config

from autograder.nbgrader.hidden_regions import LEFT_OUT, Hidden

TRACE = """\x1b[31mAssertionError\x1b[39m: x
\x1b[32m----> 4 assert f(12) == 144  \x1b[39m
      5 y = 1
      2 assert f(1) == 1"""


@pytest.mark.parametrize(("begin", "end"), [("### BEGIN HIDDEN TESTS", "### END HIDDEN TESTS"), ("# <<", "# >>")])
def test_lines_of_a_hidden_region_are_quoted_nowhere(begin, end):
    """By the course's own delimiters; what students were given is shown, a short line only hidden where it is alone."""
    config = Config()
    config.ClearHiddenTests.begin_test_delimeter, config.ClearHiddenTests.end_test_delimeter = begin, end
    cell = new_code_cell(f"assert f(1) == 1\n{begin}\nassert f(12)   == 144\ny = 1\n{end}")
    hidden = Hidden([cell], config)
    assert hidden.visible(cell) == "assert f(1) == 1"
    assert hidden.without(TRACE).split("\n")[1:] == [LEFT_OUT, "      2 assert f(1) == 1"]
    assert hidden.without("my = 1 and more") == "my = 1 and more"


def test_a_region_without_an_end_hides_the_cell():
    """Nobody knows where it was to end."""
    cell = new_code_cell("a = 1\n### BEGIN HIDDEN TESTS\nassert a")
    assert Hidden([cell], Config()).visible(cell) == ""
