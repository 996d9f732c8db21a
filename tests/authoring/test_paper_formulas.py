"""Formulas on paper: all of every problem's compile, and what does not is named."""

from __future__ import annotations

import pytest

from autograder.audit.problem import audit
from autograder.authoring import loading, paper_formulas, statement
from autograder.authoring.paper_formulas import equation, formulas, to_typst, unprintable
from autograder.authoring.variants import variant
from autograder.core import Problem
from autograder.errors import AuthorError, StaffError
from autograder.parts.number import Number

SEEDS = (1, 2, 3)


def statements(slug: str) -> list[str]:
    """The sections of a problem under some seeds."""
    problem, text = loading.load(slug), loading.statement_text(slug)
    return [
        section
        for seed in SEEDS
        for section in statement.render(problem, text, variant(problem, seed).parameters).values()
    ]


def test_every_formula_of_every_problem_compiles() -> None:
    """Under three seeds each; there are some hundreds."""
    texts = [text for slug in loading.slugs(loading.find_problems()) for text in statements(slug)]
    assert len({tex for text in texts for tex in formulas(text)}) > 400
    assert unprintable(texts) == []


NAMED = [
    ("a macro", r"So $\foo{x} + \alpha$.", r"nothing here knows \foo"),
    ("a macro in a display", "$$\n\\barr x\n$$", r"nothing here knows \barr"),
    ("a brace that is not closed", r"$\frac{a$", "cannot be printed: Unmatched"),
]


@pytest.mark.parametrize(("name", "text", "wanted"), NAMED, ids=[row[0] for row in NAMED])
def test_what_cannot_be_printed_is_named(name: str, text: str, wanted: str) -> None:
    """One sentence, with the formula; its neighbours are no fault."""
    (sentence,) = unprintable([text, r"and $\beta^2$"])
    assert wanted in sentence and "beta" not in sentence


SHOWN = (
    r"\lVert x \rVert", r"\lvert x \rvert", r"a \odot b", r"a \otimes b", r"a \oplus b", r"a \ominus b", r"\aleph_0",
    "4,096",
)  # fmt: skip


@pytest.mark.parametrize("tex", SHOWN)
def test_what_the_converter_lacks(tex: str) -> None:
    """It compiles all the same."""
    assert unprintable([f"${tex}$"]) == []


def test_thousands_are_one_number() -> None:
    """No space stands behind their comma, but between arguments one does."""
    assert to_typst("4,096") != to_typst("4, 096")
    assert "," in to_typst("4,096") and ", 096" not in to_typst("4,096")
    assert to_typst("f(1,2)") == to_typst("f(1, 2)")


def test_the_formula_is_its_own_alternative() -> None:
    """What hears the page hears its text."""
    assert 'alt: "x^2"' in equation(" x^2\n") and "block: true" in equation("x", display=True)


def test_code_has_no_formulas() -> None:
    """A dollar in code is a dollar."""
    assert list(formulas("`$a$` and ```\n$b$\n``` and $c$ and $$d$$")) == ["c", "d"]


def tiny() -> Problem:
    """A problem with one part."""
    part = Number("n", points=1, reference=lambda p: 1)
    return Problem(title="T", version=1, source="test", parts=[part], slug="tiny")


def test_the_audit_names_a_macro() -> None:
    """As a note: the notebook shows it."""
    (note,) = (note for note in audit(tiny(), "## N {#n}\n\nHow many $\\nonesuch$?").notes if "paper" not in note)
    assert r"nothing here knows \nonesuch" in note
    assert not [note for note in audit(tiny(), "## N {#n}\n\nHow many $n$?").notes if "formula" in note]


def test_without_the_extra_the_audit_says_what_is_missing(monkeypatch) -> None:
    """And how to install it; nothing else fails."""

    def lacking() -> None:
        raise StaffError("no_print", f"typst cannot be imported; {paper_formulas.NEEDED}")

    monkeypatch.setattr(paper_formulas, "require", lacking)
    (note,) = (note for note in audit(tiny(), "## N {#n}\n\nHow many $n$?").notes if "paper" in note)
    assert "typst cannot be imported" in note and "pip install" in note


def test_what_cannot_be_read_is_an_authors_fault() -> None:
    """With the formula."""
    with pytest.raises(AuthorError, match="frac"):
        to_typst(r"\frac{a")
