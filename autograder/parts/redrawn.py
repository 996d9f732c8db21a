"""Hidden inputs once more, with the same sizes and other numbers: very large and very small ones, exact zeros.

An author draws inputs of ordinary size. A mask of -100, a clamp at 0.999, 1e-12 under a root, a mask made by `s == 0`
and a result remembered by its shape are right on all of these. Huge ones shut gates for good, which a sigmoid that
ends at 1e-6 does not; what is left of a gradient there is rounding, and none is asked for.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from autograder.errors import AuthorError, did_you_mean

# Only the first array that is drawn is made large: a product of many would overflow in a right answer.
LARGE, SMALL, HUGE = 5.0, 1e-4, 30.0

Alter = Callable[[Any, np.random.Generator, int], Any]  # numbers, a generator, how many arrays were drawn before


class Redrawn(np.random.Generator):
    """The whole numbers and choices that `default_rng(key)` gives; its real numbers are others.

    Normal ones, which have no bounds, go through `alter`; uniform ones stay between theirs.
    """

    def __init__(self, key: tuple[int, ...], alter: Alter) -> None:
        super().__init__(np.random.PCG64(key))
        self._others, self._alter, self._before = np.random.default_rng((*key, 1)), alter, -1

    def standard_normal(self, size: Any = None, dtype: Any = np.float64, out: Any = None) -> Any:
        """Others, altered."""
        super().standard_normal(size, dtype, out)
        drawn = self._altered(self._others.standard_normal(size, dtype))
        if out is None:
            return drawn
        out[...] = drawn
        return out

    def normal(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        """Others; how far they lie from `loc` is altered."""
        super().normal(loc, scale, size)
        return loc + scale * self._altered(self._others.normal(np.zeros_like(loc + scale), 1.0, size))

    def _altered(self, drawn: Any) -> Any:
        self._before += 1
        return self._alter(drawn, self._others, self._before)

    def uniform(self, low: Any = 0.0, high: Any = 1.0, size: Any = None) -> Any:
        """Others between the same bounds."""
        super().uniform(low, high, size)
        return self._others.uniform(low, high, size)

    def random(self, size: Any = None, dtype: Any = np.float64, out: Any = None) -> Any:
        """Others between zero and one."""
        super().random(size, dtype, out)
        return self._others.random(size, dtype, out)

    def dirichlet(self, alpha: Any, size: Any = None) -> Any:
        """Other distributions."""
        super().dirichlet(alpha, size)
        return self._others.dirichlet(alpha, size)


def _plain(drawn: Any, rng: np.random.Generator, before: int) -> Any:
    return drawn


def _large(drawn: Any, rng: np.random.Generator, before: int) -> Any:
    return drawn if before else LARGE * drawn


def _huge(drawn: Any, rng: np.random.Generator, before: int) -> Any:
    return drawn if before else HUGE * drawn


def _small(drawn: Any, rng: np.random.Generator, before: int) -> Any:
    return SMALL * drawn


def _zeros(drawn: Any, rng: np.random.Generator, before: int) -> Any:
    """One row of zeros, and one zero elsewhere; the only entry of a row stays."""
    drawn = np.asarray(drawn)
    if drawn.ndim > 1 and len(drawn) > 1:
        drawn[rng.integers(len(drawn))] = 0.0
    if drawn.size > 1:
        drawn[tuple(rng.integers(size) for size in drawn.shape)] = 0.0
    return drawn if drawn.ndim else float(drawn)


ALTERED = {"large": _large, "small": _small, "zeros": _zeros, "huge": _huge}
VALUES_ONLY = ("zeros", "huge")  # without gradients: a rectifier has two at zero, and a shut gate none but rounding


def redrawn(key: tuple[int, ...], how: str = "") -> np.random.Generator:
    """A generator for inputs of the sizes that `default_rng(key)` gives, with other numbers, altered if so told."""
    return Redrawn(key, ALTERED[how] if how else _plain)


def check_names(part: str, names: Any) -> None:
    """AuthorError for an alteration that there is not."""
    for name in [names] if isinstance(names, str) else names:
        if name not in ALTERED:
            raise AuthorError(
                "unknown_alteration",
                f"part {part!r}: also={names!r}: there is no {name!r}{did_you_mean(name, ALTERED)}; "
                f"a tuple of {', '.join(ALTERED)} is wanted",
            )
