"""How statements look: emphasis is never within emphasis, and no mark of it is left over, in any variant."""

from pathlib import Path

import pytest
from markdown_it import MarkdownIt

from autograder.authoring.loading import load, slugs, statement_text
from autograder.authoring.statement import render
from autograder.authoring.variants import variant

ROOT = Path(__file__).parents[2] / "problems"
MARKDOWN = MarkdownIt()


def faults(text):
    """The lines in which bold stands in bold, italics in italics, or a mark of bold as such."""
    found = []
    for line in MARKDOWN.parse(text):
        depth = {"strong": 0, "em": 0}
        for token in line.children or ():
            kind, _, end = token.type.partition("_")
            if kind in depth:
                depth[kind] += 1 if end == "open" else -1
            if max(depth.values()) > 1 or (token.type == "text" and "**" in token.content):
                found.append(line.content)
    return found


@pytest.mark.parametrize(
    ("text", "wrong"),
    [("**bold** and **more**", 0), ("**in *italics* too**", 0), ("**bold **in** bold**", 1), ("** left over", 1)],
)
def test_what_counts_as_a_fault(text, wrong):
    """Near misses on both sides."""
    assert len(set(faults(text))) == wrong


@pytest.mark.parametrize("slug", slugs(ROOT))
def test_emphasis_in_statements(slug):
    """A phrase that is bold itself does not stand in a bold sentence."""
    problem, text = load(slug, ROOT), statement_text(slug, ROOT)
    for seed in range(8):
        shown = render(problem, text, variant(problem, seed).parameters)
        assert [fault for part in shown.values() for fault in faults(part)] == []
