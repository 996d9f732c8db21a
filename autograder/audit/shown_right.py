"""Whether an answer that was not accepted is right all the same, by ways that are not the judge's.

It is what the problem lists, written so; or the same text but for spaces, case, quotes and a label; or it has one
number, which is the right one; or sympy and mpmath find it worth what the reference is, at random points. Where none
of these shows it, nothing is said: it may still be right.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from autograder.audit.second_route import worth_the_same
from autograder.core import Parameters, Part

LISTED, SPELLED, NUMBER, VALUE = "listed by the problem", "spelled alike", "the right number", "worth the same"
_NUMBER = re.compile(r"(?:\w+\s*=\s*)?(?P<number>[-+]?\d+(?:[.,]\d+)*(?:[eE][-+]?\d+)?)(?:\s+[^\W\d]+){0,3}[.]?")
_NEAR = re.compile(r"(?<!\w)\s+|\s+(?!\w)|['\"`$]|[.]$")


def shown_right(part: Part, p: Parameters, cell: str, value: Any) -> str:
    """By which way an answer is shown to be right; empty where it is by none."""
    if part.judged_by_person:
        return ""
    cells = [str(part.answer_cell(item, p)) for item in _right(part, p)]
    if _plain(cell) in map(_plain, cells):
        return LISTED
    if part.runs or value is None:
        return ""
    texts, said = [_text(_given(part, item, p)) for item in _right(part, p)], _text(value)
    if said and _near(said, part.name) in {_near(text, part.name) for text in texts if text}:
        return SPELLED
    if _only_number(said) in {_only_number(text) for text in texts} - {None}:
        return NUMBER
    return VALUE if part.in_closed_form and isinstance(value, str) and worth_the_same(part, p, value) else ""


def _right(part: Part, p: Parameters) -> Iterator[Any]:
    """What is right in this variant: the reference and each equivalent."""
    yield part.reference
    yield from (item for item in part.right_answers() if part.applies(item, p))


def _given(part: Part, item: Any, p: Parameters) -> Any:
    """What is handed in by who gives a right answer."""
    if hasattr(part, "given"):
        return part.given(item, p)
    return item(p) if callable(item) else item


def _plain(text: str) -> str:
    """Code without comments, docstrings and its own layout; a text that is no code without blanks at its ends."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return text.strip()
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if (
            isinstance(body, list)
            and body
            and isinstance(body[0], ast.Expr)
            and isinstance(body[0].value, ast.Constant)
        ):
            node.body = body[1:] or [ast.Pass()]  # type: ignore[attr-defined]
    return ast.unparse(tree)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else "" if value is None or callable(value) else repr(value)


def _near(text: str, name: str) -> str:
    """A text without what says nothing: spaces around signs, quotes, case, and the part's own name before `=`."""
    return re.sub(rf"^{re.escape(name.casefold())}=", "", _NEAR.sub("", text.strip()).casefold())


def _only_number(text: str) -> Fraction | None:
    """The number at the head of a text that has no other, and a few words; commas between thousands are left out."""
    found = _NUMBER.fullmatch(text.strip())
    plain = re.sub(r",(?=\d{3}\b)", "", found["number"]) if found else ""
    return Fraction(plain) if plain and "," not in plain and plain.count(".") < 2 else None
