r"""The recursive-descent parser of tensor equations; student text is never evaluated.

    system   = equation { ( ";;" | newline ) equation } ;
    equation = tensor "=" expr { "=" expr } ;                         a chain is checked link by link
    expr     = sum { ";" ( sum | "..." ) } ;                          a concatenation
    sum      = [ "-" ] term { ( "+" | "-" ) term } ;
    term     = factor { [ "*" | "/" ] factor } [ [ "*" | "/" ] binder ] | binder ;
    binder   = "sum_" subs [ "^" bound ] term | "concat_" subs term | "softmax_" subs sum ;
    factor   = [ "-" ] primary [ "^" ( [ "-" ] NUMBER | "{" expr "}" | "(" expr ")" ) ] ;
    primary  = NUMBER | tensor | SIZE | "{" expr "}"
             | "1[" index ( "=" | "!=" | "<" | "<=" | ">" | ">=" ) index "]" | "(" expr ")" | "[" expr "]"
             | "softmax_" subs "[" expr "]" | FUNCTION "(" expr { "," expr } ")"
             | FUNCTION ( tensor | binder )                            ln P[t,w], at the end of its product
             | "\frac" group group | "\sqrt" group | "sqrt" factor ;
    group    = "{" expr "}" | "(" expr ")" | DIGIT | LETTER ;         one token, as in TeX: \frac12
    tensor   = name [ "[" entry { "," entry } [ "|" given ] "]" ] | name "(" entry { "," entry } ")" [ "[" … "]" ] ;
    entry    = index | symbol "=" index ;                             P(w_t = w) is P[w_t], and P(w_t = v) is P[v]
    name     = letters { accent | "^" label | "_" label | "'" } ;
    index    = [ "-" ] iterm { ( "+" | "-" ) iterm } ;
    iterm    = [ NUMBER [ "*" ] ] ( symbol | "(" index ")" | name "[" index { "," index } "]" ) | NUMBER ;
    symbol   = letter { "_" label | "'" } | "D" letter | "\Delta" letter ;
    subs     = symbol | "{" symbol { "," symbol } [ "=" index ] "}" ;
    bound    = "{" index "}" | NUMBER | symbol ;

A product binds from left to right: `1/sqrt(U) a b` is `(1/sqrt(U)) a b`. Where a softmax is followed by a
round bracket that holds its index, the bracket is its scope, as in code; the warning `softmax_scope` says so,
and `softmax_prefix=True` reads on to the end of the expression instead. A root without brackets before two factors
reads in two ways and is refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from fractions import Fraction

from autograder.errors import Unreadable
from autograder.maths.spelling import ACCENTS, CLOSING, GREEK, Token, explained
from autograder.maths.tensor.tensor_tokens import tokenise
from autograder.maths.tensor.tensor_tree import (
    ACCENT_TEXT,
    Call,
    Concat,
    Equation,
    Expr,
    Index,
    IndexTerm,
    Indicator,
    Lookup,
    Name,
    Number,
    Opaque,
    Pieces,
    Power,
    Product,
    ScopeNote,
    Softmax,
    Sum,
    Symbol,
    System,
    Tensor,
    Total,
)

DEEPEST = 40
MOST_NODES = 1_500
MOST_PRIMES = 9
MOST_LETTERS = 4  # of indices side by side
MOST_EQUATIONS = 40
LARGEST_INTEGER = 1_000_000
BINDERS = ("sum", "softmax", "concat")
FUNCTIONS = {
    **{name: name for name in ("tanh", "exp", "ln", "sqrt", "relu", "max", "min", "abs", "softplus")},
    **{name: name for name in ("sin", "cos", "tan", "sinh", "cosh")},
    "sigma": "sigma", "sigmoid": "sigma", "log": "ln", "ReLU": "relu", "sech": "sech", "coth": "coth",
    **dict.fromkeys(("silu", "swish"), "silu"), "log2": "log2", "lb": "log2", "log10": "log10",
}  # fmt: skip
BASES = {"log2": 2, "log10": 10}
RECIPROCAL = {"sech": "cosh", "coth": "tanh"}


class Grammar:
    """One parse of one text: a cursor over its tokens that enforces the limits, and the rules from the top down."""

    def __init__(self, text: str, *, softmax_prefix: bool = False) -> None:
        self.text = text
        self.softmax_prefix = softmax_prefix
        self.tokens = tokenise(text)
        self.move(0)
        self.depth = 0
        self.nodes = 0
        self.warnings: list[ScopeNote] = []

    # -- the cursor

    def move(self, position: int) -> None:
        """Set the cursor; `token` is what stands under it, the last token where it is moved further."""
        self.position = min(position, len(self.tokens) - 1)
        self.token = self.tokens[self.position]

    def ahead(self, distance: int = 1) -> Token:
        """A later token; the end token when there is none."""
        return self.tokens[min(self.position + distance, len(self.tokens) - 1)]

    def at(self, *texts: str) -> bool:
        """Whether the cursor is at one of these symbols."""
        return self.token.text in texts and self.token.kind == "sign"

    def take(self) -> Token:
        """The token under the cursor, which moves on."""
        token = self.token
        self.move(self.position + 1)
        return token

    def accept(self, text: str) -> bool:
        """Move past this symbol if it is here."""
        if self.token.text == text and self.token.kind == "sign":
            self.move(self.position + 1)
            return True
        return False

    def expect(self, text: str) -> None:
        """Move past this symbol or raise."""
        if not self.accept(text):
            raise self.failure(f"{text!r} is missing here")

    def failure(self, message: str, code: str = "syntax", token: Token | None = None) -> Unreadable:
        """The exception to raise, its caret under `token` or the cursor."""
        return Unreadable(code, message, self.text, (token or self.token).column)

    @contextmanager
    def level(self) -> Iterator[None]:
        """One level of nesting deeper."""
        self.depth += 1
        if self.depth > DEEPEST:
            raise self.failure(f"brackets are nested deeper than {DEEPEST} levels", "too_deep")
        yield
        self.depth -= 1

    def count(self) -> None:
        """One more node of the tree."""
        self.nodes += 1
        if self.nodes > MOST_NODES:
            raise self.failure(f"this has more than {MOST_NODES} parts", "too_many")

    # -- equations, sums and products

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
        if self.at("<", "<=", ">", ">=", "!="):
            return "write an equation, not a comparison; 1[i<=j] is one where i<=j"
        if self.at("!"):
            return "factorials are not read in an equation: write the number out"
        if self.at(")", "]", "}"):
            return f"this {self.token.text!r} has no opening bracket"
        if self.token.kind == "number":
            return "a number behind a number: write * between them, or no space in one number"
        if self.at(","):
            return "there is a comma here: write decimals with a point, and each equation on a line of its own"
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
        negative = self.accept("-")
        if self.token.kind != "number":
            raise self.failure("an exponent is a number, or stands in braces: x^{…}")
        return Sum(terms=((-1, self.number()),)) if negative else self.number()

    def primary(self) -> Expr:
        """A number, a tensor, a call or something in brackets."""
        token = self.token
        if token.kind == "number":
            return self._indicator() or self.number()
        if token.kind == "command":
            return self._command()
        for opening, closing in CLOSING.items():
            if self.accept(opening):
                inside = self.expr()
                self.expect(closing)
                return inside
        if self._call_starts():
            return self._call(FUNCTIONS[self.take().text])
        if (power := self._power_of_a_call()) is not None:
            return power
        if token.text == "sqrt" and token.kind == "word" and not self._names_a_tensor():
            return self._bare_root()
        if token.kind == "word" and token.text in FUNCTIONS and not self._names_a_tensor():
            return self._bare_call()
        if token.kind in ("word", "accent"):
            return self.tensor()
        if self.at("!"):
            raise self.failure("factorials are not read in an equation: write the number out")
        if self.at("|"):
            raise self.failure("bars are not read in an equation: write abs(…)")
        raise self.failure("the text ends too early" if token.kind == "end" else "a factor is expected here")

    def _indicator(self) -> Expr | None:
        """`1[i=j]`, where a one and a bracket with a comparison of indices stand here."""
        start, nodes, depth = self.position, self.nodes, self.depth
        if self.token.text != "1" or self.ahead().text not in ("[", "(", "{", "_"):
            return None
        column = self.take().column
        try:
            self.accept("_")
            closing = CLOSING[self.take().text]
            left = self.index()
            sign = self._comparison()
            right = self.index()
            self.expect(closing)
        except (Unreadable, KeyError):
            self.move(start)
            self.nodes, self.depth = nodes, depth
            return None
        indices = (right, left) if sign in (">", ">=") else (left, right)
        sign = {">": "<", ">=": "<="}.get(sign, sign)
        return Indicator(name=Name(base="1"), indices=indices, sign=sign, column=column)

    def _comparison(self) -> str:
        """`=`, `!=`, `<`, `<=`, `>`, `>=`, as one sign or as two."""
        sign = self.take().text
        if sign in ("<", ">", "!", "=") and self.accept("="):
            return "=" if sign == "=" else f"{sign}="
        if sign not in ("<", "<=", ">", ">=", "=", "!="):
            raise self.failure("a comparison is expected here")
        return sign

    def _names_a_tensor(self) -> bool:
        """Whether a function's word stands for a tensor: a deviation `sigma`, or one with a label."""
        return self.token.text == "sigma" or self.ahead().text in ("_", "^", "'")

    # -- what binds an index, and how far it reaches

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
        symbols = self._symbols()
        while self.accept(","):
            symbols += self._symbols()
        lower = self.index() if self.accept("=") else None
        self.expect(closing)
        return tuple(symbols), lower

    def _symbols(self) -> list[Symbol]:
        """One index, or letters side by side: `sum_{ij}`."""
        word = self.token.text
        apart = self.token.kind == "word" and word.isalpha() and word.islower() and 2 <= len(word) <= MOST_LETTERS
        if not apart or word in GREEK or self.ahead().text not in (",", "}"):
            return [self.symbol()]
        self.take()
        return [Symbol(letter=letter) for letter in word]

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
            if token.kind == "sign":
                depth += (token.text == "(") - (token.text == ")")
            elif token.kind == "word":
                words.add(token.text[:1] if token.text[1:].isdigit() else token.text)
                words.update(token.text if self.ahead(distance - 1).text in ("_", "{") else ())  # `M_{sk}`
            distance += 1
            if depth == 0:
                break
        return all(symbol.letter.lstrip("D") in words or symbol.letter in words for symbol in symbols)

    def _warn(self, code: str, message: str, column: int) -> None:
        self.warnings.append(ScopeNote(code=code, message=message, column=column))

    # -- numbers, calls and tensors with their index lists

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

    def _power_of_a_call(self) -> Expr | None:
        """`tanh^2(x)`, the square of the value; of `tanh^{-1}` and of a deviation `sigma^2` nothing is guessed."""
        word, braced = self.token.text, self.ahead(2).text == "{"
        exponent, closing = self.ahead(3 if braced else 2), 4 if braced else 2
        if self.token.kind != "word" or word not in FUNCTIONS or word == "sigma" or self.ahead().text != "^":
            return None
        whole = exponent.kind == "number" and exponent.text.isdecimal() and int(exponent.text) >= 2
        if not whole or (braced and self.ahead(4).text != "}"):
            return None
        if self.ahead(closing + 1).text not in ("(", "[", "{"):
            raise self.failure(f"brackets are missing around the argument of the function: {word}^{exponent.text}(…)")
        self.move(self.position + 2 + braced)
        power = self.number()
        if braced:
            self.expect("}")
        self.count()
        return Power(base=self._call(FUNCTIONS[word]), exponent=power)

    def _call(self, function: str) -> Expr:
        closing = CLOSING[self.take().text]
        arguments = [self.expr()]
        while self.accept(","):
            arguments.append(self.expr())
        self.expect(closing)
        wanted = 2 if function in ("max", "min") else 1
        if len(arguments) != wanted:
            raise self.failure(f"{function} takes {wanted} argument{'s' if wanted > 1 else ''}")
        self.count()
        if function == "silu":
            return Product(factors=(("*", arguments[0]), ("*", Call(function="sigma", arguments=tuple(arguments)))))
        if function in BASES:
            base = Call(function="ln", arguments=(Number(value=Fraction(BASES[function])),))
            return Product(factors=(("*", Call(function="ln", arguments=tuple(arguments))), ("/", base)))
        if function in RECIPROCAL:
            one_over = Sum(terms=((-1, Number(value=Fraction(1))),))
            return Power(base=Call(function=RECIPROCAL[function], arguments=tuple(arguments)), exponent=one_over)
        return Call(function=function, arguments=tuple(arguments))

    def _bare_root(self) -> Expr:
        """A root without brackets takes one factor; before two it may end behind the first."""
        start = self.take()
        inside = self.factor()
        if self._factor_starts():
            under, behind = self.text[start.end : self.token.column].strip(), self.token
            self.factor()
            after = self.text[behind.column : self.token.column].strip()
            message = f"this root reads in two ways: write sqrt({under})*{after} or sqrt({under}*{after})"
            raise self.failure(message, token=behind)
        self.count()
        return Call(function="sqrt", arguments=(inside,))

    def _bare_call(self) -> Expr:
        """`ln P[t,w]` and `ln sum_w …`: without brackets a function takes one entry, or a sum, if nothing is behind it
        that could belong to it as well.
        """
        start = self.take()
        missing = f"brackets are missing around the argument of the function: {start.text}(…)"
        if (
            start.text in ("max", "min", "abs", "relu", "silu", "swish", "lb", *BASES, *RECIPROCAL)
            or self.token.text in FUNCTIONS
        ):
            raise self.failure(missing, token=start)
        if self._binder_starts():
            inside, _ = self.binder()
        elif self.token.kind in ("word", "accent"):
            inside = self.tensor()
        else:
            raise self.failure(missing, token=start)
        apart = self.at("/") and not self._indexed_behind()
        if self.at("*", "^") or self._factor_starts() or (self.at("/") and not apart):
            raise self.failure(missing, token=start)
        self.count()
        return Call(function=FUNCTIONS[start.text], arguments=(inside,))

    def _indexed_behind(self) -> bool:
        """Whether the divisor that follows has indices or brackets of its own: `ln a[i] / b[i]` reads in two ways."""
        return self.ahead().kind not in ("number", "word") or self.ahead(2).text in ("[", "(", "_", "^")

    def _command(self) -> Expr:
        """`\\frac{a}{b}`, `\\sqrt{a}`, `\\underset{x,y}{\\text{softmax}} …` as a factor."""
        command = self.take()
        if command.text == "sqrt":
            if self.at("{", "("):
                return self._call("sqrt")
            if self.at("["):
                raise self.failure("roots with an index are not read here: write (…)^{1/3}")
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
        if self.token.kind not in ("word", "accent"):
            raise self.failure("put braces around what belongs together: \\sqrt{…}, \\frac{…}{…}")
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
            start, nodes, depth = self.position, self.nodes, self.depth
            try:
                return self._round(name, column)
            except Unreadable:
                self.move(start)
                self.nodes, self.depth = nodes, depth
            if len(name.base) > 1 and not (name.base in GREEK and _BELOW.fullmatch(name.lower)):
                return self._opaque(name, column)
        if not indices and (pair := _KRONECKER.fullmatch(name.text)):
            symbols = [_symbol(part) for part in pair.groups()]
            indices = tuple(Index(terms=(IndexTerm(coefficient=1, atom=symbol),)) for symbol in symbols)
            name = Name(base="delta")
        return Tensor(name=name, indices=indices, given=given, column=column)

    def _round(self, name: Name, column: int) -> Tensor:
        """`e(w)[I]` and the like; Unreadable where the bracket holds no index list of this name."""
        self.take()
        indices, given = self._index_list(")")
        size = len(name.base) == 1 and name.base.isupper() and name.key == name.base
        if size and len(indices) == 1 and len(indices[0].terms) > 1:
            raise self.failure("an axis size times a bracket")
        if name.lower and len(indices) == 1 and _differs(indices[0]):
            raise self.failure("a tensor with indices below times a bracket")
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
        found = [self._entry()]
        while self.accept(","):
            found.append(self._entry())
        parts: list[str] = []
        if self.accept("|"):
            depth = 0
            while depth or not self.at(closing):
                token = self.take()
                if token.kind in ("end", "line"):
                    raise self.failure(f"{closing!r} is missing", token=token)
                depth += token.kind == "sign" and token.text in "([{"
                depth -= token.kind == "sign" and token.text in ")]}"
                parts.append("" if token.kind in ("accent", "command") else token.text)
        self.expect(closing)
        return tuple(found), "".join(parts)

    def _entry(self) -> Index:
        """An index; `w_t = w`, as in P(w_t = w), is the index w_t, and `w_t = v` is v."""
        index = self.index()
        if (symbol := index.symbol) is None or not symbol.label or not self.accept("="):
            return index
        value = self.index()
        return index if value.symbol == Symbol(letter=symbol.letter, primes=symbol.primes) else value

    def _opaque(self, name: Name, column: int) -> Expr:
        self.expect("(")
        arguments = [self.expr()]
        while self.accept(","):
            arguments.append(self.expr())
        self.expect(")")
        self.count()
        return Opaque(name=name, arguments=tuple(arguments), column=column)

    # -- names

    def name(self) -> Name:
        """`W`, `W^Q`, `W_{l+1}^{h,R}`, `h_in`, `\\tilde{W}^Q`, `h->`, `y.hat`, `W'`."""
        self.count()
        accents: list[str] = []
        braces = 0
        while self.token.kind == "accent" or (self.at("{") and (accents or braces)):
            token = self.take()
            if token.kind == "accent":
                accents.append(ACCENTS.get(token.text, token.text))
            else:
                braces += 1
        if self.token.kind != "word":
            raise self.failure("a tensor's name is expected here")
        base, digits = _split(self.take().text)
        marks = {"_": digits, "^": ""}
        primes = self._marks(marks)
        for _ in range(braces):
            self.expect("}")
        while self.token.kind == "accent" and self._attached():
            accents.append(self.take().text)
        primes += self._marks(marks)
        if any(accent not in ACCENT_TEXT for accent in accents):
            raise self.failure("this accent is not known here")
        return Name(base=base, accents=tuple(sorted(accents)), lower=marks["_"], upper=marks["^"], primes=primes)

    def _attached(self) -> bool:
        before, here = self.tokens[self.position - 1], self.token
        return before.end == here.column

    def _marks(self, marks: dict[str, str]) -> int:
        """Read the labels and primes that follow into `marks`; return how many primes."""
        primes = 0
        while primes <= MOST_PRIMES:
            if self.at("'"):
                self.take()
                primes += 1
            elif self.at("^") and self.ahead().text == "'":
                self.take()
            elif self.at("^") and self.ahead().text == "{" and self.ahead(2).text == "'":
                self.move(self.position + 2)
                while self.accept("'"):
                    primes += 1
                self.expect("}")
            elif self.at("_") or (self.at("^") and self._labels_follow()):
                mark = self.take()
                if marks[mark.text]:
                    raise self.failure(f"a second {mark.text!r} on the same name", token=mark)
                marks[mark.text] = self.label()
            else:
                return primes
        raise self.failure(f"more than {MOST_PRIMES} primes")

    def _labels_follow(self) -> bool:
        """Whether the `^` here starts a label (`W^Q`, `W^0[j]`), not a power (`I^2`, `I^{-1/2}`)."""
        first = self.ahead()
        if first.kind == "word":
            return True
        if first.kind == "number":
            return self.ahead(2).text == "["
        if first.text != "{":
            return False
        distance, depth, words, signed = 2, 1, 0, False
        while depth and self.ahead(distance).kind != "end":
            token = self.ahead(distance)
            depth += (token.text == "{") - (token.text == "}")
            if token.kind == "sign" and token.text in "/*([":
                return False
            words += token.kind == "word"
            signed = signed or (token.kind == "sign" and token.text in "+-")
            distance += 1
        return self.ahead(distance).text == "[" or (words > 0 and not signed)

    def label(self) -> str:
        """The text of a label without spaces and braces: `{h,R}` -> `h,R`, `{t_{in}}` -> `t_in`. Braces stay around
        a list within: `{w_{t,b},i}`.
        """
        if not self.at("{"):
            if self.token.kind not in ("word", "number"):
                raise self.failure("a label is expected here")
            return self.take().text
        self.take()
        depth, parts, opened = 1, list[str](), list[int]()
        while depth:
            token = self.take()
            if token.kind in ("end", "line", "command", "accent"):
                raise self.failure("this label is not closed, or contains something that is not a label", token=token)
            depth += (token.text == "{") - (token.text == "}")
            if token.text == "{":
                opened.append(len(parts))
            if token.text == "}" and opened and "," in parts[(start := opened.pop()) :]:  # `e_{w_{t,b},i}`
                parts[start:] = ["{", *parts[start:], "}"]
            if token.text not in ("{", "}"):
                if token.kind == "sign" and token.text not in ",+-_'":
                    raise self.failure(f"{token.text!r} does not belong in a label", token=token)
                parts.append(token.text)
        if not parts:
            raise self.failure("an empty label")
        return "".join(parts)

    # -- indices

    def symbol(self) -> Symbol:
        """`j`, `J_1`, `j1` (the same as `j_1`), `t'`, `t_{in}`, `Dt`, `\\Delta t`, a Greek letter."""
        token = self.take()
        letter, digits = _split(token.text) if token.kind == "word" else ("", "")
        if letter == "Delta" and self.token.kind == "word":
            following, digits = _split(self.take().text)
            letter = "D" + following
        offset = len(letter) == 2 and letter[0] == "D" and letter[1].islower()
        if not (len(letter) == 1 or offset or letter in GREEK):
            raise self.failure(
                "an index is one letter, such as j, J_1, t' or Dt, and indices are separated by commas",
                token=token,
            )
        marks = {"_": digits, "^": ""}
        primes = self._marks(marks)
        if marks["^"]:
            raise self.failure("an index has no upper label", token=token)
        self.count()
        return Symbol(letter=letter, label=marks["_"], primes=primes)

    def index(self) -> Index:
        """`t-1`, `2t+Dt`, `2(t+Dt)`, `w[b,t]`, `K-1`, `3`."""
        with self.level():
            sign = -1 if self.accept("-") else 1
            terms = self._index_terms(sign)
            while self.at("+", "-"):
                sign = 1 if self.take().text == "+" else -1
                terms += self._index_terms(sign)
            return Index(terms=tuple(terms))

    def _index_terms(self, sign: int) -> list[IndexTerm]:
        """One term, or those of a bracket with what it is multiplied by."""
        coefficient = sign
        if self.token.kind == "number":
            number = self.take()
            if not number.text.isdigit() or int(number.text) > LARGEST_INTEGER:
                said = "an index must be a whole number of moderate size"
                if "e" in number.text:
                    apart = number.text.replace("e", "*e")
                    said = f"{number.text} reads in two ways here: write {apart}, or a whole number"
                raise self.failure(said, token=number)
            coefficient *= int(number.text)
            self.accept("*")
            if self.token.kind != "word" and not self.at("("):
                return [IndexTerm(coefficient=coefficient, atom=None)]
        if self.accept("("):
            inside = self.index()
            self.expect(")")
            return [replace(term, coefficient=coefficient * term.coefficient) for term in inside.terms]
        return [self._index_atom(coefficient)]

    def _index_atom(self, coefficient: int) -> IndexTerm:
        start = self.position
        if self.token.kind == "word" and self._looks_up():
            name = self.name()
            closing = "]" if self.take().text == "[" else ")"
            return IndexTerm(coefficient=coefficient, atom=Lookup(name=name, indices=self.indices(closing)))
        self.move(start)
        atom = self.symbol()
        if self.at("*") and self.ahead().kind == "number" and self.ahead().text.isdigit():  # `t*2`
            self.take()
            coefficient *= min(int(self.take().text), LARGEST_INTEGER)
        return IndexTerm(coefficient=coefficient, atom=atom)

    def _looks_up(self) -> bool:
        """Whether a name with an index list of its own starts here."""
        start, nodes = self.position, self.nodes
        try:
            self.name()
            return self.at("[", "(")
        except Unreadable:
            return False
        finally:
            self.move(start)
            self.nodes = nodes

    def indices(self, closing: str) -> tuple[Index, ...]:
        """The indices up to and including the closing bracket, which must come."""
        found = [self.index()]
        while self.accept(","):
            found.append(self.index())
        self.expect(closing)
        return tuple(found)


