"""Points of an assignment: scaled in quarters, summing exactly, and worth in the gradebook what the notebook says."""

import pytest

from autograder import Number, Problem
from autograder.authoring.assignment import read_assignment
from autograder.authoring.building import notebooks
from autograder.authoring.loading import load
from autograder.authoring.source_notebook import build
from autograder.errors import AutograderError


def problem(*points):
    """A problem whose parts are worth these points."""
    parts = [Number(f"n{i}", points=worth, reference=lambda p: 1) for i, worth in enumerate(points)]
    return Problem(title="t", version=1, source="s", parts=parts)


@pytest.mark.parametrize(
    ("points", "total", "scaled"),
    [
        ((5, 10, 6, 1, 1, 2, 4), 25, None),
        ((5, 5, 4, 1, 1, 2, 2), 25, None),
        ((1, 1, 1), 1, None),
        ((1, 1, 1), 10, None),
        ((100, 1, 1), 1, [0.5, 0.25, 0.25]),
        ((2, 2), 4, [2, 2]),
        ((1, 3), 8, [2, 6]),
        ((1, 2), 0.75, [0.25, 0.5]),
    ],
)
def test_scaled_points(points, total, scaled):
    """They sum to the total, in quarters, none of them zero, and keep their order."""
    shares = [part.points for part in problem(*points).worth(total).parts]
    assert sum(shares) == total
    assert all(share >= 0.25 and (4 * share).is_integer() for share in map(float, shares))
    assert all(
        a >= b for p, a in zip(points, shares, strict=True) for q, b in zip(points, shares, strict=True) if p > q
    )
    assert scaled is None or shares == scaled


@pytest.mark.parametrize("total", [0.5, 0.3, 7.1])
def test_totals_that_cannot_be_shared_out(total):
    """Fewer quarters than parts, or no quarters at all."""
    with pytest.raises(AutograderError):
        problem(1, 1, 1).worth(total)


def test_no_total_leaves_the_points():
    """A problem that the assignment says nothing about is worth its own points."""
    assert problem(1, 2).worth(None).points == 3


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("ugrnn = 3", "did you mean ugrnn_gates"),
        ("ugrnn_gates = 0", "above zero"),
        ("ugrnn_gates = true", "above zero"),
        ('ugrnn_gates = "25"', "above zero"),
    ],
)
def test_slips_in_the_points_of_an_assignment(tmp_path, text, words):
    """A misspelt problem and a number that is none are heard with the file's name."""
    (tmp_path / "a.toml").write_text(f'problems = ["ugrnn_gates"]\n[points]\n{text}\n')
    with pytest.raises(AutograderError, match=words):
        read_assignment(tmp_path, "a")


def test_the_notebook_says_what_a_part_is_worth():
    """Cells, text and the hidden call carry the scaled points, and the grader reads them from the cells."""
    scaled = load("ugrnn_gates").worth(25)
    notebook = build(scaled, 1)
    worth = [
        cell["metadata"]["nbgrader"]["points"] for cell in notebook["cells"] if cell["metadata"]["nbgrader"]["grade"]
    ]
    assert sum(worth) == 25
    assert f"points={scaled.parts[0].points:g}" in "".join(cell["source"] for cell in notebook["cells"])
    assert "worth 25 points" in notebook["cells"][0]["source"]


def test_the_exam_has_four_problems_of_25_points():
    """As printed: whatever the folders' own points are."""
    from pathlib import Path

    course = Path(__file__).parents[2] / "notebooks"
    for _, text in notebooks(read_assignment(course, "exam-1"), root=course.parent / "problems"):
        assert "worth 25 points" in text
