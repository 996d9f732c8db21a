"""A rubric as its graders read it: a line for each criterion."""

import pytest

from autograder.parts.written import as_list

RUBRICS = {
    "one line": ("2: the name. 1: that it works.", "2: the name. 1: that it works."),
    "dashes": ("- 2 of 4: a\n- 1 of 4: b.\nTake nothing off.", "- 2 of 4: a\n- 1 of 4: b.\n\nTake nothing off."),
    "points": ("2 points:\n1 - a;\n1/2 - b.\nNo more.", "2 points:\n\n- 1 - a;\n- 1/2 - b.\n\nNo more."),
    "indented": ("1 - a long\n    line;\n1 - b", "- 1 - a long line;\n- 1 - b"),
    "a sentence that goes on": ("1 point: a.\nHalf for this\nand that.", "- 1 point: a.\n\nHalf for this and that."),
    "a name that goes on": ("1 point: by\nEuler.", "- 1 point: by Euler."),
    "several": ("3 points, one for each:\n1 - a", "3 points, one for each:\n\n- 1 - a"),
}


@pytest.mark.parametrize("name", RUBRICS)
def test_each_criterion_is_a_line(name):
    """What goes on stands in its line, what is said beside stands for itself."""
    rubric, listed = RUBRICS[name]
    assert as_list(rubric) == listed
