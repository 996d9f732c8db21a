"""The table of ATen operators that traced code may use; one that is missing makes code `not_symbolic`, never wrong."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autograder.maths.symbolic import aten
from autograder.maths.symbolic.arrays import PreciseArray, precise
from autograder.maths.symbolic.aten import np

OPERATORS: dict[str, Callable[..., Any]] = {
    # arithmetic
    "add": aten.scaled(lambda x, y: x + y),
    "sub": aten.scaled(lambda x, y: x - y),
    "rsub": aten.scaled(lambda x, y: y - x),
    "mul": lambda x, y: x * y,
    "div": lambda x, y: precise(x) / y,
    "remainder": lambda x, y: x % y,
    "floor_divide": lambda x, y: x // y,
    "neg": lambda x: -x,
    "pow": lambda x, y: x**y,
    "square": lambda x: x * x,
    "reciprocal": lambda x: 1 / precise(x),
    "lerp": lambda x, y, weight: x + weight * (y - x),
    "addcmul": lambda x, y, z, value=1: x + y * z * value,
    "addcdiv": lambda x, y, z, value=1: x + precise(y) / z * value,
    "mse_loss": aten.mean_square,
    # functions of one element
    "abs": np.abs, "sqrt": np.sqrt, "exp": np.exp, "log": np.log, "log2": np.log2, "log10": np.log10,
    "log1p": np.log1p, "expm1": np.expm1, "sin": np.sin, "cos": np.cos, "tanh": np.tanh, "sign": np.sign,
    "erf": aten.elementwise("erf"), "floor": aten.elementwise("floor"), "ceil": aten.elementwise("ceil"),
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "sigmoid": aten.sigmoid,
    "silu": lambda x: x * aten.sigmoid(x),
    "relu": lambda x: np.maximum(x, 0),
    "leaky_relu": lambda x, slope=0.01: aten.where(x > 0, x, x * slope),
    "gelu": aten.gelu,
    "softplus": lambda x: np.logaddexp(x, 0),
    "log_sigmoid_forward": lambda x: (-np.logaddexp(-x, 0), None),
    "clamp": aten.clamp,
    "clamp_min": lambda x, low: aten.clamp(x, low),
    "clamp_max": lambda x, high: aten.clamp(x, None, high),
    # reductions
    "sum": aten.sum_over, "mean": aten.mean, "var": aten.variance,
    "std": lambda *arguments, **options: np.sqrt(aten.variance(*arguments, **options)),
    "prod": lambda x, dim=None, keepdim=False: x.prod(axis=dim, keepdims=keepdim),
    "cumsum": lambda x, dim, **_: x.cumsum(axis=dim),
    "amax": lambda x, dim=(), keepdim=False: x.max(axis=aten.axes(dim), keepdims=keepdim),
    "amin": lambda x, dim=(), keepdim=False: x.min(axis=aten.axes(dim), keepdims=keepdim),
    "max": aten.extreme(np.max, np.argmax), "min": aten.extreme(np.min, np.argmin),
    "argmax": lambda x, dim=None, keepdim=False: np.asarray(x).argmax(dim, keepdims=keepdim).view(PreciseArray),
    "maximum": np.maximum, "minimum": np.minimum, "logaddexp": np.logaddexp, "logsumexp": aten.logsumexp,
    "_softmax": aten.softmax, "_log_softmax": aten.log_softmax, "linalg_vector_norm": aten.vector_norm,
    "native_layer_norm": aten.layer_norm, "nll_loss_forward": aten.nll,
    "_scaled_dot_product_flash_attention_for_cpu": aten.attention,
    # products
    "mm": np.matmul, "bmm": np.matmul, "mv": np.matmul, "dot": np.matmul, "matmul": np.matmul,
    "addmm": aten.add_product, "baddbmm": aten.add_product, "addmv": aten.add_product,
    # shapes
    "t": lambda x: x.T,
    "transpose": np.swapaxes, "permute": np.transpose, "view": aten.view, "_unsafe_view": aten.view,
    "reshape": aten.view, "expand": aten.expand, "unsqueeze": np.expand_dims, "roll": np.roll, "flip": np.flip,
    "squeeze": lambda x, dim=None: np.squeeze(x, aten.axes(dim)),
    "cat": lambda parts, dim=0: np.concatenate(parts, dim),
    "stack": lambda parts, dim=0: np.stack(parts, dim),
    "split": lambda x, size, dim=0: np.split(x, range(size, int(x.shape[dim]), size), dim),
    "unbind": lambda x, dim=0: [aten.select(x, dim, i) for i in range(int(x.shape[dim]))],
    "slice": aten.slice_of, "select": aten.select, "index": aten.index, "index_put": aten.index_put,
    "gather": lambda x, dim, index, **_: np.take_along_axis(x, index, dim),
    "embedding": lambda weight, index, *_: weight[index],
    "constant_pad_nd": aten.pad,
    "repeat": lambda x, times: np.tile(x, times),
    # choice and comparison
    "where": aten.where,
    "masked_fill": lambda x, mask, value: aten.where(mask, value, x),
    "tril": lambda x, k=0: np.tril(x, k),
    "triu": lambda x, k=0: np.triu(x, k),
    "eq": lambda x, y: x == y, "ne": lambda x, y: x != y, "lt": lambda x, y: x < y, "le": lambda x, y: x <= y,
    "gt": lambda x, y: x > y, "ge": lambda x, y: x >= y,
    "logical_not": np.logical_not, "bitwise_not": np.invert, "logical_and": np.logical_and,
    "logical_or": np.logical_or, "bitwise_and": np.bitwise_and, "bitwise_or": np.bitwise_or,
    # creation and copies
    "full": aten.filled(None), "zeros": aten.filled(0), "ones": aten.filled(1), "full_like": aten.filled(None),
    "zeros_like": aten.filled(0), "ones_like": aten.filled(1), "arange": aten.arange,
    "new_zeros": lambda _, shape, **options: aten.filled(0)(shape, **options),
    "new_ones": lambda _, shape, **options: aten.filled(1)(shape, **options),
    "scalar_tensor": lambda value, **options: aten.filled(None)([], value, **options),
    "fill": lambda x, value: value,
    "zero": lambda x: 0,
    "copy": lambda x, y, *_: y,
    "_to_copy": aten.to_kind, "clone": aten.copy, "lift_fresh_copy": aten.copy, "detach": aten.same, "alias": aten.same,
}  # fmt: skip
