"""Code answers, symbolically: the same code run on numbers of a hundred digits, so that a rounded constant shows.

`high_precision` (numpy) and `high_precision_torch` run student code and return strings of digits; `compare` judges such
strings and runs nothing. The two halves meet only in `Digits`, so they can live in different processes.
"""

from autograder.maths.symbolic.judging import compare
from autograder.maths.symbolic.precise_run import Digits, high_precision
from autograder.maths.symbolic.tracing import high_precision_torch

__all__ = ["Digits", "compare", "high_precision", "high_precision_torch"]
