"""One file per kind of answer: its cell in the notebook, how it is read, how it is judged."""

from autograder.parts.choice import Choice
from autograder.parts.derivation import Derivation
from autograder.parts.equation import Equation
from autograder.parts.expression import Expression
from autograder.parts.function import Function
from autograder.parts.growth import Growth
from autograder.parts.matrix import Matrix
from autograder.parts.module import Module
from autograder.parts.number import Number
from autograder.parts.written import Written

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
    "Written",
]
