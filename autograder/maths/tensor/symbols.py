"""Which index symbols occur in a tree, and which capitals wait there to be summed."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from autograder.maths.tensor.tensor_tree import (
    Concat,
    Expr,
    Index,
    Lookup,
    Opaque,
    Product,
    Softmax,
    Symbol,
    System,
    Tensor,
    Total,
    children,
    kept,
)


def of_index(index: Index) -> Iterator[Symbol]:
    """The symbols of an index, those inside a lookup too."""
    for term in index.terms:
        if isinstance(term.atom, Symbol):
            yield term.atom
        elif isinstance(term.atom, Lookup):
            for inside in term.atom.indices:
                yield from of_index(inside)


def occurs(symbol: Symbol, node: Expr) -> bool:
    """Whether the symbol stands in an index or a layer label of the node and is not bound anew there."""
    if isinstance(node, Tensor):
        labels = {node.name.lower, *node.name.lower.replace("+", " ").replace("-", " ").split()}
        return symbol.key in {node.name.key, *labels} or any(symbol in of_index(index) for index in node.indices)
    if isinstance(node, Total) and symbol in node.symbols:
        return any(symbol in of_index(bound) for bound in (node.lower, node.upper) if bound is not None)
    if isinstance(node, Total) and any(symbol in of_index(b) for b in (node.lower, node.upper) if b is not None):
        return True
    return any(occurs(symbol, child) for child in children(node))


def capitals(node: Expr, bound: Collection[str]) -> list[Symbol]:
    """The capitals that are plain indices in the node and not bound, each once, in order.

    Those within the arguments of a function that is only named stay in there: they are whole axes.
    """
    return [symbol for key, symbol in _capitals(node).items() if key not in bound]


@kept
def _capitals(node: Expr) -> dict[str, Symbol]:
    if isinstance(node, Tensor):
        return {
            symbol.key: symbol
            for index in node.indices
            for symbol in of_index(index)
            if symbol.capital and (index.symbol is not None or len(index.terms) == 1)
        }
    if isinstance(node, Opaque):
        return {}
    found = {s.key: s for s in node.symbols if s.capital} if isinstance(node, Softmax) else {}
    for child in children(node):
        found = {**found, **{key: symbol for key, symbol in _capitals(child).items() if key not in found}}
    bound = {symbol.key for symbol in node.symbols} if isinstance(node, (Total, Concat)) else ()
    return {key: symbol for key, symbol in found.items() if key not in bound}


def opened(node: Expr, bound: Collection[str]) -> set[str]:
    """The capitals of the node that no product within it sums: an occurrence of theirs is still alone."""
    return {key for key in _opened(node) if key not in bound}


@kept
def _opened(node: Expr) -> frozenset[str]:
    if isinstance(node, (Tensor, Opaque)):
        return frozenset(_capitals(node))
    if isinstance(node, (Total, Concat)):
        return _opened(node.body) - {symbol.key for symbol in node.symbols}
    if isinstance(node, Softmax):
        return _opened(node.body) | {s.key for s in node.symbols if s.capital}
    if isinstance(node, Product):
        inside, alone = _tally(node)
        return frozenset(key for key in alone if inside.count(key) == 1)
    return frozenset[str]().union(*(_opened(child) for child in children(node)))


def summed(node: Product, bound: Collection[str]) -> set[str]:
    """The capitals that the product sums: in two factors or more, and alone in at least one of them.

    In `(a[I] b[I]) (c[I] d[I])` and `exp(a[I] b[I]) / exp(c[I] d[I])` each factor has a sum of its own;
    `(a[I] b[I]) c[I]` is one sum over all three.
    """
    inside, alone = _tally(node)
    return {key for key in alone if inside.count(key) > 1 and key not in bound}


def divisors(node: Product, bound: Collection[str]) -> dict[int, set[str]]:
    """By the place of a divisor, the capitals that it sums by itself, while the product has a pair of its own.

    `a[I] b[I] / sum_v c[v,I] d[v,I]` divides one sum by another one, as the same with a fraction bar does.
    """
    lonely = [key for _, factor in node.factors for key in opened(factor, bound)]
    return {
        place: {s.key for s in capitals(factor, bound) if lonely.count(s.key) > 1} - _opened(factor)
        for place, (operator, factor) in enumerate(node.factors)
        if operator == "/"
    }


@kept
def _tally(node: Product) -> tuple[list[str], frozenset[str]]:
    """The capitals of each factor, one after the other, and those that some factor leaves alone."""
    inside = [key for _, factor in node.factors for key in _capitals(factor)]
    return inside, frozenset[str]().union(*(_opened(factor) for _, factor in node.factors))


def axes(system: System) -> frozenset[str]:
    """The axes that any index of the system suggests."""
    nodes = (node for equation in system.equations for node in (equation.left, *equation.links))
    return frozenset[str]().union(*map(_axes, nodes))


def bare(system: System) -> frozenset[str]:
    """The axes of which a name without indices may be the size, or a product of sizes: of `J_1`, and of `X` and `Y`."""
    return frozenset[str]().union(*(_bare(link) for equation in system.equations for link in equation.links))


@kept
def _bare(node: Expr) -> frozenset[str]:
    found = frozenset[str]().union(*map(_bare, children(node)))
    if isinstance(node, Tensor) and not node.indices and node.name.base.isupper():
        return found | {Symbol(letter=node.name.base, label=node.name.lower).axis, *node.name.base}
    return found


@kept
def _axes(node: Expr) -> frozenset[str]:
    found: set[str] = set()
    if isinstance(node, Tensor):
        found.update(symbol.axis for index in node.indices for symbol in of_index(index))
    if isinstance(node, (Total, Softmax, Concat)):
        found.update(symbol.axis for symbol in node.symbols)
    if isinstance(node, Total):
        found.update(s.axis for bound in (node.lower, node.upper) if bound is not None for s in of_index(bound))
    return frozenset(found).union(*(_axes(child) for child in children(node)))
