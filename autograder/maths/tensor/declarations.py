"""What a question says about its tensors: their axes, the sizes, the integer sequences, the indices of the
context.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from autograder.errors import AuthorError, Unreadable
from autograder.maths.tensor.tensor_grammar import parse
from autograder.maths.tensor.tensor_tree import Tensor


@dataclass(frozen=True, kw_only=True)
class Declarations:
    """All optional; what is not declared is inferred from the reference.

    shapes: tensor -> axes, `{"W^Q": ("K", "U", "J")}`; the empty tuple declares a scalar.
    sizes: axis -> a number or a product of axes, `{"J": ("K", "I"), "DT": 3}`; other sizes are drawn.
    same: axis -> the axis that it is another name of, `{"I": "J"}`.
    sequences: tensors whose entries are integers, such as the words `w[b,t]`; `w_t` is then `w[t]`.
    context: indices that are fixed outside the equations, such as the t of `P[w] = softmax_w[… h[t-1,J]]`.
    zero: axes whose indices count from 0, such as the D of `sum_{Dt=0}^{D-1}`; all others count from 1.
    positive: tensors whose entries lie between 0 and 1, such as probabilities, so that `ln(A[a,w])` is real.
    open: an answer may use tensors that are not declared, as parameters of its own.
    constraints: pairs of axes, of which the first is never larger than the second.
    """

    shapes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    sizes: Mapping[str, int | tuple[str, ...]] = field(default_factory=dict)
    same: Mapping[str, str] = field(default_factory=dict)
    sequences: frozenset[str] = frozenset()
    context: tuple[str, ...] = ()
    zero: frozenset[str] = frozenset()
    positive: frozenset[str] = frozenset()
    open: bool = False
    constraints: tuple[tuple[str, str], ...] = ()


def declare(
    *tensors: str,
    sizes: Mapping[str, int | str] | None = None,
    same: Mapping[str, str] | None = None,
    sequences: str = "",
    context: str = "",
    zero: str = "",
    positive: str = "",
    open: bool = False,  # noqa: A002 - the word that says it
    constraints: Iterable[str] = (),
) -> Declarations:
    """Declarations in the notation of the equations: `declare("W^Q[K,U,J]", "h_in[T,J]", sizes={"J":
    "K*I"})`.

    `sequences`, `context`, `zero` and `positive` are names apart by spaces. Raises AuthorError for what cannot be read.
    """
    shapes = dict(_shape(text) for text in tensors)
    products = {axis: _size(axis, size) for axis, size in (sizes or {}).items()}
    return Declarations(
        shapes=shapes,
        sizes=products,
        same=dict(same or {}),
        sequences=frozenset(sequences.split()),
        context=tuple(context.split()),
        zero=frozenset(zero.split()),
        positive=frozenset(map(tensor_key, positive.split())),
        open=open,
        constraints=tuple(map(_constraint, constraints)),
    )


def _constraint(text: str) -> tuple[str, str]:
    """The smaller and the larger axis of `K<=E`."""
    sides = re.fullmatch(r"\s*(\w+)\s*(<=?|>=?|≤|≥)\s*(\w+)\s*", text)
    if sides is None:
        raise AuthorError("constraint", f"a constraint compares two axes, such as K<=E, not {text!r}")
    return (sides[1], sides[3]) if sides[2] in ("<", "<=", "≤") else (sides[3], sides[1])


def tensor_key(text: str) -> str:
    """The canonical spelling of a tensor's name, however it was typed; `L@l+1` is `L_{l+1}`."""
    base, _, layer = text.partition("@")
    text = f"{base}_{{{layer}}}" if layer else base
    return _left(text).name.key


@lru_cache(maxsize=1024)
def _left(text: str) -> Tensor:
    try:
        return parse(f"{text}= 0").equations[0].left
    except Unreadable as error:
        raise AuthorError("declaration", f"{text!r} is not a tensor: {error.message}") from error


def _shape(text: str) -> tuple[str, tuple[str, ...]]:
    left = _left(text)
    axes = []
    for index in left.indices:
        if index.symbol is None:
            raise AuthorError("declaration", f"{text!r}: write one axis per position, such as W[K,U,J]")
        axes.append(index.symbol.axis)
    return left.name.key, tuple(axes)


def _size(axis: str, size: int | str) -> int | tuple[str, ...]:
    if isinstance(size, int):
        return size
    factors = tuple(part.strip() for part in size.split("*"))
    if axis in factors or not all(factors):
        raise AuthorError("declaration", f"the size of {axis} is a number or a product of other axes, not {size!r}")
    return factors
