"""The prime field computes as Python's integers do, and a softmax is one over its whole axis wherever it is read."""

import random

import numpy as np
import pytest

from autograder.maths.tensor import decide, declare
from autograder.maths.tensor.number_systems import PRIME, PrimeField

EDGES = [0, 1, 2, 2**30, 2**31 - 1, 2**31, 2**60, PRIME - 2, PRIME - 1]
RNG = random.Random(7)
NUMBERS = [*EDGES, *(RNG.randrange(PRIME) for _ in range(200))]
FIELD = PrimeField(0)


def numbers(values):
    """Entries as the field holds them."""
    return np.array(values, dtype=np.uint64)


def test_products_and_signed_sums_are_exact():
    """Every pair of edge cases and random numbers, against integers of any size."""
    first, second = numbers(NUMBERS)[:, None], numbers(NUMBERS)[None, :]
    assert FIELD.times(first, second).tolist() == [[a * b % PRIME for b in NUMBERS] for a in NUMBERS]
    found = FIELD.added([(-1, first), (1, second), (-1, second), (-1, second)])
    assert found.tolist() == [[(-a - b) % PRIME for b in NUMBERS] for a in NUMBERS]


@pytest.mark.parametrize("length", [0, 1, 7, 9, 5000])
def test_long_sums_do_not_overflow(length):
    """Thousands of numbers just below the prime."""
    rows = [[PRIME - 1 - k % 3 for k in range(length)], [RNG.randrange(PRIME) for _ in range(length)]]
    assert FIELD.along(numbers(rows).reshape(2, length), 1).tolist() == [sum(row) % PRIME for row in rows]


def test_an_inverse_times_its_number_is_one():
    """Zero has none."""
    value = numbers(NUMBERS[1:])
    assert FIELD.times(value, FIELD.reciprocal(value)).tolist() == [1] * len(value)
    with pytest.raises(ZeroDivisionError):
        FIELD.reciprocal(numbers([3, 0]))


SOFTMAX = "A[i,j] = softmax_j[B[i,j]]\n"


@pytest.mark.parametrize(
    ("answer", "outcome"),
    [
        (SOFTMAX + "C[i] = A[i,1]", "equal"),
        ("C[i] = exp(B[i,1]) / (sum_j exp(B[i,j]))", "equal"),
        ("C[i] = exp(B[i,1]) / exp(B[i,1])", "different"),
        (SOFTMAX + "C[i] = A[i,2]", "different"),
        ("A[i,j] = softmax_i[B[i,j]]\nC[i] = A[i,1]", "different"),
    ],
)
def test_one_entry_of_a_softmax(answer, outcome):
    """To read one entry is not to normalise over that entry alone."""
    declared = declare("B[I,J]")
    assert decide(SOFTMAX + "C[i] = A[i,1]", answer, declarations=declared, target="C").outcome == outcome
