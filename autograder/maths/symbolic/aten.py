"""What ATen's operators compute, on precise arrays; signatures and defaults are ATen's own.

Options of layout, device and real type are ignored. Shapes, masks and indices are plain integers and booleans.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy

from autograder.maths.symbolic.arrays import PreciseArray, objects, precise, wrapped
from autograder.maths.symbolic.decimal_functions import pi
from autograder.maths.symbolic.precise import Precise

Array = Any
np: Any = numpy  # numpy's stubs know nothing of arrays of our own numbers


def elementwise(name: str) -> Callable[..., Array]:
    """A method of `Precise` on every element."""
    function = np.frompyfunc(lambda element: getattr(element, name)(), 1, 1)
    return lambda x, **_: wrapped(function(objects(x)))


def axes(dim: Any) -> Any:
    """ATen's list of dimensions as numpy's axis; an empty one means all."""
    return tuple(dim) or None if isinstance(dim, Sequence) else dim


def sum_over(x: Array, dim: Any = None, keepdim: bool = False, **_: Any) -> Array:
    """Over some or all dimensions."""
    return x.sum(axis=axes(dim), keepdims=keepdim)


def mean(x: Array, dim: Any = None, keepdim: bool = False, **_: Any) -> Array:
    """Over some or all dimensions."""
    return precise(x).mean(axis=axes(dim), keepdims=keepdim)


def variance(
    x: Array, dim: Any = None, unbiased: Any = True, *, correction: Any = None, keepdim: bool = False
) -> Array:
    """With Bessel's correction unless told otherwise."""
    if correction is None:
        correction = 1 if unbiased else 0
    return x.var(axis=axes(dim), ddof=correction, keepdims=keepdim)


def extreme(function: Any, where: Any) -> Callable[..., Any]:
    """max and min: of everything, or with indices along one dimension."""

    def reduce(x: Array, dim: Any = None, keepdim: bool = False) -> Any:
        if dim is None:
            return function(x)
        index = np.expand_dims(where(np.asarray(x), axis=dim), dim).view(PreciseArray)
        found = np.take_along_axis(x, index, dim)
        return (found, index) if keepdim else (found.squeeze(dim), index.squeeze(dim))

    return reduce


def softmax(x: Array, dim: int, *_: Any) -> Array:
    """Shifted by the maximum."""
    e = np.exp(x - x.max(axis=dim, keepdims=True))
    return e / e.sum(axis=dim, keepdims=True)


def logsumexp(x: Array, dim: Any, keepdim: bool = False) -> Array:
    """Shifted by the maximum."""
    top = x.max(axis=axes(dim), keepdims=True)
    found = top + np.log(np.exp(x - top).sum(axis=axes(dim), keepdims=True))
    return found if keepdim else found.squeeze(axes(dim))


def log_softmax(x: Array, dim: int, *_: Any) -> Array:
    """x - logsumexp(x)."""
    return x - logsumexp(x, dim, keepdim=True)


def layer_norm(x: Array, shape: Any, weight: Array | None, bias: Array | None, eps: Any) -> tuple[Array, ...]:
    """Over the last dimensions, variance without correction."""
    last = tuple(range(-len(shape), 0))
    centre, scale = x.mean(axis=last, keepdims=True), 1 / np.sqrt(x.var(axis=last, keepdims=True) + Precise(eps))
    found = (x - centre) * scale
    found = found if weight is None else found * weight
    return (found if bias is None else found + bias), centre, scale


def attention(
    q: Array,
    k: Array,
    v: Array,
    dropout: float = 0.0,
    causal: bool = False,
    *,
    attn_mask: Array | None = None,
    scale: Any = None,
    **_: Any,
) -> tuple[Array, ...]:
    """softmax(q k^T scale + mask) v."""
    scale = 1 / Precise(int(q.shape[-1])).sqrt() if scale is None else Precise(scale)
    scores = (q @ np.swapaxes(k, -1, -2)) * scale
    if causal:
        scores = np.where(np.tril(np.ones(scores.shape[-2:], bool)).view(PreciseArray), scores, Precise("-inf"))
    if attn_mask is not None:
        scores = np.where(attn_mask, scores, Precise("-inf")) if attn_mask.dtype == bool else scores + attn_mask
    return softmax(scores, -1) @ v, None


def nll(logp: Array, target: Array, weight: Any, reduction: int, ignore: int) -> tuple[Array, Any]:
    """Mean (1), sum (2) or none (0) over the targets that are not ignored."""
    kept = np.asarray(target) != ignore
    rows = np.asarray(logp)[np.arange(len(kept)), np.where(kept, np.asarray(target), 0)]
    losses = np.where(kept, -rows, Precise(0)).view(PreciseArray)
    if weight is not None:
        raise NotImplementedError("class weights")
    total = losses if reduction == 0 else losses.sum()
    return (total / int(kept.sum()) if reduction == 1 else total), Precise(int(kept.sum()))


def add_product(b: Array, x: Array, y: Array, *, alpha: Any = 1, beta: Any = 1) -> Array:
    """beta b + alpha x y."""
    return b * Precise(beta) + (x @ y) * Precise(alpha)


def view(x: Array, shape: Any) -> Array:
    """Another shape."""
    return x.reshape(tuple(int(size) for size in shape))


