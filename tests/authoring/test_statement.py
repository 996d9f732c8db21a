"""Statements: sections, placeholders, how numbers read. What an author gets wrong stands in test_author_slips."""

import pytest

from autograder import Choice, Number, Problem
from autograder.authoring.statement import render, shown_value
from autograder.errors import AuthorError


def seven(p):
    """Seven."""
    return 7


def yes(p):
    """The right option."""
    return "Yes."


def no(p):
    """No is wrong."""
    return "No."


def problem(**changes):
    """A problem with a number and a choice."""
    parts = [Number("n", points=1, reference=seven), Choice("c", points=1, reference=yes, mistakes=[no])]
    return Problem(**{"title": "T", "version": 1, "source": "s", "parts": parts, "slug": "t", **changes})


TEXT = "Opening {{V}}.\n\n## Number {#n}\nGive {{ V }}.\n\n### Below\n\n## Which? {#c}\n\nChoose.\n"


def test_sections_by_part():
    """Opening and parts are separate; a heading of lower rank or without a name belongs to its part."""
    shown = render(problem(), TEXT, {"V": 7})
    assert list(shown) == ["", "n", "c"]
    assert shown[""] == "Opening 7."
    assert shown["n"] == "## Number\n\nGive 7.\n\n### Below"


def test_options_follow_the_text_of_a_choice():
    """The package adds what follows from the marking scheme."""
    shown = render(problem(), TEXT, {"V": 7})["c"]
    assert shown.startswith("## Which?\n\nChoose.\n\n- **a)** ")
    assert "Yes." in shown and "No." in shown


def test_a_phrase_shows_what_it_reads():
    """A parameter may be shown through a phrase that follows from it."""
    text = TEXT.replace("{{V}}", "{{word}}").replace("{{ V }}", "it")
    asked = problem(phrases=lambda p: {"word": "even" if p["V"] % 2 == 0 else "odd"})
    assert render(asked, text, {"V": 7})[""] == "Opening odd."
    unread = problem(phrases=lambda p: {"word": "something"})
    with pytest.raises(AuthorError, match=r"draw\(\) gives 'V', but statement.md never shows \{\{V\}\}"):
        render(unread, text, {"V": 7})


def test_single_braces_are_latex():
    """Only double braces are placeholders."""
    text = TEXT.replace("Give", r"Give $\frac{1}{\sqrt{I}}$ of")
    assert r"$\frac{1}{\sqrt{I}}$ of 7" in render(problem(), text, {"V": 7})["n"]


def test_a_value_is_not_filled_in_twice():
    """A phrase that itself looks like a placeholder stays as it is."""
    text = TEXT.replace("Opening {{V}}", "Opening {{word}}")
    assert render(problem(phrases=lambda p: {"word": "{{V}}"}), text, {"V": 7})[""] == "Opening {{V}}."


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (7, "7"),
        (9999, "9999"),
        (10_000, "10,000"),
        (-37_000, "-37,000"),
        (True, "True"),
        (0.25, "0.25"),
        ("word", "word"),
    ],
)
def test_how_values_read(value, text):
    """Thousands are set apart from five digits on."""
    assert shown_value(value) == text
