"""Expressions in named variables: read from ASCII or LaTeX, shown, and compared with a reference.

    >>> from autograder.maths import expression
    >>> expression.decide("sigma(x)*(1-sigma(x))", "e^(-x)/(1+e^(-x))^2", domains={"x": "real"}).outcome
    'equal'

Student text is read by a grammar of our own and evaluated in balls: it never meets an evaluator of Python or
sympy. Reading and showing load the standard library alone; deciding loads python-flint on first use.
"""

from autograder.maths.expression.equality import decide, first_equal
from autograder.maths.expression.expression_printing import to_latex, to_text
from autograder.maths.expression.parsing import answer_latex, constraint_latex, parse, parse_answer
from autograder.maths.expression.syntax import Expression
from autograder.maths.expression.written_form import contains

__all__ = [
    "Expression",
    "answer_latex",
    "constraint_latex",
    "contains",
    "decide",
    "first_equal",
    "parse",
    "parse_answer",
    "to_latex",
    "to_text",
]
