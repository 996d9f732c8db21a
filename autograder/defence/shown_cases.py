"""The arguments that a sheet shows: drawn by the problem's own inputs, with small numbers or with any.

What a student must know stands on the sheet. Of a large array that is its shape, and then the key holds for several
draws of its entries; a small one has whole numbers and is shown entry by entry.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from autograder.core import Case, Parameters
from autograder.errors import AutograderError
from autograder.parts.function import Function
from autograder.parts.redrawn import Redrawn

DRAWS = 3  # of the entries of one case
TRIED = 12  # draws of sizes, among which is the smallest
SHOWN = 48  # entries that a case shows, in all
WIDE = 2000  # entries of a case of which the shapes are shown
_LETTERS = 600  # that tell of its arguments

_WHOLE = (-1.0, 0.0, 1.0, 2.0)
_VARIED = 7  # kinds of small numbers: any, and each of the first arrays nothing but zeros
_SMALLEST = 2  # draws of sizes that small cases have


def _small(which: int, drawn: Any, rng: np.random.Generator, before: int) -> Any:
    """Whole numbers instead; zeros for one of the arrays."""
    among = (0.0,) if which and before == which - 1 else _WHOLE
    chosen = np.asarray(rng.choice(among, size=np.shape(drawn)))
    return chosen if chosen.ndim else float(chosen)


def _any(drawn: Any, rng: np.random.Generator, before: int) -> Any:
    return drawn


class _Again(Redrawn):
    """The sizes of a key, with other entries at each `turn`."""

    def __init__(self, key: tuple[int, ...], turn: int, alter: Any) -> None:
        super().__init__(key, alter)
        self._others, self._plain = np.random.default_rng((*key, 4, turn)), alter is _any

    def uniform(self, low: Any = 0.0, high: Any = 1.0, size: Any = None) -> Any:
        """Between the bounds; in a small case in halves, where these lie between them."""
        drawn = super().uniform(low, high, size)
        halves = np.round(2 * np.asarray(drawn)) / 2
        fits = not self._plain and bool(np.all((halves >= low) & (halves < high)))
        return (halves if np.ndim(drawn) else float(halves)) if fits else drawn


def general(part: Function, p: Parameters, key: tuple[int, ...]) -> list[Case]:
    """One case of the part's first inputs, as small as some draws give it, with several draws of its entries."""
    first = part.draws()[0]
    sized = [(_size(case), each) for each in _keys(key) if (case := _drawn(part, first, p, each, 0, _any))]
    if not sized or min(sized)[0] > WIDE:
        return []
    chosen = min(sized)[1]
    cases = [case for turn in range(DRAWS) if (case := _drawn(part, first, p, chosen, turn, _any))]
    told = in_shapes(cases) if len(cases) == DRAWS and can_be_shown(cases[0]) else []
    return cases if told and sum(map(len, told)) <= _LETTERS else []


def small(part: Function, p: Parameters, key: tuple[int, ...]) -> list[Case]:
    """Cases that can be shown entry by entry, of all of the part's inputs; none twice."""
    found: dict[str, Case] = {}
    sized = [(draw, each) for place, draw in enumerate(part.draws()) for each in _sizes(part, p, (*key, place), draw)]
    for which, (draw, each) in itertools.product(range(_VARIED), sized):
        case = _drawn(part, draw, p, each, which, functools.partial(_small, which))
        if case and can_be_shown(case) and _size(case) <= SHOWN and _exact(given(case)):
            found.setdefault("; ".join(words(case)), case)
    return list(found.values())


def _sizes(part: Function, p: Parameters, key: tuple[int, ...], draw: Any) -> list[tuple[int, ...]]:
    """The keys of the smallest draws."""
    sized = [(_size(case), each) for each in _keys(key) if (case := _drawn(part, draw, p, each, 0, _any))]
    return [each for size, each in sorted(sized)[:_SMALLEST] if size <= SHOWN]


def _keys(key: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    yield from ((*key, 5, number) for number in range(TRIED))


def _drawn(part: Function, draw: Any, p: Parameters, key: tuple[int, ...], turn: int, alter: Any) -> Case | None:
    """One draw; None where the author's function does not like such numbers."""
    try:
        return part.case_of(draw, p, key, lambda each: _Again(each, turn, alter))
    except (AutograderError, ArithmeticError, ValueError, IndexError, RuntimeError, TypeError):
        return None


def _size(case: Case) -> int:
    return sum(map(_entries, given(case).values()))


def _entries(value: Any) -> int:
    if hasattr(value, "shape"):
        return int(np.prod(value.shape, dtype=int))
    if isinstance(value, Mapping):
        return sum(map(_entries, value.values()))
    return sum(map(_entries, value)) if isinstance(value, list | tuple) else 1


def given(case: Case) -> dict[str, Any]:
    """All that a call is made with; of a module also what it is built from, and its parameters."""
    options = case.options
    return {**options.get("init", {}), **options.get("state", {}), **case.arguments}


def _exact(value: Any) -> bool:
    """Whether what is shown of a value is all of it."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, Mapping):
        value = list(value.values())
    if isinstance(value, list | tuple):
        return all(map(_exact, value))
    return not isinstance(value, float) or not np.isfinite(value) or float(literal(value)) == value


def can_be_shown(case: Case) -> bool:
    """Whether nothing is done before the call that is asked for: a sheet has no room for it."""
    return not case.options.get("before") and not case.options.get("buffers")


def words(case: Case) -> list[str]:
    """The arguments entry by entry, each as `name = …`."""
    return [f"{name} = {literal(value)}" for name, value in given(case).items()]


def in_shapes(cases: Sequence[Case]) -> list[str]:
    """The arguments by their shapes where the entries differ between the cases; all others entry by entry."""
    found = []
    for name, *values in zip(given(cases[0]), *(given(case).values() for case in cases), strict=True):
        form = _nested(values[0])
        found.append(f"{name}: {form}" if _drawn_anew(values) else f"{name} = {literal(values[0])}")
    return found


def _drawn_anew(values: Sequence[Any]) -> bool:
    """Whether a value's numbers are others in each case."""
    texts = {literal(value) for value in values}
    return len(texts) == len(values) and len(values) > 1


def _nested(value: Any) -> str:
    """The form of a list of arrays."""
    if hasattr(value, "shape"):
        return str(list(value.shape))
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key}: {_nested(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list | tuple):
        forms = [(form, len(list(run))) for form, run in itertools.groupby(map(_nested, value))]
        return "[" + ", ".join(f"{count} x {form}" if count > 1 else form for form, count in forms) + "]"
    return "a number" if isinstance(value, float) else type(value).__name__


def literal(value: Any) -> str:
    """A value as one reads it: nested lists, whole numbers without a point."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key!r}: {literal(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list | tuple):
        inside = ", ".join(map(literal, value))
        return f"({inside})" if isinstance(value, tuple) else f"[{inside}]"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return f"{value:.4g}" if isinstance(value, float) else repr(value)
