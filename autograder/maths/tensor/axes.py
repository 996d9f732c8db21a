"""Which axis every index variable and every tensor position ranges over.

Positions of one tensor and the variables that stand there are one axis; capitals of one letter are one axis;
a lower-case index whose position says nothing takes the axis of its letter, but weakly. The reference may
identify axes (it is the author's); an answer that makes one of two firm axes (declared, or written as
capitals) has the fault `axis`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from autograder.maths.tensor import messages
from autograder.maths.tensor.concatenation import DOTTED
from autograder.maths.tensor.core_tree import (
    AxisSize,
    Core,
    CoreIndex,
    Fault,
    Indicator,
    Integer,
    Join,
    Meaning,
    Multiply,
    Read,
    SizeIndex,
    inner,
    reads,
)
from autograder.maths.tensor.declarations import Declarations
from autograder.maths.tensor.tensor_tree import kept

Node = tuple[object, ...]


@dataclass(frozen=True, kw_only=True)
class Side:
    """One system's meanings; `own` are the tensors that it defines, whose positions are its own."""

    owner: str
    meanings: tuple[Meaning, ...]
    own: frozenset[str] = frozenset()

    def position(self, name: str, number: int) -> Node:
        """The node of a tensor's position."""
        return ("position", self.owner if name in self.own else "", name, number)

    def variable(self, meaning: Meaning, name: str) -> Node:
        """The node of a variable; context variables belong to all equations."""
        if name.startswith("@"):
            return ("context", name)
        return ("variable", self.owner, id(meaning), name)


@dataclass
class Axes:
    """A union of positions, variables and axis letters."""

    parents: dict[Node, Node] = field(default_factory=dict)
    letters: dict[Node, set[str]] = field(default_factory=dict)
    firm: set[str] = field(default_factory=set)
    joined: list[tuple[Node, tuple[tuple[Node | None, Node], ...], Fault | None]] = field(default_factory=list)
    weights: Counter[Node] = field(default_factory=Counter)
    zero: frozenset[str] = frozenset()

    def copy(self) -> Axes:
        """The same, to be united further."""
        return Axes(
            parents=dict(self.parents),
            letters={root: set(letters) for root, letters in self.letters.items()},
            firm=set(self.firm),
            joined=list(self.joined),
            weights=Counter(self.weights),
            zero=self.zero,
        )

    def root(self, node: Node) -> Node:
        """The representative of a node."""
        while node in self.parents:
            node = self.parents[node]
        return node

    def unite(self, first: Node, second: Node) -> None:
        """Make two nodes one axis."""
        first, second = self.root(first), self.root(second)
        if first == second:
            return
        self.parents[second] = first
        self.letters[first] = self.letters.get(first, set()) | self.letters.pop(second, set())

    def letter(self, letter: str) -> Node:
        """The node of an axis letter."""
        node: Node = ("axis", letter)
        if node not in self.parents and node not in self.letters:
            self.letters[node] = {letter}
        return self.root(node)

    def apart(self, first: Node, second: Node) -> bool:
        """Whether the two are different firm axes."""
        first, second = self.root(first), self.root(second)
        return first != second and all(self.letters.get(root, set()) & self.firm for root in (first, second))

    def named(self, node: Node) -> str:
        """The letter to call an axis by, or nothing."""
        letters = self.letters.get(self.root(node), set())
        return min(letters & self.firm or letters, default="")


def declared(declarations: Declarations) -> Axes:
    """The axes that a question declares."""
    axes = Axes(firm={*declarations.same, *declarations.sizes}, zero=declarations.zero)
    for letter, other in declarations.same.items():
        axes.unite(axes.letter(letter), axes.letter(other))
    for name, shape in declarations.shapes.items():
        axes.firm.update(shape)
        for number, letter in enumerate(shape):
            axes.unite(axes.letter(letter), ("position", "", name, number))
    return axes


def add_reference(axes: Axes, side: Side, *, lower_case: bool = True) -> None:
    """Unite what the reference puts together; lower-case indices take their letter's axis if `lower_case`."""
    for meaning in side.meanings:
        for node, variable, _, _ in _places(side, meaning):
            axes.unite(node, variable)
        _unite_bounds(axes, side, meaning, frozenset())
    for meaning in side.meanings:
        axes.firm |= {symbol.axis for symbol in meaning.symbols.values() if symbol.capital} | sizes(meaning.body)
        for name, symbol in meaning.symbols.items():
            variable = side.variable(meaning, name)
            if symbol.capital or (lower_case and not axes.named(variable)):
                axes.unite(axes.letter(symbol.axis), variable)
    _finish(axes, side)


