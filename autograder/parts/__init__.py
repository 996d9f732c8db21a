"""One file per kind of answer: its cell in the notebook, how it is read and judged, what the audit tries on it.

A kind is found by its name: `interval` is the class in `autograder/parts/interval.py` that says it is of this kind, and
an author calls it `Interval`. Nothing lists the kinds, and none is imported before it is asked for.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from autograder.core import Part

if TYPE_CHECKING:
    from autograder.parts.choice import Choice
    from autograder.parts.counterexample import Counterexample
    from autograder.parts.derivation import Derivation
    from autograder.parts.equation import Equation
    from autograder.parts.expression import Expression
    from autograder.parts.function import Function
    from autograder.parts.growth import Growth
    from autograder.parts.matrix import Matrix
    from autograder.parts.module import Module
    from autograder.parts.number import Number
    from autograder.parts.ordering import Ordering
    from autograder.parts.sampled import Sampled
    from autograder.parts.selection import Selection
    from autograder.parts.term import Term
    from autograder.parts.tests import Tests
    from autograder.parts.trained import Trained
    from autograder.parts.vector import Vector
    from autograder.parts.written import Written

__all__ = [
    "Choice",
    "Counterexample",
    "Derivation",
    "Equation",
    "Expression",
    "Function",
    "Growth",
    "Matrix",
    "Module",
    "Number",
    "Ordering",
    "Sampled",
    "Selection",
    "Term",
    "Tests",
    "Trained",
    "Vector",
    "Written",
    "find",
    "kinds",
]


def find(kind: str) -> type[Part] | None:
    """The kind of that name; None where there is none."""
    if not kind.isidentifier():
        return None
    name = f"{__name__}.{kind}"
    try:
        module = importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name != name:
            raise
        return None
    classes = (item for item in vars(module).values() if isinstance(item, type) and issubclass(item, Part))
    return next((item for item in classes if item.kind == kind), None)


def kinds() -> dict[str, type[Part]]:
    """All kinds by their names; this imports them."""
    import pkgutil

    names = sorted(item.name for item in pkgutil.iter_modules(__path__))
    return {name: kind for name in names if (kind := find(name))}


def __getattr__(name: str) -> Any:
    """An author's word for a kind: `Interval` for `interval`."""
    kind = find(name.lower()) if name[:1].isupper() else None
    if kind is None or kind.__name__ != name:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return kind
