"""Stand-ins for `np`, `math` and a few built-ins: what a student's function sees while it runs on precise numbers."""

from __future__ import annotations

import builtins
import functools
import math
import types
from collections.abc import Callable
from typing import Any

import numpy as np

from autograder.errors import StudentError
from autograder.maths.symbolic.arrays import PreciseArray, Size, objects, precise, wrapped
from autograder.maths.symbolic.decimal_functions import pi
from autograder.maths.symbolic.precise import Precise

_REFUSED = {"random", "fft", "save", "load", "fromfile", "loadtxt", "genfromtxt"}


class Namespace:
    """numpy with precise constants, creation and scalar arithmetic; the rest is numpy's own, its results wrapped."""

    def __init__(self, module: Any, overrides: dict[str, Any]) -> None:
        self._module, self._overrides = module, overrides

    def __getattr__(self, name: str) -> Any:
        if name in self._overrides:
            return self._overrides[name]
        if name in _REFUSED:
            raise unavailable(f"np.{name}")
        found = getattr(self._module, name)
        if isinstance(found, types.ModuleType) and name == "linalg":
            return Namespace(found, {"norm": _norm})
        if isinstance(found, type | types.ModuleType) or not callable(found):
            return found
        return _Lifted(found)


def unavailable(what: str) -> StudentError:
    """The refusal: not wrong, but not to be had in this way."""
    return StudentError("not_symbolic", f"{what} cannot be run on exact numbers.")


class _Lifted:
    """A numpy function, or a ufunc with its methods, given precise arrays wherever it would see or make floats."""

    def __init__(self, function: Any) -> None:
        self._function = function

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        return wrapped(self._function(*map(_argument, arguments), **options))

    def __getattr__(self, name: str) -> Any:
        return _Lifted(getattr(self._function, name))


def _argument(value: Any) -> Any:
    if isinstance(value, float | np.floating | Precise):
        return precise(value)
    if isinstance(value, np.ndarray) and not isinstance(value, PreciseArray):
        return precise(value) if value.dtype.kind in "fO" else value.view(PreciseArray)
    if isinstance(value, tuple | list) and any(isinstance(part, np.ndarray | Precise | float) for part in value):
        return type(value)(map(_argument, value))
    return value


class _OfScalars(_Lifted):
    """A ufunc that also meets bare numbers: `np.sqrt(64)`."""

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        parts = [value if isinstance(value, np.ndarray) else precise(value) for value in map(_argument, arguments)]
        found = self._function(*parts, **options)
        return found[()] if isinstance(found, np.ndarray) and found.ndim == 0 else found


def _created(name: str) -> Callable[..., Any]:
    """zeros, ones, full, eye, …: real unless an integer or boolean type is asked for."""
    function = getattr(np, name)

    def call(*arguments: Any, dtype: Any = None, **options: Any) -> Any:
        if dtype is not None and dtype is not Precise and np.dtype(dtype).kind in "biu":
            return function(*map(_bare, arguments), dtype=dtype, **options).view(PreciseArray)
        found = function(*map(_bare, arguments), **options)
        keeps = dtype is None and found.dtype.kind in "biu" and name in _AS_GIVEN
        return found.view(PreciseArray) if keeps else precise(found)

    return call


_AS_GIVEN = {
    "array",
    "asarray",
    "asanyarray",
    "ascontiguousarray",
    "arange",
    "full",
    "full_like",
    "zeros_like",
    "ones_like",
}


def _bare(value: Any) -> Any:
    if isinstance(value, PreciseArray):
        return value.view(np.ndarray)
    return int(value) if isinstance(value, Size) else value


def _norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:  # noqa: A002
    if ord not in (None, 2) and not (ord == "fro"):
        raise unavailable("np.linalg.norm with this order")
    return np.sqrt((precise(x) ** 2).sum(axis=axis, keepdims=keepdims))


def _einsum(subscripts: Any, *operands: Any, **options: Any) -> Any:
    options.pop("optimize", None)
    return wrapped(np.einsum(subscripts, *(objects(operand) for operand in operands), **options))


def _linspace(start: Any, stop: Any, num: int = 50, endpoint: bool = True, **_: Any) -> Any:
    steps = max(num - 1 if endpoint else num, 1)
    return precise([Precise(start) + (Precise(stop) - start) * i / steps for i in range(num)])


_SCALAR = ["exp", "log", "log2", "log10", "log1p", "expm1", "sqrt", "tanh", "sinh", "cosh", "sin", "cos", "power",
           "divide", "true_divide", "reciprocal", "square", "abs", "absolute", "maximum", "minimum"]  # fmt: skip
_CREATION = ["zeros", "ones", "empty", "full", "eye", "identity", "array", "asarray", "asanyarray", "ascontiguousarray",
             "arange", "zeros_like", "ones_like", "empty_like", "full_like"]  # fmt: skip


def numpy_namespace() -> Namespace:
    """The stand-in for `numpy`."""
    overrides: dict[str, Any] = {name: _OfScalars(getattr(np, name)) for name in _SCALAR}
    overrides |= {name: _created(name) for name in _CREATION}
    overrides["float_power"] = overrides["power"]
    overrides |= {
        "einsum": _einsum,
        "linspace": _linspace,
        "pi": Precise(0) + _precise_pi(),
        "e": Precise(1).exp(),
        "inf": Precise("inf"),
        "nan": Precise("nan"),
    }
    overrides |= dict.fromkeys(["float64", "float32", "float16", "double", "longdouble"], Precise)
    return Namespace(np, overrides)


def math_namespace() -> types.SimpleNamespace:
    """The stand-in for `math`."""
    names = ["exp", "log2", "log10", "log1p", "expm1", "sqrt", "tanh", "sinh", "cosh", "sin", "cos", "erf"]
    found: dict[str, Any] = {name: _method(name) for name in names}
    found["log"] = lambda x, base=None: Precise(x).log() if base is None else Precise(x).log() / Precise(base).log()
    found["pow"] = lambda x, y: Precise(x) ** y
    found |= {"pi": _precise_pi(), "e": Precise(1).exp(), "inf": Precise("inf"), "nan": Precise("nan")}
    found["prod"] = lambda values: functools.reduce(lambda x, y: x * y, values, Size(1))
    found["fabs"] = lambda x: abs(Precise(x))
    unchanged = ("ceil", "floor", "factorial", "comb", "gcd", "isnan", "isinf", "isqrt")
    kept = {name: getattr(math, name) for name in unchanged}
    return types.SimpleNamespace(**kept, **found)


def _method(name: str) -> Callable[[Any], Any]:
    return lambda value: getattr(Precise(value), name)()


def _precise_pi() -> Precise:
    return Precise(0) + Precise(str(pi()))


def builtin_functions() -> dict[str, Any]:
    """Built-ins whose results would otherwise be floats or plain integers."""
    return {
        "float": Precise,
        "len": lambda container: Size(builtins.len(container)),
        "range": lambda *bounds: map(Size, builtins.range(*bounds)),
        "sum": lambda values, start=0: functools.reduce(lambda x, y: x + y, values, start),
        "pow": lambda base, exponent: Size(base) ** exponent if isinstance(base, int) else base**exponent,
    }
