"""What stands on a sheet beside the questions themselves, for paper and for the browser alike."""

from __future__ import annotations

from collections.abc import Sequence

from autograder.defence.code import shown
from autograder.defence.proofs import Asked
from autograder.defence.student import Sheet

EXPLAINED = (
    "These questions are about your own answers, as you handed them in: a value inside them, or what one small change "
    "would do. Each key was found by running your version, and the changed one; a low score means that somebody talks "
    "with you, and is no accusation."
)
TITLES = {
    "change": "One place changed",
    "shape": "A shape inside",
    "value": "A value",
    "input": "An input that tells two versions apart",
    "line": "A wrong line",
    "lost": "A case that shows it",
}


Numbered = tuple[int, Asked, tuple[tuple[str, str], ...]]


def numbered(sheet: Sheet) -> list[Numbered]:
    """The questions with their numbers, and the listings that stand above each, where not above another: name, text."""
    found: list[Numbered] = []
    listed: set[tuple[str, str]] = set()
    for number, item in enumerate(sheet.asked, 1):
        new = [name for name in item.shows if (item.notebook, name) in sheet.code.keys() - listed]
        found.append((number, item, tuple((name, listing(sheet, item.notebook, name)) for name in new)))
        listed |= {(item.notebook, name) for name in new}
    return found


def listing(sheet: Sheet, notebook: str, name: str) -> str:
    """The lines of a definition with their numbers: all, or, of a long one, those around what is asked."""
    definition = sheet.code[notebook, name]
    here = [item for item in sheet.asked if item.notebook == notebook and item.shows[-1:] == (name,)]
    marked = [line for item in here for line in item.lines]
    whole = not marked or any(not item.lines for item in here)
    lines = list(enumerate(definition.lines, 1)) if whole else shown(definition, marked)
    width = len(str(len(definition.lines)))
    return "\n".join(f"{number or '':>{width}}  {text}".rstrip() for number, text in lines)


def headings(items: Sequence[Numbered]) -> dict[int, str]:
    """The notebook's name above the first question about it."""
    found: dict[str, int] = {}
    for number, item, _ in items:
        found.setdefault(item.notebook, number)
    return {number: name for name, number in found.items()}