def expand(x: Array, shape: Any, **_: Any) -> Array:
    """Broadcast; -1 keeps a size."""
    lead = len(shape) - x.ndim
    sizes = [int(x.shape[i - lead]) if size == -1 else int(size) for i, size in enumerate(shape)]
    return np.broadcast_to(np.asarray(x), sizes).view(PreciseArray)


def slice_of(x: Array, dim: int = 0, start: Any = None, end: Any = None, step: int = 1) -> Array:
    """Along one dimension."""
    return x[(slice(None),) * (dim % x.ndim) + (slice(start, end, step),)]


def index(x: Array, indices: Sequence[Any]) -> Array:
    """Advanced indexing; None is a whole dimension."""
    return x[tuple(slice(None) if index is None else np.asarray(index) for index in indices)]


def where(condition: Array, x: Any, y: Any) -> Array:
    """Elementwise choice."""
    return np.where(np.asarray(condition), objects(x), objects(y)).view(PreciseArray)


def clamp(x: Array, low: Any = None, high: Any = None, **options: Any) -> Array:
    """Between bounds, either of which may be absent."""
    low, high = options.get("min", low), options.get("max", high)
    x = x if low is None else np.maximum(x, objects(low))
    return x if high is None else np.minimum(x, objects(high))


def sigmoid(x: Array) -> Array:
    """1/(1 + e^-x)."""
    return 1 / (1 + np.exp(-x))


def gelu(x: Array, approximate: str = "none") -> Array:
    """By erf, or its tanh approximation."""
    if approximate == "tanh":
        root = (Precise(2) / Precise(str(pi()))).sqrt()
        return x * (1 + np.tanh((x + x**3 * Precise("0.044715")) * root)) / 2
    return x * (1 + elementwise("erf")(x / Precise(2).sqrt())) / 2


def filled(fill: Any) -> Callable[..., Array]:
    """Creation of a shape, or of the shape of another tensor; with `fill` None the content is an argument."""

    def make(shape: Any, *value: Any, dtype: Any = None, **_: Any) -> Array:
        sizes = [int(size) for size in (shape if isinstance(shape, Sequence) else np.shape(shape))]
        content = value[0] if fill is None else fill
        is_bool = isinstance(content, bool) or "bool" in str(dtype)
        if is_bool or "int" in str(dtype):
            return np.full(sizes, content, dtype=bool if is_bool else int).view(PreciseArray)
        return precise(np.full(sizes, Precise(content), dtype=object))

    return make


def arange(*bounds: Any, dtype: Any = None, **_: Any) -> Array:
    """Integers."""
    if all(isinstance(bound, int) for bound in bounds):
        found = np.arange(*bounds)
        return precise(found) if "float" in str(dtype) else found.view(PreciseArray)
    raise NotImplementedError("arange with fractional bounds")


def to_kind(x: Array, *_: Any, dtype: Any = None, **__: Any) -> Array:
    """Conversion between real, integer and boolean."""
    kind = str(dtype)
    if "bool" in kind:
        return (np.asarray(x) != 0).view(PreciseArray)
    if "int" in kind:
        return x.astype(int)
    return precise(x) if "float" in kind else x.copy()


def scaled(operation: Callable[[Any, Any], Any]) -> Callable[..., Array]:
    """add and sub with their factor `alpha`."""
    return lambda x, y, alpha=1, **_: operation(x, y * Precise(alpha) if alpha != 1 else y)


def copy(x: Array, *_: Any, **__: Any) -> Array:
    """New memory."""
    return x.copy()


def select(x: Array, dim: int, index: int) -> Array:
    """A view, since what is written into it must arrive in x."""
    index %= int(x.shape[dim])
    return x[(slice(None),) * (dim % x.ndim) + (slice(index, index + 1),)].squeeze(dim)


def index_put(x: Array, indices: Sequence[Any], values: Any, accumulate: bool = False) -> Array:
    """A copy with some entries replaced."""
    if accumulate:
        raise NotImplementedError("index_put with accumulate")
    found = x.copy()
    found[tuple(slice(None) if index is None else np.asarray(index) for index in indices)] = values
    return found


def vector_norm(x: Array, order: Any = 2, dim: Any = None, keepdim: bool = False, **_: Any) -> Array:
    """The 1- or 2-norm."""
    if order == 2:
        return np.sqrt((x * x).sum(axis=axes(dim), keepdims=keepdim))
    if order == 1:
        return np.abs(x).sum(axis=axes(dim), keepdims=keepdim)
    raise NotImplementedError("this norm")


def mean_square(x: Array, y: Array, reduction: int = 1) -> Array:
    """Mean (1), sum (2) or none (0)."""
    squares = (x - y) ** 2
    return squares.mean() if reduction == 1 else squares.sum() if reduction == 2 else squares


def pad(x: Array, pad: Sequence[int], value: Any = 0) -> Array:
    """Constant padding, last dimension first."""
    widths = [(0, 0)] * (x.ndim - len(pad) // 2) + list(zip(pad[::2], pad[1::2], strict=True))[::-1]
    return np.pad(np.asarray(x), widths, constant_values=Precise(value)).view(PreciseArray)


def same(x: Array, *_: Any, **__: Any) -> Array:
    """The argument itself."""
    return x
