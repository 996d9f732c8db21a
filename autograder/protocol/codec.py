"""The codec between the student's process and ours: JSON for structure, raw bytes for arrays, nothing executable.

A frame is `length of header (4 bytes, big endian) · header (JSON) · buffers`. Everything that comes back is a
stranger's data, so `decode` limits size, depth and count before it builds anything, knows a closed list of types and
dtypes, and raises `Unreadable` for all else; it never unpickles and never evaluates.
"""

from __future__ import annotations

import base64
import json
import math
import numbers
import struct
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from autograder.errors import Unreadable

MAX_BYTES = 256 * 2**20
MAX_HEADER = 8 * 2**20  # JSON takes many times its length once it is read
MAX_DEPTH = 32
MAX_ITEMS = 100_000
MAX_DIMENSIONS = 16
MAX_DIGITS = 4_000  # of one integer: Python refuses to read longer ones

_NUMPY = {
    "bool",
    "int8",
    "int16",
    "int32",
    "int64",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "float16",
    "float32",
    "float64",
    "complex64",
    "complex128",
}
# bfloat16 has no numpy twin: it travels as the bits of an int16.
_TORCH = _NUMPY | {"bfloat16"}
_LITTLE = {name: np.dtype("int16" if name == "bfloat16" else name).newbyteorder("<") for name in _TORCH}
_NATIVE = {name: dtype.newbyteorder("=") for name, dtype in _LITTLE.items()}
_BASE64_LIMIT = 2**20
_SHORT = 2**63  # whole numbers below need no second look
_SCALARS = (bool, int, float, str)


def encode(value: Any) -> bytes:
    """The frame of a value made of None, bool, int, float, complex, str, bytes, Fraction, list, tuple, dict, arrays.

    numpy scalars, 0-d arrays, decimal and sympy numbers keep their value and lose their dress. Raises Unreadable for
    others.
    """
    buffers: list[bytes] = []
    header = _TO_JSON(_pack(value, buffers, 0)).encode()
    return struct.pack(">I", len(header)) + header + b"".join(buffers)


def decode(frame: bytes | bytearray | memoryview, *, max_bytes: int = MAX_BYTES, arrays: bool = True) -> Any:
    """The value in a frame; Unreadable for anything that `encode` would not have written within the limits.

    Without `arrays`, None stands for each, and torch is not imported for them.
    """
    data = memoryview(frame)
    if len(data) > max_bytes:
        raise Unreadable("too_large", f"the answer takes more than {max_bytes // 2**20} MB")
    if len(data) < 4:
        raise Unreadable("frame", "the answer breaks off before its header")
    (size,) = struct.unpack(">I", data[:4])
    if size > MAX_HEADER:
        raise Unreadable("too_large", f"the answer's structure takes more than {MAX_HEADER // 2**20} MB")
    if size > len(data) - 4:
        raise Unreadable("frame", "the answer breaks off within its header")
    try:
        header = _FROM_JSON(str(data[4 : 4 + size], "utf-8"))
        return _Unpack(data[4 + size :], arrays).value(header, 0)
    except Unreadable:
        raise
    except (ValueError, TypeError, KeyError, OverflowError, RecursionError, MemoryError) as error:
        raise Unreadable("frame", f"the answer is not a valid message ({type(error).__name__})") from error


def plain(value: Any) -> Any:
    """The value as it would arrive on the other side."""
    return decode(encode(value))


def _no_constant(name: str) -> Any:
    raise Unreadable("frame", f"{name} is not JSON")


# Made once: `json.loads` and `json.dumps` make one in each call with options.
_TO_JSON = json.JSONEncoder(allow_nan=False, separators=(",", ":")).encode
_FROM_JSON = json.JSONDecoder(parse_constant=_no_constant).decode


def _pack(value: Any, buffers: list[bytes], depth: int) -> Any:
    if depth > MAX_DEPTH:
        raise Unreadable("too_deep", f"the answer is nested more than {MAX_DEPTH} levels deep")
    exact = type(value)
    if value is None or exact is bool or exact is str or (exact is int and abs(value) < _SHORT):
        return value
    if exact is float:
        return value if math.isfinite(value) else {"t": "float", "v": repr(value)}
    if isinstance(value, str):
        return value
    if isinstance(value, np.generic):
        return _pack(value.item(), buffers, depth) if value.dtype.name in _NUMPY else _refuse(value)
    if isinstance(value, np.ndarray):
        return _pack_array("numpy", value, value.dtype.name, buffers)
    if str(type(value).__module__).split(".")[0] == "torch" and hasattr(value, "detach"):
        return _pack_tensor(value, buffers)
    if isinstance(value, dict):
        if not all(isinstance(key, str) for key in value):
            raise Unreadable("type", "a dict whose keys are not all strings")
        return {"t": "dict", "v": [[key, _pack(item, buffers, depth + 1)] for key, item in value.items()]}
    if isinstance(value, list | tuple):
        kind = "tuple" if isinstance(value, tuple) else "list"
        return {"t": kind, "v": [_pack(item, buffers, depth + 1) for item in value]}
    return _pack_number(value)


