"""The form of a line as a question may ask for it.

A form is told in words: a name, function, abbreviation or `sum` that stands in the line as it was written; `ln in sum`
for a logarithm under a sum, `k in sin` for a sine whose argument depends on k, `t k in sin` for one that depends on
both, `index in ln` for a logarithm that depends on the number that is summed over.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from autograder.maths.expression.syntax import Call, Cases, Given, Node, Sum, children, free_variables
from autograder.maths.expression.written_form import contains

_ALL_OF = {"ln": ("ln", "log", "lg", "log2", "log10", "asinh", "softplus")}  # a logarithm to any base, by any name


def has_form(node: Node, has: Iterable[str] = (), lacks: Iterable[str] = (), apart: Iterable[str] = ()) -> bool:
    """Whether all of `has` stand in a line, none of `lacks`, and no function has all of `apart` in its argument."""
    together = frozenset(apart)
    functions = [part for part in _written(node) if isinstance(part, Call | Sum | Cases)] if together else []
    return (
        all(stands(node, what) for what in has)
        and not any(stands(node, what) for what in lacks)
        and not any(together <= free_variables(part) for part in functions)
    )


def stands(node: Node, what: str) -> bool:
    """Whether a word of the question's form stands in a line as it was written."""
    inner, _, outer = what.partition(" in ")
    if not outer:
        return contains(node, what)
    inside, around = _ALL_OF.get(inner, (inner,)), _ALL_OF.get(outer, (outer,))
    if outer == "sum":
        bodies = [part.body for part in _written(node) if isinstance(part, Sum)]
        return any(contains(body, name) for body in bodies for name in inside)
    calls = [(call, bound) for call, bound in _calls(node) if call.name in around]
    if inner == "index":
        return any(bound & free_variables(call) for call, bound in calls)
    return any(all(_within(call, word) for word in inner.split()) for call, _ in calls)


def _within(call: Call, word: str) -> bool:
    return word in free_variables(call) or any(contains(argument, word) for argument in call.arguments)


def _written(node: Node) -> Iterator[Node]:
    yield node
    for child in node.arguments if isinstance(node, Given) else children(node):
        yield from _written(child)


def _calls(node: Node, bound: frozenset[str] = frozenset()) -> Iterator[tuple[Call, frozenset[str]]]:
    """The functions as written, each with the numbers that the sums around it go over."""
    if isinstance(node, Call):
        yield node, bound
    if isinstance(node, Sum):
        yield from _calls(node.body, bound | {node.index})
        return
    for child in node.arguments if isinstance(node, Given) else children(node):
        yield from _calls(child, bound)
