"""What a typed bound is once it has been read: a tree of seven kinds of node, and `Growth` around it.

Subtraction and unary minus are signs of the terms of a `Sum`; `log` has two arguments (argument, base), `ln` one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True, kw_only=True)
class Number:
    """A literal; decimals are exact."""

    value: Fraction


@dataclass(frozen=True, kw_only=True)
class Name:
    """A declared variable."""

    name: str


@dataclass(frozen=True, kw_only=True)
class Sum:
    """Terms with their signs (+1 or -1), in the order typed."""

    terms: tuple[tuple[int, Node], ...]


@dataclass(frozen=True, kw_only=True)
class Product:
    """Two or more factors."""

    factors: tuple[Node, ...]


@dataclass(frozen=True, kw_only=True)
class Quotient:
    """One division."""

    top: Node
    bottom: Node


@dataclass(frozen=True, kw_only=True)
class Power:
    """A base raised to an exponent."""

    base: Node
    exponent: Node


@dataclass(frozen=True, kw_only=True)
class Call:
    """One of `FUNCTIONS` applied to its arguments."""

    function: str
    arguments: tuple[Node, ...]


Node = Number | Name | Sum | Product | Quotient | Power | Call

# name: (fewest arguments, most arguments)
FUNCTIONS = {
    "ln": (1, 1),
    "log": (2, 2),
    "sqrt": (1, 1),
    "exp": (1, 1),
    "max": (1, 8),
    "min": (1, 8),
    "ceil": (1, 1),
    "floor": (1, 1),
    "factorial": (1, 1),
}


@dataclass(frozen=True, kw_only=True)
class Growth:
    """A bound as a student means it: the tree inside O(...) or Theta(...), over the declared variables."""

    tree: Node
    variables: tuple[str, ...]


def children(node: Node) -> tuple[Node, ...]:
    """The nodes directly below."""
    match node:
        case Sum():
            return tuple(term for _, term in node.terms)
        case Product():
            return node.factors
        case Quotient():
            return (node.top, node.bottom)
        case Power():
            return (node.base, node.exponent)
        case Call():
            return node.arguments
        case _:
            return ()


def nodes(tree: Node) -> Iterator[Node]:
    """Every node, parents first."""
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        yield node
        waiting.extend(children(node))


def names(tree: Node) -> Iterator[str]:
    """Every variable that occurs, with repetitions."""
    return (node.name for node in nodes(tree) if isinstance(node, Name))


def substituted(node: Node, meanings: Mapping[str, Node]) -> Node:
    """The tree with other trees in the place of some names."""

    def inside(part: Node) -> Node:
        return substituted(part, meanings)

    match node:
        case Name():
            return meanings.get(node.name, node)
        case Sum():
            return Sum(terms=tuple((sign, inside(term)) for sign, term in node.terms))
        case Product():
            return Product(factors=tuple(map(inside, node.factors)))
        case Quotient():
            return Quotient(top=inside(node.top), bottom=inside(node.bottom))
        case Power():
            return Power(base=inside(node.base), exponent=inside(node.exponent))
        case Call():
            return Call(function=node.function, arguments=tuple(map(inside, node.arguments)))
        case _:
            return node