_BELOW = re.compile(r"[a-z]'*|[a-z]{2}|[a-z].*,.*")  # a label that may be indices, as in `\\alpha_s (M_{s,j} - V_j)`
_KRONECKER = re.compile(r"delta_\{?([A-Za-z](?:_[A-Za-z0-9])?'*),?([A-Za-z](?:_[A-Za-z0-9])?'*)\}?")  # delta_{ij}


def _differs(index: Index) -> bool:
    """Whether it is no index but a sum or difference of entries, as the bracket in `q_i (M_{s,j} - V_j)`."""
    labels = [term.atom.label for term in index.terms if isinstance(term.atom, Symbol)]
    return len(index.terms) > 1 and any("," in label or (len(label) == 1 and label.isalpha()) for label in labels)


def _symbol(text: str) -> Symbol:
    letter, _, label = text.rstrip("'").partition("_")
    return Symbol(letter=letter, label=label, primes=text.count("'"))


def _split(word: str) -> tuple[str, str]:
    """`W1` -> `W`, `1`; the digits become a label."""
    letters = word.rstrip("0123456789")
    return letters, word[len(letters) :]


def _holds_capital(lookup: Lookup) -> bool:
    atoms = [term.atom for index in lookup.indices for term in index.terms]
    return any(
        atom.capital if isinstance(atom, Symbol) else atom is not None and _holds_capital(atom) for atom in atoms
    )


def parse(text: str, *, softmax_prefix: bool = False) -> System:
    """The system that `text` says: equations apart by new lines or `;;`, typed or pasted as LaTeX.

    Raises Unreadable with code syntax, look_alike, empty, too_long, too_deep or too_many.
    """
    try:
        return Grammar(text, softmax_prefix=softmax_prefix).system()
    except RecursionError:
        raise Unreadable("too_deep", "this is nested too deeply", text, 0) from None
    except Unreadable as error:
        raise explained(error) from None
