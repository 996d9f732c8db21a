r"""Tokens to a tree, by recursive descent; nothing typed is ever evaluated.

    bound    = ( "O" | "Theta" ) bracket | sum ;
    sum      = [ "-" | "+" ] product { ( "+" | "-" ) product } ;
    product  = joined { "*" joined | "/" power } ;
    joined   = power { power } ;                                      a factor beside a factor is a product
    power    = primary [ "!" ] [ "^" [ "-" ] power ] ;                right-associative; ln n! is n ln n
    primary  = NUMBER | VARIABLE | "e" | call | bracket | "\frac" group group ;
    bracket  = "(" sum ")" | "[" sum "]" | "{" sum "}" ;
    group    = bracket | DIGIT | LETTER ;                             one token, as in TeX: \frac12
    call     = FUNCTION [ "_" group ] [ "^" group ] ( "(" sum { "," sum } ")" | power { power } )
             | "\sqrt" [ "[" sum "]" ] group ;

`^` binds tighter than a product, juxtaposition is a product, and a function without parentheses takes the product that
is joined to it without a space: `ln XY` is ln(X*Y), `ln X ln Y` is ln(X)*ln(Y). A quotient of two numerals before a
space is one number: `1/2 n`. What a reader could take two ways (`ln X Y`, `n/2k`, `sqrt 2 n`, `n2`) is refused with
both ways of writing it, because a guess could turn into a wrong verdict.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable
from fractions import Fraction

from autograder.errors import Unreadable
from autograder.maths.chain import behind_its_name
from autograder.maths.growth.growth_printing import to_text
from autograder.maths.growth.growth_tokens import SPELLINGS, Piece, Tokeniser
from autograder.maths.growth.growth_tree import (
    FUNCTIONS,
    Call,
    Growth,
    Name,
    Node,
    Number,
    Power,
    Product,
    Quotient,
    Sum,
    nodes,
)
from autograder.maths.spelling import CLOSING

MAX_DEPTH = 60
MAX_NODES = 600
_STARTS = {"number", "name", "constant", "function", "frac", "(", "[", "{"}


def parse(text: str, *, variables: Iterable[str]) -> Growth:
    """Read a bound such as `O(n ln n)`, `\\Theta(T + L)` or `max(n, d)`; raises Unreadable with a code and a column.

    What it bounds may stand before it: `time = O(n)`, `f(n) \\in O(n)`.
    """
    declared = tuple(variables)
    tree = behind_its_name(text, lambda text: _Parser(text, declared).whole())
    return Growth(tree=tree, variables=declared)


class _Parser:
    def __init__(self, text: str, variables: tuple[str, ...]) -> None:
        self.text, self.position, self.depth = text, 0, 0
        self.factorial: Piece | None = None  # the last one
        self.tokens = Tokeniser(text, variables).tokens()

    # -- the stream --------------------------------------------------------------------------------------------------
    @property
    def token(self) -> Piece:
        return self.tokens[self.position]

    def take(self, *kinds: str) -> Piece | None:
        """The next token if it is one of `kinds`."""
        token = self.token
        if token.kind not in kinds:
            return None
        self.position += 1
        return token

    def need(self, kind: str) -> Piece:
        token = self.take(kind)
        if token is None:
            raise self.fault("syntax", f"{kind!r} is expected {self.place()}.")
        return token

    def place(self) -> str:
        return "at the end" if self.token.kind == "end" else "here"

    def fault(self, code: str, message: str, token: Piece | None = None) -> Unreadable:
        return Unreadable(code, message, self.text, (token or self.token).column)

    # -- the grammar -------------------------------------------------------------------------------------------------
    def whole(self) -> Node:
        """An answer: a wrapper around everything, or a bare sum."""
        if self.token.kind == "end":
            raise self.fault("empty", "Nothing was typed.")
        tree = self.bracketed() if self.take("wrapper") else self.sum()
        if self.token.kind == "_":
            raise self.fault("unknown_name", "No variable of this question has this subscript.")
        if self.token.kind == ",":
            raise self.fault("syntax", "there is a comma here: write decimals with a point")
        if self.token.kind != "end":
            raise self.fault("syntax", "The bound ends before this point: write one O(...) around the whole answer.")
        if any(isinstance(node, Call) and node.function == "factorial" for node in nodes(tree)):
            message = "A factorial grows faster than every exponential: only ln n! is read here, as n ln n."
            raise self.fault("factorial", message, self.factorial)
        if sum(1 for _ in itertools.islice(nodes(tree), MAX_NODES + 1)) > MAX_NODES:
            raise Unreadable("too_long", f"The answer has more than {MAX_NODES} parts.", self.text, 0)
        return tree

    def nested(self, rule: Callable[[], Node]) -> Node:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise self.fault("too_deep", f"Brackets and powers may be nested at most {MAX_DEPTH} deep.")
        node = rule()
        self.depth -= 1
        return node

    def bracketed(self) -> Node:
        opening = self.take(*CLOSING)
        if opening is None:
            raise self.fault("syntax", f"'(' is expected {self.place()}.")
        node = self.nested(self.sum)
        self.need(CLOSING[opening.kind])
        return node

    def sum(self) -> Node:
        """Products joined by + and -."""
        sign = self.take("+", "-")
        terms = [(-1 if sign and sign.kind == "-" else 1, self.product())]
        while operator := self.take("+", "-"):
            terms.append((1 if operator.kind == "+" else -1, self.product()))
        return terms[0][1] if terms == [(1, terms[0][1])] else Sum(terms=tuple(terms))

    def product(self) -> Node:
        """Juxtaposed factors joined by * and /, from left to right."""
        factors = self.joined()
        while operator := self.take("*", "/"):
            if operator.kind == "*":
                factors += self.joined()
                continue
            below = self.power()
            plain = len(factors) == 1 and isinstance(factors[0], Number) and isinstance(below, Number)
            if self.token.kind in _STARTS and not (plain and self.token.spaced and self.token.kind != "number"):
                message = (
                    "This reads in two ways, since it is not clear what is divided by what: write a/(b*c) or (a/b)*c."
                )
                raise self.fault("ambiguous", message, operator)
            if isinstance(factors[-1], Power) and factors[-1].exponent == Number(value=Fraction(1)):
                raise self.fault("ambiguous", "Put an exponent that is a quotient in brackets: n^(1/2).", operator)
            factors = [Quotient(top=_product(factors), bottom=below)]
            if self.token.kind in _STARTS:  # 1/2 n
                factors += self.joined()
        return _product(factors)

    def joined(self) -> list[Node]:
        factors = [self.power()]
        while self.token.kind in _STARTS:
            if self.token.kind == "number":
                self.refuse_number(factors[-1])
            factors.append(self.power())
        return factors

    def refuse_number(self, before: Node) -> None:
        """A number behind a bracket or a space is one more factor; `n2` may be a power, `10 000` one number."""
        token, last = self.token, self.tokens[self.position - 1]
        thousands = last.kind == "number" and (len(token.text) == 3 or token.text[0] == "0")
        if last.kind in CLOSING.values() or (token.spaced and not isinstance(before, Number) and not thousands):
            return
        raise self.fault("ambiguous", "A number follows a factor, which reads in two ways: "
                         "write n^2 for a power, 2*n for a product.")  # fmt: skip

    def power(self) -> Node:
        base = self.primary()
        if mark := self.take("!"):
            self.factorial = mark
            base = Call(function="factorial", arguments=(base,))
        return Power(base=base, exponent=self.nested(self.exponent)) if self.take("^") else base

    def exponent(self) -> Node:
        if self.take("-"):
            return Sum(terms=((-1, self.power()),))
        return self.power()

    def primary(self) -> Node:
        token = self.token
        if self.take("number"):
            return Number(value=token.value)
        if self.take("name"):
            return Name(name=token.text)
        if self.take("constant"):
            return Call(function="exp", arguments=(Number(value=Fraction(1)),))
        if token.kind in CLOSING:
            return self.bracketed()
        if self.take("frac"):
            return Quotient(top=self.argument(), bottom=self.argument())
        if self.take("function"):
            return self.application(token)
        if token.kind == "wrapper":
            raise self.fault("wrapper", "Write one O(...) around the whole answer, and none inside it.")
        raise self.fault("syntax", f"A variable, a number or a bracket is expected {self.place()}.")

    def argument(self) -> Node:
        """What \\frac takes: a bracket; one letter or digit has got its braces before."""
        if self.token.kind not in CLOSING:
            raise self.fault("syntax", "\\frac takes two arguments in braces: \\frac{…}{…}")
        return self.bracketed()

    def group(self) -> Node:
        """A base or an exponent of a function: a bracket, a name or a number."""
        if self.token.kind in CLOSING:
            return self.bracketed()
        if token := self.take("name"):
            return Name(name=token.text)
        number = self.need("number")
        return Number(value=number.value)

    # -- functions ---------------------------------------------------------------------------------------------------
    def application(self, token: Piece) -> Node:
        """`ln(...)`, `ln XY`, `log_2 n`, `ln^2 n`, `\\sqrt[3]{n}`."""
        function, fixed = SPELLINGS[token.text]
        base = Number(value=Fraction(fixed)) if fixed else self.subscript(token)
        root = self.index(function)
        exponent = self.nested(self.group_exponent) if self.take("^") else None
        arguments = self.arguments(token)
        if function == "ln" and len(arguments) == 2 and base is None:
            base = arguments.pop()
        if base is not None:
            function, arguments = "log", [*arguments, base]
        fewest, most = FUNCTIONS[function]
        if not fewest <= len(arguments) <= most:
            raise self.fault("arity", f"{token.text} has {len(arguments)} arguments here.", token)
        if function == "factorial":
            self.factorial = token
        node: Node = Call(function=function, arguments=tuple(arguments))
        match arguments[0]:
            case Call(function="factorial", arguments=(inside,)) if function in ("ln", "log") and _counts(inside):
                node = Product(factors=(inside, Call(function=function, arguments=(inside, *arguments[1:]))))
        if root is not None:
            node = Power(base=arguments[0], exponent=Quotient(top=Number(value=Fraction(1)), bottom=root))
        return node if exponent is None else Power(base=node, exponent=exponent)

    def subscript(self, token: Piece) -> Node | None:
        """The base in `log_2`, `\\log_{10}`, `log_k`."""
        if not self.take("_"):
            return None
        if SPELLINGS[token.text] != ("ln", None) or token.text == "ln":
            raise self.fault("syntax", f"{token.text} does not take a base.", token)
        return self.nested(self.group)

    def index(self, function: str) -> Node | None:
        if function != "sqrt" or not self.take("["):
            return None
        node = self.nested(self.sum)
        self.need("]")
        return node

    def group_exponent(self) -> Node:
        """The exponent in `ln^2 n`: a number or a bracket; `ln^{-1}` would be read as an inverse function."""
        if self.token.kind == "-":
            raise self.fault("ambiguous", "Write 1/ln(...) for a quotient.")
        return self.group()

    def arguments(self, token: Piece) -> list[Node]:
        """In brackets and separated by commas, or the product joined on without a space."""
        opening = self.take(*CLOSING)
        if opening is None:
            return [self.nested(lambda: self.bare(token))]
        found = [self.nested(self.sum)]
        while self.take(","):
            found.append(self.nested(self.sum))
        self.need(CLOSING[opening.kind])
        return found

    def bare(self, token: Piece) -> Node:
        """The X*Y of `ln XY`; refuses what could also end after the first factor."""
        if SPELLINGS[token.text][0] in {"max", "min", "exp", "ceil", "floor"}:
            raise self.fault("syntax", f"Write {token.text}(...) with brackets.")
        if self.token.kind == "function":
            return self.power()
        factors = [self.power()]
        while self.token.kind in _STARTS - {"function"}:
            if token.text == "sqrt":
                raise self.long_root(self.token, factors[0], self.power())
            counted = isinstance(factors[-1], Number) and self.token.kind == "name" and len(factors) == 1
            if (self.token.spaced and not counted) or self.token.kind not in {"name", "number"}:
                raise self.fault("ambiguous", f"It is not clear where the argument of {token.text} ends: "
                                 f"put it in brackets, {token.text}(...).")  # fmt: skip
            if self.token.kind == "number":
                self.refuse_number(factors[-1])
            factors.append(self.power())
        return _product(factors)

    def long_root(self, second_token: Piece, *factors: Node) -> Unreadable:
        """A root without brackets takes one factor; before two it may end behind the first."""
        first, second = (f"({text})" if isinstance(node, Sum) else text for node in factors
                         for text in [to_text(Growth(tree=node, variables=()))])  # fmt: skip
        message = f"This root reads in two ways: write sqrt({first})*{second} or sqrt({first}*{second})."
        return self.fault("ambiguous", message, second_token)


def _counts(node: Node) -> bool:
    """Whether a factorial of this is one of a number that is at least 2 and grows with its variables."""
    match node:
        case Name():
            return True
        case Number(value=value):
            return value >= 2
        case Product(factors=factors):
            return all(map(_counts, factors))
        case _:
            return False


def _product(factors: list[Node]) -> Node:
    return factors[0] if len(factors) == 1 else Product(factors=tuple(factors))
