"""What a tensor equation says, as it was typed: the syntax tree of the answer language.

Nothing here knows what an index ranges over or where a capital is summed: that is `meaning`. Round and square
index lists are one thing (`L(t,J)` is `L[t,J]`, `e(w)[I]` is `e[w,I]`), and parentheses live in the nesting
alone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property, wraps
from typing import TypeVar

Node = TypeVar("Node")
Found = TypeVar("Found")


def kept(function: Callable[[Node], Found]) -> Callable[[Node], Found]:
    """A function of one node of a tree. Nodes never change, so each node keeps what was once found."""
    place = f"kept {function.__module__}.{function.__name__}"

    @wraps(function)
    def look(node: Node) -> Found:
        notes = node.__dict__
        if place not in notes:
            notes[place] = function(node)
        return notes[place]  # type: ignore[no-any-return]

    return look


@dataclass(frozen=True, kw_only=True)
class Name:
    """A tensor's or function's name: `W_{l+1}^{h,R}`; the order of `^` and `_` does not matter.

    `lower` and `upper` are labels without spaces. A label is part of the name: `alpha` and `alpha_{l+1}`
    differ.
    """

    base: str
    accents: tuple[str, ...] = ()
    lower: str = ""
    upper: str = ""
    primes: int = 0

    @cached_property
    def key(self) -> str:
        """Two names are the same tensor exactly if their keys agree; a subscript Phi only names the
        parameters.
        """
        return replace(self, lower="").text if self.lower == "Phi" else self.text

    @cached_property
    def text(self) -> str:
        """The name as one would type it."""
        text = self.base + "".join(ACCENT_TEXT[accent] for accent in self.accents)
        for mark, label in (("_", self.lower), ("^", self.upper)):
            if label:
                text += mark + (label if len(label) == 1 else "{" + label + "}")
        return text + "'" * self.primes


ACCENT_TEXT = {"tilde": "~", "vec": "->", "backvec": "<-", "hat": ".hat", "bar": ".bar", "dot": ".dot"}


@dataclass(frozen=True, kw_only=True)
class Symbol:
    """An index variable: `j`, `J_1`, `t'`, `t_{in}`, or an offset `Dt`. A capital stands for a whole axis."""

    letter: str
    label: str = ""
    primes: int = 0

    @cached_property
    def key(self) -> str:
        """The symbol as one would type it."""
        label = self.label
        mark = f"_{label}" if len(label) == 1 else f"_{{{label}}}" if label else ""
        return self.letter + mark + "'" * self.primes

    @cached_property
    def capital(self) -> bool:
        """Whether it names a whole axis. `Dt` is an offset, not a capital."""
        return len(self.letter) == 1 and self.letter.isupper()

    @cached_property
    def axis(self) -> str:
        """The axis that its letter suggests: J for j, J_1 and j'; T_in for t_in; DT for Dt."""
        worded = len(self.label) > 1 and self.label.isalpha()
        return self.letter.upper() + (f"_{self.label}" if worded else "")


@dataclass(frozen=True, kw_only=True)
class Lookup:
    """An integer-valued function used as an index: the `w[b,t]` of `e[w[b,t],i]`."""

    name: Name
    indices: tuple[Index, ...]


@dataclass(frozen=True, kw_only=True)
class IndexTerm:
    """`coefficient * atom`; an atom of None is the number itself."""

    coefficient: int
    atom: Symbol | Lookup | None


@dataclass(frozen=True, kw_only=True)
class Index:
    """An integer combination such as `2t+Dt` or `t-1`, in the order typed."""

    terms: tuple[IndexTerm, ...]

    @cached_property
    def symbol(self) -> Symbol | None:
        """The variable, if the index is a variable and nothing else."""
        match self.terms:
            case (IndexTerm(coefficient=1, atom=Symbol() as symbol),):
                return symbol
        return None

    @property
    def number(self) -> int | None:
        """The integer, if the index is a number and nothing else."""
        if all(term.atom is None for term in self.terms):
            return sum(term.coefficient for term in self.terms)
        return None


@dataclass(frozen=True, kw_only=True)
class Number:
    """An exact rational: `0.25` is 1/4."""

    value: Fraction


@dataclass(frozen=True, kw_only=True)
class Tensor:
    """An entry of a tensor, or a scalar or axis size where there is no index. `given` is what stands behind a
    bar.
    """

    name: Name
    indices: tuple[Index, ...] = ()
    given: str = ""
    column: int = field(default=0, compare=False)


