"""Runs a student's tests on a function that is not there: what it returns is known beforehand, call by call.

The functions under test run elsewhere. In the student's process, their place is taken by a function that gives back
recorded results. Nothing about it tells which of them it stands for, neither its name nor its source nor the frames
around it: there is only what it returned. A call that is not on record ends the run, and is told.
"""

from __future__ import annotations

import builtins
import copy
import hashlib
import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from autograder.core import Question
from autograder.errors import Unreadable
from autograder.protocol.codec import encode, plain
from autograder.protocol.run_state import last_line, seeded

RAISED = ("ValueError", "TypeError", "IndexError", "KeyError", "ZeroDivisionError", "AssertionError", "RuntimeError")
PASSED, FAILED, RAISES, LEFT = "passed", "failed", "raised", "left"  # how a run of the tests ended
MOST_CALLS = 64  # of one run, where what is called is on record


class Unknown(BaseException):
    """A call that is not on record."""


def call_key(arguments: Sequence[Any]) -> str:
    """The same for the same arguments, to the last bit."""
    return hashlib.sha256(encode(list(arguments))).hexdigest()


def tried(suite: Callable[..., Any], question: Question) -> list[dict[str, Any]]:
    """How the tests end with each table of recorded results, all from the same random state."""
    found = []
    for table in question.options["tables"]:
        with seeded(int(question.options["seed"])):
            found.append(run_of(suite, table, question.options["function"], question.options["names"]))
    return found


def run_of(suite: Callable[..., Any], table: Mapping[str, Any], function: str, names: Sequence[str]) -> dict[str, Any]:
    """One run: how it ended, in its words, how many calls it made, and the arguments of one that is not on record."""
    calls: list[str] = []
    wanted: list[list[Any]] = []

    def called(arguments: list[Any]) -> Any:
        calls.append(key := call_key(arguments))
        if wanted or len(calls) > MOST_CALLS or key not in table:
            wanted.append(plain(arguments))
            raise Unknown
        record = table[key]
        if "raised" in record:
            raise getattr(builtins, record["raised"])(f"{function} raised this")
        return copy.deepcopy(record["value"])

    ended, detail = _ended(suite, standing_in(called, function, names))
    return {"ended": ended, "detail": detail, "calls": len(calls), "wanted": wanted[0] if wanted else None}


def standing_in(called: Callable[[list[Any]], Any], function: str, names: Sequence[str]) -> Callable[..., Any]:
    """A function of these arguments, by place or by name, that hands them on."""
    places = [inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD) for name in names]
    signature = inspect.Signature(places)

    def stand_in(*arguments: Any, **words: Any) -> Any:
        bound = list(signature.bind(*arguments, **words).args)
        try:
            return called(bound)
        except Unreadable as error:
            raise TypeError(f"{function} takes tensors and numbers, not {error.message}") from None

    stand_in.__name__ = stand_in.__qualname__ = function
    stand_in.__signature__ = signature  # type: ignore[attr-defined]
    return stand_in


def _ended(suite: Callable[..., Any], function: Callable[..., Any]) -> tuple[str, str]:
    try:
        suite(function)
    except AssertionError as error:
        return FAILED, last_line(error)
    except Unknown:
        return LEFT, ""
    except Exception as error:
        return RAISES, last_line(error)
    except BaseException as error:  # sys.exit, KeyboardInterrupt
        return LEFT, last_line(error)
    return PASSED, ""
