"""Tensor equations with named indices, `W^Q[k,i,J] L[t,J]`: read, shown, computed and decided.

    from autograder.maths import tensor

    system = tensor.parse(r"\\alpha[k,t_1,t_2] = \\text{softmax}_{t_2} \\text{Query}[k,t_1,U]
    \\text{Key}[k,t_2,U]") tensor.to_latex(system), tensor.describe(system), tensor.check(system)
    tensor.decide(reference, answer, target="h_out")            # equal, different or undecided
    tensor.evaluate(system, {"Query": q, "Key": k})             # float64, on arrays

Reading, showing and checking need the standard library alone; numpy is imported to compute, python-flint to
decide.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from autograder.maths.tensor.checking import as_read, check
from autograder.maths.tensor.core_tree import Fault
from autograder.maths.tensor.declarations import Declarations, declare
from autograder.maths.tensor.description import Described, Description, describe
from autograder.maths.tensor.latex import to_latex
from autograder.maths.tensor.rendering import to_text
from autograder.maths.tensor.tensor_grammar import parse
from autograder.maths.tensor.tensor_tree import Equation, System, names

if TYPE_CHECKING:
    from autograder.maths.tensor.equivalence import decide, explain
    from autograder.maths.tensor.known import first_equal
    from autograder.maths.tensor.numeric import evaluate
    from autograder.maths.tensor.parameters import decide_model
    from autograder.maths.tensor.properties import (
        depends_on,
        does_not_read,
        fits,
        nonnegative,
        normalised,
        own_parameters,
        reads_only,
        uses_only,
    )

_LAZY = {
    "decide": "equivalence",
    "explain": "equivalence",
    "first_equal": "known",
    "decide_model": "parameters",
    "evaluate": "numeric",
    "fits": "properties",
    "normalised": "properties",
    "nonnegative": "properties",
    "depends_on": "properties",
    "does_not_read": "properties",
    "reads_only": "properties",
    "own_parameters": "properties",
    "uses_only": "properties",
}

__all__ = [
    "Declarations",
    "Described",
    "Description",
    "Equation",
    "Fault",
    "System",
    "as_read",
    "check",
    "decide",
    "decide_model",
    "declare",
    "depends_on",
    "describe",
    "does_not_read",
    "evaluate",
    "explain",
    "first_equal",
    "fits",
    "names",
    "nonnegative",
    "normalised",
    "own_parameters",
    "parse",
    "reads_only",
    "to_latex",
    "to_text",
    "uses_only",
]


def __getattr__(name: str) -> object:
    """Import what computes only when it is asked for."""
    if name not in _LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"{__name__}.{_LAZY[name]}"), name)
