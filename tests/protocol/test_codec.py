"""The codec: what goes in comes out, and nothing that a stranger sends does more than raise Unreadable."""

import contextlib
import json
import math
import random
import struct
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from autograder.errors import Unreadable
from autograder.protocol import codec
from autograder.protocol.codec import decode, encode, plain

scalars = (
    st.none()
    | st.booleans()
    | st.integers(-(10**40), 10**40)
    | st.floats()
    | st.text(max_size=5)
    | st.binary(max_size=5)
    | st.fractions()
    | st.complex_numbers()
)
dtypes = st.sampled_from(sorted(codec._NUMPY))
arrays = dtypes.flatmap(
    lambda dtype: hnp.arrays(dtype, hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=3))
)
values = st.recursive(
    scalars
    | arrays
    | arrays.filter(lambda array: array.dtype.kind != "u" or array.itemsize == 1).map(torch.from_numpy),
    lambda inner: (
        st.lists(inner, max_size=3) | st.tuples(inner, inner) | st.dictionaries(st.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=6,
)


def same(left, right):
    """Equal in type and value, arrays by their bytes, nan being nan."""
    if type(left) is not type(right):
        return False
    if isinstance(left, np.ndarray):
        return left.dtype == right.dtype and left.shape == right.shape and left.tobytes() == right.tobytes()
    if isinstance(left, torch.Tensor):
        return left.dtype == right.dtype and same(left.numpy(), right.numpy())
    if isinstance(left, list | tuple):
        return len(left) == len(right) and all(map(same, left, right))
    if isinstance(left, dict):
        return list(left) == list(right) and all(same(left[key], right[key]) for key in left)
    if isinstance(left, complex):
        return same(left.real, right.real) and same(left.imag, right.imag)
    return left == right or (isinstance(left, float) and math.isnan(left) and math.isnan(right))


@settings(max_examples=300, deadline=None)
@given(values)
def test_round_trip(value):
    """Structures of numbers, texts and arrays arrive as they were sent."""
    assert same(plain(value), value)


DRESSES = [
    (np.int64(7), 7),
    (np.float32(0.5), 0.5),
    (np.bool_(True), True),
    (Fraction(4, 2), Fraction(2)),
    (Decimal("0.1"), Fraction(1, 10)),
    (Decimal("7.0"), 7),
    (Decimal("-Infinity"), float("-inf")),
    (float("inf"), float("inf")),
    (-0.0, -0.0),
    (2**4000, 2**4000),
    ({"a": (1, [2])}, {"a": (1, [2])}),
]


@pytest.mark.parametrize(("sent", "arrived"), DRESSES)
def test_dresses(sent, arrived):
    """numpy scalars keep their value and lose their dress."""
    assert same(plain(sent), arrived)


def test_tensors_in_every_state_travel():
    """Views, gradients, conjugates, foreign byte orders and bfloat16: entries, shape and dtype arrive."""
    base = torch.arange(12, dtype=torch.float64).reshape(3, 4)
    for tensor in (base.T, base[::2, 1], base.clone().requires_grad_(True), torch.ones(2, dtype=torch.bfloat16) / 3):
        assert torch.equal(plain(tensor), tensor.detach()) and plain(tensor).dtype == tensor.dtype
        assert not plain(tensor).requires_grad
    z = torch.tensor([1 + 2j])
    assert torch.equal(plain(z.conj()), torch.tensor([1 - 2j]))
    assert same(plain(np.array([1, 2], dtype=">i4")), np.array([1, 2], dtype="int32"))


def test_what_arrives_is_a_copy():
    """Changing what arrived changes nothing at the sender."""
    sent = torch.zeros(3)
    plain(sent)[0] = 1
    assert sent.sum() == 0


class Sneaky:
    """An object that would run code when unpickled."""

    def __reduce__(self):
        return (print, ("no",))


REFUSED = [
    (Sneaky(), "type"),
    (lambda: 0, "type"),
    (open, "type"),
    ({1: 2}, "type"),
    ({1, 2}, "type"),
    (torch.nn.Linear(1, 1), "type"),
    (np.array([Sneaky()]), "dtype"),
    (np.array(["a"]), "dtype"),
    (torch.eye(2).to_sparse(), "type"),
    (10 ** (4 * codec.MAX_DIGITS), "too_large"),
    ([[]], None),
]


@pytest.mark.parametrize(
    ("value", "code"), REFUSED, ids=[type(row[0]).__name__ + str(i) for i, row in enumerate(REFUSED)]
)
def test_other_objects_do_not_travel(value, code):
    """Unreadable with a code; lists within lists are fine."""
    if code is None:
        assert plain(value) == value
        return
    with pytest.raises(Unreadable) as caught:
        encode(value)
    assert caught.value.code == code


def test_depth_is_limited():
    """Nested up to the limit, and no deeper, in both directions."""
    value = 0
    for _ in range(codec.MAX_DEPTH):
        value = [value]
    assert plain(value) == value
    with pytest.raises(Unreadable, match="nested"):
        encode([value])
    header = '{"t":"list","v":[' * (codec.MAX_DEPTH + 1) + "0" + "]}" * (codec.MAX_DEPTH + 1)
    with pytest.raises(Unreadable) as caught:
        decode(frame(header))
    assert caught.value.code == "too_deep"


def test_a_loop_is_too_deep():
    """A list that holds itself ends."""
    loop = []
    loop.append(loop)
    with pytest.raises(Unreadable, match="nested"):
        encode(loop)


def test_size_and_number_of_items_are_limited():
    """Neither a large frame nor a frame of very many items is built."""
    with pytest.raises(Unreadable) as caught:
        decode(encode("x" * 100), max_bytes=99)
    assert caught.value.code == "too_large"
    with pytest.raises(Unreadable, match="too many"):
        decode(encode([0] * codec.MAX_ITEMS))


def frame(header, buffers=b""):
    """A frame as a stranger would write it."""
    data = header.encode() if isinstance(header, str) else header
    return struct.pack(">I", len(data)) + data + buffers


FORGED = [
    b"", b"\0\0\0", struct.pack(">I", 2**32 - 1), frame(b"\xff\xfe"), frame("nonsense"), frame("[1]"), frame("NaN"),
    frame("-Infinity"), frame('{"v":1}'), frame('{"t":"eval","v":"1"}'), frame('{"t":["list"],"v":[]}'),
    frame('{"t":"list","v":{"a":1}}'), frame('{"t":"dict","v":[[1,2]]}'), frame('{"t":"dict","v":[["a"]]}'),
    frame('{"t":"numpy","d":"object","s":[1]}', b"\0" * 8), frame('{"t":"numpy","d":"float64","s":[1]}', b"\0" * 7),
    frame('{"t":"numpy","d":"float64","s":[-1]}', b"\0" * 8), frame('{"t":"numpy","d":"float64","s":[true]}',
        b"\0" * 8),
    frame('{"t":"numpy","d":"bfloat16","s":[1]}', b"\0" * 8), frame('{"t":"numpy","d":["float64"],"s":[1]}', b"\0" * 8),
    frame('{"t":"numpy","d":"int8","s":[' + ",".join(["1"] * 99) + "]}", b"\0"),
    frame('{"t":"torch","d":"int8","s":[268435456,268435456,268435456]}'),
    frame('{"t":"bytes","v":"?"}'), frame('{"t":"fraction","v":[1,0]}'), frame('{"t":"fraction","v":[1.5,2]}'),
    frame('{"t":"complex","v":["a",1]}'), frame('{"t":"float","v":"1e9"}'), frame("1" * 5000), frame("[" * 100_000),
    frame('{"t":"list","v":[' * 100_000),
]  # fmt: skip


@pytest.mark.parametrize("data", FORGED, ids=range(len(FORGED)))
def test_forged_frames_are_unreadable(data):
    """Whatever is wrong with a frame, it is said in one way."""
    with pytest.raises(Unreadable):
        decode(data)


@pytest.mark.parametrize("shape", [[0, 2**28, 2**28, 2**28], [2**28, 0], [0] * 16])
@pytest.mark.parametrize("kind", ["numpy", "torch"])
def test_empty_arrays_of_absurd_shape_do_no_harm(kind, shape):
    """An array without entries may claim any shape; it is built or refused."""
    with contextlib.suppress(Unreadable):
        assert list(decode(frame(json.dumps({"t": kind, "d": "float64", "s": shape}))).shape) == shape


def test_mutated_frames_raise_only_unreadable():
    """Thousands of damaged frames: each decodes to something or is unreadable, and nothing else happens."""
    rng = random.Random(7)
    seeds = [
        encode({"a": [1, 2.5, "x", None, True], "b": torch.ones(2, 3), "c": np.arange(4), "d": (Fraction(1, 3), 2j)}),
        encode([float("nan"), b"bytes", {"k": torch.zeros((), dtype=torch.bfloat16)}, [[[]]]]),
    ]
    refused = 0
    for _ in range(6000):
        data = bytearray(rng.choice(seeds))
        for _ in range(rng.randint(1, 4)):
            place = rng.randrange(len(data))
            match rng.randrange(4):
                case 0:
                    data[place] = rng.randrange(256)
                case 1:
                    del data[place : place + rng.randint(1, 5)]
                case 2:
                    data[place:place] = rng.choice([b"9", b"[", b"{", b'"', b"-", b"e", b"\\u0000", b'"t"'])
                case _:
                    data[place : place + 1] = bytes([data[place] ^ (1 << rng.randrange(8))])
            if not data:
                break
        try:
            decode(bytes(data))
        except Unreadable:
            refused += 1
    assert refused > 1000
