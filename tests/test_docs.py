"""The pages on typed answers are true: every example is read, refused or decided as they say."""

import ast
import doctest
import re
from pathlib import Path

import pytest

from autograder import preview
from autograder.errors import Unreadable

DOCS = Path(__file__).parents[1] / "docs"
BLOCK = re.compile(r"^```(expression|equation|growth|derivation|matrix)(.*?)\n(.*?)^```", re.MULTILINE | re.DOTALL)


def blocks():
    """Kind, declared words and lines of each example block on the students' page."""
    for kind, words, body in BLOCK.findall((DOCS / "answer-languages.md").read_text(encoding="utf-8")):
        yield kind, words.split(), [line for line in body.split("\n") if line.strip()]


def show(kind, words, text):
    """What the preview makes of one example; raises Unreadable."""
    domains = dict(word.split("=") for word in words if "=" in word)
    match kind:
        case "expression":
            return preview.show_expression(text, domains=domains)
        case "derivation":
            return preview.show_derivation(text, domains=domains)
        case "matrix":
            return preview.show_matrix(ast.literal_eval(text), domains=domains)
        case "growth":
            return preview.show_growth(text, variables=words)
    return preview.show_equation(text)


EXAMPLES = [(kind, tuple(words), line) for kind, words, lines in blocks() if kind != "derivation" for line in lines]


@pytest.mark.parametrize(("kind", "words", "line"), EXAMPLES)
def test_examples_of_the_students_page(kind, words, line):
    """Each line is read; each line with a cross is refused with the words behind the arrow."""
    if not line.startswith("✗"):
        assert show(kind, words, line).latex
        return
    text, _, expected = line.removeprefix("✗").partition("→")
    with pytest.raises(Unreadable) as refused:
        show(kind, words, text.strip())
    assert expected.strip() in refused.value.message


def test_the_derivation_of_the_students_page():
    """Its lines are read as one chain."""
    ((kind, words, lines),) = [block for block in blocks() if block[0] == "derivation"]
    assert show(kind, words, "\n".join(lines)).latex.count(r"\\") == len(lines) - 1


def test_the_page_has_an_example_of_each_kind():
    """No kind of typed answer is left out."""
    assert {kind for kind, _, _ in blocks()} == {"expression", "equation", "growth", "derivation", "matrix"}


def test_the_authors_page_is_a_doctest():
    """Every example of the authors' page gives what stands under it."""
    failed, tried = doctest.testfile(str(DOCS / "typed-parts.md"), module_relative=False)
    assert tried > 8
    assert failed == 0
