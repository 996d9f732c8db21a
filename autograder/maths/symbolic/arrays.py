"""numpy arrays of `Precise` numbers: numpy's own functions run on them, and every real result stays precise.

Integer and boolean arrays (indices, masks) stay what they are until an operation would make floats of them; sizes
(`x.shape[-1]`) are integers whose quotients and roots are precise.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from autograder.maths.symbolic.precise import Precise


class Size(int):
    """An integer of a program; `/` and fractional or negative powers leave floats out."""

    def __add__(self, other: Any) -> Any:
        return _size(int.__add__(self, other)) if isinstance(other, int) else NotImplemented

    def __sub__(self, other: Any) -> Any:
        return _size(int.__sub__(self, other)) if isinstance(other, int) else NotImplemented

    def __mul__(self, other: Any) -> Any:
        return _size(int.__mul__(self, other)) if isinstance(other, int) else NotImplemented

    def __floordiv__(self, other: Any) -> Any:
        return _size(int.__floordiv__(self, other)) if isinstance(other, int) else NotImplemented

    def __truediv__(self, other: Any) -> Any:
        return Precise(int(self)) / other

    def __rtruediv__(self, other: Any) -> Any:
        return Precise(other) / int(self)

    def __pow__(self, other: Any) -> Any:  # type: ignore[override]
        whole = isinstance(other, int) and other >= 0
        return _size(int(self) ** int(other)) if whole else Precise(int(self)) ** other

    __radd__ = __add__
    __rmul__ = __mul__


def _size(value: Any) -> Any:
    return Size(value) if type(value) is int else value


_SHAPE: Any = np.ndarray.shape  # the descriptor that the property below stands before


class PreciseArray(np.ndarray[Any, np.dtype[Any]]):
    """An array of `Precise` objects, of integers or of booleans; any ufunc with a real result yields the first."""

    @property
    def shape(self) -> tuple[Size, ...]:
        """The sizes, as integers that divide precisely."""
        return tuple(Size(size) for size in _SHAPE.__get__(self))

    @shape.setter
    def shape(self, value: Any) -> None:
        _SHAPE.__set__(self, value)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, out: Any = None, **options: Any) -> Any:
        options.pop("dtype", None)
        plain = [_plain(value) for value in inputs]
        if ufunc not in _INTEGRAL or any(value.dtype.kind not in "biu" for value in map(np.asarray, plain)):
            ufunc_inputs = [value if _is_selector(method, i) else objects(value) for i, value in enumerate(plain)]
            if isinstance(options.get("initial"), float):
                options["initial"] = Precise(options["initial"])
            if isinstance(options.get("where"), np.ndarray):
                options["where"] = np.asarray(options["where"])
        else:
            ufunc_inputs = plain
        if out is not None:
            options["out"] = tuple(np.asarray(one) if one is not None else None for one in out)
        result = getattr(_element_function(ufunc, ufunc_inputs), method)(*ufunc_inputs, **options)
        return out[0] if out is not None and out[0] is not None else wrapped(result)

    def __array_function__(self, function: Any, types: Any, arguments: Any, options: Any) -> Any:
        if options.get("dtype") is not None and np.dtype(options["dtype"]).kind == "f":
            options = {**options, "dtype": object}
        return wrapped(super().__array_function__(function, types, arguments, options))

    def astype(self, dtype: Any, *arguments: Any, **options: Any) -> Any:
        """Real kinds stay precise."""
        if dtype is float or dtype is Precise or np.dtype(dtype).kind in "fO":
            return precise(self)
        if np.dtype(dtype).kind in "iu" and self.dtype == object:
            return wrapped(np.frompyfunc(int, 1, 1)(np.asarray(self)).astype(dtype))
        return wrapped(np.asarray(self).astype(dtype, *arguments, **options))

    def mean(self, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = False, **_: Any) -> Any:
        """The sum over the count, precisely."""
        total = np.asarray(objects(self)).sum(axis=axis, keepdims=keepdims)
        return wrapped(total * (Precise(int(np.size(total))) / int(self.size)))

    def var(
        self, axis: Any = None, dtype: Any = None, out: Any = None, ddof: Any = 0, keepdims: Any = False, **options: Any
    ) -> Any:
        """The mean of the squared deviations; `ddof` and `correction` as in numpy."""
        ddof = options.get("correction", ddof)
        squares = (precise(self) - self.mean(axis=axis, keepdims=True)) ** 2
        count = int(self.size) // int(np.size(squares.mean(axis=axis)))
        return squares.sum(axis=axis, keepdims=keepdims) / (Precise(count) - ddof)

    def std(self, *arguments: Any, **options: Any) -> Any:
        """The root of `var`."""
        return np.sqrt(self.var(*arguments, **options))


# ufuncs that map integers and booleans to integers and booleans
_INTEGRAL = {
    np.add, np.subtract, np.multiply, np.floor_divide, np.remainder, np.negative, np.absolute, np.maximum, np.minimum,
    np.equal, np.not_equal, np.less, np.less_equal, np.greater, np.greater_equal, np.logical_and, np.logical_or,
    np.logical_not, np.logical_xor, np.bitwise_and, np.bitwise_or, np.bitwise_xor, np.invert, np.sign, np.square,
    np.matmul, np.isnan, np.isinf, np.isfinite,
}  # fmt: skip
# ufuncs that numpy does not map to methods of objects
_BY_METHOD = {
    np.isnan: "isnan",
    np.isinf: "isinf",
    np.isfinite: "isfinite",
    np.sign: "sign",
    np.log1p: "log1p",
    np.expm1: "expm1",
}


def _element_function(ufunc: np.ufunc, inputs: list[Any]) -> Any:
    if ufunc in _BY_METHOD and inputs[0].dtype == object:
        name = _BY_METHOD[ufunc]
        function = np.frompyfunc(lambda element: getattr(element, name)(), 1, 1)
        return _Boolean(function) if name.startswith("is") else function
    return _OF_ELEMENTS.get(ufunc, ufunc)


def _logaddexp(left: Precise, right: Precise) -> Precise:
    larger, smaller = max(left, right), min(left, right)
    return larger if larger.isinf() else larger + (smaller - larger).exp().log1p()


_OF_ELEMENTS = {
    np.exp2: np.frompyfunc(lambda element: Precise(2) ** element, 1, 1),
    np.logaddexp: np.frompyfunc(_logaddexp, 2, 1, identity=Precise("-inf")),
    np.float_power: np.power,
}


class _Boolean:
    """A function of objects whose results are truth values."""

    def __init__(self, function: Any) -> None:
        self.function = function

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        return np.asarray(self.function(*arguments)).astype(bool)


def _is_selector(method: str, index: int) -> bool:
    return method in {"at", "reduceat"} and index == 1


def _plain(value: Any) -> Any:
    return value.view(np.ndarray) if isinstance(value, PreciseArray) else value


def objects(value: Any) -> npt.NDArray[Any]:
    """A plain object array whose every element is `Precise`."""
    source = np.asarray(_plain(value), dtype=object)
    if all(type(element) is Precise for element in source.flat):
        return source
    found = np.empty(source.shape, dtype=object)
    found[...] = np.frompyfunc(Precise, 1, 1)(source)
    return found


def precise(value: Any) -> PreciseArray:
    """Numbers, nested lists or arrays as a precise array."""
    found = objects(value)
    return (found.copy() if found is _plain(value) else found).view(PreciseArray)


def wrapped(result: Any) -> Any:
    """What a numpy function returned: arrays as precise ones, anything else as it is."""
    if isinstance(result, tuple | list):
        parts = [wrapped(part) for part in result]
        return type(result)(*parts) if hasattr(result, "_fields") else type(result)(parts)
    if isinstance(result, float | np.floating):
        return Precise(result)
    if not isinstance(result, np.ndarray):
        return result
    if result.dtype.kind == "f" or (result.dtype == object and result.ndim == 0):
        return precise(result)
    return result.view(PreciseArray)
