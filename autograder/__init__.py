"""Auto-graded exercises and exams for a deep-learning course: the vocabulary in which an author writes a problem.

A name is imported when it is first used: `import autograder` loads neither torch nor numpy nor nbgrader.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from autograder.authoring.inputs import sizes, tensors
    from autograder.checks import buffers, close, exactly, form, gradient, holds, symbolic, unchanged, unseen
    from autograder.checks.compare import difference
    from autograder.core import Problem
    from autograder.errors import Unreadable
    from autograder.maths.derivation import Milestone
    from autograder.parts import (
        Choice,
        Counterexample,
        Derivation,
        Equation,
        Expression,
        Function,
        Growth,
        Matrix,
        Module,
        Number,
        Ordering,
        Sampled,
        Selection,
        Term,
        Tests,
        Trained,
        Vector,
        Written,
    )

__version__ = "0.1.0"

_HOMES = {
    "checks": ("buffers", "close", "exactly", "form", "gradient", "holds", "symbolic", "unchanged", "unseen"),
    "checks.compare": ("difference",),
    "core": ("Problem",),
    "errors": ("Unreadable",),
    "maths.derivation": ("Milestone",),
    "authoring.inputs": ("sizes", "tensors"),
}
_HOME = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [
    "Choice",
    "Counterexample",
    "Derivation",
    "Equation",
    "Expression",
    "Function",
    "Growth",
    "Matrix",
    "Milestone",
    "Module",
    "Number",
    "Ordering",
    "Problem",
    "Sampled",
    "Selection",
    "Term",
    "Tests",
    "Trained",
    "Unreadable",
    "Vector",
    "Written",
    "buffers",
    "close",
    "difference",
    "exactly",
    "form",
    "gradient",
    "holds",
    "sizes",
    "symbolic",
    "tensors",
    "unchanged",
    "unseen",
]


def __getattr__(name: str) -> Any:
    """The author's word of that name, from the module where it lives; any other in capitals is a kind of answer."""
    home = _HOME.get(name, "parts" if name[:1].isupper() else "")
    found = getattr(importlib.import_module(f"{__name__}.{home}"), name, None) if home else None
    if found is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return found
