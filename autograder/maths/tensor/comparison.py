"""Two systems side by side over the same axes, and whether two tensors of theirs agree.

Pass A computes in F_p with every non-linearity a random oracle: agreement is equality, with an error of at
most degree/p an entry. Where oracles took part in a disagreement, pass B computes with the real functions in
balls: disjoint balls prove a difference, agreement to TOLERANCE is an analytic identity.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from autograder.maths.decision import Decision, different, equal, undecided
from autograder.maths.tensor.axes import Axes, Side
from autograder.maths.tensor.core_tree import Fault, Meaning, axis_sizes, pointers, variables
from autograder.maths.tensor.declarations import Declarations
from autograder.maths.tensor.evaluation import Evaluation, Options
from autograder.maths.tensor.number_systems import Arithmetic, Array, CarefulFloats, PrimeField
from autograder.maths.tensor.shelf import Shelves
from autograder.maths.tensor.sizes import Sizes
from autograder.maths.tensor.tensor_tree import kept
from autograder.maths.tensor.values import Budget, Grid, LimitError, Value

TOLERANCE = 1e-80
FIELD_TRIALS = 2
SEQUENCE_TRIALS = 6  # where an axis is small since a sequence points into it: its entries often coincide
BALL_TRIALS = 8
ENOUGH_ENTRIES = 24
_SCALES = (1.0, 1.0, 4.0, 0.25, 16.0, 1.0, 64.0, 256.0)  # while some max or relu has taken one branch only


@dataclass(frozen=True, kw_only=True)
class Compared:
    """What is compared: how each side computes it on given grids, and the names of its positions."""

    positions: tuple[str, ...]
    grids: Callable[[Sizes], tuple[Grid, ...]]
    first: Callable[[Evaluation, Sequence[Grid]], Value]
    second: Callable[[Evaluation, Sequence[Grid]], Value]


class Comparison:
    """A reference and an answer over common axes."""

    def __init__(
        self,
        reference: Side,
        answer: Side,
        axes: Axes,
        declarations: Declarations,
        *,
        budget: Budget,
        seed: int = 0,
        fixed: Mapping[str, int] | None = None,
        shelves: Shelves | None = None,
    ) -> None:
        self.reference = reference
        self.answer = answer
        self.axes = axes
        self.declarations = declarations
        self.budget = budget
        self.seed = seed
        self.fixed = fixed
        self.shelves = shelves
        self.fault: Fault | None = None
        self._evaluations: dict[tuple[object, ...], tuple[Evaluation, Evaluation]] = {}
        self._sizes: dict[int, Sizes] = {}
        self._plain_cost = 0.0  # of the floats of what is being compared: to see that all have a value costs as much

    def sizes(self, trial: int) -> Sizes:
        """The axis sizes of a trial."""
        if trial not in self._sizes:
            self._sizes[trial] = Sizes(self.axes, self.declarations, trial, self.seed, self.fixed)
            self.fault = self.fault or self._sizes[trial].fault
        return self._sizes[trial]

    def evaluations(self, kind: str, trial: int, make: Callable[[], Arithmetic]) -> tuple[Evaluation, Evaluation]:
        """Both sides in one arithmetic, kept so that intermediate tensors are computed once."""
        if (kind, trial) not in self._evaluations:
            arithmetic, sizes = make(), self.sizes(trial)
            arithmetic.positives = self.declarations.positive
            arithmetic.ranges = self.ranges(trial)
            shelf = None
            if self.shelves is not None:
                arithmetic.kept = self.shelves.draws(arithmetic.drawn)
                shelf = self.shelves.about((arithmetic.drawn, self.learned(self.reference, trial)))
            self._evaluations[kind, trial] = (
                Evaluation(self.reference.meanings, arithmetic, self._options(self.reference, sizes), shelf),
                Evaluation(self.answer.meanings, arithmetic, self._options(self.answer, sizes)),
            )
        return self._evaluations[kind, trial]

    def learned(self, side: Side, trial: int) -> tuple[object, ...]:
        """All that an evaluation learns about the axes of a side."""
        sizes, zero = self.sizes(trial), {self.axes.root(self.axes.letter(each)) for each in self.declarations.zero}
        found: list[object] = [*sorted(self.ranges(trial).items())]
        for meaning in side.meanings:
            found += [sizes.axis(letter) for letter in sorted(axis_sizes(meaning.body))]
            for name in _named(meaning):
                node = self.axes.root(side.variable(meaning, name))
                found.append((sizes.values.get(node, 2), sizes.stated.get(node, 0), node in zero))
        return tuple(found)

    def ranges(self, trial: int) -> dict[str, tuple[int, int]]:
        """Of each sequence that is compared with an index, `1[w=v[t]]`, the axis: where it starts and its size."""
        found: dict[str, set[tuple[int, int]]] = {}
        for side in (self.reference, self.answer):
            zero = counts_from_zero(side, self.axes, self.declarations)
            for meaning in side.meanings:
                for name, variable in pointers(meaning.body):
                    size = self.sizes(trial).of(side.variable(meaning, variable))
                    found.setdefault(name, set()).add((0 if zero(meaning, variable) else 1, size))
        return {name: axes.pop() for name, axes in found.items() if len(axes) == 1}

    @property
    def trials(self) -> int:
        """How many times all tensors are drawn."""
        return SEQUENCE_TRIALS if self.ranges(0) else FIELD_TRIALS

    def _options(self, side: Side, sizes: Sizes) -> Options:
        return Options(
            size=_size(side, sizes),
            axis=sizes.axis,
            stated=_stated(side, sizes),
            zero=counts_from_zero(side, self.axes, self.declarations),
            budget=self.budget,
            private=side.own - self.reference.own,
        )

    def decide(self, what: Compared) -> Decision:
        """A plain difference of floats, proved where it shows; else pass A, then pass B where it can say more."""
        try:
            if (plain := self._plain(what)) is not None:
                return plain
            verdict = self._field(what)
            if verdict is None:
                return self._real(what)
            if verdict.equal and self._lacks_a_value(what):
                return undecided("domain", "a term of your formula has no value")
            return verdict
        except LimitError as limit:
            return undecided(limit.code, limit.message)
        except (ZeroDivisionError, OverflowError):
            return undecided("number", "a division by zero or a number out of range")
        except RecursionError:
            return undecided("depth", "the definitions are nested too deeply")

    def arrays(
        self,
        pair: tuple[Evaluation, Evaluation],
        what: Compared,
        trial: int,
        grids: tuple[Grid, ...] | None = None,
    ) -> tuple[Array, Array, tuple[str, ...]]:
        """Both values on the same dimensions, of the whole tensor or on the grids."""
        grids = what.grids(self.sizes(trial)) if grids is None else grids
        return self.aligned(what.first(pair[0], grids), what.second(pair[1], grids))

    @staticmethod
    def aligned(first: Value, second: Value) -> tuple[Array, Array, tuple[str, ...]]:
        """Two values as arrays of one shape."""
        dims = tuple(dict.fromkeys(first.dims + second.dims))
        if any(len({n for n in pair if n != 1}) > 1 for pair in _lengths(first, second, dims)):
            raise LimitError("axis", "an index has two ranges")
        arrays = np.broadcast_arrays(first.spread(dims), second.spread(dims))
        return arrays[0], arrays[1], dims

    def _field(self, what: Compared) -> Decision | None:
        for trial in range(self.trials):
            pair = self.evaluations("field", trial, lambda trial=trial: PrimeField(self.seed + trial))  # type: ignore[misc]
            field = pair[0].arithmetic
            assert isinstance(field, PrimeField)
            try:
                first, second, dims = self.arrays(pair, what, trial)
            except ZeroDivisionError:
                return None
            unequal = np.argwhere(np.asarray(first != second, dtype=bool))
            if len(unequal):
                return (
                    None if field.oracles else different("value", witness=self._witness(what, dims, unequal[0], trial))
                )
        return equal("agree")

    def _lacks_a_value(self, what: Compared) -> bool:
        """Whether the answer has no real value where the reference has one: `0*ln(0)` is zero to an oracle.

        Floats have said where every step has a value; where one has none, balls decide.
        """
        from autograder.maths.precision import precision
        from autograder.maths.tensor.balls import BITS, Balls

        self.budget.spend(self._plain_cost)
        if not self._floating()[0].arithmetic.notes:
            return False
        with precision(BITS):
            for positive in (False, True):
                pair = self.evaluations(
                    f"ball {positive}",
                    0,
                    lambda p=positive: Balls(self.seed, 1.0, p),  # type: ignore[misc]
                )
                first, second, _ = self.arrays(pair, what, 0)
                entries = zip(first.ravel(), second.ravel(), strict=True)
                if any(one.is_finite() and not other.is_finite() for one, other in entries):
                    return True
        return False

    def quick(self, what: Compared) -> bool:
        """Whether floats agree roughly; a filter before the real decision."""
        first, second, _ = self._floats(what)
        return agree(first, second)

    def _floats(self, what: Compared) -> tuple[Array, Array, tuple[str, ...]]:
        with np.errstate(all="ignore"):
            return self.arrays(self._floating(), what, 0)

    def _floating(self) -> tuple[Evaluation, Evaluation]:
        return self.evaluations("float", 0, lambda: CarefulFloats(self.seed))

    def _plain(self, what: Compared) -> Decision | None:
        """The first entry where floats lie far apart, proved different by balls around its two values alone."""
        from autograder.maths.precision import precision
        from autograder.maths.tensor.balls import BITS, Balls

        before = self.budget.left
        first, second, dims = self._floats(what)
        self._plain_cost = before - self.budget.left
        if not (np.isfinite(first).all() and np.isfinite(second).all()):
            return None
        apart = np.argwhere(np.abs(first - second) > 1e-6 * (1 + np.abs(first) + np.abs(second)))
        pair = self.evaluations("entry", 0, lambda: Balls(self.seed))
        if not len(apart) or any(len(meanings) > 1 for side in pair for meanings in side.definitions.values()):
            return None
        place = tuple(int(position) for position in apart[0])
        at = {int(dim): position for dim, position in zip(dims, place, strict=True) if dim.isdigit()}
        grids = tuple((grid[at.get(number, 0)],) for number, grid in enumerate(what.grids(self.sizes(0))))
        with precision(BITS):
            one, other, names = self.arrays(pair, what, 0, grids)
            here = tuple(0 if dim.isdigit() else position for dim, position in zip(dims, place, strict=True))
            if names != dims or not _around(one[here], first[place]) or not _around(other[here], second[place]):
                return None
            proved = not one[here].overlaps(other[here])
        return different("value", witness=self._witness(what, dims, place, 0)) if proved else None

    # -- pass B

    def _real(self, what: Compared) -> Decision:
        from autograder.maths.precision import precision
        from autograder.maths.tensor.balls import BITS, Balls

        entries, one_sided, saturated = 0, True, True
        with precision(BITS):
            for trial in range(BALL_TRIALS):
                positive = trial >= 4 and entries == 0
                scale = _SCALES[trial] if one_sided and trial else 1.0
                pair = self.evaluations(
                    "ball",
                    trial,
                    lambda t=trial, s=scale, p=positive: Balls(self.seed + t, s, p),  # type: ignore[misc]
                )
                first, second, dims = self.arrays(pair, what, trial)
                verdict, compared = self._balls(first, second, what, dims, trial)
                if verdict is not None:
                    return verdict
                balls = pair[0].arithmetic
                assert isinstance(balls, Balls)
                entries += compared
                one_sided, saturated = balls.one_sided and one_sided, balls.saturated and saturated
                if trial >= self.trials - 1 and entries >= ENOUGH_ENTRIES and not one_sided:
                    break
        return self._agreement(entries, one_sided, saturated)

    def _agreement(self, entries: int, one_sided: bool, saturated: bool) -> Decision:
        if entries == 0:
            return undecided("domain", "neither side has a real value at the points tried")
        if one_sided:
            return undecided("branch", "a max, min, abs or relu never took its other branch at the points tried")
        if saturated:
            return undecided("saturated", "an exponential is so large or small that it hides everything else")
        return equal("agree_analytic")

    def _balls(
        self, first: Array, second: Array, what: Compared, dims: Sequence[str], trial: int
    ) -> tuple[Decision | None, int]:
        """A difference if there is one, and how many entries had a value on both sides."""
        compared = 0
        for place in np.ndindex(first.shape):
            one: Any = first[place]
            other: Any = second[place]
            missing = (not one.is_finite(), not other.is_finite())
            if all(missing):
                continue
            if any(missing):
                message = (
                    "your formula has no real value where the correct one has one"
                    if missing[1]
                    else ("your formula has a value where the correct one has none")
                )
                return different("domain", message, witness=self._witness(what, dims, place, trial)), compared
            if not one.overlaps(other):
                return different("value", witness=self._witness(what, dims, place, trial)), compared
            if not (one - other).abs_upper() < TOLERANCE * (1 + other.abs_upper()):
                return undecided("precision", "the precision is too low to tell the two apart"), compared
            compared += 1
        return None, compared

    def _witness(self, what: Compared, dims: Sequence[str], place: Sequence[int], trial: int) -> str:
        """The index tuple where the two differ, and the axis sizes."""
        grids = what.grids(self.sizes(trial))
        entries = []
        for dim, position in zip(dims, place, strict=True):
            if dim.isdigit():
                entries.append(f"{what.positions[int(dim)]}={grids[int(dim)][position]}")
            else:
                entries.append(f"{dim.lstrip('@')}={position + 1}")
        return "at " + ", ".join(entries) if entries else "for random tensors"


def agree(first: Array, second: Array) -> bool:
    """Whether floats are equal but for rounding, on the scale of the largest."""
    with np.errstate(all="ignore"):
        both = np.abs(np.concatenate([first.ravel(), second.ravel()]))
        largest = float(np.max(both[np.isfinite(both)], initial=1.0))
        return bool(np.isclose(first, second, rtol=1e-7, atol=1e-9 * largest, equal_nan=True).all())


def _around(ball: Any, number: float) -> bool:
    """Whether a ball lies at a float."""
    return bool(ball.is_finite()) and abs(float(ball) - number) <= 1e-7 * (1 + abs(number))


def _lengths(first: Value, second: Value, dims: Sequence[str]) -> Iterator[tuple[int, ...]]:
    """How long the two values are along each dimension that both have."""
    for dim in dims:
        yield tuple(value.array.shape[value.dims.index(dim)] for value in (first, second) if dim in value.dims)


def _size(side: Side, sizes: Sizes) -> Callable[[Meaning, str], int]:
    return lambda meaning, name: sizes.of(side.variable(meaning, name))


def _stated(side: Side, sizes: Sizes) -> Callable[[Meaning, str], int]:
    return lambda meaning, name: sizes.stated.get(sizes.axes.root(side.variable(meaning, name)), 0)


@kept
def _named(meaning: Meaning) -> tuple[str, ...]:
    return tuple(sorted({*meaning.symbols, *variables(meaning.body)}))


def counts_from_zero(side: Side, axes: Axes, declarations: Declarations) -> Callable[[Meaning, str], bool]:
    """Whether a variable's axis is declared to count from zero."""
    roots = {axes.root(axes.letter(letter)) for letter in declarations.zero}
    return lambda meaning, name: axes.root(side.variable(meaning, name)) in roots


