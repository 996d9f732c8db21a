"""Runs students' code: `Session` runs cells and asks questions, and no other room knows how.

The process that runs the code is a fork of a warm parent (`warm`), lives for one notebook, and is killed at its end.
It is told cells and questions and answers with data over a socket of its own; its standard output is not read.

The words are imported when first used: a grader that will split in two (`halves`) must not import anything before.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from autograder.sandbox.session import CellResult, Limits, Session

__all__ = ["CellResult", "Limits", "Session"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from autograder.sandbox import session

    return getattr(session, name)
