"""What binds an index: sums, softmaxes and concatenations, and how far each reaches."""

from __future__ import annotations

from abc import abstractmethod

from autograder.maths.tensor.tensor_reader import Reader
from autograder.maths.tensor.tensor_tree import Concat, Expr, Index, IndexTerm, ScopeNote, Softmax, Sum, Symbol, Total

BINDERS = ("sum", "softmax", "concat")


class Binders(Reader):
    """Reads binders and collects warnings about their scope."""

    def __init__(self, text: str, *, softmax_prefix: bool = False) -> None:
        super().__init__(text)
        self.softmax_prefix = softmax_prefix
        self.warnings: list[ScopeNote] = []

    @abstractmethod
    def expr(self) -> Expr:
        """A whole expression."""

    @abstractmethod
    def sum(self) -> Expr:
        """Terms with signs."""

    @abstractmethod
    def term(self) -> Expr:
        """A product."""

    @abstractmethod
    def _factor_starts(self) -> bool:
        """Whether another factor of the product follows."""

    def _binder_starts(self) -> bool:
        token = self.token
        if token.kind == "command":
            return token.text == "underset"
        if self.at("{") and self.ahead().kind == "word" and self.ahead().text in BINDERS and self.ahead(2).text == "}":
            return True
        return token.kind == "word" and token.text in BINDERS

    def binder(self) -> tuple[Expr, bool]:
        """A sum, softmax or concatenation, and whether a bracket ended its scope."""
        with self.level():
            column = self.token.column
            kind, symbols, lower = self._head()
            self.count()
            if kind == "softmax":
                return self._softmax(symbols, column)
            if not symbols:
                raise self.failure(f"{kind} needs its index, such as {kind}_{{j}}")
            if kind == "concat":
                if self.accept("^"):
                    self._bound()  # concat_{k=1}^{K}: always the whole axis
                return Concat(symbols=symbols, body=self.term(), column=column), False
            upper = self._bound() if self.accept("^") else None
            if (lower is not None or upper is not None) and len(symbols) > 1:
                raise self.failure("bounds go with one index: write one sum inside the other")
            body = self.term()
            return Total(symbols=symbols, body=body, lower=lower, upper=upper, column=column), False

    def _head(self) -> tuple[str, tuple[Symbol, ...], Index | None]:
        """The binder's word, its indices, and the lower bound where one stands."""
        symbols: tuple[Symbol, ...] = ()
        lower = None
        if self.token.text == "underset":
            self.take()
            self.expect("{")
            symbols, lower = self._subscripts("}")
        braced = self.accept("{")
        word = self.take()
        if word.text not in BINDERS:
            raise self.failure("\\underset stands under softmax, sum or concat here", token=word)
        if braced:
            self.expect("}")
        if self.accept("_"):
            if self.accept("{"):
                symbols, lower = self._subscripts("}")
            else:
                symbols = (self.symbol(),)
        return word.text, symbols, lower

    def _subscripts(self, closing: str) -> tuple[tuple[Symbol, ...], Index | None]:
        symbols = [self.symbol()]
        while self.accept(","):
            symbols.append(self.symbol())
        lower = self.index() if self.accept("=") else None
        self.expect(closing)
        return tuple(symbols), lower

    def _bound(self) -> Index:
        if self.accept("{"):
            bound = self.index()
            self.expect("}")
            return bound
        if self.token.kind == "number":  # as in LaTeX, a bare bound is one number: `sum_{k=0}^2 W[k]`
            if not self.token.text.isdigit():
                raise self.failure("a bound is a whole number")
            return Index(terms=(IndexTerm(coefficient=int(self.take().text), atom=None),))
        return self._symbol_index()

    def _symbol_index(self) -> Index:
        return Index(terms=(IndexTerm(coefficient=1, atom=self.symbol()),))

    def _softmax(self, symbols: tuple[Symbol, ...], column: int) -> tuple[Expr, bool]:
        """`softmax_{i}[…]`, or to the end of the expression."""
        if self.at("[") or (self.at("(") and not self.softmax_prefix and self._bracket_holds(symbols)):
            round_bracket = self.at("(")
            closing = ")" if self.take().text == "(" else "]"
            body = self.expr()
            self.expect(closing)
            if round_bracket and (self._factor_starts() or self.at("*", "/", "+", "-")):
                self._warn(
                    "softmax_scope",
                    "softmax ends with its round bracket here; write softmax_{i}[ … ]",
                    column,
                )
            return Softmax(symbols=symbols, body=body, column=column), True
        body = self.sum()
        if isinstance(body, Sum) and len(body.terms) > 1:
            self._warn(
                "softmax_scope",
                "softmax reaches over every term that follows; write softmax_{i}[ … ]",
                column,
            )
        return Softmax(symbols=symbols, body=body, column=column), False

    def _bracket_holds(self, symbols: tuple[Symbol, ...]) -> bool:
        """Whether the round bracket that opens here holds all the softmax's letters, so that it looks like a
        call.
        """
        depth, distance, words = 0, 0, set()
        while self.ahead(distance).kind != "end":
            token = self.ahead(distance)
            if token.kind == "symbol":
                depth += (token.text == "(") - (token.text == ")")
            elif token.kind == "word":
                words.add(token.text[:1] if token.text[1:].isdigit() else token.text)
            distance += 1
            if depth == 0:
                break
        return all(symbol.letter.lstrip("D") in words or symbol.letter in words for symbol in symbols)

    def _warn(self, code: str, message: str, column: int) -> None:
        self.warnings.append(ScopeNote(code=code, message=message, column=column))
