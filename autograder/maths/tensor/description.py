"""What a preview says about a system: which indices are free, bound, summed, and what reads in two ways."""

from __future__ import annotations

from dataclasses import dataclass

from autograder.maths.tensor.checking import functions, inputs, interpret
from autograder.maths.tensor.core_tree import Core, Fault, Multiply, Normalise, inner
from autograder.maths.tensor.declarations import Declarations
from autograder.maths.tensor.tensor_tree import ScopeNote, System


@dataclass(frozen=True, kw_only=True)
class Described:
    """One equation: `free` left indices, `summed` indices (capitals and those of a sum), `normalised` by a
    softmax.
    """

    name: str
    free: tuple[str, ...]
    summed: tuple[str, ...]
    normalised: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Description:
    """The equations, the tensors read but not defined with their number of indices, warnings and faults."""

    equations: tuple[Described, ...]
    inputs: tuple[tuple[str, int], ...]
    warnings: tuple[ScopeNote, ...]
    faults: tuple[Fault, ...]


def describe(system: System, declarations: Declarations | None = None) -> Description:
    """How the system has been read."""
    found = interpret(system, declarations or Declarations())
    return Description(
        equations=tuple(_equation(chain[-1].name, chain[-1].free, chain[-1].body) for chain in found.links),
        inputs=tuple(inputs(found).items()),
        warnings=(*found.system.warnings, *map(_named, functions(found))),
        faults=found.faults,
    )


def _named(function: str) -> ScopeNote:
    return ScopeNote(code="function", message=f"{function} is a function that only has a name here", column=0)


def _equation(name: str, free: tuple[str, ...], body: Core) -> Described:
    summed: dict[str, None] = {}
    normalised: dict[str, None] = {}

    def visit(node: Core) -> None:
        if isinstance(node, Multiply):
            summed.update(dict.fromkeys(variable.partition("#")[0] for variable in node.over))
        if isinstance(node, Normalise):
            normalised.update(dict.fromkeys(variable.partition("#")[0] for variable in node.over))
        for child in inner(node):
            visit(child)

    visit(body)
    return Described(name=name, free=free, summed=tuple(summed), normalised=tuple(normalised))
