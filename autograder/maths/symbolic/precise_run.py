"""The half that runs in the student's process: a function on precise numbers, its results as strings of digits."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from autograder.errors import StudentError
from autograder.maths.symbolic.arrays import objects
from autograder.maths.symbolic.decimal_functions import CONTEXT
from autograder.maths.symbolic.namespaces import unavailable
from autograder.maths.symbolic.rebinding import lifted_data, rebound


@dataclass(frozen=True, kw_only=True)
class Digits:
    """One result: its shape, and its entries in row-major order as decimal strings (also `Infinity` and `NaN`)."""

    shape: tuple[int, ...]
    entries: tuple[str, ...]


def high_precision(function: Callable[..., Any], *arguments: Any, **options: Any) -> tuple[Digits, ...]:
    """Run a numpy function on numbers of a hundred digits; floats and float arrays among the arguments are lifted.

    A function that returns several arrays gives several results. Raises StudentError `not_symbolic` where the code uses
    something that has no precise counterpart, which says nothing about its correctness.
    """
    try:
        named = {name: lifted_data(value) for name, value in options.items()}
        return digits_of(rebound(function)(*map(lifted_data, arguments), **named))
    except StudentError:
        raise
    except Exception as error:
        raise unavailable(f"This code ({type(error).__name__}: {error})") from error


def digits_of(result: Any) -> tuple[Digits, ...]:
    """Arrays, numbers, or tuples and lists of them, as strings."""
    if isinstance(result, tuple) or (isinstance(result, list) and any(isinstance(part, np.ndarray) for part in result)):
        return tuple(found for part in result for found in digits_of(part))
    array = objects(result)
    entries = tuple(str(CONTEXT.plus(element.value)) for element in array.flat)
    return (Digits(shape=tuple(int(size) for size in array.shape), entries=entries),)
