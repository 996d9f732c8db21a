"""Indices that stand below a name, `W_{ij} x_j`, and indices in brackets are one thing: which labels are indices.

A label of a known tensor is its indices where the tensor has as many: `M_{s,j}` is `M[s,j]` where M[S,J] is given, and
`h_{t-1}[J]` is `h[t-1,J]`. A label of a tensor of the answer's own is its indices where each of them runs free on the
right side: `alpha_{ts} = softmax_s[h[t-1,J] M[s,J]]` defines `alpha[t,s]`, and `L_l[t,j] = …` stays the layer l.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace

from autograder.errors import Unreadable
from autograder.maths.tensor.shifting import changed
from autograder.maths.tensor.symbols import of_index
from autograder.maths.tensor.tensor_grammar import Grammar
from autograder.maths.tensor.tensor_tree import (
    Concat,
    Equation,
    Expr,
    Index,
    Indicator,
    Name,
    ScopeNote,
    System,
    Tensor,
    Total,
    children,
    kept,
)

BELOW = "below"  # the code of the note that says how a label is read
_LETTERS = re.compile(r"[A-Za-z](?:_?\d+|_[A-Za-z])?'*(?:[+-]\d+)?")  # one index of several that stand side by side
_LETTER = re.compile(r"([a-z]'*)(?:[+-]\d+)?")
_COMMA = re.compile(r",(?![^{]*\})")  # outside braces

Reading = tuple[Name, tuple[Index, ...]]


def bracketed(system: System, known: Mapping[str, int]) -> System:
    """The system with labels that are indices in brackets; `known` are tensors with their numbers of indices."""
    return _Labels(known, system).read()


class _Labels:
    """The tensors whose labels are indices, found from the right sides that use known ones, until there are no more."""

    def __init__(self, known: Mapping[str, int], system: System) -> None:
        self.fixed = set(known)
        self.known = dict(known)
        self.raised: set[str] = set()
        self.system = system
        for equation in system.equations:
            self.known.setdefault(equation.left.name.key, len(equation.left.indices))

    def read(self) -> System:
        """The system as it is read, with a note on each tensor that has indices below it."""
        system, notes = self.system, dict[str, ScopeNote]()
        for _ in range(len(self.system.equations) + 2):
            before = len(notes)
            system = replace(system, equations=tuple(self._equation(each, notes) for each in system.equations))
            if len(notes) == before:
                break
        return replace(system, warnings=(*system.warnings, *notes.values())) if notes else system

    def _equation(self, equation: Equation, notes: dict[str, ScopeNote]) -> Equation:
        links, left = equation.links, equation.left
        if not all(_labelled(link) <= self.known.keys() for link in links):
            links = changed(links, lambda node: self._tensor(node, notes) if isinstance(node, Tensor) else node)
        readings = list(_readings(left, upper=True))
        runs = frozenset().union(*map(_free, links)) if readings else frozenset()
        for name, indices in readings:
            symbols = [symbol for index in indices for symbol in of_index(index)]
            own = left.name.key not in self.fixed and name.key not in self.fixed
            given = self.known.get(name.key) == len(indices) + len(left.indices) and name.upper == left.name.upper
            if symbols and (given or (own and all(symbol.key in runs for symbol in symbols))):
                self.known.pop(left.name.key, None)
                self.known[name.key] = len(indices) + len(left.indices)
                if name.upper != left.name.upper:
                    self.raised.add(name.key)
                left = _said(left, (name, indices), notes)
                break
        if left is equation.left and links is equation.links:
            return equation  # which keeps what was found of it
        return Equation(left=left, links=links)

    def _tensor(self, node: Tensor, notes: dict[str, ScopeNote]) -> Tensor:
        if node.name.key in self.known or isinstance(node, Indicator):
            return node
        fitting = [
            (name, indices)
            for name, indices in _readings(node, upper=node.name.upper != "")
            if self.known.get(name.key) == len(indices) + len(node.indices)
            and (name.upper == node.name.upper or name.key in self.raised)
        ]
        return _said(node, fitting[0], notes) if fitting else node


def _said(node: Tensor, reading: Reading, notes: dict[str, ScopeNote]) -> Tensor:
    name, indices = reading
    notes.setdefault(name.key, ScopeNote(code=BELOW, message=_message(node, reading), column=node.column))
    return replace(node, name=name, indices=(*indices, *node.indices))


def _message(node: Tensor, reading: Reading) -> str:
    name, indices = reading
    listed = ",".join([*map(_text, indices), *(["…"] if node.indices else [])])
    return f"indices below {name.key} are read as if in brackets: {node.name.key} is {name.key}[{listed}]"


def _text(index: Index) -> str:
    from autograder.maths.tensor.rendering import Text

    return Text().index(index)


def _readings(node: Tensor, *, upper: bool) -> Iterator[Reading]:
    """Every name and list of indices that a name with a label may say; with `upper`, also those of `alpha^k_{t,s}`."""
    name = node.name
    for first, below in _ends(name.lower):
        for indices in _split(below):
            yield replace(name, lower=first), indices
            if upper and name.upper:
                for above in _split(name.upper):
                    yield replace(name, lower=first, upper=""), (*above, *indices)
    if upper and name.upper and not name.lower:
        for above in _split(name.upper):
            yield replace(name, upper=""), above


def _ends(label: str) -> Iterator[tuple[str, str]]:
    """Each way to keep the label's first parts as a label: `l+1,t,j` is layer l+1 at t, j."""
    parts = _COMMA.split(label) if label else []
    for place in range(len(parts)):
        yield ",".join(parts[:place]), ",".join(parts[place:])


def _split(label: str) -> Iterator[tuple[Index, ...]]:
    """The indices that a label says: apart by commas, or letters side by side."""
    letters = _LETTERS.findall(label.replace(",", ""))
    for texts in (_COMMA.split(label), letters if "".join(letters) == label.replace(",", "") else []):
        try:
            indices = tuple(map(_index, texts))
        except Unreadable:
            continue
        if indices:
            yield indices


def _index(text: str) -> Index:
    grammar = Grammar(text)
    index = grammar.index()
    if grammar.token.kind != "end":
        raise grammar.failure("an index ends here")
    return index


@kept
def _labelled(node: Expr) -> frozenset[str]:
    """The names with a label that stand in a node."""
    own = {node.name.key} if isinstance(node, Tensor) and (node.name.lower or node.name.upper) else ()
    return frozenset(own).union(*map(_labelled, children(node)))


@kept
def _free(node: Expr) -> frozenset[str]:
    """The symbols that stand in index lists of a node and that no sum in it binds."""
    if isinstance(node, Tensor):
        symbols = [symbol for index in node.indices for symbol in of_index(index)]
        labels = [part for symbol in symbols for part in symbol.label.split(",")]
        within = {match[1] for match in map(_LETTER.fullmatch, labels) if match}  # the t of w_t
        return frozenset({symbol.key for symbol in symbols} | within | ({node.name.key} if not node.indices else set()))
    found = frozenset().union(*map(_free, children(node)))
    if isinstance(node, (Total, Concat)):
        found -= {symbol.key for symbol in node.symbols}
    return found
