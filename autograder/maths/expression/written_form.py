"""Rules on how an answer is written, which equality cannot see: the question equals its answer."""

from __future__ import annotations

from collections.abc import Iterator

from autograder.maths.decision import Decision, different
from autograder.maths.expression.options import Options
from autograder.maths.expression.syntax import (
    Add,
    Call,
    Cases,
    Compare,
    Constant,
    Div,
    Given,
    Mul,
    Neg,
    Node,
    Number,
    Pow,
    Prod,
    Sum,
    Variable,
    children,
    free_variables,
    walk,
)

_OPERATIONS: dict[type, str] = {
    Add: "+",
    Mul: "*",
    Div: "/",
    Pow: "^",
    Neg: "-",
    Number: "number",
    Sum: "sum",
    Prod: "prod",
    Cases: "cases",
    Compare: "comparison",
}


def contains(node: Node, what: str) -> bool:
    """Whether `node`, as it was written, uses a function, abbreviation, name, operation sign or `sum`."""
    return what in set(_parts(node))


def _parts(node: Node) -> Iterator[str]:
    for part in _written(node):
        match part:
            case Call(name) | Constant(name) | Variable(name):
                yield name
            case Given(name):
                yield name
                yield f"{name}({','.join('·' for _ in part.arguments)})"
            case _:
                yield _OPERATIONS[type(part)]


def _written(node: Node) -> Iterator[Node]:
    """Every node of the text itself: the arguments of an abbreviation, not what it stands for."""
    if isinstance(node, Given):
        yield node
        for argument in node.arguments:
            yield from _written(argument)
        return
    yield node
    for child in children(node):
        yield from _written(child)


def broken_rule(options: Options, node: Node) -> Decision | None:
    """The first rule on the form that `node` breaks."""
    written = set(_parts(node))
    hidden = {part.name for part in walk(node) if isinstance(part, Call)}
    hidden |= {_OPERATIONS[type(part)] for part in walk(node) if isinstance(part, Sum)}
    # The logarithm of a product is a sum: where the one is forbidden, so is the other.
    forbidden = [*options.forbid, *(["prod"] if "sum" in options.forbid else [])]
    for what in forbidden:
        if what in written | hidden:
            return different("form", f"write the answer without {what}", form=what)
    for what in options.require:
        if what not in written:
            return different("form", f"the answer must contain {what}", form=what)
    if options.allow is not None and (extra := sorted(free_variables(node).difference(options.allow))):
        return different("symbol", f"the answer must not depend on {extra[0]}", symbol=extra[0])
    return None
