"""The syntax tree of an expression: frozen nodes that compare and hash by structure.

Chains are n-ary (`a + b + c` is one `Add`), a difference is an `Add` with a `Neg`, and `Neg(x^2)` is what
`-x^2` means. Node fields are positional, against the house rule of keyword-only data: `Div(one, two)` reads
better than its keywords.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields
from fractions import Fraction
from functools import lru_cache
from operator import attrgetter
from typing import Any, TypeVar

Kind = TypeVar("Kind", bound=type)


class _Kept:
    """What a node keeps of itself once it was asked for: trees are compared and put in order again and again."""

    __slots__ = ("_hash", "_text")
    _hash: int
    _text: str


def _found_once(kind: Kind) -> Kind:
    """A node's hash and text are found once."""
    names = [field.name for field in fields(kind)]
    values = attrgetter(*names)

    def __hash__(node: Any) -> int:  # noqa: N807 - what it becomes
        try:
            return node._hash  # type: ignore[no-any-return]
        except AttributeError:
            found = hash((kind.__name__, values(node)))
            object.__setattr__(node, "_hash", found)
            return found

    def __repr__(node: Any) -> str:  # noqa: N807
        try:
            return node._text  # type: ignore[no-any-return]
        except AttributeError:
            found = f"{kind.__name__}({', '.join([f'{name}={getattr(node, name)!r}' for name in names])})"
            object.__setattr__(node, "_text", found)
            return found

    kind.__hash__, kind.__repr__ = __hash__, __repr__  # type: ignore[assignment, method-assign]
    return kind


@_found_once
@dataclass(frozen=True, slots=True)
class Number(_Kept):
    """A non-negative decimal, kept exact."""

    value: Fraction


@_found_once
@dataclass(frozen=True, slots=True)
class Constant(_Kept):
    """`e`, `pi`, `inf`, or `i` where the question has an imaginary unit."""

    name: str


@_found_once
@dataclass(frozen=True, slots=True)
class Variable(_Kept):
    """A declared variable, or the bound index of a sum."""

    name: str


@_found_once
@dataclass(frozen=True, slots=True)
class Add(_Kept):
    """A sum of two or more terms."""

    terms: tuple[Node, ...]


@_found_once
@dataclass(frozen=True, slots=True)
class Mul(_Kept):
    """A product of two or more factors."""

    factors: tuple[Node, ...]


@_found_once
@dataclass(frozen=True, slots=True)
class Neg(_Kept):
    """Minus a term."""

    operand: Node


@_found_once
@dataclass(frozen=True, slots=True)
class Div(_Kept):
    """A quotient."""

    numerator: Node
    denominator: Node


@_found_once
@dataclass(frozen=True, slots=True)
class Pow(_Kept):
    """A power; `0^0` is 1, as power series need it."""

    base: Node
    exponent: Node


@_found_once
@dataclass(frozen=True, slots=True)
class Call(_Kept):
    """A function of the language applied to its arguments."""

    name: str
    arguments: tuple[Node, ...]


@_found_once
@dataclass(frozen=True, slots=True)
class Sum(_Kept):
    """`sum(body, index, lower, upper)`, both bounds included; `upper` may be `inf`."""

    body: Node
    index: str
    lower: Node
    upper: Node


@_found_once
@dataclass(frozen=True, slots=True)
class Prod(Sum):
    """`prod(body, index, lower, upper)`, both bounds included; a sum in all but its operation."""


@_found_once
@dataclass(frozen=True, slots=True)
class Compare(_Kept):
    """`left sign right`, where the sign is <, <=, = or !=."""

    sign: str
    left: Node
    right: Node


@_found_once
@dataclass(frozen=True, slots=True)
class Cases(_Kept):
    """The first value whose comparisons all hold; without comparisons it is what else holds."""

    values: tuple[Node, ...]
    conditions: tuple[tuple[Compare, ...], ...]


@_found_once
@dataclass(frozen=True, slots=True)
class Given(_Kept):
    """An abbreviation of the question, such as `P(i)`, with what it stands for."""

    name: str
    arguments: tuple[Node, ...]
    body: Node


