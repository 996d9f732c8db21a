"""Auto-graded exercises and exams for a deep-learning course: the vocabulary in which an author writes a problem.

Importing this package loads neither torch nor nbgrader.
"""

from autograder.checks import close, exactly, form, gradient, holds
from autograder.core import Problem
from autograder.inputs import sizes, tensors
from autograder.parts import (
    Choice,
    Derivation,
    Equation,
    Expression,
    Function,
    Growth,
    Matrix,
    Module,
    Number,
    Written,
)

__all__ = [
    "Choice",
    "Derivation",
    "Equation",
    "Expression",
    "Function",
    "Growth",
    "Matrix",
    "Module",
    "Number",
    "Problem",
    "Written",
    "close",
    "exactly",
    "form",
    "gradient",
    "holds",
    "sizes",
    "tensors",
]
