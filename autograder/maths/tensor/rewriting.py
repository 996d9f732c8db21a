"""Walking and changing trees: every single edit of a kind, and the renaming of tensors."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TypeVar

from autograder.maths.tensor.tensor_tree import (
    Call,
    Concat,
    Equation,
    Expr,
    Index,
    IndexTerm,
    Opaque,
    Pieces,
    Power,
    Product,
    Softmax,
    Sum,
    Symbol,
    System,
    Tensor,
    Total,
)

T = TypeVar("T")
Rebuild = Callable[[Expr], Expr]


def positions(node: Expr) -> Iterator[tuple[Expr, Rebuild]]:
    """Every node below and including this one, with a function that puts another in its place."""
    yield node, lambda new: new
    for child, put in _slots(node):
        for inside, rebuild in positions(child):
            yield inside, lambda new, put=put, rebuild=rebuild: put(rebuild(new))  # type: ignore[misc]


def _slots(node: Expr) -> Iterator[tuple[Expr, Rebuild]]:
    match node:
        case Sum(terms=terms):
            for place, (sign, body) in enumerate(terms):
                yield body, lambda new, p=place, s=sign: replace(node, terms=_put(terms, p, (s, new)))  # type: ignore[misc]
        case Product(factors=factors):
            for place, (operator, body) in enumerate(factors):
                yield body, lambda new, p=place, o=operator: replace(node, factors=_put(factors, p, (o, new)))  # type: ignore[misc]
        case Power(base=base):
            yield base, lambda new: replace(node, base=new)
        case Total(body=body) | Softmax(body=body) | Concat(body=body):
            yield body, lambda new: replace(node, body=new)
        case Pieces(parts=parts):
            for place, part in enumerate(parts):
                if part is not None:
                    yield part, lambda new, p=place: replace(node, parts=_put(parts, p, new))  # type: ignore[misc]
        case Call(arguments=arguments) | Opaque(arguments=arguments):
            for place, argument in enumerate(arguments):
                yield argument, lambda new, p=place: replace(node, arguments=_put(arguments, p, new))  # type: ignore[misc]


def _put(items: tuple[T, ...], place: int, new: T) -> tuple[T, ...]:
    return (*items[:place], new, *items[place + 1 :])


def put_index(tensor: Tensor, place: int, symbol: Symbol) -> Tensor:
    """The tensor with a plain symbol at one position."""
    index = Index(terms=(IndexTerm(coefficient=1, atom=symbol),))
    return replace(tensor, indices=_put(tensor.indices, place, index))


def map_tensors(system: System, change: Callable[[Tensor], Expr]) -> System:
    """The system with every tensor of its right sides changed."""
    equations = tuple(
        Equation(left=equation.left, links=tuple(_map(link, change) for link in equation.links))
        for equation in system.equations
    )
    return replace(system, equations=equations)


def _map(node: Expr, change: Callable[[Tensor], Expr]) -> Expr:
    if isinstance(node, Tensor):
        return change(node)
    for place, (child, _) in enumerate(list(_slots(node))):
        _, put = list(_slots(node))[place]
        node = put(_map(child, change))
    return node
