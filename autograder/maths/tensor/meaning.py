"""Tree -> core: which index is bound where, where a capital is summed, and every fault of an equation in
itself.

A capital that is not on the left is summed in the smallest product that holds all its occurrences; the terms
of a sum are taken apart first, since summing is linear. `sigma(W[j,I] h[I] - B[j])` sums inside sigma. In the
arguments of a function that is only named, a lone capital is a whole axis.
"""

from __future__ import annotations

from fractions import Fraction

from autograder.maths.tensor import messages, tensor_tree
from autograder.maths.tensor.concatenation import dotted
from autograder.maths.tensor.core_tree import (
    Add,
    Apply,
    AxisSize,
    Constant,
    Core,
    CoreIndex,
    IndexValue,
    Indicator,
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
from autograder.maths.tensor.scope import Scope, Scoped, Setting, symbol_of
from autograder.maths.tensor.shifting import unshifted
from autograder.maths.tensor.symbols import capitals, divisors, occurs, opened, summed
from autograder.maths.tensor.tensor_tree import (
    Call,
    Concat,
    Equation,
    Expr,
    Index,
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
    kept,
)

ZERO = Fraction(0)


def meaning(equation: Equation, link: Expr, setting: Setting, number: int = 0) -> Meaning:
    """What `equation.left = link` says; its faults are in the result."""
    return unshifted(_Reading(equation, setting, number).meaning(link))


class _Reading(Scoped):
    def meaning(self, link: Expr) -> Meaning:
        """What the left side is said to be."""
        scope, free = self._left_scope()
        scope |= self.bare(scope, link)
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
            name=self.left.name.key,
            left=left,
            body=body,
            symbols=self.symbols,
            free=free,
            faults=tuple(self.faults),
            equation=self.number,
        )

    def _outputs(self, node: Core) -> set[str]:
        found = set(node.outputs) if isinstance(node, Unknown) else set()
        return found.union(*(self._outputs(child) for child in inner(node)))

    def core(self, node: Expr, scope: Scope) -> Core:
        """The meaning of an expression."""
        if self.setting.apart and isinstance(node, (Softmax, Call)):
            scope = self.alone(node, scope)
        match node:
            case Number(value=value):
                return Constant(value)
            case Sum(terms=terms):
                return Add(tuple((sign, self.core(body, scope)) for sign, body in terms))
            case Product() | Tensor():
                return self.product(node, scope)
            case Power(base=Tensor(indices=(), name=Name() as name), exponent=exponent) if self.is_e(name):
                return Apply("exp", (self.core(exponent, scope),))
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

    def alone(self, node: Softmax | Call, scope: Scope) -> Scope:
        """What a softmax or function sees of the scope where the capitals that are paired in it are its own."""
        paired = {symbol.key for symbol in capitals(node, ())} - opened(node, ())
        return {key: name for key, name in scope.items() if key not in paired or name not in self.implicit}

    def is_e(self, name: Name) -> bool:
        """Whether a bare name is Euler's number; the embedding e always has indices."""
        return name.key == "e" and "e" not in self.setting.scalars

    def product(self, node: Product | Tensor, scope: Scope) -> Core:
        """Sums here every capital that factors share and that one of them leaves alone."""
        factors = node.factors if isinstance(node, Product) else (("*", node),)
        bound = frozenset(scope)
        here = summed(node, bound) if isinstance(node, Product) else set()
        apart = divisors(node, bound) if isinstance(node, Product) else {}
        symbols = {symbol.key: symbol for _, body in factors for symbol in capitals(body, bound)}
        inside, over = dict(scope), []
        for key, symbol in symbols.items():
            if key in here:
                inside[key] = self.fresh(symbol)
                over.append(inside[key])
                self.implicit.add(inside[key])
        parts = []
        for place, (operator, body) in enumerate(factors):
            own = {key: name for key, name in inside.items() if key not in apart.get(place, ())}
            factor = self._factor(body, own)
            parts.append(Reciprocal(factor) if operator == "/" else factor)
        return parts[0] if len(parts) == 1 else Multiply(tuple(parts), tuple(over))

    def _factor(self, node: Expr, scope: Scope) -> Core:
        return self.tensor(node, scope) if isinstance(node, Tensor) else self.core(node, scope)

    def tensor(self, node: Tensor, scope: Scope) -> Core:
        """An entry, an axis size, or an index used as a number."""
        name = node.name
        if not node.indices:
            axis = _size_axis(name)
            if name.key in self.setting.scalars:
                return Read(name.key, (), node.column)
            if name.key in scope and not symbol_of(name.key).capital:
                return IndexValue(CoreIndex(((1, Variable(scope[name.key])),)))
            if axis in self.setting.axes:
                return AxisSize(axis)
            if name.key == name.base and name.base.isupper() and set(name.base) <= self.setting.axes:
                return Multiply(tuple(map(AxisSize, name.base)))  # the XY of `1/(XY)`
        seen = [index.symbol for index in node.indices if index.symbol is not None and index.symbol.capital]
        for symbol in seen:
            if seen.count(symbol) > 1 and "#" in scope.get(symbol.key, "#"):
                self.fault(messages.cap_twice(symbol, name.key), node.column)
                return Constant(ZERO)
        kronecker = self.setting.kronecker and name.key == "delta" and len(node.indices) == 2
        if kronecker or isinstance(node, tensor_tree.Indicator):
            left, right = (self.index(index, scope, node.column) for index in node.indices)
            return Indicator(node.sign if isinstance(node, tensor_tree.Indicator) else "=", left, right)
        hidden, key = self.layer(name, scope)
        indices = tuple(self.index(index, scope, node.column) for index in node.indices)
        return Read(key, hidden + indices, node.column)

    def total(self, node: Total, scope: Scope) -> Core:
        """A sum with its bounds."""
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
            bounds = () if _whole(node, lower, upper, self.setting.zero) else ((over[0], lower, upper),)
        return Multiply((self.core(node.body, inside),), tuple(over), bounds)

    def _bound(self, index: Index | None, scope: Scope, node: Total) -> CoreIndex | None:
        return None if index is None else self.index(index, scope, node.column, sizes=True)

    def softmax(self, node: Softmax, scope: Scope) -> Core:
        """A softmax over variables of the scope."""
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
        """A function that is only named, with the whole axes of its arguments.

        The argument of another one, as in `FF(NORM(A[t,J]))`, has the axes of its own first argument.
        """
        outer, lower = self.open, self.open_lower
        arguments = []
        for argument in node.arguments:
            self.open, self.open_lower = {}, False
            inside = {key: name for key, name in scope.items() if not self.symbols[name].capital}
            body = self.core(argument, inside)
            arguments.append((tuple(self.open.values()), body))
        self.open, self.open_lower = outer, lower
        if outer is not None:
            result = [self.symbols[name] for name in arguments[0][0]]
            return Unknown(node.name.key, tuple(arguments), tuple(self.variable(s, {}, node.column) for s in result))
        used = frozenset().union(*(variables(body) for _, body in arguments))
        left = [scope[key] for key in scope if key in {s.key for s in self.left_symbols()}]
        outputs = tuple(name for name in left if name not in used)
        return Unknown(node.name.key, tuple(arguments), outputs)

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


