"""The half that judges: two results as strings of digits, and how far they are apart."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from decimal import Decimal

from autograder.maths.decision import Decision, different, equal
from autograder.maths.symbolic.decimal_functions import CONTEXT
from autograder.maths.symbolic.precise_run import Digits

_NUMBER = re.compile(r"-?(\d{1,200}(\.\d{1,200})?([eE][+-]?\d{1,18})?|Infinity|NaN)", re.ASCII)
SAME = Decimal("1e-60")
ROUNDED = Decimal("1e-6")
_SMALL = Decimal("1e-10")  # entries smaller than this share of the largest are compared with the largest


def compare(
    reference: Sequence[Digits], answer: Sequence[Digits], *, same: Decimal = SAME, rounded: Decimal = ROUNDED
) -> Decision:
    """Exact agreement (relative difference below `same`), a rounded constant (below `rounded`), or another function.

    Codes: `agree`; `count`, `shape`, `not_finite`, `malformed`, `value`; `rounded_constant`, with the difference as
    witness. The last is *different* too: whether a decimal constant, a small epsilon or a mask of -100 is good enough
    is the question's to say.
    """
    if len(reference) != len(answer):
        return different(
            "count", f"The function returned {len(answer)} results, but it should return {len(reference)}."
        )
    if not all(map(_is_well_formed, answer)):
        return different("malformed", "The result is not a list of numbers of the stated shape.")
    largest = Decimal(0)
    for index, (expected, given) in enumerate(zip(reference, answer, strict=True)):
        where = f"result {index + 1}" if len(reference) > 1 else "the result"
        if expected.shape != given.shape:
            message = f"{where} has shape {given.shape}, but it should have shape {expected.shape}."
            return different("shape", message[0].upper() + message[1:])
        distance = _distance(expected, given)
        if distance is None:
            message = f"In {where} a value is infinite or not a number where another one was expected, or the reverse."
            return different("not_finite", message)
        largest = max(largest, distance)
    if largest < same:
        return equal()
    size = f"{largest:.1e}"
    if largest < rounded:
        message = "The formula agrees up to a rounded constant or a small added epsilon: write constants exactly."
        return different("rounded_constant", message, witness=f"relative difference {size}", size=size)
    return different("value", "The function computes something else.", witness=f"relative difference {size}", size=size)


def _is_well_formed(given: Digits) -> bool:
    """Strings from another process are checked before they are believed."""
    return len(given.entries) == math.prod(given.shape) and all(map(_NUMBER.fullmatch, given.entries))


def _distance(expected: Digits, given: Digits) -> Decimal | None:
    """The largest relative difference; None where one is finite and the other not. NaN equals nothing."""
    pairs = [(Decimal(a), Decimal(b)) for a, b in zip(expected.entries, given.entries, strict=True)]
    scale = max((abs(a) for a, _ in pairs if a.is_finite()), default=Decimal(0))
    largest = Decimal(0)
    for a, b in pairs:
        if not (a.is_finite() and b.is_finite()):
            if a.is_nan() or b.is_nan() or a != b:
                return None
            continue
        size = max(abs(a), abs(b), scale * _SMALL)
        if size:
            largest = max(largest, CONTEXT.divide(abs(CONTEXT.subtract(a, b)), size))
    return largest