def add_answer(axes: Axes, side: Side, known: frozenset[str]) -> list[Fault]:
    """Unite what an answer puts together as long as no two axes become one; `known` are axes with a fixed
    meaning.
    """
    faults: list[Fault] = []
    for meaning in side.meanings:
        axes.firm |= sizes(meaning.body)
        for node, variable, number, read in _places(side, meaning):
            if axes.apart(variable, node):
                fault = messages.axis(number + 1, read.name, axes.named(variable), axes.named(node), fatal=True)
                faults.append(_at(fault, meaning, read.column))
            else:
                axes.unite(node, variable)
        _unite_bounds(axes, side, meaning, known)
    for meaning in side.meanings:
        faults.extend(_letters(axes, side, meaning, known))
    _finish(axes, side)
    return faults


@kept
def sizes(node: Core) -> frozenset[str]:
    """The axes whose size is used as a number."""
    found = frozenset({node.axis} if isinstance(node, AxisSize) else ())
    return found.union(*(sizes(child) for child in inner(node)))


def _unite_bounds(axes: Axes, side: Side, meaning: Meaning, known: frozenset[str]) -> None:
    """The s of `sum_{s=1}^{t}` or `sum_{s=1}^{T}` ranges over the axis of its bound, unless the bound is a
    known size (other than that of an axis that counts from zero: `sum_{k=0}^{D-1}`).
    """
    for variable, *ends in _bounds(meaning.body):
        here = side.variable(meaning, variable)
        for end in ends:
            for _, atom in end.terms if end is not None and len(end.terms) == 1 else ():
                if isinstance(atom, Integer) or (isinstance(atom, SizeIndex) and atom.axis in known - axes.zero):
                    continue
                there = axes.letter(atom.axis) if isinstance(atom, SizeIndex) else side.variable(meaning, atom.name)
                if not axes.apart(here, there):
                    axes.unite(here, there)


@kept
def _bounds(node: Core) -> tuple[tuple[str, CoreIndex | None, CoreIndex | None], ...]:
    here = node.bounds if isinstance(node, Multiply) else ()
    if isinstance(node, Indicator) and node.left.variable and node.right.variable:
        here = ((node.left.variable, node.right, None),)
    return (*here, *(bound for child in inner(node) for bound in _bounds(child)))


def _letters(axes: Axes, side: Side, meaning: Meaning, known: frozenset[str]) -> list[Fault]:
    faults = []
    for name, symbol in meaning.symbols.items():
        variable, letter = side.variable(meaning, name), axes.letter(symbol.axis)
        if not axes.named(variable):
            axes.unite(letter, variable)
        elif symbol.primes >= DOTTED and symbol.axis in known and axes.root(variable) != letter:
            faults.append(_at(messages.CAT_DOTS, meaning, 0))
        elif symbol.capital and axes.root(variable) != letter:
            if symbol.axis not in known:
                axes.unite(axes.root(variable), letter)
                continue
            firm = axes.apart(variable, letter)
            for node, other, number, read in _places(side, meaning):
                if other == variable:
                    fault = messages.axis(number + 1, read.name, symbol.axis, axes.named(node), fatal=firm)
                    faults.append(_at(fault, meaning, read.column))
                    break
    return faults


def _at(fault: Fault, meaning: Meaning, column: int) -> Fault:
    return Fault(code=fault.code, message=fault.message, fatal=fault.fatal, equation=meaning.equation, column=column)


def _places(side: Side, meaning: Meaning) -> Iterable[tuple[Node, Node, int, Read]]:
    """Every position where a plain variable stands, that variable, and the reading it belongs to."""
    for read, number, name in _plain(meaning):
        yield side.position(read.name, number), side.variable(meaning, name), number, read


@kept
def _plain(meaning: Meaning) -> tuple[tuple[Read, int, str], ...]:
    """Every reading's indices that are plain variables, with their number."""
    return tuple(
        (read, number, index.variable)
        for read in (Read(meaning.name, meaning.left), *reads(meaning.body), *_integers(meaning.body))
        for number, index in enumerate(read.indices)
        if index.variable is not None
    )


@kept
def _integers(node: Core) -> tuple[Read, ...]:
    """The integer functions inside indices, as readings."""
    here = [read for index in node.indices for read in _of_index(index)] if isinstance(node, Read) else []
    return (*here, *(read for child in inner(node) for read in _integers(child)))


def _of_index(index: CoreIndex) -> Iterable[Read]:
    for _, atom in index.terms:
        if isinstance(atom, Integer):
            yield Read(atom.name, atom.indices)
            for inside in atom.indices:
                yield from _of_index(inside)


def _finish(axes: Axes, side: Side) -> None:
    """Note the concatenations, and how often an equation uses each axis."""
    for meaning in side.meanings:
        counts = Counter(axes.root(side.variable(meaning, name)) for name in meaning.symbols)
        for root, count in counts.items():
            axes.weights[root] = max(axes.weights[root], count)
        if isinstance(meaning.body, Join):
            pieces = tuple(
                (None if head is None else side.variable(meaning, head), side.variable(meaning, axis))
                for head, axis, _ in meaning.body.pieces
            )
            output = side.variable(meaning, meaning.body.output)
            fault = _at(messages.cat_size(axes.named(output)), meaning, 0)
            axes.joined.append((output, pieces, fault))
