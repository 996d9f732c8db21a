"""Hidden inputs by axis names: sizes that fit by no accident, and tensors of them."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from autograder.errors import AuthorError, did_you_mean

if TYPE_CHECKING:
    import torch

# Distinct primes: no transposition and no other axis fits in the place of the right one.
PRIMES = (2, 3, 5, 7, 11, 13, 17, 19)


def sizes(rng: np.random.Generator, axes: str, largest: int = 13) -> dict[str, int]:
    """A distinct prime of at most `largest` for each axis named in `axes`, in random order."""
    names = axes.split()
    primes = [prime for prime in PRIMES if prime <= largest]
    if len(names) > len(primes):
        raise AuthorError("too_many_axes", f"{len(names)} axes, but {len(primes)} distinct primes up to {largest}")
    return dict(zip(names, (int(prime) for prime in rng.permutation(primes)), strict=False))


def tensors(rng: np.random.Generator, p: Mapping[str, Any], **shapes: str) -> dict[str, torch.Tensor]:
    """Standard normal float64 tensors, one per keyword, of shapes such as `"B D"` or `"2*J I+K"`.

    Axes are names of integers in `p`; each word of a shape is a sum or product of axes and whole numbers. An empty
    shape gives a scalar. Raises AuthorError for an axis that `p` does not hold.
    """
    import torch

    result = {}
    for name, shape in shapes.items():
        dimensions = [_size(word, p, name) for word in shape.split()]
        result[name] = torch.from_numpy(np.asarray(rng.standard_normal(dimensions)))
    return result


def _size(word: str, p: Mapping[str, Any], name: str) -> int:
    """The value of one word of a shape, by walking its syntax tree; nothing is evaluated."""

    def value(node: ast.expr) -> int:
        match node:
            case ast.Constant(value=int(number)):
                return number
            case ast.Name(id=axis):
                if axis not in p:
                    known = [key for key, item in p.items() if isinstance(item, int | np.integer)]
                    raise AuthorError(
                        "unknown_axis",
                        f"tensors({name}={word!r}): there is no axis {axis!r}{did_you_mean(axis, known)}; "
                        f"the parameters give {', '.join(known) or 'none'}",
                    )
                return int(p[axis])
            case ast.BinOp(left=left, op=ast.Add(), right=right):
                return value(left) + value(right)
            case ast.BinOp(left=left, op=ast.Sub(), right=right):
                return value(left) - value(right)
            case ast.BinOp(left=left, op=ast.Mult(), right=right):
                return value(left) * value(right)
        raise AuthorError(
            "shape", f"tensors({name}=...): {word!r} is not a size; write axes, numbers, +, - and * without spaces"
        )

    try:
        tree = ast.parse(word, mode="eval")
    except SyntaxError as error:
        raise AuthorError("shape", f"tensors({name}=...): {word!r} cannot be read as a size") from error
    return value(tree.body)
