"""Systems of equations from what students and authors write, and with the equations that a question gives."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

from autograder.errors import AuthorError, Unreadable
from autograder.maths.tensor.tensor_grammar import parse
from autograder.maths.tensor.tensor_tree import System

Text = str | Sequence[str] | System


def system_of(text: Text) -> System:
    """A system from text, from a list of lines, or as it is."""
    if isinstance(text, System):
        return text
    return _parsed(text if isinstance(text, str) else "\n".join(text))


@lru_cache(maxsize=1024)
def _parsed(text: str) -> System:
    return parse(text)


def content(text: Text | None) -> object:
    """What tells one text from another."""
    return text if text is None or isinstance(text, str) else tuple(text) if isinstance(text, Sequence) else repr(text)


def author_system(text: Text) -> System:
    """A system that an author wrote; raises AuthorError where it cannot be read."""
    try:
        return system_of(text)
    except Unreadable as error:
        raise AuthorError("reference", f"an equation of the problem cannot be read:\n{error.caret()}") from error


def with_given(system: System, given: Text | None) -> System:
    """The system and those given equations that it does not define itself."""
    if not given:
        return system
    own = {equation.left.name.key for equation in system.equations}
    extra = tuple(equation for equation in author_system(given).equations if equation.left.name.key not in own)
    return replace(system, equations=extra + system.equations)
