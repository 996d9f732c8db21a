"""Three arithmetics over numpy arrays of entries: a prime field with oracles, real balls, and floats.

Tensors that are not defined are random functions of their integer indices, computed by hashing, so that `t-1`
and `2t+Dt` need no boundary. The three agree on which tensor is which; balls and floats agree on the values.
"""

from __future__ import annotations

import zlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, MutableMapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
PRIME = 2**61 - 1
WORDS = 997


def _mix(value: Array) -> Array:
    """The finaliser of splitmix64 (Steele, Lea, Flood, 2014), entry by entry."""
    value = (value ^ (value >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    value = (value ^ (value >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(value ^ (value >> np.uint64(31)))


def _seed(name: str, seed: int) -> Array:
    first, second = zlib.crc32(name.encode()), zlib.crc32(name[::-1].encode(), 0x5EED)
    with np.errstate(over="ignore"):
        return _mix(np.array((first << 32 | second) ^ (seed * 0x9E3779B97F4A7C15 % 2**64), dtype=np.uint64))


def hashed(name: str, indices: Sequence[Array], seed: int) -> Array:
    """64 random bits for each index tuple; the index arrays broadcast."""
    value = _seed(f"{name}/{len(indices)}", seed)
    with np.errstate(over="ignore"):
        for index in indices:
            value = _mix(value * np.uint64(0x9E3779B97F4A7C15) + _mix(index.astype(np.int64).astype(np.uint64)))
    return value


class Arithmetic(ABC):
    """What the evaluation asks of an arithmetic. `seed` draws all tensors anew."""

    dtype: type[Any] = object
    cost = 1.0  # of an operation on one entry, in those on large integers

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.kept: MutableMapping[Hashable, Array] = {}
        self.spoiled: Callable[[str, Sequence[Array]], Array] | None = None
        self.site: object = None  # the node that is being applied, for those who keep notes
        self.notes: set[object] = set()  # on how what was computed has come about
        self.positives: frozenset[str] = frozenset()  # given tensors whose real entries lie between 0 and 1
        self.ranges: dict[str, tuple[int, int]] = {}  # the start and size of the axis that a sequence points into

    @property
    def drawn(self) -> tuple[object, ...]:
        """All that decides what a tensor is worth."""
        return type(self), self.seed

    def entries(self, name: str, indices: Sequence[Array]) -> Array:
        """The entries of a given tensor; `spoiled` may mark some to be drawn anew."""
        key = (name, *((index.shape, index.tobytes()) for index in indices))
        if key not in self.kept:
            self.kept[key] = self._draw(name, indices)
        return self.kept[key]

    def product(self, name: str, grids: tuple[tuple[int, ...], ...]) -> Array:
        """The entries at all combinations of these indices."""
        if (name, grids) not in self.kept:
            found = self.entries(name, np.ix_(*map(np.array, grids)))
            self.kept[name, grids] = np.broadcast_to(found, [len(grid) for grid in grids])
        return self.kept[name, grids]

    def _draw(self, name: str, indices: Sequence[Array]) -> Array:
        bits = hashed(name, indices, self.seed)
        if self.spoiled is not None:
            other = hashed(name, indices, self.seed + 7919)
            bits = np.where(self.spoiled(name, indices), other, bits)
        return self.from_bits(bits)

    def integers(self, name: str, indices: Sequence[Array]) -> Array:
        """The entries of an integer sequence: places of its axis, or from 1 to a number larger than any axis."""
        start, size = self.ranges.get(name, (1, WORDS))
        return (hashed(name, indices, self.seed) % np.uint64(size)).astype(np.int64) + start

    @abstractmethod
    def from_bits(self, bits: Array) -> Array:
        """Random bits as numbers."""

    @abstractmethod
    def constant(self, value: Fraction) -> Any:
        """An exact rational."""

    def added(self, terms: Sequence[tuple[int, Array]]) -> Array:
        """The sum of arrays of one number of dimensions, each with its sign."""
        total: Any = 0
        for sign, array in terms:
            total = total + array if sign > 0 else total - array
        return self.noted(np.asarray(total, dtype=self.dtype))

    def times(self, first: Array, second: Array) -> Array:
        """The product, entry by entry."""
        return self.noted(np.asarray(first * second, dtype=self.dtype))

    def along(self, value: Array, axis: int) -> Array:
        """The sum along an axis."""
        return self.noted(np.asarray(np.add.reduce(value, axis=axis), dtype=self.dtype))

    def noted(self, value: Array) -> Array:
        """The result of a ring operation, for those who keep notes."""
        return value

    @abstractmethod
    def reciprocal(self, value: Array) -> Array:
        """One over each entry."""

    @abstractmethod
    def root(self, value: Array, exponent: Fraction) -> Array:
        """A fractional power."""

    @abstractmethod
    def apply(self, function: str, arguments: Sequence[Array]) -> Array:
        """A function entry by entry; a name that starts with ? is one that is only named."""


class PrimeField(Arithmetic):
    """Integers modulo 2^61-1, in normal form; every non-linearity is a random oracle, which is noted."""

    dtype: type[Any] = np.uint64
    cost = 0.1

    @property
    def oracles(self) -> bool:
        """Whether an oracle was asked."""
        return bool(self.notes)

    def from_bits(self, bits: Array) -> Array:
        """61 of the bits; never zero."""
        return np.asarray((bits >> np.uint64(3)) | np.uint64(1)) % _P

    def constant(self, value: Fraction) -> int:
        """Numerator over denominator."""
        return value.numerator * pow(value.denominator, -1, PRIME) % PRIME

    def added(self, terms: Sequence[tuple[int, Array]]) -> Array:
        """The remainder after each step."""
        total: Any = np.zeros((), dtype=np.uint64)
        for sign, array in terms:
            total = _folded(total + (array if sign > 0 else _P - array))
        return np.asarray(total, dtype=np.uint64)

    def times(self, first: Array, second: Array) -> Array:
        """By halves of 31 and 30 bits, whose products fit into 62; 2^61 is 1."""
        first, second = np.asarray(first), np.asarray(second)
        low, high, low2, high2 = first & _LOW, first >> _HALF, second & _LOW, second >> _HALF
        middle = low * high2 + high * low2  # below 2^62, times 2^31
        shifted = ((middle & _REST) << _HALF) + (middle >> np.uint64(30))
        return _folded(_folded(low * low2) + _folded((high * high2) << np.uint64(1)) + shifted)

    def along(self, value: Array, axis: int) -> Array:
        """By halves, so that nothing overflows."""
        low, high = np.add.reduce(value & _LOW, axis=axis), np.add.reduce(value >> _HALF, axis=axis)
        return _folded(low + self.times(_folded(high), np.asarray(_TWO_31)))

    def reciprocal(self, value: Array) -> Array:
        """Raises ZeroDivisionError where an entry is zero."""
        try:
            return _each(lambda entry: pow(int(entry), -1, PRIME), value).astype(np.uint64)
        except ValueError:
            raise ZeroDivisionError from None

    def root(self, value: Array, exponent: Fraction) -> Array:
        """An oracle of its own for each exponent."""
        return self.apply(f"^{exponent}", [value])

    def apply(self, function: str, arguments: Sequence[Array]) -> Array:
        """The oracle of this function; max and min do not mind the order."""
        self.notes.add("oracle")
        words = [np.asarray(argument).astype(np.uint64) for argument in arguments]
        if function in ("max", "min"):
            words = [np.minimum(*words), np.maximum(*words)]
        return self.from_bits(hashed(f"()/{function}", words, self.seed))


_P = np.uint64(PRIME)
_HALF, _LOW, _REST, _TWO_31 = np.uint64(31), np.uint64(2**31 - 1), np.uint64(2**30 - 1), np.uint64(2**31)


def _folded(value: Array) -> Array:
    """The remainder of numbers below 2^64."""
    value = np.add(value & _P, value >> np.uint64(61))
    return np.asarray(np.minimum(value, np.subtract(value, _P)))  # what is below the prime wraps around


def _each(function: Callable[[Any], Any], value: Array) -> Array:
    result = np.empty(np.shape(value), dtype=object)
    result.ravel()[...] = [function(entry) for entry in np.asarray(value, dtype=object).ravel()]
    return result


class Floats(Arithmetic):
    """float64: quick, decides nothing alone. `scale` stretches the tensors."""

    dtype: type[Any] = float
    cost = 0.05

    def __init__(self, seed: int, scale: float = 1.0, positive: bool = False) -> None:
        super().__init__(seed)
        self.scale = scale
        self.positive = positive

    @property
    def drawn(self) -> tuple[object, ...]:
        """The scale and the sign, too."""
        return *super().drawn, self.scale, self.positive

    def _draw(self, name: str, indices: Sequence[Array]) -> Array:
        if name not in self.positives:
            return super()._draw(name, indices)
        kept = self.positive, self.scale
        self.positive, self.scale = True, 1.0
        try:
            return super()._draw(name, indices)
        finally:
            self.positive, self.scale = kept

    def from_bits(self, bits: Array) -> Array:
        """Exact dyadic numbers in (-scale, scale), or in (0, scale)."""
        unit = (bits >> np.uint64(12)).astype(float) * 2.0**-52 + 2.0**-53
        return np.asarray((unit if self.positive else 2 * unit - 1) * self.scale)

    def constant(self, value: Fraction) -> float:
        """The nearest float."""
        return float(value)

    def reciprocal(self, value: Array) -> Array:
        """IEEE."""
        with np.errstate(all="ignore"):
            return np.asarray(1.0 / value)

    def root(self, value: Array, exponent: Fraction) -> Array:
        """NaN for a negative base."""
        with np.errstate(all="ignore"):
            return np.asarray(np.power(value, float(exponent)))

    def apply(self, function: str, arguments: Sequence[Array]) -> Array:
        """numpy's function."""
        with np.errstate(all="ignore"):
            if function.startswith("?"):
                return np.asarray(np.sin(arguments[0]) + np.square(arguments[0]) / 4)
            return np.asarray(_FLOAT_FUNCTIONS[function](*arguments))


class CarefulFloats(Floats):
    """Floats that note whether some step gave no finite number."""

    @property
    def valueless(self) -> bool:
        """Whether one did."""
        return bool(self.notes)

    def _seen(self, value: Array) -> Array:
        if not np.isfinite(value).all():
            self.notes.add("valueless")
        return value

    def reciprocal(self, value: Array) -> Array:
        """The same, seen."""
        return self._seen(super().reciprocal(value))

    def root(self, value: Array, exponent: Fraction) -> Array:
        """The same, seen."""
        return self._seen(super().root(value, exponent))

    def apply(self, function: str, arguments: Sequence[Array]) -> Array:
        """The same, seen."""
        return self._seen(super().apply(function, arguments))


_FLOAT_FUNCTIONS: dict[str, Callable[..., Array]] = {
    "sigma": lambda x: 1 / (1 + np.exp(-x)),
    "tanh": np.tanh,
    "exp": np.exp,
    "ln": np.log,
    "relu": lambda x: np.maximum(x, 0),
    "max": np.maximum,
    "min": np.minimum,
    "abs": np.abs,
    "sin": np.sin,
    "cos": np.cos,
    "sinh": np.sinh,
    "cosh": np.cosh,
    "tan": np.tan,
    "softplus": lambda x: np.logaddexp(0, x),
    "pow": np.power,
}
