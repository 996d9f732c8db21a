"""What stands on a sheet beside the questions themselves, for paper and for the browser alike."""

from __future__ import annotations

from collections.abc import Sequence

from autograder.defence.code import shown
from autograder.defence.keys import Asked
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


def numbered(sheet: Sheet) -> list[tuple[int, Asked, str]]:
    """The questions with their numbers, and with the listing that stands above each, where it is not above another."""
    found, listed = [], set()
    for number, item in enumerate(sheet.asked, 1):
        place = (item.notebook, item.shows)
        text = "" if place in listed or place not in sheet.code else listing(sheet, item)
        listed.add(place)
        found.append((number, item, text))
    return found


def listing(sheet: Sheet, item: Asked) -> str:
    """The lines of a definition with their numbers; all of them where a question is about the whole."""
    definition = sheet.code[item.notebook, item.shows]
    here = [other for other in sheet.asked if (other.notebook, other.shows) == (item.notebook, item.shows)]
    whole = any(not other.lines for other in here)
    lines = list(enumerate(definition.lines, 1)) if whole else shown(definition, [n for o in here for n in o.lines])
    width = len(str(len(definition.lines)))
    return "\n".join(f"{number or '':>{width}}  {text}".rstrip() for number, text in lines)


def headings(items: Sequence[tuple[int, Asked, str]]) -> dict[int, str]:
    """The notebook's name above the first question about it."""
    found: dict[str, int] = {}
    for number, item, _ in items:
        found.setdefault(item.notebook, number)
    return {number: name for name, number in found.items()}
