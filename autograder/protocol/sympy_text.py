"""A sympy expression as text of our answer language, written where it was made: in the student's process.

What crosses the wall is the text, which is then read like any other. The tree is walked by the names of its nodes; what
is not listed here has no text. sympy is not imported: without it there is no such expression.
"""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Any

from autograder.errors import Unreadable

MAX_NODES = 5_000

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9]*(?:_\{?[A-Za-z0-9]+\}?)?")
_SPELT = {"lamda": "lambda"}  # as sympy.abc has it
# Spelt so that no variable of the question hides them.
_CONSTANTS = {"Pi": "\\pi", "Exp1": "exp(1)", "Infinity": "inf", "NegativeInfinity": "-inf"}
_FUNCTIONS = {
    "log": "ln",
    "Abs": "abs",
    "Max": "max",
    "Min": "min",
    **{name: name for name in ("exp", "sin", "cos", "tan", "sinh", "cosh", "tanh", "coth", "sech", "asinh", "atan")},
    **{name: name for name in ("floor", "factorial", "binomial")},
}


def is_symbolic(value: Any) -> bool:
    """Whether the value is one of sympy's."""
    return str(type(value).__module__).split(".")[0] == "sympy" or _is_given(value)


def _is_given(value: Any) -> bool:
    """Whether it is a function without a meaning of its own, applied: `P(i)`."""
    return any(kind.__name__ == "AppliedUndef" for kind in type(value).__mro__)


def in_words(value: Any) -> Any:
    """The value, in which every sympy expression is its text and every sympy matrix its rows.

    Lists and tuples are looked through; all other values are as they were. Unreadable where there is no such text.
    """
    if isinstance(value, list | tuple):
        return [in_words(item) for item in value] if any(map(_holds, value)) else value
    if not is_symbolic(value):
        return value
    try:
        if getattr(value, "is_Matrix", False) and hasattr(value, "tolist"):
            return [[in_words(entry) for entry in row] for row in value.tolist()]
        return _Writer().text(value)
    except Unreadable:
        raise
    except Exception as error:  # nested too deeply, or not the tree that its name promises
        raise Unreadable("type", f"a sympy object without a text ({type(error).__name__})") from error


def _holds(value: Any) -> bool:
    return any(map(_holds, value)) if isinstance(value, list | tuple) else is_symbolic(value)


class _Writer:
    """Writes one expression; every operand that is not a number or a name stands in brackets."""

    def __init__(self) -> None:
        self.nodes = 0

    def text(self, node: Any) -> str:
        """The text of a node."""
        self.nodes += 1
        if self.nodes > MAX_NODES:
            raise Unreadable("too_large", "a sympy expression of more than some thousand parts")
        name = type(node).__name__
        if _is_given(node):
            return f"{_name(name)}({self._listed(node.args)})"
        if name in _CONSTANTS:
            return _CONSTANTS[name]
        if name in _FUNCTIONS:
            return f"{_FUNCTIONS[name]}({self._listed(node.args)})"
        if getattr(node, "is_Rational", False):
            return str(node.p) if node.q == 1 else f"{node.p}/{node.q}"
        match name:
            case "Symbol" | "Dummy":
                return _name(node.name)
            case "Float":
                return _decimal(node)
            case "Add":
                return " + ".join(map(self._operand, node.args))
            case "Mul":
                return " * ".join(map(self._operand, node.args))
            case "Pow":
                base, exponent = node.args
                return f"{self._operand(base)}^({self.text(exponent)})"
            case "Sum":
                return self._sum(node)
        raise Unreadable("type", f"a sympy expression with {name}")

    def _listed(self, nodes: Any) -> str:
        return ", ".join(map(self.text, nodes))

    def _operand(self, node: Any) -> str:
        text = self.text(node)
        return text if text.isalnum() else f"({text})"

    def _sum(self, node: Any) -> str:
        body, *limits = node.args
        text = self.text(body)
        for index, lower, upper in limits:
            text = f"sum({text}, {self.text(index)}, {self.text(lower)}, {self.text(upper)})"
        return text


def _decimal(node: Any) -> str:
    """As Python writes the same number; with sympy's digits where it has another precision."""
    text = repr(float(node)) if node._prec == 53 else str(node)
    return format(Decimal(text), "f")


def _name(name: str) -> str:
    if not _NAME.fullmatch(name):
        raise Unreadable("name", f"a sympy expression with the name {name!r}")
    return _SPELT.get(name, name)
