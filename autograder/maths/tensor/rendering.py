"""A tree as text that parses back to the same tree.

Every scope is visible: a softmax always has its brackets, a product its parentheses.
"""

from __future__ import annotations

from fractions import Fraction
from typing import ClassVar

from autograder.maths.tensor.tensor_tree import (
    Call,
    Concat,
    Equation,
    Expr,
    Index,
    Indicator,
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

PIECES, SUM, TERM, FACTOR = range(4)


class Text:
    """ASCII, as one would type it."""

    dots = "..."
    one = "1"
    signs: ClassVar[dict[str, str]] = {}

    def system(self, system: System) -> str:
        """One equation a line."""
        return "\n".join(self.equation(equation) for equation in system.equations)

    def equation(self, equation: Equation) -> str:
        """`left = link = link`."""
        return " = ".join([self.expr(equation.left), *(self.expr(link) for link in equation.links)])

    def expr(self, node: Expr, place: int = PIECES) -> str:
        """The node, in parentheses where it binds weaker than its place."""
        rank = _rank(node)
        text = self._bare(node)
        return text if rank >= place else self.parentheses(text)

    def _bare(self, node: Expr) -> str:
        match node:
            case Number(value=value):
                return self.number(value)
            case Tensor():
                return self.tensor(node)
            case Sum(terms=terms):
                return self._sum(terms)
            case Product(factors=factors):
                return self._product(factors)
            case Power(base=base, exponent=exponent):
                return self.power(base, exponent)
            case Call(function=function, arguments=arguments):
                return self.call(function, [self.expr(argument) for argument in arguments])
            case Opaque(name=name, arguments=arguments):
                return self.name(name) + self.parentheses(", ".join(self.expr(argument) for argument in arguments))
            case Pieces(parts=parts):
                return "; ".join(self.dots if part is None else self.expr(part, SUM) for part in parts)
        return self._binder(node)

    def _binder(self, node: Expr) -> str:
        match node:
            case Softmax(symbols=symbols, body=body):
                return self.binder("softmax", symbols) + self.brackets(self.expr(body))
            case Concat(symbols=symbols, body=body):
                return f"{self.binder('concat', symbols)} {self.expr(body, TERM)}"
            case Total(symbols=symbols, body=body, lower=lower, upper=upper):
                head = self.binder("sum", symbols, lower, upper)
                return f"{head} {self.expr(body, TERM)}"
        raise TypeError(f"not an expression: {node!r}")

    def _sum(self, terms: tuple[tuple[int, Expr], ...]) -> str:
        text = ""
        for position, (sign, body) in enumerate(terms):
            mark = "-" if sign < 0 else "+"
            lead = ("-" if sign < 0 else "") if position == 0 else f" {mark} "
            text += lead + self.expr(body, TERM)
        return text

    def _product(self, factors: tuple[tuple[str, Expr], ...]) -> str:
        text = ""
        for position, (operator, body) in enumerate(factors):
            last = position == len(factors) - 1
            piece = self._bare(body) if last and isinstance(body, (Total, Concat)) else self.expr(body, FACTOR)
            if position == 0:
                text = piece
            elif operator == "/":
                text += " / " + piece
            else:
                text += (" * " if piece[0] in "([{.0123456789" else " ") + piece
        return text

    # -- spellings

    def parentheses(self, text: str) -> str:
        """`(text)`."""
        return f"({text})"

    def brackets(self, text: str) -> str:
        """`[text]`."""
        return f"[{text}]"

    def number(self, value: Fraction) -> str:
        """A decimal where there is a finite one."""
        if value.denominator == 1:
            return str(value.numerator)
        digits = 0
        while digits < 40 and (value * 10**digits).denominator != 1:
            digits += 1
        scaled = value * 10**digits
        whole = str(scaled.numerator).rjust(digits + 1, "0")
        return f"{whole[:-digits]}.{whole[-digits:]}"

    def name(self, name: Name) -> str:
        """As one would type it."""
        return name.text

    def symbol(self, symbol: Symbol) -> str:
        """The key."""
        return symbol.key

    def tensor(self, node: Tensor) -> str:
        """`W^Q[k,U,J]`, `P[w_t | w_1,...]`."""
        if isinstance(node, Indicator):
            return self.one + self.brackets(self.signs.get(node.sign, node.sign).join(map(self.index, node.indices)))
        inside = ",".join(map(self.index, node.indices)) + (f" | {node.given}" if node.given else "")
        return self.name(node.name) + (self.brackets(inside) if inside else "")

    def index(self, index: Index) -> str:
        """`2t+Dt-1`."""
        text = ""
        for position, term in enumerate(index.terms):
            size = abs(term.coefficient)
            text += "-" if term.coefficient < 0 else "+" if position else ""
            match term.atom:
                case None:
                    text += str(size)
                case Symbol() as symbol:
                    text += ("" if size == 1 else str(size)) + self.symbol(symbol)
                case Lookup(name=name, indices=indices):
                    inside = self.brackets(",".join(map(self.index, indices)))
                    text += ("" if size == 1 else str(size)) + self.name(name) + inside
        return text

    def power(self, base: Expr, exponent: Expr) -> str:
        """`(x)^{e}`; a bare name gets parentheses, or its exponent would read as a label."""
        bare = isinstance(base, Tensor) and not base.indices
        text = self.parentheses(self.expr(base)) if bare or isinstance(base, Power) else self.expr(base, FACTOR)
        if isinstance(exponent, Number):
            return f"{text}^{self.number(exponent.value)}"
        return f"{text}^{{{self.expr(exponent)}}}"

    def call(self, function: str, arguments: list[str]) -> str:
        """`tanh(x)`."""
        return f"{function}({', '.join(arguments)})"

    def binder(
        self, word: str, symbols: tuple[Symbol, ...], lower: Index | None = None, upper: Index | None = None
    ) -> str:
        """`sum_{t=1}^{T}`."""
        inside = ",".join(map(self.symbol, symbols)) + ("" if lower is None else f"={self.index(lower)}")
        return word + (f"_{{{inside}}}" if inside else "") + ("" if upper is None else f"^{{{self.index(upper)}}}")


def _rank(node: Expr) -> int:
    match node:
        case Pieces():
            return PIECES
        case Sum():
            return SUM
        case Product() | Total() | Concat():
            return TERM
    return FACTOR


def to_text(system: System) -> str:
    """The system in ASCII; parsing it gives the same system."""
    return Text().system(system)
