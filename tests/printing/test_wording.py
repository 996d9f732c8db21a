"""A statement's words on paper: nothing speaks of names that are bound, or of typing, and all else stays."""

from __future__ import annotations

import re

import pytest

from autograder.authoring import loading, statement
from autograder.authoring.variants import variant
from autograder.printing.wording import for_paper

SAID = [
    ("Is it? Assign the letter to `claim`.", "Is it?"),
    ("How many? Assign a whole number to `n`.", "How many? Give a whole number."),
    ("How many? Assign a number to `n`.", "How many? Give a number."),
    ("Which are right? Assign their letters to `over_time`.", "Which are right?"),
    ("Which is it? Assign the name to `law`, in quotes.", "Which is it?"),
    ("Assign the three whole numbers, in this order, to `sub`.", "Give the three whole numbers, in this order."),
    ("Put lines in order, and assign their letters to `p`. Leave out one.", "Put lines in order. Leave out one."),
    ("Find an input on which it errs, and assign it to `found`.", "Find an input on which it errs."),
    ("Type a bound in `n`.", "Write a bound in `n`."),
    ("Should it be infinite, type `inf`.", "Should it be infinite, write `inf`."),
    ("In typed equations `sigma` is $\\sigma$.", "In written equations `sigma` is $\\sigma$."),
    ("the normaliser $Z$, typed `Z`, for", "the normaliser $Z$, written `Z`, for"),
    ("Type `W~`, or paste LaTeX with `\\tilde{W}`.", "Write `W~`."),
    ("Type `h->`, or paste LaTeX with `\\vec{h}` and `\\bar{h}`. More.", "Write `h->`. More."),
    ("Type it by name, or paste LaTeX.", "Write it by name."),
    ("**Typing.** In plain text.\nOr not.\n\n**More.** It stays.", "**More.** It stays."),
    # What only looks like it.
    ("Assign each letter to a class.", "Assign each letter to a class."),
    ("The type of cell is `type`.", "The type of cell is `type`."),
    ("`Type` in $Type$.", "`Type` in $Type$."),
    ("Typed answers are the topic.", "Typed answers are the topic."),
]  # fmt: skip


@pytest.mark.parametrize(("text", "wanted"), SAID)
def test_what_paper_says(text: str, wanted: str) -> None:
    """Sentence by sentence."""
    assert for_paper(text) == wanted


def test_no_statement_speaks_of_a_notebook() -> None:
    """No problem asks on paper for a name to be bound."""
    odd = re.compile(r"\b[Aa]ssign [\w ]+ to `|paste LaTeX|\bType\b|\bthis notebook\b")
    for slug in loading.slugs(loading.find_problems()):
        problem, text = loading.load(slug), loading.statement_text(slug)
        for name, section in statement.render(problem, text, variant(problem, 1).parameters).items():
            prose = re.sub(r"`[^`\n]*`", "`", for_paper(section).replace("`", "` `"))
            assert not odd.search(for_paper(section)), (slug, name, odd.search(for_paper(section)), prose)