def _size_axis(name: Name) -> str:
    plain = len(name.base) == 1 and name.base.isupper() and not (name.upper or name.accents or name.primes)
    return Symbol(letter=name.base, label=name.lower).axis if plain else ""


def _whole(node: Total, lower: CoreIndex | None, upper: CoreIndex | None, zero: frozenset[str]) -> bool:
    """`sum_{t=1}^{T}` and `sum_{t=0}^{T-1}` are the whole axis; only the latter where it counts from zero."""
    size = SizeIndex(node.symbols[0].axis)
    first = None if lower is None or lower.terms else lower.constant
    starts = (0,) if node.symbols[0].axis in zero else (0, 1)
    for start in starts:
        if (lower is None or first == start) and upper == CoreIndex(((1, size),), start - 1):
            return True
    return upper is None and first in starts


def meanings(system: System, setting: Setting) -> tuple[tuple[Meaning, ...], ...]:
    """For each equation, what each link of its chain says."""
    return tuple(_chain(equation, setting, number) for number, equation in enumerate(system.equations))


def _chain(equation: Equation, setting: Setting, number: int) -> tuple[Meaning, ...]:
    """What the links of an equation say, which it keeps: systems that differ in one equation share the others."""
    found = _chains(equation)
    if (setting, number) not in found:
        found[setting, number] = tuple(meaning(equation, link, setting, number) for link in equation.links)
    return found[setting, number]


@kept
def _chains(equation: Equation) -> dict[tuple[Setting, int], tuple[Meaning, ...]]:
    return {}
