"""Which index symbols occur in a tree, and which capitals wait there to be summed."""

from __future__ import annotations

from collections.abc import Iterator

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


def capitals(node: Expr, bound: frozenset[str]) -> list[Symbol]:
    """The capitals that are plain indices in the node and not bound, each once, in order.

    Those within the arguments of a function that is only named stay in there: they are whole axes.
    """
    found: dict[str, Symbol] = {}
    _capitals(node, bound, found)
    return list(found.values())


def _capitals(node: Expr, bound: frozenset[str], found: dict[str, Symbol]) -> None:
    if isinstance(node, Tensor):
        for index in node.indices:
            for symbol in of_index(index):
                alone = index.symbol is not None or len(index.terms) == 1
                if symbol.capital and symbol.key not in bound and alone:
                    found.setdefault(symbol.key, symbol)
    elif isinstance(node, Softmax):
        for symbol in node.symbols:
            if symbol.capital and symbol.key not in bound:
                found.setdefault(symbol.key, symbol)
        _capitals(node.body, bound, found)
    elif isinstance(node, (Total, Concat)):
        _capitals(node.body, bound | {symbol.key for symbol in node.symbols}, found)
    elif not isinstance(node, Opaque):
        for child in children(node):
            _capitals(child, bound, found)


def opened(node: Expr, bound: frozenset[str]) -> set[str]:
    """The capitals of the node that no product within it sums: an occurrence of theirs is still alone."""
    if isinstance(node, (Tensor, Opaque)):
        return {symbol.key for symbol in capitals(node, bound)}
    if isinstance(node, (Total, Concat)):
        return opened(node.body, bound | {symbol.key for symbol in node.symbols})
    if isinstance(node, Softmax):
        return opened(node.body, bound) | {s.key for s in node.symbols if s.capital and s.key not in bound}
    if isinstance(node, Product):
        inside, alone = _tally(node, bound)
        return {key for key in alone if inside.count(key) == 1}
    return set[str]().union(*(opened(child, bound) for child in children(node)))


def summed(node: Product, bound: frozenset[str]) -> set[str]:
    """The capitals that the product sums: in two factors or more, and alone in at least one of them.

    In `(a[I] b[I]) (c[I] d[I])` and `exp(a[I] b[I]) / exp(c[I] d[I])` each factor has a sum of its own;
    `(a[I] b[I]) c[I]` is one sum over all three.
    """
    inside, alone = _tally(node, bound)
    return {key for key in alone if inside.count(key) > 1}


def divisors(node: Product, bound: frozenset[str]) -> dict[int, set[str]]:
    """By the place of a divisor, the capitals that it sums by itself, while the product has a pair of its own.

    `a[I] b[I] / sum_v c[v,I] d[v,I]` divides one sum by another one, as the same with a fraction bar does.
    """
    lonely = [key for _, factor in node.factors for key in opened(factor, bound)]
    return {
        place: {s.key for s in capitals(factor, bound) if lonely.count(s.key) > 1} - opened(factor, bound)
        for place, (operator, factor) in enumerate(node.factors)
        if operator == "/"
    }


def _tally(node: Product, bound: frozenset[str]) -> tuple[list[str], set[str]]:
    """The capitals of each factor, one after the other, and those that some factor leaves alone."""
    inside: list[str] = []
    alone: set[str] = set()
    for _, factor in node.factors:
        inside += [symbol.key for symbol in capitals(factor, bound)]
        alone |= opened(factor, bound)
    return inside, alone


def axes(system: System) -> frozenset[str]:
    """The axes that any index of the system suggests."""
    found: set[str] = set()
    for equation in system.equations:
        for node in (equation.left, *equation.links):
            _axes(node, found)
    return frozenset(found)


def _axes(node: Expr, found: set[str]) -> None:
    if isinstance(node, Tensor):
        found.update(symbol.axis for index in node.indices for symbol in of_index(index))
    if isinstance(node, (Total, Softmax, Concat)):
        found.update(symbol.axis for symbol in node.symbols)
    if isinstance(node, Total):
        found.update(s.axis for bound in (node.lower, node.upper) if bound is not None for s in of_index(bound))
    for child in children(node):
        _axes(child, found)
