"""The operations of traced torch code, on precise arrays: name of the ATen operator to a numpy function.

Signatures follow ATen's own; options of layout, device and real type are ignored. What is missing here makes the code
`not_symbolic`, never wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from autograder.maths.symbolic.arrays import PreciseArray, objects, precise, wrapped
from autograder.maths.symbolic.precise import Precise, pi

Array = Any


def _elementwise(name: str) -> Callable[..., Array]:
    function = np.frompyfunc(lambda element: getattr(element, name)(), 1, 1)
    return lambda x, **_: wrapped(function(objects(x)))


def _axes(dim: Any) -> Any:
    return tuple(dim) or None if isinstance(dim, Sequence) else dim


def _sum(x: Array, dim: Any = None, keepdim: bool = False, **_: Any) -> Array:
    return x.sum(axis=_axes(dim), keepdims=keepdim)


def _mean(x: Array, dim: Any = None, keepdim: bool = False, **_: Any) -> Array:
    return precise(x).mean(axis=_axes(dim), keepdims=keepdim)


def _variance(x: Array, dim: Any = None, unbiased: Any = True, *, correction: Any = None, keepdim: bool = False) -> Array:
    if correction is None:
        correction = 1 if unbiased else 0
    return x.var(axis=_axes(dim), ddof=correction, keepdims=keepdim)


def _extreme(function: Any, where: Any) -> Callable[..., Any]:
    def reduce(x: Array, dim: Any = None, keepdim: bool = False) -> Any:
        if dim is None:
            return function(x)
        index = np.expand_dims(where(np.asarray(x), axis=dim), dim).view(PreciseArray)
        found = np.take_along_axis(x, index, dim)
        return (found, index) if keepdim else (found.squeeze(dim), index.squeeze(dim))

    return reduce


def _softmax(x: Array, dim: int, *_: Any) -> Array:
    e = np.exp(x - x.max(axis=dim, keepdims=True))
    return e / e.sum(axis=dim, keepdims=True)


def _logsumexp(x: Array, dim: Any, keepdim: bool = False) -> Array:
    axes = _axes(dim)
    top = x.max(axis=axes, keepdims=True)
    found = top + np.log(np.exp(x - top).sum(axis=axes, keepdims=True))
    return found if keepdim else found.squeeze(axes)


def _log_softmax(x: Array, dim: int, *_: Any) -> Array:
    return x - _logsumexp(x, dim, keepdim=True)


def _layer_norm(x: Array, shape: Any, weight: Array | None, bias: Array | None, eps: Any) -> tuple[Array, ...]:
    axes = tuple(range(-len(shape), 0))
    centre, scale = x.mean(axis=axes, keepdims=True), 1 / np.sqrt(x.var(axis=axes, keepdims=True) + Precise(eps))
    found = (x - centre) * scale
    found = found if weight is None else found * weight
    return (found if bias is None else found + bias), centre, scale


def _attention(q: Array, k: Array, v: Array, dropout: float = 0.0, causal: bool = False, *,
               attn_mask: Array | None = None, scale: Any = None, **_: Any) -> tuple[Array, ...]:  # fmt: skip
    scale = 1 / Precise(int(q.shape[-1])).sqrt() if scale is None else Precise(scale)
    scores = (q @ np.swapaxes(k, -1, -2)) * scale
    if causal:
        scores = np.where(np.tril(np.ones(scores.shape[-2:], bool)).view(PreciseArray), scores, Precise("-inf"))
    if attn_mask is not None:
        scores = np.where(attn_mask, scores, Precise("-inf")) if attn_mask.dtype == bool else scores + attn_mask
    return _softmax(scores, -1) @ v, None


def _nll(logp: Array, target: Array, weight: Any, reduction: int, ignore: int) -> tuple[Array, Any]:
    kept = np.asarray(target) != ignore
    rows = np.asarray(logp)[np.arange(len(kept)), np.where(kept, np.asarray(target), 0)]
    losses = np.where(kept, -rows, Precise(0)).view(PreciseArray)
    if weight is not None:
        raise NotImplementedError("class weights")
    total = losses if reduction == 0 else losses.sum()
    return (total / int(kept.sum()) if reduction == 1 else total), Precise(int(kept.sum()))


def _view(x: Array, shape: Any) -> Array:
    return x.reshape(tuple(int(size) for size in shape))


def _expand(x: Array, shape: Any, **_: Any) -> Array:
    lead = len(shape) - x.ndim
    sizes = [int(x.shape[i - lead]) if size == -1 else int(size) for i, size in enumerate(shape)]
    return np.broadcast_to(np.asarray(x), sizes).view(PreciseArray)


def _slice(x: Array, dim: int = 0, start: Any = None, end: Any = None, step: int = 1) -> Array:
    return x[(slice(None),) * (dim % x.ndim) + (slice(start, end, step),)]


def _index(x: Array, indices: Sequence[Any]) -> Array:
    return x[tuple(slice(None) if index is None else np.asarray(index) for index in indices)]


def _where(condition: Array, x: Any, y: Any) -> Array:
    return np.where(np.asarray(condition), objects(x), objects(y)).view(PreciseArray)


def _clamp(x: Array, low: Any = None, high: Any = None, **options: Any) -> Array:
    low, high = options.get("min", low), options.get("max", high)
    x = x if low is None else np.maximum(x, objects(low))
    return x if high is None else np.minimum(x, objects(high))


def _sigmoid(x: Array) -> Array:
    return 1 / (1 + np.exp(-x))


def _gelu(x: Array, approximate: str = "none") -> Array:
    if approximate == "tanh":
        return x * (1 + np.tanh((x + x**3 * Precise("0.044715")) * Precise(str(pi())).sqrt() ** -1 * Precise(2).sqrt())) / 2
    return x * (1 + _elementwise("erf")(x / Precise(2).sqrt())) / 2


def _made(fill: Any) -> Callable[..., Array]:
    def make(shape: Any, *value: Any, dtype: Any = None, **_: Any) -> Array:
        sizes = [int(size) for size in shape] if isinstance(shape, Sequence) else [int(size) for size in np.shape(shape)]
        content = value[0] if fill is None else fill
        kind = str(dtype)
        if isinstance(content, bool) or "bool" in kind or "int" in kind:
            return np.full(sizes, content, dtype=bool if "bool" in kind or isinstance(content, bool) else int).view(PreciseArray)
        return precise(np.full(sizes, Precise(content), dtype=object))

    return make


def _arange(*bounds: Any, dtype: Any = None, **_: Any) -> Array:
    if all(isinstance(bound, int) for bound in bounds):
        found = np.arange(*bounds)
        return precise(found) if "float" in str(dtype) else found.view(PreciseArray)
    raise NotImplementedError("arange with fractional bounds")


def _to(x: Array, *_: Any, dtype: Any = None, **__: Any) -> Array:
    kind = str(dtype)
    if "bool" in kind:
        return (np.asarray(x) != 0).view(PreciseArray)
    if "int" in kind:
        return x.astype(int)
    return precise(x) if "float" in kind else x.copy()


def _scaled(operation: Callable[[Any, Any], Any]) -> Callable[..., Array]:
    return lambda x, y, alpha=1, **_: operation(x, y * Precise(alpha) if alpha != 1 else y)


def _copy(x: Array, *_: Any, **__: Any) -> Array:
    return x.copy()


def _select(x: Array, dim: int, index: int) -> Array:
    """A view, since what is written into it must arrive in x."""
    index %= int(x.shape[dim])
    return x[(slice(None),) * (dim % x.ndim) + (slice(index, index + 1),)].squeeze(dim)


def _index_put(x: Array, indices: Sequence[Any], values: Any, accumulate: bool = False) -> Array:
    if accumulate:
        raise NotImplementedError("index_put with accumulate")
    found = x.copy()
    found[tuple(slice(None) if index is None else np.asarray(index) for index in indices)] = values
    return found


def _vector_norm(x: Array, order: Any = 2, dim: Any = None, keepdim: bool = False, **_: Any) -> Array:
    if order == 2:
        return np.sqrt((x * x).sum(axis=_axes(dim), keepdims=keepdim))
    if order == 1:
        return np.abs(x).sum(axis=_axes(dim), keepdims=keepdim)
    raise NotImplementedError("this norm")


def _mean_square(x: Array, y: Array, reduction: int = 1) -> Array:
    squares = (x - y) ** 2
    return squares.mean() if reduction == 1 else squares.sum() if reduction == 2 else squares


def _pad(x: Array, pad: Sequence[int], value: Any = 0) -> Array:
    widths = [(0, 0)] * (x.ndim - len(pad) // 2) + list(zip(pad[::2], pad[1::2], strict=True))[::-1]
    return np.pad(np.asarray(x), widths, constant_values=Precise(value)).view(PreciseArray)


def _same(x: Array, *_: Any, **__: Any) -> Array:
    return x


OPERATORS: dict[str, Callable[..., Any]] = {
    "add": _scaled(lambda x, y: x + y), "sub": _scaled(lambda x, y: x - y), "rsub": _scaled(lambda x, y: y - x),
    "mul": lambda x, y: x * y, "div": lambda x, y: precise(x) / y, "neg": lambda x: -x, "abs": np.abs,
    "pow": lambda x, y: x**y, "reciprocal": lambda x: 1 / precise(x), "square": lambda x: x * x, "sqrt": np.sqrt,
    "rsqrt": lambda x: 1 / np.sqrt(x), "exp": np.exp, "log": np.log, "log2": np.log2, "log10": np.log10,
    "log1p": np.log1p, "expm1": np.expm1, "sin": np.sin, "cos": np.cos, "tanh": np.tanh, "erf": _elementwise("erf"),
    "sign": np.sign, "floor": _elementwise("floor"), "sigmoid": _sigmoid, "silu": lambda x: x * _sigmoid(x),
    "relu": lambda x: np.maximum(x, 0), "gelu": _gelu, "softplus": lambda x, *_: np.logaddexp(x, 0),
    "log_sigmoid_forward": lambda x: (-np.logaddexp(-x, 0), None), "leaky_relu": lambda x, s=0.01: _where(x > 0, x, x * s),
    "sum": _sum, "mean": _mean, "var": _variance, "std": lambda *a, **o: np.sqrt(_variance(*a, **o)), "prod": lambda x, dim=None,
    keepdim=False: x.prod(axis=dim, keepdims=keepdim), "cumsum": lambda x, dim, **_: x.cumsum(axis=dim),
    "amax": lambda x, dim=(), keepdim=False: x.max(axis=_axes(dim), keepdims=keepdim),
    "amin": lambda x, dim=(), keepdim=False: x.min(axis=_axes(dim), keepdims=keepdim),
    "max": _extreme(np.max, np.argmax), "min": _extreme(np.min, np.argmin), "argmax": lambda x, dim=None, keepdim=False:
    np.asarray(x).argmax(axis=dim, keepdims=keepdim).view(PreciseArray), "maximum": np.maximum, "minimum": np.minimum,
    "_softmax": _softmax, "_log_softmax": _log_softmax, "logsumexp": _logsumexp, "logaddexp": np.logaddexp, "mm": np.matmul,
    "bmm": np.matmul, "mv": np.matmul, "dot": np.matmul, "matmul": np.matmul, "addmm": lambda b, x, y, **_: b + x @ y,
    "baddbmm": lambda b, x, y, **_: b + x @ y, "native_layer_norm": _layer_norm, "nll_loss_forward": _nll,
    "_scaled_dot_product_flash_attention_for_cpu": _attention, "t": lambda x: x.T, "transpose": np.swapaxes,
    "permute": np.transpose, "view": _view, "_unsafe_view": _view, "reshape": _view, "expand": _expand,
    "unsqueeze": np.expand_dims, "squeeze": lambda x, dim=None: np.squeeze(x, _axes(dim)), "cat": lambda xs, dim=0:
    np.concatenate(xs, dim), "stack": lambda xs, dim=0: np.stack(xs, dim), "slice": _slice, "select": _select, "index": _index, "unbind": lambda x, dim=0: [_select(x, dim, i) for i in range(int(x.shape[dim]))],
    "gather": lambda x, dim, index, **_: np.take_along_axis(x, index, dim), "embedding": lambda w, index, *_: w[index],
    "split": lambda x, size, dim=0: np.split(x, range(size, int(x.shape[dim]), size), dim), "where": _where,
    "masked_fill": lambda x, mask, value: _where(mask, value, x), "clamp": _clamp, "clamp_min": lambda x, low: _clamp(x, low),
    "clamp_max": lambda x, high: _clamp(x, None, high), "tril": lambda x, k=0: np.tril(x, k), "triu": lambda x, k=0: np.triu(x, k),
    "eq": lambda x, y: x == y, "ne": lambda x, y: x != y, "lt": lambda x, y: x < y, "le": lambda x, y: x <= y,
    "gt": lambda x, y: x > y, "ge": lambda x, y: x >= y, "logical_not": np.logical_not, "bitwise_not": np.invert,
    "logical_and": np.logical_and, "logical_or": np.logical_or, "bitwise_and": np.bitwise_and, "bitwise_or": np.bitwise_or,
    "full": _made(None), "zeros": _made(0), "ones": _made(1), "full_like": _made(None), "zeros_like": _made(0),
    "ones_like": _made(1), "new_zeros": lambda _, shape, **o: _made(0)(shape, **o), "new_ones": lambda _, shape, **o:
    _made(1)(shape, **o), "scalar_tensor": lambda value, **o: _made(None)([], value, **o), "arange": _arange, "_to_copy": _to,
    "clone": _copy, "lift_fresh_copy": _copy, "detach": _same, "alias": _same, "fill": lambda x, value: value, "copy": lambda x, y,
    *_: y, "zero": lambda x: 0, "index_put": _index_put, "remainder": lambda x, y: x % y, "floor_divide": lambda x, y: x // y,
    "lerp": lambda x, y, w: x + w * (y - x), "addcmul": lambda x, y, z, value=1: x + y * z * value, "addcdiv": lambda x, y, z,
    value=1: x + precise(y) / z * value, "linalg_vector_norm": _vector_norm, "mse_loss": _mean_square, "roll": np.roll,
    "flip": np.flip, "constant_pad_nd": _pad, "repeat": lambda x, times: np.tile(x, times),
}  # fmt: skip