@dataclass(frozen=True, kw_only=True)
class Indicator(Tensor):
    """`1[i<=j]`: one where its two indices compare as the sign says (<, <=, = or !=), else zero."""

    sign: str = "="


@dataclass(frozen=True, kw_only=True)
class Sum:
    """Terms with signs +1 or -1; a lone term with sign -1 is a negation."""

    terms: tuple[tuple[int, Expr], ...]


@dataclass(frozen=True, kw_only=True)
class Product:
    """Factors, each to be multiplied (`*`) or divided by (`/`); the first is always `*`."""

    factors: tuple[tuple[str, Expr], ...]


@dataclass(frozen=True, kw_only=True)
class Power:
    """`base ^ exponent`."""

    base: Expr
    exponent: Expr


@dataclass(frozen=True, kw_only=True)
class Total:
    """`sum_{i,j} body`, or `sum_{t=lower}^{upper} body` with one symbol; scopes to its term."""

    symbols: tuple[Symbol, ...]
    body: Expr
    lower: Index | None = None
    upper: Index | None = None
    column: int = field(default=0, compare=False)


@dataclass(frozen=True, kw_only=True)
class Softmax:
    """`softmax_{i}[body]`, a function of i again. No symbols: none was written, which is a fault."""

    symbols: tuple[Symbol, ...]
    body: Expr
    column: int = field(default=0, compare=False)


@dataclass(frozen=True, kw_only=True)
class Concat:
    """`concat_{k} body`: over k, head-major, of the whole axis that is left in the body."""

    symbols: tuple[Symbol, ...]
    body: Expr
    column: int = field(default=0, compare=False)


@dataclass(frozen=True, kw_only=True)
class Pieces:
    """`A; B; C`, or `A[1,..]; ...; A[K,..]` where None stands for the dots."""

    parts: tuple[Expr | None, ...]
    column: int = field(default=0, compare=False)


@dataclass(frozen=True, kw_only=True)
class Call:
    """A known function, entry by entry."""

    function: str
    arguments: tuple[Expr, ...]


@dataclass(frozen=True, kw_only=True)
class Opaque:
    """A function that is only named, such as `CELL_Phi(h[t-1,J], V[J])`; it takes and returns whole axes."""

    name: Name
    arguments: tuple[Expr, ...]
    column: int = field(default=0, compare=False)


Expr = Number | Tensor | Sum | Product | Power | Total | Softmax | Concat | Pieces | Call | Opaque


@dataclass(frozen=True, kw_only=True)
class ScopeNote:
    """Something that can be read in two ways; `message` says which one was taken."""

    code: str
    message: str
    column: int


@dataclass(frozen=True, kw_only=True)
class Equation:
    """`left = links[0] = links[1] …`; the last link is what the left side is defined to be."""

    left: Tensor
    links: tuple[Expr, ...]

    @property
    def right(self) -> Expr:
        """The last link of the chain."""
        return self.links[-1]


@dataclass(frozen=True, kw_only=True)
class System:
    """Equations in the order typed. `text` and `warnings` do not take part in comparisons."""

    equations: tuple[Equation, ...]
    text: str = field(default="", compare=False)
    warnings: tuple[ScopeNote, ...] = field(default=(), compare=False)

    def defining(self, key: str) -> tuple[Equation, ...]:
        """The equations whose left side has this name."""
        return tuple(equation for equation in self.equations if equation.left.name.key == key)


def children(node: Expr) -> tuple[Expr, ...]:
    """The expressions directly inside a node; indices are not expressions."""
    match node:
        case Sum(terms=pairs):
            return tuple(body for _, body in pairs)
        case Product(factors=factors):
            return tuple(body for _, body in factors)
        case Power(base=base, exponent=exponent):
            return (base, exponent)
        case Total(body=body) | Softmax(body=body) | Concat(body=body):
            return (body,)
        case Pieces(parts=parts):
            return tuple(part for part in parts if part is not None)
        case Call(arguments=arguments) | Opaque(arguments=arguments):
            return arguments
    return ()


def names(node: Expr) -> set[str]:
    """The names that stand in an expression: tensors, functions, and `softmax`, `sum`, `concat`."""
    found = set().union(*map(names, children(node)))
    match node:
        case Tensor(name=name) | Opaque(name=name):
            return found | {name.key}
        case Call(function=function):
            return found | {function}
        case Softmax() | Total() | Concat():
            return found | {{Softmax: "softmax", Total: "sum", Concat: "concat"}[type(node)]}
    return found
