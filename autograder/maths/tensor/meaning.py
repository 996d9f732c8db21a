"""Tree -> core: which index is bound where, where a capital is summed, and every fault of an equation in itself.

A capital that is not on the left is summed in the smallest product that holds all its occurrences; the terms of a
sum are taken apart first, since summing is linear. `sigma(W[j,I] h[I] - B[j])` sums inside sigma. In the arguments
of a function that is only named, a lone capital is a whole axis.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction

from . import messages
from .concatenation import dotted
from .core import (
    Add,
    Apply,
    AxisSize,
    Constant,
    Core,
    CoreIndex,
    Fault,
    IndexValue,
    Integer,
    Join,
    Meaning,
    Multiply,
    Normalise,
    Raise,
    Read,
    Reciprocal,
    SizeIndex,
    Unknown,
    Variable,
    inner,
    variables,
)
from .symbols import capitals, occurs
from .tree import (
    Call,
    Concat,
    Equation,
    Expr,
    Index,
    Lookup,
    Name,
    Number,
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

Scope = dict[str, str]
CONTEXT = "@"
ZERO = Fraction(0)


@dataclass(frozen=True, kw_only=True)
class Setting:
    """What is known around an equation: context indices, integer sequences, axis names, names of scalar tensors."""

    context: tuple[str, ...] = ()
    sequences: frozenset[str] = frozenset()
    axes: frozenset[str] = frozenset()
    scalars: frozenset[str] = frozenset()


def meaning(equation: Equation, link: Expr, setting: Setting, number: int = 0) -> Meaning:
    """What `equation.left = link` says; its faults are in the result."""
    return _Reading(equation, setting, number).meaning(link)


class _Reading:
    def __init__(self, equation: Equation, setting: Setting, number: int) -> None:
        self.left = equation.left
        self.setting = setting
        self.number = number
        self.symbols: dict[str, Symbol] = {}
        self.faults: list[Fault] = []
        self.open: Scope | None = None
        self.open_lower = False

    def meaning(self, link: Expr) -> Meaning:
        scope, free = self._left_scope()
        left = tuple(self.index(index, scope, self.left.column) for index in self.left.indices)
        if isinstance(link, (Pieces, Concat)):
            body: Core = self.join(link, scope, free)
        else:
            body = self.core(link, scope)
        used = variables(body) | ({body.output} if isinstance(body, Join) else set()) | self._outputs(body)
        broken = any(fault.code == "cat_axis" for fault in self.faults)
        for name in free:
            if name not in used and not broken:
                self.fault(messages.unused_left(self.symbols[name].key), self.left.column)
        return Meaning(
            name=self.left.name.key, left=left, body=body, symbols=self.symbols, free=free,
            faults=tuple(self.faults), equation=self.number,
        )

    def _outputs(self, node: Core) -> set[str]:
        found = set(node.outputs) if isinstance(node, Unknown) else set()
        return found.union(*(self._outputs(child) for child in inner(node)))

    def _left_scope(self) -> tuple[Scope, tuple[str, ...]]:
        scope: Scope = {}
        free: list[str] = []
        for index in self.left.indices:
            for term in index.terms:
                if not isinstance(term.atom, Symbol):
                    continue
                key = term.atom.key
                if key in scope:
                    self.fault(messages.lhs_repeat(term.atom), self.left.column)
                else:
                    scope[key] = key
                    self.symbols[key] = term.atom
                    free.append(key)
        for key in self._context():
            if key not in scope:
                scope[key] = CONTEXT + key
                self.symbols[scope[key]] = _symbol(key)
        return scope, tuple(free)

    def _context(self) -> list[str]:
        """Declared context indices, and the t of a left index w_t."""
        labels = [
            term.atom.label for index in self.left.indices for term in index.terms
            if isinstance(term.atom, Symbol) and not term.atom.capital and len(term.atom.label) == 1
        ]
        return [*self.setting.context, *(label for label in labels if label.isalpha() and label.islower())]

    def fault(self, fault: Fault, column: int) -> None:
        found = Fault(code=fault.code, message=fault.message, fatal=fault.fatal, equation=self.number, column=column)
        if all((f.code, f.message) != (found.code, found.message) for f in self.faults):
            self.faults.append(found)

    def fresh(self, symbol: Symbol) -> str:
        name = f"{symbol.key}#{len(self.symbols)}"
        self.symbols[name] = symbol
        return name

    # -- expressions --------------------------------------------------------------------------------------------

    def core(self, node: Expr, scope: Scope) -> Core:
        match node:
            case Number(value=value):
                return Constant(value)
            case Sum(terms=terms):
                return Add(tuple((sign, self.core(body, scope)) for sign, body in terms))
            case Product() | Tensor():
                return self.product(node, scope)
            case Power(base=base, exponent=exponent):
                return Raise(self.core(base, scope), self.core(exponent, scope))
            case Call(function="sqrt", arguments=(argument,)):
                return Raise(self.core(argument, scope), Constant(Fraction(1, 2)))
            case Call(function="max", arguments=(Number(value=zero), other) | (other, Number(value=zero))) if zero == 0:
                return Apply("relu", (self.core(other, scope),))
            case Call(function=function, arguments=arguments):
                return Apply(function, tuple(self.core(argument, scope) for argument in arguments))
            case Total():
                return self.total(node, scope)
            case Softmax():
                return self.softmax(node, scope)
            case Opaque():
                return self.opaque(node, scope)
        self.fault(messages.CAT_NESTED, node.column)
        return Constant(ZERO)

    def product(self, node: Product | Tensor, scope: Scope) -> Core:
        """Sums here every capital that two factors share."""
        factors = node.factors if isinstance(node, Product) else (("*", node),)
        counts: dict[str, tuple[Symbol, int]] = {}
        for _, body in factors:
            for symbol in capitals(body, frozenset(scope)):
                counts[symbol.key] = (symbol, counts.get(symbol.key, (symbol, 0))[1] + 1)
        inside, over = dict(scope), []
        for key, (symbol, count) in counts.items():
            if count > 1:
                inside[key] = self.fresh(symbol)
                over.append(inside[key])
        parts = tuple(
            Reciprocal(self._factor(body, inside)) if operator == "/" else self._factor(body, inside)
            for operator, body in factors
        )
        return parts[0] if len(parts) == 1 else Multiply(parts, tuple(over))

    def _factor(self, node: Expr, scope: Scope) -> Core:
        return self.tensor(node, scope) if isinstance(node, Tensor) else self.core(node, scope)

    def tensor(self, node: Tensor, scope: Scope) -> Core:
        name = node.name
        if not node.indices:
            axis = _size_axis(name)
            if name.key in self.setting.scalars:
                return Read(name.key, (), node.column)
            if name.key in scope and not _symbol(name.key).capital:
                return IndexValue(CoreIndex(((1, Variable(scope[name.key])),)))
            if axis in self.setting.axes:
                return AxisSize(axis)
        seen = [index.symbol for index in node.indices if index.symbol is not None and index.symbol.capital]
        for symbol in seen:
            if seen.count(symbol) > 1 and "#" in scope.get(symbol.key, "#"):
                self.fault(messages.cap_twice(symbol, name.key), node.column)
                return Constant(ZERO)
        hidden, key = self._layer(name, scope)
        indices = tuple(self.index(index, scope, node.column) for index in node.indices)
        return Read(key, hidden + indices, node.column)

    def _layer(self, name: Name, scope: Scope) -> tuple[tuple[CoreIndex, ...], str]:
        """A layer subscript that a sum binds is an index: the l of `sum_{l=1}^{L} y_l`."""
        match = re.fullmatch(r"([a-z])([+-]\d{1,6})?", name.lower)
        if match is None or "#" not in scope.get(match[1], ""):
            return (), name.key
        family = Name(base=name.base, accents=name.accents, lower="", upper=name.upper, primes=name.primes)
        return (CoreIndex(((1, Variable(scope[match[1]])),), int(match[2] or 0)),), family.key + "_"

    def total(self, node: Total, scope: Scope) -> Core:
        inside = dict(scope)
        over = []
        for symbol in node.symbols:
            inside[symbol.key] = self.fresh(symbol)
            over.append(inside[symbol.key])
            if not occurs(symbol, node.body):
                self.fault(messages.sum_unused(symbol.key), node.column)
        bounds: tuple[tuple[str, CoreIndex | None, CoreIndex | None], ...] = ()
        if node.lower is not None or node.upper is not None:
            lower, upper = self._bound(node.lower, scope, node), self._bound(node.upper, scope, node)
            bounds = () if _whole(node, lower, upper) else ((over[0], lower, upper),)
        return Multiply((self.core(node.body, inside),), tuple(over), bounds)

    def _bound(self, index: Index | None, scope: Scope, node: Total) -> CoreIndex | None:
        return None if index is None else self.index(index, scope, node.column, sizes=True)

    def softmax(self, node: Softmax, scope: Scope) -> Core:
        if not node.symbols:
            self.fault(messages.SOFTMAX_NOINDEX, node.column)
        over = []
        for symbol in node.symbols:
            if symbol.key not in scope and self.open is None:
                self.fault(messages.softmax_free(symbol.key), node.column)
                scope = {**scope, symbol.key: self.fresh(symbol)}
            elif not occurs(symbol, node.body):
                self.fault(messages.softmax_unbound(symbol.key), node.column)
            over.append(self.variable(symbol, scope, node.column))
        return Normalise(tuple(over), self.core(node.body, scope))

    def opaque(self, node: Opaque, scope: Scope) -> Core:
        outer, lower = self.open, self.open_lower
        arguments = []
        for argument in node.arguments:
            self.open, self.open_lower = {}, False
            inside = {key: name for key, name in scope.items() if not self.symbols[name].capital}
            body = self.core(argument, inside)
            arguments.append((tuple(self.open.values()), body))
        self.open, self.open_lower = outer, lower
        used = frozenset().union(*(variables(body) for _, body in arguments))
        left = [scope[key] for key in scope if key in {s.key for s in self._left_symbols()}]
        outputs = tuple(name for name in left if name not in used)
        return Unknown(node.name.key, tuple(arguments), outputs)

    def _left_symbols(self) -> list[Symbol]:
        return [
            term.atom for index in self.left.indices for term in index.terms if isinstance(term.atom, Symbol)
        ]

    # -- concatenation ------------------------------------------------------------------------------------------

    def join(self, node: Pieces | Concat, scope: Scope, free: tuple[str, ...]) -> Core:
        """`A; B` and `concat_k A` at the top of a right side."""
        nothing = Constant(ZERO)
        whole = dotted(node) if isinstance(node, Pieces) else node
        if whole is None:
            self.fault(messages.CAT_DOTS, node.column)
            return nothing
        parts = whole.parts if isinstance(whole, Pieces) else (whole,)
        pieces = [self._piece(part, scope, node.column) for part in parts if part is not None]
        used = frozenset().union(*(variables(body) for _, _, body in pieces))
        outputs = [name for name in free if name not in used]
        if len(outputs) != 1 or any(axis is None for _, axis, _ in pieces):
            self.fault(messages.CAT_AXIS, node.column)
            return nothing
        return Join(tuple((head, axis or "", body) for head, axis, body in pieces), outputs[0])

    def _piece(self, node: Expr, scope: Scope, column: int) -> tuple[str | None, str | None, Core]:
        head = None
        if isinstance(node, Concat):
            if len(node.symbols) != 1:
                self.fault(messages.CAT_DOTS, column)
            head = self.fresh(node.symbols[0])
            scope = {**scope, node.symbols[0].key: head}
            node = node.body
        self.open, self.open_lower = {}, True
        body = self.core(node, scope)
        axes = list(self.open.values())
        self.open = None
        return head, axes[0] if len(axes) == 1 else None, body

    # -- indices ------------------------------------------------------------------------------------------------

    def index(self, index: Index, scope: Scope, column: int, *, sizes: bool = False) -> CoreIndex:
        """A capital within arithmetic, or in a bound, is its axis's size."""
        terms: list[tuple[int, Variable | SizeIndex | Integer]] = []
        constant = 0
        for term in index.terms:
            match term.atom:
                case None:
                    constant += term.coefficient
                case Symbol() as symbol:
                    arithmetic = sizes or len(index.terms) > 1
                    if symbol.capital and symbol.key not in scope and arithmetic:
                        terms.append((term.coefficient, SizeIndex(symbol.axis)))
                    else:
                        terms.append((term.coefficient, self._atom(symbol, scope, column)))
                case Lookup(name=name, indices=indices):
                    inside = tuple(self.index(each, scope, column) for each in indices)
                    terms.append((term.coefficient, Integer(name.key, inside)))
        return CoreIndex(tuple(terms), constant)

    def _atom(self, symbol: Symbol, scope: Scope, column: int) -> Variable | Integer:
        """`w_t` is `w[t]`, `w_{t-1}` is `w[t-1]`, where w is a declared sequence and w_t itself is not bound."""
        if symbol.key not in scope and symbol.letter in self.setting.sequences and symbol.label:
            label = re.fullmatch(r"(.+?)([+-]\d{1,6})?", symbol.label)
            assert label is not None
            place = self._atom(_symbol(label[1]), scope, column)
            return Integer(symbol.letter, (CoreIndex(((1, place),), int(label[2] or 0)),))
        return Variable(self.variable(symbol, scope, column))

    def variable(self, symbol: Symbol, scope: Scope, column: int) -> str:
        if symbol.key in scope:
            return scope[symbol.key]
        if self.open is not None and (symbol.capital or self.open_lower):
            return self.open.setdefault(symbol.key, self.fresh(symbol))
        if symbol.capital:
            self.fault(messages.cap_open(symbol.key), column)
        else:
            self.fault(messages.free_right(symbol.key), column)
        return self.fresh(symbol)


def _symbol(key: str) -> Symbol:
    letter, _, label = key.partition("_")
    return Symbol(letter=letter.rstrip("'"), label=label.strip("{}"), primes=letter.count("'"))


def _size_axis(name: Name) -> str:
    plain = len(name.base) == 1 and name.base.isupper() and not (name.upper or name.accents or name.primes)
    return Symbol(letter=name.base, label=name.lower).axis if plain else ""


def _whole(node: Total, lower: CoreIndex | None, upper: CoreIndex | None) -> bool:
    """`sum_{t=1}^{T}` and `sum_{t=0}^{T-1}` are the whole axis."""
    size = SizeIndex(node.symbols[0].axis)
    first = None if lower is None or lower.terms else lower.constant
    for start in (0, 1):
        if (lower is None or first == start) and upper == CoreIndex(((1, size),), start - 1):
            return True
    return upper is None and first in (0, 1)


def meanings(system: System, setting: Setting) -> tuple[tuple[Meaning, ...], ...]:
    """For each equation, what each link of its chain says."""
    return tuple(
        tuple(meaning(equation, link, setting, number) for link in equation.links)
        for number, equation in enumerate(system.equations)
    )
