"""What a student sees on running an answer cell: the equations of every right answer are shown."""

from pathlib import Path

import pytest

from autograder.authoring.loading import load
from autograder.authoring.variants import variant
from autograder.parts import Equation
from autograder.student import preview

ROOT = Path(__file__).parents[2] / "problems"
SLUGS = ("blank_definition", "blank_language_model", "image_captioning", "language_cnn")


@pytest.mark.parametrize("slug", SLUGS)
@pytest.mark.parametrize("seed", range(6))
def test_right_equations_are_shown(slug, seed, monkeypatch):
    """With all that the first cell declares, one part's names do not spoil another part's preview."""
    monkeypatch.setattr(preview, "_DECLARED", [])
    monkeypatch.setattr(preview, "present", lambda bundle: None)
    problem = load(slug, ROOT)
    p = variant(problem, seed).parameters
    for part in problem.parts:
        words = {key: value for key, value in part.declarations(p).items() if value}
        if words:
            preview.declare(**words)
    for part in problem.parts:
        if isinstance(part, Equation):
            for text in (part.reference, *part.equivalents):
                shown = Equation.preview(part.given(text, p))
                assert shown._shown.fault == "", (part.name, part.given(text, p))
                assert shown._shown.latex