def grid_of(side: Side, meaning: Meaning, sizes: Sizes) -> tuple[Grid, ...]:
    """The grids of a left side: the whole axis, or the number that stands there."""
    grids: list[Grid] = []
    for index in meaning.left:
        names = [atom.name for _, atom in index.terms if hasattr(atom, "name")]
        if not names:
            grids.append((index.constant,))
        else:
            size = sizes.of(side.variable(meaning, names[0]))
            grids.append(tuple(entry + index.constant for entry in range(1, size + 1)))
    return tuple(grids)


def position_names(meaning: Meaning) -> tuple[str, ...]:
    """How a person would call the positions of a left side."""
    return tuple(index.variable or str(number + 1) for number, index in enumerate(meaning.left))


def tensor_of(
    name: str, places: Sequence[int] | None = None, extra: Mapping[int, str] | None = None
) -> Callable[[Evaluation, Sequence[Grid]], Value]:
    """Computes a defined tensor; `places` are its positions for the grids, `extra` those that are context
    indices.
    """

    def compute(evaluation: Evaluation, grids: Sequence[Grid]) -> Value:
        if not extra or places is None:
            return evaluation.tensor(name, grids, {})
        meaning = evaluation.definitions[name][-1]
        whole = {place: evaluation.whole(meaning, variable) for place, variable in extra.items()}
        chosen = {**dict(zip(places, grids, strict=True)), **whole}
        value = evaluation.tensor(name, [chosen[place] for place in sorted(chosen)], {})
        names = {str(place): str(number) for number, place in enumerate(places)}
        names |= {str(place): f"@{variable}" for place, variable in extra.items()}
        return Value(tuple(names.get(dim, dim) for dim in value.dims), value.array)

    return compute


def link_of(meaning: Meaning) -> Callable[[Evaluation, Sequence[Grid]], Value]:
    """Computes one link of a chain."""
    return lambda evaluation, grids: evaluation.link(meaning, grids, {})
