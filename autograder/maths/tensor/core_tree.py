"""What an equation means: every sum explicit, every variable bound in one place, capitals resolved.

A variable is a string that is unique within its equation: `t` for a left index, `J#3` for a summed one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import prod

from autograder.maths.tensor.tensor_tree import Symbol, kept


@dataclass(frozen=True)
class Variable:
    """An index variable as part of an index."""

    name: str


@dataclass(frozen=True)
class SizeIndex:
    """The size of an axis as part of an index: the K of `Out[K-1,t,I]`."""

    axis: str


@dataclass(frozen=True)
class Integer:
    """An integer-valued function of indices: `w[b,t]`."""

    name: str
    indices: tuple[CoreIndex, ...]


@dataclass(frozen=True)
class CoreIndex:
    """`constant + sum of coefficient * atom`."""

    terms: tuple[tuple[int, Variable | SizeIndex | Integer], ...]
    constant: int = 0

    @cached_property
    def variable(self) -> str | None:
        """The variable, if the index is one and nothing else."""
        match self.terms:
            case ((1, Variable(name=name)),) if self.constant == 0:
                return name
        return None


@dataclass(frozen=True)
class Constant:
    """An exact number."""

    value: Fraction


@dataclass(frozen=True)
class AxisSize:
    """The number of entries along an axis."""

    axis: str


@dataclass(frozen=True)
class IndexValue:
    """An index used as a number: the i of `softmax_i[-beta i]`."""

    index: CoreIndex


@dataclass(frozen=True)
class Read:
    """An entry of a tensor, defined or given."""

    name: str
    indices: tuple[CoreIndex, ...]
    column: int = 0


@dataclass(frozen=True)
class Indicator:
    """One where the indices compare as the sign says, else zero: the Kronecker delta and masks."""

    sign: str
    left: CoreIndex
    right: CoreIndex


@dataclass(frozen=True)
class Add:
    """Terms with signs."""

    terms: tuple[tuple[int, Core], ...]


@dataclass(frozen=True)
class Multiply:
    """A product, summed over `over`; `bounds` restrict a variable to lower <= variable <= upper."""

    factors: tuple[Core, ...]
    over: tuple[str, ...] = ()
    bounds: tuple[tuple[str, CoreIndex | None, CoreIndex | None], ...] = ()


@dataclass(frozen=True)
class Reciprocal:
    """One over the body."""

    body: Core


@dataclass(frozen=True)
class Raise:
    """A power."""

    base: Core
    exponent: Core


@dataclass(frozen=True)
class Normalise:
    """A softmax: the exponential of the body over its sum along the variables."""

    over: tuple[str, ...]
    body: Core


@dataclass(frozen=True)
class Apply:
    """A known function, entry by entry."""

    function: str
    arguments: tuple[Core, ...]


@dataclass(frozen=True)
class Unknown:
    """A function that is only named: of each argument it takes the axes `whole` together; it returns axes
    `outputs`.
    """

    name: str
    arguments: tuple[tuple[tuple[str, ...], Core], ...]
    outputs: tuple[str, ...]


@dataclass(frozen=True)
class Join:
    """Concatenation along `output`: for each piece, `head` (or None) and then `inner`, head-major."""

    pieces: tuple[tuple[str | None, str, Core], ...]
    output: str


Core = (
    Constant
    | AxisSize
    | IndexValue
    | Indicator
    | Read
    | Add
    | Multiply
    | Reciprocal
    | Raise
    | Normalise
    | Apply
    | Unknown
    | Join
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Fault:
    """Something wrong with an equation in itself.

    A `fatal` fault leaves the equation without a meaning. Any other explains; the values decide.
    """

    code: str
    message: str
    equation: int = 0
    column: int = 0
    fatal: bool = True


@dataclass(frozen=True, kw_only=True)
class Meaning:
    """One link of an equation. `left` has an index per position of the left side."""

    name: str
    left: tuple[CoreIndex, ...]
    body: Core
    symbols: dict[str, Symbol]
    free: tuple[str, ...]
    faults: tuple[Fault, ...]
    equation: int


@kept
def reads(node: Core) -> tuple[Read, ...]:
    """Every tensor entry in a node, those used as integers left out."""
    if isinstance(node, Read):
        return (node,)
    return tuple(read for child in inner(node) for read in reads(child))


@kept
def pointers(node: Core) -> tuple[tuple[str, str], ...]:
    """Each sequence that a node compares with an index variable, with the variable: `1[w=v[t]]`."""
    pair: tuple[tuple[str, str], ...] = ()
    if isinstance(node, Indicator):
        for one, other in ((node.left, node.right), (node.right, node.left)):
            match one.terms:
                case ((1, Integer(name=name)),) if not one.constant and other.variable:
                    pair = ((name, other.variable),)
    return pair + tuple(found for child in inner(node) for found in pointers(child))


def reached(needs: Mapping[str, set[str]], start: str) -> set[str]:
    """Everything that `start` needs, at any remove."""
    found: set[str] = set()
    waiting = list(needs[start])
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting.extend(needs[name])
    return found


def inner(node: Core) -> tuple[Core, ...]:
    """The nodes directly inside."""
    match node:
        case Add(terms=terms):
            return tuple(body for _, body in terms)
        case Multiply(factors=factors):
            return factors
        case Reciprocal(body=body) | Normalise(body=body):
            return (body,)
        case Raise(base=base, exponent=exponent):
            return (base, exponent)
        case Apply(arguments=arguments):
            return arguments
        case Unknown(arguments=pairs):
            return tuple(body for _, body in pairs)
        case Join(pieces=pieces):
            return tuple(body for _, _, body in pieces)
    return ()


@kept
def variables(node: Core | CoreIndex) -> frozenset[str]:
    """Every variable that occurs in an index, bound ones too."""
    if isinstance(node, CoreIndex):
        found: set[str] = set()
        for _, atom in node.terms:
            if isinstance(atom, Variable):
                found.add(atom.name)
            elif isinstance(atom, Integer):
                found.update(*(variables(index) for index in atom.indices))
        return frozenset(found)
    over = node.over if isinstance(node, Normalise) else ()
    return frozenset(over).union(*map(variables, (*indices(node), *inner(node))))


@kept
def axis_sizes(node: Core | CoreIndex) -> frozenset[str]:
    """The axes whose sizes are numbers in a node, or in an index that stands in it."""
    if isinstance(node, CoreIndex):
        found = {atom.axis for _, atom in node.terms if isinstance(atom, SizeIndex)}
        inside: tuple[CoreIndex, ...] = tuple(i for _, a in node.terms if isinstance(a, Integer) for i in a.indices)
        return frozenset(found).union(*map(axis_sizes, inside))
    here = {node.axis} if isinstance(node, AxisSize) else ()
    return frozenset(here).union(*map(axis_sizes, (*indices(node), *inner(node))))


def indices(node: Core) -> tuple[CoreIndex, ...]:
    """The indices that stand directly in a node, in bounds too."""
    match node:
        case IndexValue(index=index):
            return (index,)
        case Indicator(left=left, right=right):
            return (left, right)
        case Read(indices=indices):
            return indices
        case Multiply(bounds=bounds):
            return tuple(end for _, *ends in bounds for end in ends if end is not None)
    return ()


def rational(node: Core) -> Fraction | None:
    """The value of a node made of numbers alone."""
    if isinstance(node, Constant):
        return node.value
    values = [value for value in map(rational, inner(node)) if value is not None]
    if not values or len(values) < len(inner(node)):
        return None
    match node:
        case Add(terms=terms):
            return sum((sign * value for (sign, _), value in zip(terms, values, strict=True)), Fraction(0))
        case Multiply(over=()):
            return prod(values, start=Fraction(1))
        case Reciprocal() if values[0]:
            return 1 / values[0]
    return None
