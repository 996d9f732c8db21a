"""What a student's notebook imports: previews of typed answers, and checks of the form of an answer.

Light on purpose: neither torch nor nbgrader is imported before a check needs it.
"""

from autograder.student.local_checks import (
    Malformed,
    array,
    check,
    check_choice,
    check_derivation,
    check_equation,
    check_expression,
    check_growth,
    check_matrix,
    check_module,
    check_number,
    tensor,
)
from autograder.student.preview import declare, derivation, equation, expression, growth, matrix

__all__ = [
    "Malformed",
    "array",
    "check",
    "check_choice",
    "check_derivation",
    "check_equation",
    "check_expression",
    "check_growth",
    "check_matrix",
    "check_module",
    "check_number",
    "declare",
    "derivation",
    "equation",
    "expression",
    "growth",
    "matrix",
    "tensor",
]
