"""Equations computed on given arrays in float64, so that a model elsewhere can be tested against its
equations.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any, Literal

import numpy as np

from autograder.errors import AuthorError, did_you_mean
from autograder.maths.tensor.axes import Axes, Node, Side, add_reference, declared
from autograder.maths.tensor.checking import Interpreted, inputs, interpret
from autograder.maths.tensor.comparison import counts_from_zero
from autograder.maths.tensor.core_tree import CoreIndex, Meaning, SizeIndex, Variable, reads
from autograder.maths.tensor.declarations import Declarations, tensor_key
from autograder.maths.tensor.evaluation import Evaluation, Options
from autograder.maths.tensor.number_systems import Array, Floats
from autograder.maths.tensor.tensor_tree import System
from autograder.maths.tensor.values import LimitError

Boundary = Literal["zero", "error"]
LARGEST_NUMERIC = 50_000_000


class Given(Floats):
    """Entries looked up in arrays, counted from 0; outside them, zero or an error."""

    def __init__(self, arrays: Mapping[str, Array], boundary: Boundary) -> None:
        super().__init__(0)
        self.arrays = arrays
        self.boundary = boundary

    def entries(self, name: str, indices: Sequence[Array]) -> Array:
        """The entries, as floats."""
        return self._look_up(name, indices, float)

    def integers(self, name: str, indices: Sequence[Array]) -> Array:
        """The entries, as integers."""
        return self._look_up(name, indices, np.int64)

    def _look_up(self, name: str, indices: Sequence[Array], kind: Any) -> Array:
        if name not in self.arrays:
            raise AuthorError("tensors", f"no array is given for {name}{did_you_mean(name, self.arrays)}")
        array = np.asarray(self.arrays[name])
        if array.ndim != len(indices):
            raise AuthorError("tensors", f"{name} is used with {len(indices)} indices, but its array has {array.ndim}")
        inside: Any = np.True_
        for index, size in zip(indices, array.shape, strict=True):
            inside = inside & (index >= 0) & (index < size)
        if not np.all(inside) and self.boundary == "error":
            raise AuthorError("boundary", f"{name} is read outside its array")
        places = [np.clip(index, 0, max(size - 1, 0)) for index, size in zip(indices, array.shape, strict=True)]
        return np.where(inside, array[tuple(places)], 0).astype(kind)

    def constant(self, value: Fraction) -> float:
        """The nearest float."""
        return float(value)


def evaluate(
    system: System,
    tensors: Mapping[str, Array],
    target: str | None = None,
    *,
    declarations: Declarations | None = None,
    sizes: Mapping[str, int] | None = None,
    boundary: Boundary = "zero",
) -> Array:
    """The target tensor (by default the last one defined) for these arrays, an axis per position of its left
    side.

    Indices count from 0. An entry outside a given array (`h[t-1]` at t = 0) is zero, or an AuthorError with
    `boundary="error"`. Sizes come from the arrays; an axis that only shifted indices use (the t of
    `L[b,2t+Dt,i']`) is as long as every read ends inside; `sizes` states others. A tensor that is given as an
    array is not computed. A recurrence `h[t] = f(h[t-1])` is unrolled from zeros unless h is given. Context
    indices become trailing axes. Raises AuthorError for arrays that do not fit.
    """
    arrays = {tensor_key(name): np.asarray(array) for name, array in tensors.items()}
    declarations = declarations or Declarations()
    found = interpret(system, declarations)
    fatal = next((fault for fault in found.faults if fault.fatal), None)
    if fatal is not None:
        raise AuthorError(fatal.code, fatal.message)
    meanings = tuple(meaning for meaning in found.last if meaning.name not in arrays)
    key = tensor_key(target) if target is not None else system.equations[-1].left.name.key
    if key not in {meaning.name for meaning in meanings}:
        raise AuthorError("target", f"no equation defines {key}{did_you_mean(key, found.own)}")
    return _Computation(found, meanings, arrays, declarations, dict(sizes or {})).value(key, boundary)


class _Computation:
    def __init__(
        self,
        found: Interpreted,
        meanings: tuple[Meaning, ...],
        arrays: Mapping[str, Array],
        declarations: Declarations,
        sizes: dict[str, int],
    ) -> None:
        self.meanings = meanings
        self.arrays = arrays
        self.declarations = declarations
        self.axes: Axes = declared(declarations)
        own = frozenset(meaning.name for meaning in meanings)
        self.side = Side(owner="", meanings=meanings, own=own)
        add_reference(self.axes, self.side, lower_case=False)
        self.known: dict[Node, int] = {}
        for axis, size in {
            **{a: s for a, s in declarations.sizes.items() if isinstance(s, int)},
            **sizes,
        }.items():
            self.known[self.axes.letter(axis)] = size
        self._from_arrays(inputs(found))
        self._joined()
        longest: dict[Node, int] = {}
        for meaning in meanings:
            for variable, size in self._from_shifts(meaning):
                root = self.axes.root(variable)
                longest[root] = min(size, longest.get(root, size))
        self.known.update(longest)
        self._joined()

    def _from_arrays(self, arities: Mapping[str, int]) -> None:
        for name, array in self.arrays.items():
            if arities.get(name, array.ndim) != array.ndim:
                raise AuthorError("tensors", f"{name} is used with {arities[name]} indices, its array has {array.ndim}")
            for position, size in enumerate(array.shape):
                root = self.axes.root(self.side.position(name, position))
                if self.known.setdefault(root, size) != size:
                    axis = self.axes.named(root) or f"position {position + 1} of {name}"
                    raise AuthorError(
                        "tensors",
                        f"{name}: axis {axis} has size {size} here and {self.known[root]} elsewhere",
                    )

    def _joined(self) -> None:
        for output, pieces, _ in self.axes.joined:
            sizes = [(1 if head is None else self._size(head), self._size(axis)) for head, axis in pieces]
            if all(head and axis for head, axis in sizes):
                self.known.setdefault(self.axes.root(output), sum(head * axis for head, axis in sizes))

    def _size(self, node: Node) -> int:
        return self.known.get(self.axes.root(node), 0)

    def _by_lower_case(self, letter: str) -> int:
        """The size of the lower-case indices of a letter, if they agree: the T of `1/T` from t."""
        sizes = {
            self._size(self.side.variable(meaning, name))
            for meaning in self.meanings
            for name, symbol in meaning.symbols.items()
            if symbol.axis == letter
        } - {0}
        return sizes.pop() if len(sizes) == 1 else 0

    def _from_shifts(self, meaning: Meaning) -> Iterator[tuple[Node, int]]:
        """Variables that only stand in shifted indices, with how long each read of an array lets them be."""
        for read in reads(meaning.body):
            if read.name in self.arrays:
                for index, size in zip(read.indices, self.arrays[read.name].shape, strict=True):
                    yield from self._from_index(meaning, index, size)

    def _from_index(self, meaning: Meaning, index: CoreIndex, size: int) -> Iterator[tuple[Node, int]]:
        unknown = []
        room = size - 1 - max(index.constant, 0)
        for coefficient, atom in index.terms:
            if isinstance(atom, SizeIndex):
                room -= coefficient * self._size(self.axes.letter(atom.axis))
            elif isinstance(atom, Variable):
                known = self._variable_size(meaning, atom.name)
                room -= max(coefficient, 0) * max(known - 1, 0)
                unknown += [] if known else [(coefficient, atom.name)]
        if len(unknown) == 1 and unknown[0][0] > 0:
            yield self.side.variable(meaning, unknown[0][1]), max(room // unknown[0][0] + 1, 0)

    def _variable_size(self, meaning: Meaning, name: str) -> int:
        letter = meaning.symbols[name].axis
        return (
            self._size(self.side.variable(meaning, name))
            or self._size(self.axes.letter(letter))
            or self._by_lower_case(letter)
        )

    def value(self, key: str, boundary: Boundary) -> Array:
        def size(meaning: Meaning, name: str) -> int:
            found = self._variable_size(meaning, name)
            if not found:
                raise AuthorError(
                    "sizes", f"the size of index {name.partition('#')[0]} is not known: state it in `sizes`"
                )
            return found

        def axis(letter: str) -> int:
            found = self._size(self.axes.letter(letter)) or self._by_lower_case(letter)
            if not found:
                raise AuthorError("sizes", f"the size of axis {letter} is not known: state it in `sizes`")
            return found

        options = Options(
            size=size,
            axis=axis,
            start=0,
            stated=lambda m, name: self._size(self.side.variable(m, name)),
            zero=counts_from_zero(self.side, self.axes, self.declarations),
            largest=LARGEST_NUMERIC,
            unroll=True,
        )
        evaluation = Evaluation(self.meanings, Given(self.arrays, boundary), options)
        meaning = next(m for m in self.meanings if m.name == key)
        grids = []
        for index in meaning.left:
            names = [atom.name for _, atom in index.terms if isinstance(atom, Variable)]
            if not names:
                raise AuthorError("target", f"{key} is only defined at fixed indices")
            grids.append(tuple(entry + index.constant for entry in range(size(meaning, names[0]))))
        try:
            return np.array(evaluation.tensor(key, grids, {}).array, dtype=float)
        except LimitError as limit:
            raise AuthorError(limit.code, limit.message) from None
