"""The parts of a product that name something: numbers, tensors with their index lists, calls."""

from __future__ import annotations

from abc import abstractmethod
from fractions import Fraction

from autograder.errors import Unreadable
from autograder.maths.tensor.tensor_reader import Reader
from autograder.maths.tensor.tensor_tree import Call, Expr, Index, Lookup, Name, Number, Opaque, Product, Symbol, Tensor

FUNCTIONS = {
    "sigma": "sigma",
    "sigmoid": "sigma",
    "tanh": "tanh",
    "exp": "exp",
    "ln": "ln",
    "log": "ln",
    "sqrt": "sqrt",
    "relu": "relu",
    "ReLU": "relu",
    "max": "max",
    "min": "min",
    "abs": "abs",
    "sin": "sin",
    "cos": "cos",
    "sinh": "sinh",
    "cosh": "cosh",
    "tan": "tan",
    "softplus": "softplus",
}


class Atoms(Reader):
    """Reads what a factor starts with."""

    @abstractmethod
    def expr(self) -> Expr:
        """A whole expression, for arguments and fractions."""

    def number(self) -> Expr:
        """An exact rational; a decimal is one too."""
        token = self.token
        if token.kind != "number":
            raise self.failure("a number is expected here")
        self.take()
        self.count()
        return Number(value=Fraction(token.text))

    def _call_starts(self) -> bool:
        token = self.token
        return token.kind == "word" and token.text in FUNCTIONS and self.ahead().text in ("(", "[", "{")

    def _call(self, function: str) -> Expr:
        closing = {"(": ")", "[": "]", "{": "}"}[self.take().text]
        arguments = [self.expr()]
        while self.accept(","):
            arguments.append(self.expr())
        self.expect(closing)
        wanted = 2 if function in ("max", "min") else 1
        if len(arguments) != wanted:
            raise self.failure(f"{function} takes {wanted} argument{'s' if wanted > 1 else ''}")
        self.count()
        return Call(function=function, arguments=tuple(arguments))

    def _command(self) -> Expr:
        """`\\frac{a}{b}`, `\\sqrt{a}`, `\\underset{x,y}{\\text{softmax}} …` as a factor."""
        command = self.take()
        if command.text == "sqrt":
            if self.at("{", "("):
                return self._call("sqrt")
            return Call(function="sqrt", arguments=(self._group(),))
        above = self._group()
        below = self._group()
        self.count()
        return Product(factors=(("*", above), ("/", below)))

    def _group(self) -> Expr:
        """What stands in braces, or a single name or number, as in `\\sqrt U`."""
        if self.accept("{"):
            inside = self.expr()
            self.expect("}")
            return inside
        if self.token.kind == "number":
            return self.number()
        column = self.token.column
        name = self.name()
        if self.at("[", "("):
            raise self.failure("put braces around what belongs together: \\sqrt{…}, \\frac{…}{…}")
        return Tensor(name=name, column=column)

    def tensor(self) -> Expr:
        """A name with its index lists, or an opaque function with its arguments.

        A round list directly behind the name is an index list if it reads as one (`e(w)`,
        `alpha(k,t_1,t_2)`); behind a square list it is a product. `CELL_Phi(h[t-1,J], V[J])` takes tensors
        with whole axes: a function.
        """
        column = self.token.column
        name = self.name()
        indices: tuple[Index, ...] = ()
        given = ""
        if self.accept("["):
            indices, given = self._index_list("]")
        if self.at("(") and not indices:
            state = self.position, self.nodes, self.depth
            try:
                return self._round(name, column)
            except Unreadable:
                self.position, self.nodes, self.depth = state
            if len(name.base) > 1:
                return self._opaque(name, column)
        return Tensor(name=name, indices=indices, given=given, column=column)

    def _round(self, name: Name, column: int) -> Tensor:
        """`e(w)[I]` and the like; Unreadable where the bracket holds no index list of this name."""
        self.take()
        indices, given = self._index_list(")")
        size = len(name.base) == 1 and name.base.isupper() and name.key == name.base
        if size and len(indices) == 1 and len(indices[0].terms) > 1:
            raise self.failure("an axis size times a bracket")
        followed = self.at("[")
        while self.accept("["):
            more, _ = self._index_list("]")
            indices += more
        lookups = [term.atom for index in indices for term in index.terms if isinstance(term.atom, Lookup)]
        whole = any(_holds_capital(lookup) for lookup in lookups)
        if lookups and not followed and not size and (whole or len(name.base) > 1):
            raise self.failure("a function of tensors")
        return Tensor(name=name, indices=indices, given=given, column=column)

    def _index_list(self, closing: str) -> tuple[tuple[Index, ...], str]:
        """Indices, and what stands behind a bar: a condition is no index and is kept as text."""
        found = [self.index()]
        while self.accept(","):
            found.append(self.index())
        parts: list[str] = []
        if self.accept("|"):
            depth = 0
            while depth or not self.at(closing):
                token = self.take()
                if token.kind in ("end", "line"):
                    raise self.failure(f"{closing!r} is missing", token=token)
                depth += token.kind == "symbol" and token.text in "([{"
                depth -= token.kind == "symbol" and token.text in ")]}"
                parts.append("" if token.kind in ("accent", "command") else token.text)
        self.expect(closing)
        return tuple(found), "".join(parts)

    def _opaque(self, name: Name, column: int) -> Expr:
        self.expect("(")
        arguments = [self.expr()]
        while self.accept(","):
            arguments.append(self.expr())
        self.expect(")")
        self.count()
        return Opaque(name=name, arguments=tuple(arguments), column=column)


def _holds_capital(lookup: Lookup) -> bool:
    atoms = [term.atom for index in lookup.indices for term in index.terms]
    return any(
        atom.capital if isinstance(atom, Symbol) else atom is not None and _holds_capital(atom) for atom in atoms
    )