def _pack_number(value: Any) -> Any:
    if isinstance(value, bytes) and len(value) <= _BASE64_LIMIT:
        return {"t": "bytes", "v": base64.b64encode(value).decode()}
    if isinstance(value, numbers.Integral):
        value = int(value)
        if value.bit_length() > 3 * MAX_DIGITS:
            raise Unreadable("too_large", "a whole number of thousands of digits")
        return value
    if isinstance(value, Fraction):
        return {"t": "fraction", "v": [_pack_number(value.numerator), _pack_number(value.denominator)]}
    if isinstance(value, Decimal):
        return _pack_decimal(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else {"t": "float", "v": repr(float(value))}
    if isinstance(value, complex):
        return {"t": "complex", "v": [_pack_number(value.real), _pack_number(value.imag)]}
    if str(type(value).__module__).split(".")[0] == "sympy" and getattr(value, "is_number", False):
        return _pack_sympy(value)
    return _refuse(value)


def _pack_decimal(value: Decimal) -> Any:
    """A decimal number as the fraction that it is."""
    if not value.is_finite():
        return _pack_number(float(value))
    if abs(value.adjusted()) > MAX_DIGITS:
        raise Unreadable("too_large", "a decimal number of thousands of digits")
    exact = Fraction(value)
    return _pack_number(exact.numerator if exact.denominator == 1 else exact)


def _pack_sympy(value: Any) -> Any:
    if getattr(value, "is_Rational", False) and not getattr(value, "is_infinite", False):
        return _pack_number(int(value.p) if value.q == 1 else Fraction(int(value.p), int(value.q)))
    return _pack_number(float(value))


def _refuse(value: Any) -> Any:
    raise Unreadable("type", f"an object of type {type(value).__name__}")


def _pack_tensor(value: Any, buffers: list[bytes]) -> Any:
    import torch

    tensor = value.detach()
    if tensor.layout is not torch.strided or tensor.is_quantized:
        raise Unreadable("type", "a tensor that is sparse or quantised")
    tensor = tensor.cpu().resolve_conj().resolve_neg().contiguous()
    name = str(tensor.dtype).removeprefix("torch.")
    array = tensor.view(torch.int16).numpy() if tensor.dtype is torch.bfloat16 else tensor.numpy()
    return _pack_array("torch", array, name, buffers)


def _pack_array(kind: str, array: np.ndarray, name: str, buffers: list[bytes]) -> Any:
    if name not in (_TORCH if kind == "torch" else _NUMPY):
        raise Unreadable("dtype", f"an array of dtype {name}")
    little = np.ascontiguousarray(array)
    if little.dtype.byteorder == ">":
        little = little.astype(little.dtype.newbyteorder("<"))
    data = little.tobytes()
    if sum(map(len, buffers)) + len(data) > MAX_BYTES:
        raise Unreadable("too_large", f"arrays of more than {MAX_BYTES // 2**20} MB")
    buffers.append(data)
    return {"t": kind, "d": name, "s": list(array.shape)}


class _Unpack:
    """Reads one header; arrays take their bytes from the buffers in order."""

    def __init__(self, buffers: memoryview, arrays: bool) -> None:
        self.buffers, self.arrays = buffers, arrays
        self.offset = 0
        self.items = 0

    def value(self, node: Any, depth: int) -> Any:
        self.items += 1
        if depth > MAX_DEPTH or self.items > MAX_ITEMS:
            raise Unreadable("too_deep", "the answer has too many parts")
        if node is None or isinstance(node, _SCALARS):
            return node
        if not isinstance(node, dict):
            raise Unreadable("frame", "the answer is not a valid message")
        kind, content = node["t"], node.get("v")
        if kind in ("list", "tuple"):
            items = [self.value(item, depth + 1) for item in _list(content)]
            return tuple(items) if kind == "tuple" else items
        if kind == "dict":
            return {_text(key): self.value(item, depth + 1) for key, item in map(_pair, _list(content))}
        if kind in ("numpy", "torch"):
            return self.array(kind, node["d"], node["s"])
        return _scalar(kind, content)

    def array(self, kind: str, name: Any, shape: Any) -> Any:
        if name not in (_TORCH if kind == "torch" else _NUMPY):
            raise Unreadable("dtype", "an array of unknown dtype")
        dimensions = _list(shape)
        if len(dimensions) > MAX_DIMENSIONS or not all(type(n) is int and 0 <= n <= MAX_BYTES for n in dimensions):
            raise Unreadable("frame", "an array of impossible shape")
        dtype = _LITTLE[name]
        size = math.prod(dimensions) * dtype.itemsize
        if size > len(self.buffers) - self.offset:
            raise Unreadable("frame", "an array that declares more bytes than it sent")
        self.offset += size
        if not self.arrays:
            return None
        data = bytearray(self.buffers[self.offset - size : self.offset])
        array = np.frombuffer(data, dtype=dtype).reshape(dimensions).astype(_NATIVE[name], copy=False)
        if kind == "numpy":
            return array
        import torch

        tensor = torch.from_numpy(array)
        return tensor.view(torch.bfloat16) if name == "bfloat16" else tensor


def _scalar(kind: Any, content: Any) -> Any:
    if kind == "bytes":
        return base64.b64decode(_text(content), validate=True)
    if kind == "float" and content in ("nan", "inf", "-inf"):
        return float(content)
    if kind == "fraction":
        top, bottom = _pair(content)
        if type(top) is int and type(bottom) is int and bottom > 0:
            return Fraction(top, bottom)
    if kind == "complex":
        real, imaginary = (_scalar("float", part["v"]) if isinstance(part, dict) else part for part in _pair(content))
        if isinstance(real, int | float) and isinstance(imaginary, int | float):
            return complex(real, imaginary)
    raise Unreadable("frame", "the answer is not a valid message")


def _list(content: Any) -> list[Any]:
    if not isinstance(content, list):
        raise Unreadable("frame", "the answer is not a valid message")
    return content


def _pair(content: Any) -> tuple[Any, Any]:
    if not isinstance(content, list) or len(content) != 2:
        raise Unreadable("frame", "the answer is not a valid message")
    return content[0], content[1]


def _text(content: Any) -> str:
    if not isinstance(content, str):
        raise Unreadable("frame", "the answer is not a valid message")
    return content
