"""Whether a value is the expected one: type, shape, dtype, finiteness, then value, each with its own code and sentence.

Arrays are compared by a relative tolerance on the largest expected entry, with no absolute one hidden in it: two
gradients of size 1e-9 that differ by 4e-9 differ. Not-a-number equals nothing.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

Number = int | float | Fraction

# A number as typed: thousands set apart or not, a decimal point, a short exponent (a long one would take for ever).
_TYPED = re.compile(
    r"[+-]?(?:[0-9]{1,3}(?:[,_ ][0-9]{3})+|[0-9]*)(?:\.[0-9]*)?(?:[eE][+-]?[0-9]{1,3})?|[+-]?[0-9]+/[0-9]+"
)

_SIGNS = {"\N{MINUS SIGN}": "-", "\N{FULLWIDTH HYPHEN-MINUS}": "-", "\N{FULLWIDTH PLUS SIGN}": "+",
          "\N{FULLWIDTH FULL STOP}": ".", "\N{FULLWIDTH COMMA}": ","}  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Difference:
    """Why a value is not the expected one; `message` shows what was given and the kind that was wanted."""

    code: str
    message: str


def is_tensor(value: Any) -> bool:
    """Whether the value is a torch tensor, without importing torch."""
    return type(value).__module__.split(".")[0] == "torch" and hasattr(value, "detach")


def array(value: Any) -> np.ndarray:
    """A numpy array of the entries of a tensor or array; bfloat16 becomes float32."""
    if is_tensor(value):
        value = value.detach()
        value = value.float() if str(value.dtype) == "torch.bfloat16" else value
        return np.asarray(value.numpy())
    return np.asarray(value)


def kind(value: Any) -> str:
    """What a value is, in a student's words."""
    if is_tensor(value):
        return "a torch tensor"
    names = {
        np.ndarray: "a numpy array",
        str: "a string",
        bool: "a truth value",
        int: "a whole number",
        float: "a number",
        tuple: "a tuple",
        list: "a list",
        dict: "a dict",
        type(None): "None",
    }
    return names.get(type(value), f"a {type(value).__name__}")


@dataclass(frozen=True, kw_only=True)
class Tolerance:
    """How near is near enough. `nan`: not-a-number equals itself, to tell one wrong answer from another."""

    rtol: float
    nan: bool = False


def difference(
    value: Any, expected: Any, *, rtol: float, where: str = "the result", nan: bool = False
) -> Difference | None:
    """The first difference between a value and the expected one, or None where they agree."""
    return _difference(value, expected, Tolerance(rtol=rtol, nan=nan), where)


def _difference(value: Any, expected: Any, near: Tolerance, where: str) -> Difference | None:
    if is_tensor(expected) or isinstance(expected, np.ndarray):
        return _array_difference(value, expected, near, where)
    if isinstance(expected, dict):
        return _dict_difference(value, expected, near, where)
    if isinstance(expected, list | tuple):
        return _sequence_difference(value, expected, near, where)
    if isinstance(expected, bool | str) or expected is None:
        if type(value) is not type(expected):
            return Difference(code="type", message=f"{where} is {kind(value)}, but it should be {kind(expected)}")
        return None if value == expected else Difference(code="value", message=f"{where} is not correct")
    return _number_difference(value, expected, near, where)


def _dict_difference(value: Any, expected: dict[str, Any], near: Tolerance, where: str) -> Difference | None:
    if not isinstance(value, dict):
        return Difference(code="type", message=f"{where} is {kind(value)}, but it should be a dict")
    if missing := [key for key in expected if key not in value]:
        return Difference(
            code="keys", message=f"{where} has no entry {missing[0]!r}; it should have {', '.join(expected)}"
        )
    if extra := [key for key in value if key not in expected]:
        return Difference(code="keys", message=f"{where} has an extra entry {extra[0]!r}")
    found = (_difference(value[key], expected[key], near, f"entry {key!r}") for key in expected)
    return next((item for item in found if item), None)


def _sequence_difference(value: Any, expected: Any, near: Tolerance, where: str) -> Difference | None:
    if not isinstance(value, list | tuple):
        return Difference(code="type", message=f"{where} is {kind(value)}, but it should be {kind(expected)}")
    if len(value) != len(expected):
        return Difference(
            code="length", message=f"{where} has {len(value)} entries, but it should have {len(expected)}"
        )
    pairs = enumerate(zip(value, expected, strict=True), 1)
    found = (_difference(left, right, near, f"entry {place} of {where}") for place, (left, right) in pairs)
    return next((item for item in found if item), None)