Node = Number | Constant | Variable | Add | Mul | Neg | Div | Pow | Call | Sum | Cases | Compare | Given


def children(node: Node) -> tuple[Node, ...]:
    """The direct operands; of a `Given` what it stands for, of a `Sum` body and bounds."""
    match node:
        case Add(terms):
            return terms
        case Mul(factors):
            return factors
        case Neg(operand):
            return (operand,)
        case Div(numerator, denominator):
            return (numerator, denominator)
        case Pow(base, exponent):
            return (base, exponent)
        case Call(_, arguments):
            return arguments
        case Sum(body, _, lower, upper):
            return (body, lower, upper)
        case Given(_, _, body):
            return (body,)
        case Compare(_, left, right):
            return (left, right)
        case Cases(values, conditions):
            return (*values, *(comparison for condition in conditions for comparison in condition))
        case _:
            return ()


def walk(node: Node) -> Iterator[Node]:
    """Every node below and including `node`, parents first."""
    pending = [node]
    while pending:
        node = pending.pop()
        yield node
        pending.extend(children(node))


@lru_cache(maxsize=4096)
def free_variables(node: Node) -> frozenset[str]:
    """Names that `node` depends on; the index of a sum is bound in its body."""
    if isinstance(node, Variable):
        return frozenset((node.name,))
    if isinstance(node, Sum):
        bounds = free_variables(node.lower) | free_variables(node.upper)
        return bounds | (free_variables(node.body) - {node.index})
    return frozenset[str]().union(*map(free_variables, children(node)))


def mapped(node: Node, change: Callable[[Node], Node]) -> Node:
    """`node` with `change` done to each of its operands; an abbreviation keeps its arguments in step."""
    match node:
        case Add(terms):
            return Add(tuple(map(change, terms)))
        case Mul(factors):
            return Mul(tuple(map(change, factors)))
        case Neg(operand):
            return Neg(change(operand))
        case Div(numerator, denominator):
            return Div(change(numerator), change(denominator))
        case Pow(base, exponent):
            return Pow(change(base), change(exponent))
        case Call(name, arguments):
            return Call(name, tuple(map(change, arguments)))
        case Given(name, arguments, body):
            return Given(name, tuple(map(change, arguments)), change(body))
        case Sum(body, index, lower, upper):
            return type(node)(change(body), index, change(lower), change(upper))
        case Cases(values, conditions):
            inside = (tuple(Compare(c.sign, change(c.left), change(c.right)) for c in one) for one in conditions)
            return Cases(tuple(map(change, values)), tuple(inside))
        case _:
            return node


def renamed(node: Node, functions: dict[str, str]) -> Node:
    """`node` with other functions in the place of some."""
    inner = mapped(node, lambda operand: renamed(operand, functions))
    return Call(functions.get(inner.name, inner.name), inner.arguments) if isinstance(inner, Call) else inner


def substitute(node: Node, values: dict[str, Node]) -> Node:
    """`node` with free variables replaced; an index that would capture one is renamed."""
    match node:
        case Variable(name):
            return values.get(name, node)
        case Sum():
            return _substitute_sum(node, values)
        case _:
            return mapped(node, lambda operand: substitute(operand, values))


def _substitute_sum(node: Sum, values: dict[str, Node]) -> Node:
    inner = {name: value for name, value in values.items() if name != node.index}
    index, body = node.index, node.body
    arriving = frozenset().union(*map(free_variables, inner.values())) if inner else frozenset()
    if index in arriving:
        while index in arriving or index in free_variables(body):
            index += "_"
        body = substitute(body, {node.index: Variable(index)})
    bounds = substitute(node.lower, values), substitute(node.upper, values)
    return type(node)(substitute(body, inner), index, *bounds)


@dataclass(frozen=True, kw_only=True)
class Expression:
    """A text that was read: its tree, and the domain of each declared variable."""

    text: str
    node: Node
    domains: tuple[tuple[str, str], ...] = ()
