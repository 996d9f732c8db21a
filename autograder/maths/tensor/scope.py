"""Which variable an index symbol is, where it stands: left, context, bound by a sum, or a whole axis."""

from __future__ import annotations

import re
from dataclasses import dataclass

from autograder.maths.tensor import messages
from autograder.maths.tensor.core_tree import CoreIndex, Fault, Integer, SizeIndex, Variable
from autograder.maths.tensor.symbols import occurs
from autograder.maths.tensor.tensor_tree import Equation, Expr, Index, Lookup, Name, Symbol

Scope = dict[str, str]
CONTEXT = "@"


@dataclass(frozen=True, kw_only=True)
class Setting:
    """What is known around an equation: context indices, integer sequences, axis names, names of scalar
    tensors, axes that count from zero; `kronecker` where `delta[i,j]` is no tensor of the question or the answer.
    `apart`: a softmax or function sums by itself the capitals that are paired in it, whatever stands behind it.
    """

    context: tuple[str, ...] = ()
    sequences: frozenset[str] = frozenset()
    axes: frozenset[str] = frozenset()
    scalars: frozenset[str] = frozenset()
    zero: frozenset[str] = frozenset()
    kronecker: bool = False
    apart: bool = False


class Scoped:
    """One equation's variables and faults. `open` collects capitals that are whole axes, where there may be
    some.
    """

    def __init__(self, equation: Equation, setting: Setting, number: int) -> None:
        self.left = equation.left
        self.setting = setting
        self.number = number
        self.symbols: dict[str, Symbol] = {}
        self.faults: list[Fault] = []
        self.open: Scope | None = None
        self.open_lower = False
        self.implicit: set[str] = set()  # the variables of capitals that a product sums

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
                self.symbols[scope[key]] = symbol_of(key)
        return scope, tuple(free)

    def _context(self) -> list[str]:
        """Declared context indices, and the t of a left index w_t."""
        return [*self.setting.context, *(symbol.label for symbol in self.left_symbols() if _running(symbol))]

    def bare(self, scope: Scope, link: Expr) -> Scope:
        """`P(w_t) = softmax_w …`: the w of the right side is the w_t of the left, where the right has no w_t itself."""
        found: Scope = {}
        for symbol in self.left_symbols():
            name = Symbol(letter=symbol.letter, primes=symbol.primes)
            if _running(symbol) and name.key not in scope and occurs(name, link) and not occurs(symbol, link):
                found[name.key] = scope[symbol.key]
        return found

    def fault(self, fault: Fault, column: int) -> None:
        """Note a fault, once."""
        found = Fault(code=fault.code, message=fault.message, fatal=fault.fatal, equation=self.number, column=column)
        if all((f.code, f.message) != (found.code, found.message) for f in self.faults):
            self.faults.append(found)

    def fresh(self, symbol: Symbol) -> str:
        """A variable of its own for a symbol that is bound here."""
        name = f"{symbol.key}#{len(self.symbols)}"
        self.symbols[name] = symbol
        return name

    def left_symbols(self) -> list[Symbol]:
        """The symbols of the left side."""
        return [term.atom for index in self.left.indices for term in index.terms if isinstance(term.atom, Symbol)]

    def layer(self, name: Name, scope: Scope) -> tuple[tuple[CoreIndex, ...], str]:
        """A layer subscript that a sum binds is an index: the l of `sum_{l=1}^{L} y_l`."""
        match = re.fullmatch(r"([a-z])([+-]\d{1,6})?", name.lower)
        if match is None or "#" not in scope.get(match[1], ""):
            return (), name.key
        family = Name(base=name.base, accents=name.accents, lower="", upper=name.upper, primes=name.primes)
        return (CoreIndex(((1, Variable(scope[match[1]])),), int(match[2] or 0)),), family.key + "_"

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
        """`w_t` is `w[t]`, `w_{b,t-1}` is `w[b,t-1]`, where w is a declared sequence and w_t is not bound."""
        if symbol.key not in scope and symbol.letter in self.setting.sequences and symbol.label:
            places = []
            for part in symbol.label.split(","):
                label = re.fullmatch(r"(.+?)([+-]\d{1,6})?", part)
                if label is None:
                    break
                places.append(CoreIndex(((1, self._atom(symbol_of(label[1]), scope, column)),), int(label[2] or 0)))
            else:
                return Integer(symbol.letter, tuple(places))
        return Variable(self.variable(symbol, scope, column))

    def variable(self, symbol: Symbol, scope: Scope, column: int) -> str:
        """The variable of a symbol, or a fault."""
        if symbol.key in scope:
            return scope[symbol.key]
        if self.open is not None and (symbol.capital or self.open_lower):
            return self.open.setdefault(symbol.key, self.fresh(symbol))
        if symbol.capital:
            self.fault(messages.cap_open(symbol.key), column)
        else:
            self.fault(messages.free_right(symbol.key), column)
        return self.fresh(symbol)


def _running(symbol: Symbol) -> bool:
    """Whether it is a symbol such as w_t, whose label is an index."""
    label = symbol.label
    return not symbol.capital and len(label) == 1 and label.isalpha() and label.islower()


def symbol_of(key: str) -> Symbol:
    """The symbol that a key such as `t_{in}` says."""
    letter, _, label = key.partition("_")
    return Symbol(letter=letter.rstrip("'"), label=label.strip("{}"), primes=letter.count("'"))