def _array_difference(value: Any, expected: Any, near: Tolerance, where: str) -> Difference | None:
    if is_tensor(value) != is_tensor(expected) or not (is_tensor(value) or isinstance(value, np.ndarray)):
        return Difference(code="type", message=f"{where} is {kind(value)}, but it should be {kind(expected)}")
    left, right = array(value), array(expected)
    if left.shape != right.shape:
        return Difference(
            code="shape", message=f"{where} has shape {left.shape}, but it should have shape {right.shape}"
        )
    if value.dtype != expected.dtype:
        return Difference(
            code="dtype",
            message=f"{where} has dtype {value.dtype}; {expected.dtype} was wanted, as that of the inputs",
        )
    if left.dtype.kind in "biu":
        return None if np.array_equal(left, right) else Difference(code="value", message=f"{where} is not correct")
    return _real_difference(left, right, near, where)


def _real_difference(left: np.ndarray, right: np.ndarray, near: Tolerance, where: str) -> Difference | None:
    """Infinities must stand in the same places with the same sign; the rest agrees to `rtol` of the largest entry."""
    largest = np.abs(right).max(initial=0)
    if largest < np.inf and np.abs(left - right).max(initial=0) <= near.rtol * largest:
        return None  # what is not finite would show in these
    if near.nan:
        lost = np.isnan(right)
        if not np.array_equal(lost, np.isnan(left)):
            return Difference(code="value", message=f"{where} is not correct")
        left, right = left[~lost], right[~lost]
    infinite = np.isinf(right)
    if np.isnan(left).any() or (np.isinf(left) & ~infinite).any():
        return Difference(code="finite", message=f"{where} contains infinite values or nan")
    if not np.array_equal(left[infinite], right[infinite]):
        return Difference(code="value", message=f"{where} is not correct")
    gap, scale = left[~infinite] - right[~infinite], np.abs(right[~infinite])
    if gap.size and np.abs(gap).max() > near.rtol * scale.max():
        return Difference(code="value", message=f"{where} has the right shape but the wrong values")
    return None


def _number_difference(value: Any, expected: Number, near: Tolerance, where: str) -> Difference | None:
    given = number(value)
    if given is None:
        return Difference(code="type", message=f"{where} is {kind(value)}, but it should be a number")
    if given != given or expected != expected:
        if near.nan and given != given and expected != expected:
            return None
        return Difference(code="finite", message=f"{where} is not a number (nan)")
    if given == expected or _one_decimal(given, expected) or _one_decimal(expected, given):
        return None
    infinite = abs(given) == float("inf") or abs(expected) == float("inf")
    if near.rtol and not infinite:
        gap, scale = abs(Fraction(given) - Fraction(expected)), abs(Fraction(expected))
        if gap <= Fraction(near.rtol) * scale:
            return None
    return Difference(code="value", message=f"{where} is not correct")


def _one_decimal(fraction: Number, floating: Number) -> bool:
    """Whether a fraction, such as a typed 7.2, is the number that a float of that text is; whole ones are exact."""
    if not isinstance(fraction, Fraction) or not isinstance(floating, float) or fraction.denominator == 1:
        return False
    try:
        return float(fraction) == floating
    except OverflowError:
        return False


def number(value: Any) -> Number | None:
    """The number in any dress: int, float, fraction, 0-d array or tensor, or a decimal in a string; None otherwise."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float | Fraction):
        return value
    if is_tensor(value) or isinstance(value, np.ndarray):
        return number(array(value).item()) if array(value).ndim == 0 else None
    if isinstance(value, str) and len(value) <= 100 and _TYPED.fullmatch(text := _ascii(value.strip())):
        try:
            return Fraction(re.sub("[,_ ]", "", text))
        except (ValueError, ZeroDivisionError):
            return None
    return None


def _ascii(text: str) -> str:
    """Digits, signs and spaces of any keyboard as those of ours; a raised digit stays what it is."""
    return "".join(
        str(unicodedata.decimal(sign))
        if unicodedata.category(sign) == "Nd"
        else " "
        if unicodedata.category(sign) == "Zs"
        else _SIGNS.get(sign, sign)
        for sign in text
    )
