"""Hidden inputs: sizes that fit by no accident, and tensors by axis names."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from autograder import sizes, tensors
from autograder.authoring.inputs import PRIMES
from autograder.errors import AuthorError


def rng(seed=0):
    """A generator of its own."""
    return np.random.default_rng(seed)


@given(st.integers(0, 2**32), st.integers(1, 6))
def test_sizes_are_distinct_primes(seed, number):
    """No two axes have the same size, and none is a product of others."""
    drawn = sizes(rng(seed), " ".join("ABCDEF"[:number]))
    assert len(set(drawn.values())) == number and set(drawn.values()) <= set(PRIMES)
    assert all(type(value) is int and value <= 13 for value in drawn.values())


def test_sizes_differ_between_draws():
    """The order is drawn: an axis does not always have the same size."""
    assert len({sizes(rng(seed), "B T")["B"] for seed in range(50)}) > 3


def test_too_many_axes_are_refused():
    """There are only so many primes up to the largest size."""
    assert len(sizes(rng(), "A B C", largest=5)) == 3
    with pytest.raises(AuthorError, match="4 axes, but 3 distinct primes up to 5"):
        sizes(rng(), "A B C D", largest=5)


@pytest.mark.parametrize(
    ("shape", "wanted"),
    [
        ("B D", (3, 5)),
        ("", ()),
        ("2*B D+1", (6, 6)),
        ("B+D", (8,)),
        ("B*D-1 7", (14, 7)),
        ("2*B+D", (11,)),
        ("2*(B+D)", (16,)),
    ],
)
def test_shapes_by_axis_names(shape, wanted):
    """Each word is an axis, a number, or a sum, difference or product of these."""
    drawn = tensors(rng(), {"B": 3, "D": np.int64(5)}, x=shape)["x"]
    assert tuple(drawn.shape) == wanted and drawn.dtype == torch.float64


@pytest.mark.parametrize(
    "word", ["B/2", "-B", "B**2", "B()", "'B'", "2.5", "B[0]", "B D)", "x:=3", "B<D", "__import__('os')"]
)
def test_other_words_are_refused(word):
    """Shapes are read, never evaluated."""
    with pytest.raises(AuthorError) as caught:
        tensors(rng(), {"B": 3, "D": 5}, x=word)
    assert caught.value.code in ("shape", "unknown_axis")


def test_an_unknown_axis_is_named_with_what_there_is():
    """Words that are no sizes are not offered."""
    with pytest.raises(AuthorError, match=r"no axis 'dim' \(did you mean dims\?\); the parameters give B, dims$"):
        tensors(rng(), {"B": 3, "dims": 5, "mode": "a"}, x="B dim")


def test_the_same_seed_gives_the_same_tensors_and_names_differ():
    """Drawn once, drawn again; two tensors of one shape are not the same."""
    one, again = (tensors(rng(5), {"B": 3}, x="B", y="B") for _ in range(2))
    assert torch.equal(one["x"], again["x"]) and torch.equal(one["y"], again["y"])
    assert list(one) == ["x", "y"] and not torch.equal(one["x"], one["y"])
