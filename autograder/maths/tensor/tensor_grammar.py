"""The recursive-descent parser of tensor equations; student text is never evaluated.

    system   = equation { (";;" | newline) equation }
    equation = tensor "=" expr { "=" expr }
    expr     = sum { ";" ( sum | "..." ) }
    sum      = [ "-" ] term { ( "+" | "-" ) term }
    term     = factor { [ "*" | ".*" | "/" ] factor } [ [ "*" | "/" ] binder ] | binder
    binder   = "sum_" subs [ "^" bound ] term | "concat_" subs term | "softmax_" subs sum
    factor   = primary [ "^" ( NUMBER | "{" expr "}" | "(" expr ")" ) ]
    primary  = NUMBER | tensor | SIZE | "(" expr ")" | "softmax_" subs "[" expr "]" | FUNC "(" expr { "," expr
    } ")"

A product binds from left to right: `1/sqrt(U) a b` is `(1/sqrt(U)) a b`. Where a softmax is followed by a
round bracket that holds its index, the bracket is its scope, as in code; the warning `softmax_scope` says so,
and `softmax_prefix=True` reads on to the end of the expression instead.
"""

from __future__ import annotations

from autograder.errors import Unreadable
from autograder.maths.tensor.atoms import FUNCTIONS, Atoms
from autograder.maths.tensor.binders import Binders
from autograder.maths.tensor.tensor_tree import Equation, Expr, Pieces, Power, Product, Sum, System, Tensor

MOST_EQUATIONS = 40


class Grammar(Binders, Atoms):
    """One parse of one text."""

    def system(self) -> System:
        """Every equation of the text."""
        equations = []
        while self.token.kind == "line":
            self.take()
        if self.token.kind == "end":
            raise self.failure("there is no equation here", "empty")
        while self.token.kind != "end":
            equations.append(self.equation())
            if len(equations) > MOST_EQUATIONS:
                raise self.failure(f"there are more than {MOST_EQUATIONS} equations", "too_many")
            if self.token.kind not in ("line", "end"):
                raise self.failure(self._stuck())
            while self.token.kind == "line":
                self.take()
        return System(equations=tuple(equations), text=self.text, warnings=tuple(self.warnings))

    def _stuck(self) -> str:
        if self.at(")", "]", "}"):
            return f"this {self.token.text!r} has no opening bracket"
        return "the equation should end here, or an operator is missing"

    def equation(self) -> Equation:
        """`tensor = expr = expr`."""
        left = self.tensor()
        if not isinstance(left, Tensor):
            raise self.failure("the left side is a tensor, such as Query[k,t,U]")
        links = []
        if not self.at("="):
            raise self.failure("an equation has a left side, '=' and a right side")
        while self.accept("="):
            links.append(self.expr())
        return Equation(left=left, links=tuple(links))

    def expr(self) -> Expr:
        """A sum, or pieces to be concatenated."""
        with self.level():
            column = self.token.column
            parts: list[Expr | None] = [self.sum()]
            while self.accept(";"):
                parts.append(None if self.accept("...") else self.sum())
            if len(parts) == 1 and parts[0] is not None:
                return parts[0]
            if parts[-1] is None:
                raise self.failure("the last piece of the concatenation is missing after the dots")
            self.count()
            return Pieces(parts=tuple(parts), column=column)

    def sum(self) -> Expr:
        """Terms with signs."""
        with self.level():
            terms = [(-1 if self.accept("-") else 1, self.term())]
            while self.at("+", "-"):
                sign = 1 if self.take().text == "+" else -1
                terms.append((sign, self.term()))
            self.count()
            return terms[0][1] if len(terms) == 1 and terms[0][0] == 1 else Sum(terms=tuple(terms))

    def term(self) -> Expr:
        """A product, at whose end a binder may stand."""
        factors: list[tuple[str, Expr]] = []
        operator = "*"
        while True:
            if self._binder_starts():
                node, scoped = self.binder()
                factors.append((operator, self.powered(node) if scoped else node))
                if not scoped:
                    break
            else:
                factors.append((operator, self.factor()))
            if self.at("*", "/"):
                operator = self.take().text
            elif self._factor_starts():
                operator = "*"
            else:
                break
        self.count()
        return factors[0][1] if len(factors) == 1 else Product(factors=tuple(factors))

    def _factor_starts(self) -> bool:
        token = self.token
        if token.kind == "number":
            before = self.tokens[self.position - 1]
            return before.kind != "number"
        return token.kind in ("word", "accent", "command") or self.at("(", "[", "{")

    def factor(self) -> Expr:
        """A primary and its power; `a * -b` is read."""
        if self.accept("-"):
            return Sum(terms=((-1, self.factor()),))
        return self.powered(self.primary())

    def powered(self, base: Expr) -> Expr:
        """The base with the exponent that follows, if one does."""
        if self.accept("^"):
            with self.level():
                base = Power(base=base, exponent=self._exponent())
            self.count()
        return base

    def _exponent(self) -> Expr:
        for opening, closing in ("{}", "()"):
            if self.accept(opening):
                inside = self.expr()
                self.expect(closing)
                return inside
        if self.accept("-"):
            return Sum(terms=((-1, self.number()),))
        return self.number()

    def primary(self) -> Expr:
        """A number, a tensor, a call or something in brackets."""
        token = self.token
        if token.kind == "number":
            return self.number()
        if token.kind == "command":
            return self._command()
        for opening, closing in ("()", "[]", "{}"):
            if self.accept(opening):
                inside = self.expr()
                self.expect(closing)
                return inside
        if self._call_starts():
            return self._call(FUNCTIONS[self.take().text])
        if token.kind == "word" and token.text in FUNCTIONS and not self._names_a_tensor():
            raise self.failure(f"brackets are missing around the argument of the function: {token.text}(…)")
        if token.kind in ("word", "accent"):
            return self.tensor()
        raise self.failure("the text ends too early" if token.kind == "end" else "a factor is expected here")

    def _names_a_tensor(self) -> bool:
        """Whether a function's word stands for a tensor: a deviation `sigma`, or one with a label."""
        return self.token.text == "sigma" or self.ahead().text in ("_", "^", "'")


def parse(text: str, *, softmax_prefix: bool = False) -> System:
    """The system that `text` says: equations apart by new lines or `;;`, typed or pasted as LaTeX.

    Raises Unreadable with code syntax, look_alike, empty, too_long, too_deep or too_many.
    """
    grammar = Grammar(text, softmax_prefix=softmax_prefix)
    try:
        return grammar.system()
    except RecursionError:
        raise Unreadable("too_deep", "this is nested too deeply", text, 0) from None
