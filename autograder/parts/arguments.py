"""What a student may give to a function of ours: the form of each argument as a short text, and values read by it.

    takes={"scores": "[B, V] -1000..1000", "lengths": "[B] whole 1..V"}, sizes={"B": "1..3", "V": "2..5"}

Functions of ours run in our own process: nothing comes to them that is larger than these texts admit.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from autograder.core import Parameters
from autograder.errors import AuthorError, Unreadable
from autograder.parts.source import argument_names

_FORM = re.compile(r"\[(?P<axes>[A-Za-z_, ]*)\] (?P<whole>whole )?(?P<low>-?\d+)\.\.(?P<high>-?\d+|[A-Za-z_]+)")
_SIZE = re.compile(r"(\d+)\.\.(\d+)")
MOST = 10_000  # entries of one argument


class Unfit(Exception):
    """A value that can be read and is not what the statement admits; the text is for the student."""


@dataclass(frozen=True, kw_only=True)
class Form:
    """The form of one argument: its axes, whether it has whole numbers, and their bounds.

    The upper one may be the size of an axis.
    """

    axes: tuple[str, ...]
    whole: bool
    low: int
    high: int | str


@dataclass(frozen=True, kw_only=True)
class Takes:
    """The arguments of a function by name, and the sizes that axes may have."""

    arguments: Mapping[str, str]
    sizes: Mapping[str, str]
    forms: dict[str, Form] = field(default_factory=dict, init=False, repr=False)
    ranges: dict[str, tuple[int, int]] = field(default_factory=dict, init=False, repr=False)

    def __post_init__(self) -> None:
        for axis, text in self.sizes.items():
            match = _SIZE.fullmatch(text)
            if match is None or not 1 <= int(match[1]) <= int(match[2]):
                raise AuthorError("sizes", f"sizes: {axis} is {text!r}; write the least and the most, as in '1..4'")
            self.ranges[axis] = (int(match[1]), int(match[2]))
        for name, text in self.arguments.items():
            self.forms[name] = self._form(name, text)

    def _form(self, name: str, text: str) -> Form:
        match = _FORM.fullmatch(text)
        if match is None:
            raise AuthorError("takes", f"takes: {name} is {text!r}; write '[B, V] -10..10' or '[B] whole 0..V'")
        axes = tuple(match["axes"].replace(",", " ").split())
        high: int | str = match["high"]
        bound = {high} if isinstance(high, str) and high.isidentifier() else set()
        if unknown := {*axes, *bound} - self.ranges.keys():
            raise AuthorError("takes", f"takes: {name} has the axis {min(unknown)}, of which sizes say nothing")
        if np.prod([float(self.ranges[axis][1]) for axis in axes]) > MOST:
            raise AuthorError("takes", f"takes: {name} may have more than {MOST:,} entries; give its axes less")
        return Form(axes=axes, whole=bool(match["whole"]), low=int(match["low"]), high=high if bound else int(high))

    def in_words(self) -> str:
        """The forms as the rows of a table in Markdown."""
        rows = [f"| `{name}` | {self._shape(form)} | {_numbers(form)} |" for name, form in self.forms.items()]
        sizes = [
            f"${axis}$ is {low}" if low == high else f"${axis}$ is from {low} to {high}"
            for axis, (low, high) in self.ranges.items()
        ]
        table = "\n".join(["| argument | shape | entries |", "| --- | --- | --- |", *rows])
        return "\n\n".join([table, *([f"{', '.join(sizes)}."] if sizes else [])])

    def _shape(self, form: Form) -> str:
        return f"`[{', '.join(form.axes)}]`" if form.axes else "a number"

    def source(self) -> str:
        """Both tables as source text."""
        return f"{dict(self.arguments)!r}, {dict(self.sizes)!r}"

    def example(self, make: Any, largest: bool = False) -> dict[str, Any]:
        """Nested lists of the smallest or the largest sizes; `make(shape)` gives the arrays."""
        size = {axis: ends[largest] for axis, ends in self.ranges.items()}
        made = {}
        for name, form in self.forms.items():
            high = size[form.high] if isinstance(form.high, str) else form.high
            entries = np.clip(make(tuple(size[axis] for axis in form.axes)), form.low, high)
            made[name] = np.rint(entries).astype(int).tolist() if form.whole else entries.astype(float).tolist()
        return made

    def read(self, given: Any) -> dict[str, Any]:
        """The arguments as tensors; see `entries`."""
        import torch

        made = self.entries(given)
        kinds = {name: torch.int64 if form.whole else torch.float64 for name, form in self.forms.items()}
        return {name: torch.tensor(made[name], dtype=kinds[name]) for name in self.forms}

    def entries(self, given: Any) -> dict[str, np.ndarray]:
        """The arguments' entries, from a dict by their names, in order, or, of a function of one, the argument alone.

        Unreadable for what is none of these; Unfit for numbers that the forms do not admit. A notebook without torch
        can look at them, too.
        """
        made = {name: _entries(value, name) for name, value in self._by_name(given).items()}
        self.look(made)
        return made

    def _by_name(self, given: Any) -> dict[str, Any]:
        names = list(self.forms)
        wanted = "{" + ", ".join(f'"{name}": ...' for name in names) + "}"
        if isinstance(given, dict):
            if set(given) != set(names):
                raise Unreadable("arguments", f"the arguments are {', '.join(names)}; write {wanted}")
            return {name: given[name] for name in names}
        if len(names) == 1:
            return {names[0]: given}
        if isinstance(given, list | tuple) and len(given) == len(names):
            return dict(zip(names, given, strict=True))
        raise Unreadable("arguments", f"write the arguments as {wanted}")

    def look(self, arrays: Mapping[str, np.ndarray]) -> None:
        """Unfit where arrays, all arguments by name, have not their forms."""
        size: dict[str, int] = {}
        for name, form in self.forms.items():
            shape, wanted = arrays[name].shape, f"{name} should have the shape [{', '.join(form.axes)}]"
            if len(shape) != len(form.axes):
                raise Unfit(f"{wanted}, but it has {len(shape)} axes.")
            for axis, found in zip(form.axes, shape, strict=True):
                low, high = self.ranges[axis]
                if not low <= found <= high:
                    allowed = low if low == high else f"from {low} to {high}"
                    raise Unfit(f"{wanted}, and {axis} is {allowed}; yours is {found}.")
                if size.setdefault(axis, found) != found:
                    raise Unfit(f"{wanted}, but {axis} is {size[axis]} in another argument and {found} here.")
        for name, form in self.forms.items():
            entries, high = arrays[name], size[form.high] if isinstance(form.high, str) else form.high
            if not ((entries >= form.low) & (entries <= high)).all():  # nor is not-a-number
                raise Unfit(f"The entries of {name} should be from {form.low} to {high}.")
            if form.whole and (entries != np.rint(entries)).any():
                raise Unfit(f"The entries of {name} should be whole numbers.")

    def look_at_call(self, values: Sequence[Any]) -> None:
        """Unfit where a call on tensors, in order, is none that the statement admits."""
        from autograder.checks.compare import array, is_tensor, kind

        arrays = {}
        for (name, form), value in zip(self.forms.items(), values, strict=True):
            plain = not form.axes and isinstance(value, int | float) and not isinstance(value, bool)
            if not plain and not is_tensor(value):
                raise Unfit(f"{name} should be a torch tensor; it is {kind(value)}.")
            arrays[name] = array(value)
            if arrays[name].dtype.kind != ("i" if form.whole else "f"):
                wanted = "whole numbers (int64)" if form.whole else "real numbers"
                raise Unfit(f"{name} should be a tensor of {wanted}; its dtype is {arrays[name].dtype}.")
        self.look(arrays)


def admitted(part: str, takes: Any, sizes: Mapping[str, str], functions: Sequence[Any], p: Parameters) -> Takes:
    """What an author's table, or a function of `p`, says; AuthorError where functions take other names."""
    found = Takes(arguments=takes(p) if callable(takes) else takes, sizes=sizes)
    names = list(found.forms)
    for function in functions:
        if argument_names(function) != names:
            own = ", ".join(argument_names(function))
            raise AuthorError(
                "signature",
                f"part {part!r}: {function.__name__}({own}) does not take what takes= lists ({', '.join(names)})",
            )
    return found


def _numbers(form: Form) -> str:
    high = f"${form.high}$" if isinstance(form.high, str) else f"{form.high:,}"
    return f"{'whole' if form.whole else 'real'} numbers from {form.low:,} to {high}"


def _entries(value: Any, name: str) -> np.ndarray:
    """Numbers in an array; Unreadable for all else."""
    from autograder.checks.compare import array, is_tensor, kind

    if isinstance(value, bool | str) or not (
        is_tensor(value) or isinstance(value, np.ndarray | list | tuple | int | float)
    ):
        raise Unreadable("entries", f"{name} is {kind(value)}; write numbers in square brackets")
    try:
        found = array(value) if is_tensor(value) else np.asarray(value)
    except (ValueError, TypeError, OverflowError) as error:
        raise Unreadable("rows", f"{name} has rows of different lengths") from error
    if found.dtype.kind not in "iuf":
        raise Unreadable("entries", f"{name} has entries that are no numbers")
    return found
