"""beartype as jaxtyping's import hook calls it, at the price of one function for all that are made alike.

The hook decorates an inner function anew whenever the outer one is called, and writing code that checks a signature
takes longer than most of what is checked. What it has decorated has a signature and no code of its own: another with
the same one checks the same.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from beartype import beartype

_MADE: dict[Any, Callable[..., Any]] = {}


def checked(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function with its arguments and result checked."""
    code = function.__code__
    signature = (
        (function.__module__, function.__qualname__, code.co_code, code.co_flags, code.co_varnames),
        (code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount),
        (len(function.__defaults__ or ()), tuple(function.__kwdefaults__ or ())),
        tuple(function.__annotations__.items()),
    )
    try:
        if signature not in _MADE:
            _MADE[signature] = beartype(function)
    except TypeError:  # an annotation that cannot be looked up
        return beartype(function)
    return _MADE[signature]
