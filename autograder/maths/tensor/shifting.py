"""`h[t+1] = f(h[t])` says what `h[t] = f(h[t-1])` does: a recurrence is brought to the form with a plain left side."""

from __future__ import annotations

from dataclasses import fields, is_dataclass, replace
from typing import Any

from autograder.maths.tensor.core_tree import CoreIndex, Meaning, Variable, reads


def unshifted(meaning: Meaning) -> Meaning:
    """The same recurrence with plain variables on its left; any other meaning as it is."""
    if all(read.name != meaning.name for read in reads(meaning.body)):
        return meaning
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
    if isinstance(node, tuple):
        return tuple(_moved(item, shifts) for item in node)
    if not is_dataclass(node) or isinstance(node, type):
        return node
    moved = replace(node, **{field.name: _moved(getattr(node, field.name), shifts) for field in fields(node)})
    if isinstance(moved, CoreIndex):
        names = [(count, atom.name) for count, atom in moved.terms if isinstance(atom, Variable)]
        total = sum(count * shifts.get(name, 0) for count, name in names)
        return replace(moved, constant=moved.constant - total)
    return moved
