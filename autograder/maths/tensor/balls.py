"""Real ball arithmetic (Arb): the functions themselves, with a proved error.

A result says how it was reached: which branches a relu, max, min or abs has taken, and whether something was
so large or small that 400 bits cannot see what stands beside it; an agreement that saw one branch only, or
e^-1000, shows nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import flint
import numpy as np

from autograder.maths.tensor.number_systems import Array, Floats, _each

BITS = 400
SATURATED = 150.0
TINY, HUGE = 1e-60, 1e60
_SATURATED = "saturated"


class Balls(Floats):
    """Balls of BITS bits around the values that Floats with the same seed and scale has."""

    dtype: type[Any] = object
    cost = 2.0

    @property
    def one_sided(self) -> bool:
        """Whether some relu, max, min or abs has always taken the same branch."""
        branches = [note for note in self.notes if isinstance(note, tuple)]
        return len(branches) < 2 * len({site for site, _ in branches})

    @property
    def saturated(self) -> bool:
        """Whether something was so large or small that it hides what stands beside it."""
        return _SATURATED in self.notes

    def from_bits(self, bits: Array) -> Array:
        """The float, exactly."""
        return _each(flint.arb, super().from_bits(bits))

    def constant(self, value: Fraction) -> Any:
        """A ball around the rational."""
        return self._seen(flint.arb(flint.fmpq(value.numerator, value.denominator)))

    def _seen(self, value: Any) -> Any:
        """The value itself, after a note of entries that are out of proportion."""
        if not self.saturated:
            entries = np.asarray(value, dtype=object).ravel()
            sizes = np.abs(np.fromiter(map(float, entries), float, len(entries)))
            tiny = entries[sizes < TINY]
            if (sizes > HUGE).any() or any(not entry.contains(0) for entry in tiny):
                self.notes.add(_SATURATED)
        return value

    def noted(self, value: Array) -> Array:
        """The value, after the note."""
        return np.asarray(self._seen(value), dtype=object)

    def reciprocal(self, value: Array) -> Array:
        """Not a number where the ball holds zero."""
        return np.asarray(self._seen(_each(lambda entry: 1 / entry, value)))

    def root(self, value: Array, exponent: Fraction) -> Array:
        """Not a number for a negative base."""
        if exponent == Fraction(1, 2):
            return _each(lambda entry: entry.sqrt(), value)
        ball = self.constant(exponent)
        return _each(lambda entry: entry**ball, value)

    def apply(self, function: str, arguments: Sequence[Array]) -> Array:
        """The function itself."""
        if function.startswith("?"):
            return _each(lambda x: x.sin() + x * x / 4, arguments[0])
        if function in _STEEP:
            self._note_saturation(arguments[0])
        if function in _BRANCHING:
            self._note_branches(arguments)
        return np.asarray(self._seen(self._applied(function, arguments)))

    def _applied(self, function: str, arguments: Sequence[Array]) -> Array:
        if len(arguments) == 2:
            first, second = np.broadcast_arrays(*arguments)
            pairs = zip(first.ravel(), second.ravel(), strict=True)
            result = np.empty(first.shape, dtype=object)
            result.ravel()[...] = [_TWO[function](x, y) for x, y in pairs]
            return result
        return _each(_ONE[function], arguments[0])

    def _note_saturation(self, value: Array) -> None:
        if any(not abs(entry) < SATURATED for entry in np.asarray(value, dtype=object).ravel()):
            self.notes.add(_SATURATED)

    def _note_branches(self, arguments: Sequence[Array]) -> None:
        difference = arguments[0] - arguments[1] if len(arguments) == 2 else arguments[0]
        for entry in np.asarray(difference, dtype=object).ravel():
            if entry > 0:
                self.notes.add((self.site, True))
            elif entry < 0:
                self.notes.add((self.site, False))


_STEEP = ("exp", "sigma", "tanh", "sinh", "cosh", "softplus")
_BRANCHING = ("relu", "max", "min", "abs")
_ZERO = flint.arb(0)
_ONE: dict[str, Callable[[Any], Any]] = {
    "sigma": lambda x: 1 / (1 + (-x).exp()),
    "tanh": lambda x: x.tanh(),
    "exp": lambda x: x.exp(),
    "ln": lambda x: x.log(),
    "relu": lambda x: x.max(_ZERO),
    "abs": abs,
    "sin": lambda x: x.sin(),
    "cos": lambda x: x.cos(),
    "sinh": lambda x: x.sinh(),
    "cosh": lambda x: x.cosh(),
    "tan": lambda x: x.tan(),
    "softplus": lambda x: x.exp().log1p(),
}
_TWO: dict[str, Callable[[Any, Any], Any]] = {
    "max": lambda x, y: x.max(y),
    "min": lambda x, y: x.min(y),
    "pow": lambda x, y: x**y,
}
