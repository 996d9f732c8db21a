"""`h[t+1] = f(h[t])` says what `h[t] = f(h[t-1])` does: each equation is brought to the form with a plain left side.

So is a system about layer l where the question asks for layer l+1.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from dataclasses import fields, is_dataclass, replace
from functools import lru_cache
from typing import Any, TypeVar

from autograder.maths.tensor.core_tree import CoreIndex, Meaning, Variable
from autograder.maths.tensor.tensor_tree import Name, System, Total, children

_LAYER = re.compile(r"([a-z])([+-]\d{1,2})?")
Tree = TypeVar("Tree")


def unshifted(meaning: Meaning) -> Meaning:
    """The same equation with plain variables on its left, which hold for all of their values."""
    shifts = {}
    for index in meaning.left:
        match index.terms:
            case ((1, Variable(name=name)),) if index.constant:
                shifts[name] = index.constant
    if not shifts:
        return meaning
    return replace(meaning, left=_moved(meaning.left, shifts), body=_moved(meaning.body, shifts))


def _moved(node: Any, shifts: dict[str, int]) -> Any:
    """The node, or the nodes, with each of the variables replaced by itself minus its shift."""

    def move(part: Any) -> Any:
        if not isinstance(part, CoreIndex):
            return part
        names = [(count, atom.name) for count, atom in part.terms if isinstance(atom, Variable)]
        total = sum(count * shifts.get(name, 0) for count, name in names)
        return replace(part, constant=part.constant - total)

    return changed(node, move)


def changed(node: Tree, change: Callable[[Any], Any]) -> Tree:
    """The tree with every part of it changed, from the innermost ones outwards."""
    if isinstance(node, tuple):
        items = tuple([changed(item, change) for item in node])
        kept = all(map(operator.is_, items, node))
        return node if kept else items  # type: ignore[return-value]
    kind: type = type(node)
    names = _parts(kind)
    if names is None:
        return node
    new = {}
    for name in names:
        value = getattr(node, name)
        if (other := changed(value, change)) is not value:
            new[name] = other
    return change(replace(node, **new) if new else node)  # type: ignore[no-any-return, type-var]


@lru_cache(maxsize=256)
def _parts(kind: type) -> tuple[str, ...] | None:
    """The names of a node's fields; None for what is no node."""
    return tuple(field.name for field in fields(kind)) if is_dataclass(kind) else None


def at_layer(system: System, target: str) -> System:
    """The system with all its layers moved so that it defines the target, where it defines it at another layer.

    `L_l = f(L_{l-1})` is about `L_{l+1}` too; a layer that a sum runs over stays.
    """
    wanted = _LAYER.fullmatch(target.partition("_")[2].strip("{}"))
    if wanted is None or system.defining(target):
        return system
    for name in (equation.left.name for equation in system.equations):
        layer = _LAYER.fullmatch(name.lower)
        alike = layer is not None and replace(name, lower=wanted[0]).key == target
        if layer and alike and not any(_sums(equation.right, layer[1]) for equation in system.equations):
            return _at(system, layer[1], wanted[1], int(wanted[2] or 0) - int(layer[2] or 0))
    return system


def _at(system: System, letter: str, wanted: str, by: int) -> System:
    def move(part: Any) -> Any:
        match = _LAYER.fullmatch(part.lower) if isinstance(part, Name) else None
        if match is None or match[1] != letter:
            return part
        layer = int(match[2] or 0) + by
        return replace(part, lower=wanted + (f"{layer:+d}" if layer else ""))

    return changed(system, move)


def _sums(node: Any, letter: str) -> bool:
    own = isinstance(node, Total) and any(symbol.key == letter for symbol in node.symbols)
    return own or any(_sums(child, letter) for child in children(node))
