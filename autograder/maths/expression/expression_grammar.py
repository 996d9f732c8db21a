"""The grammar: a recursive descent that never evaluates what it reads.

    sum      = [ "-" | "+" ] product { ( "+" | "-" ) product } ;
    product  = factor { "*" signed | "/" signed | factor } ;          a factor beside a factor is a product
    signed   = [ "-" | "+" ] factor ;
    factor   = primary { "!" } [ "^" signed ] ;                       right-associative, tighter than minus
    primary  = NUMBER | NAME | call | "(" sum ")" | "|" sum "|" | "frac" group group ;
    call     = FUNCTION [ "^" NUMBER ] ( "(" sum { "," sum } ")" | factor { factor } ) ;

`ln XY` takes the whole juxtaposed product, `ln(x)y` only the parenthesis. What reads in two ways is
refused, not guessed: `1/2x`, `ln x/y`, `e^xy`.
"""

from __future__ import annotations

from fractions import Fraction

from autograder.maths.expression import names
from autograder.maths.expression.expression_reader import Reader
from autograder.maths.expression.expression_tokens import Token
from autograder.maths.expression.syntax import (
    Add,
    Call,
    Constant,
    Div,
    Given,
    Mul,
    Neg,
    Node,
    Number,
    Pow,
    Sum,
)
from autograder.maths.expression.syntax import substitute as substituted
from autograder.maths.expression.vocabulary import FUNCTIONS

_BARS = {"|": ("|", "abs"), "bar(": ("bar)", "abs"), "floor(": ("floor)", "floor")}
_CLOSING = {"(": ")", "[": "]", "{": "}"}


class Grammar(Reader):
    """One text being read. `read` is the only entry."""

    def read(self) -> Node:
        """The tree of the whole text."""
        if self.token.kind == "end":
            raise self.error("empty", "there is no text here")
        self.refuse_equation()
        node = self.sum()
        if self.token.kind != "end":
            raise self.unexpected()
        return node

    def sum(self) -> Node:
        """Terms with + or - between them."""
        terms = [self.term()]
        while self.token.text in ("+", "-"):
            terms.append(self.term())
        return terms[0] if len(terms) == 1 else self.made(Add(tuple(terms)))

    def term(self) -> Node:
        """A product with its sign."""
        if self.accept("-"):
            with self.deeper():
                return self.made(Neg(self.term()))
        if self.accept("+"):
            with self.deeper():
                return self.term()
        return self.product()

    def product(self) -> Node:
        """Factors with *, / or nothing between them."""
        factors = self.factor()
        while True:
            if self.accept("*"):
                factors += self.signed()
            elif self.accept("/"):
                if self.loose == self.position - 1:
                    raise self.error("ambiguous", "ln a/b reads in two ways: write ln(a)/b or ln(a/b)")
                below = self.signed()
                if len(below) > 1 or self.starts_factor():
                    raise self.error("ambiguous", "a/b c reads in two ways: write (a/b)*c or a/(b*c)")
                factors = [self.made(Div(self.joined(factors), below[0]))]
            elif self.starts_factor():
                factors += self.factor()
            else:
                return self.joined(factors)

    def joined(self, factors: list[Node]) -> Node:
        """One factor as it is, several as a product."""
        return factors[0] if len(factors) == 1 else self.made(Mul(tuple(factors)))

    def signed(self) -> list[Node]:
        """A factor that may have a sign: after *, / and ^."""
        if self.accept("-"):
            with self.deeper():
                return [self.made(Neg(self.joined(self.signed())))]
        if self.accept("+"):
            with self.deeper():
                return self.signed()
        return self.factor()

    def factor(self) -> list[Node]:
        """The factors of a primary, several for a product of declared names; a power binds the last."""
        factors = self.primary()
        while self.token.text == "!" and "factorial" in self.words.functions:
            self.advance()
            factors[-1] = self.made(Call("factorial", (factors[-1],)))
        if self.accept("^"):
            with self.deeper():
                above = self.signed()
            if len(above) > 1 or self.runs_on(factors[-1]):
                raise self.error("ambiguous", "e^xy reads in two ways: write e^(x*y) or e^x*y")
            if self.token.text == "!":
                raise self.error("ambiguous", "a^b! reads in two ways: write parentheses")
            factors[-1] = self.made(Pow(factors[-1], above[0]))
        return factors

    def runs_on(self, base: Node) -> bool:
        """Whether a name touches a bare exponent, as in `e^-βi` and `e^2x`; `x^2y` is usual and clear."""
        if self.token.kind != "name" or not self.touching:
            return False
        before = self.tokens[self.position - 1].kind
        return before == "name" or (before == "number" and base == Constant("e"))

    def starts_factor(self) -> bool:
        """Whether a factor follows, which is then a product without a sign."""
        token = self.token
        if token.kind == "number" and not self.power_follows():
            raise self.error("juxtaposed_number", "a number after a factor: write * (or ^) between them")
        return (
            token.kind in ("name", "number")
            or token.text in ("(", "[", "{", "frac", "bar(", "floor(")
            or (token.text == "|" and not self.bars)
        )

    def power_follows(self) -> bool:
        """Whether a power of a number stands behind a bracket, as in `(D-1) 2^k`: no caret is forgotten there."""
        before, after = self.tokens[self.position - 1], self.tokens[min(self.position + 1, len(self.tokens) - 1)]
        return before.text in (")", "]", "}") and after.text == "^"

    def primary(self) -> list[Node]:
        """A number, name, call, parenthesis, bar or fraction."""
        token = self.token
        if token.kind == "number":
            self.advance()
            return [self.made(Number(Fraction(token.text)))]
        if token.kind == "name":
            self.advance()
            return self.named(token)
        if token.text in _CLOSING:
            return [self.group()]
        if token.text in _BARS:
            return [self.barred()]
        if self.accept("frac"):
            return [self.made(Div(self.single(), self.single()))]
        raise self.unexpected()

    def group(self) -> Node:
        """A parenthesis of any kind; bars inside it are its own."""
        closing = _CLOSING[self.advance().text]
        with self.deeper(bars=False):
            node = self.sum()
        self.expect(closing)
        return node

    def barred(self) -> Node:
        """An absolute value or a floor, by its bars."""
        closing, name = _BARS[self.advance().text]
        with self.deeper(bars=closing == "|"):
            node = self.sum()
        self.expect(closing)
        return self.made(Call(name, (node,)))

    def single(self) -> Node:
        """What \\frac takes: a group, or one character."""
        if self.token.text == "{":
            return self.group()
        if self.token.kind == "number" and "." not in self.token.text:
            return self.made(Number(Fraction(self.split_digit())))
        return self.joined(self.primary())

    def named(self, token: Token) -> list[Node]:
        """What a name begins: a sum, an abbreviation, a call or a variable."""
        if token.text in ("sum", "sum_"):
            return [self.series(token)]
        if key := names.given(token.text.removeprefix("\\"), self.words):
            return [self.abbreviation(key, token)]
        if token.text not in self.bound and (name := names.function(token.text, self.words, self.text, token.column)):
            return [self.call(name, token)]
        found = names.factors(token.text, self.bound, self.words, self.text, token.column, self.token.text == "^")
        return [self.made(node) for node in found]

    def call(self, name: str, token: Token) -> Node:
        """A function and its argument, with sin^2(x) and sqrt[3]{x}."""
        power: Node | None = None
        if self.token.text == "^":
            power = self.function_power(name)
        arguments, root = self.arguments(name, token), None
        if name == "sqrt" and self.token.text == "{" and self.after_bracket:
            root, arguments = arguments[0], (self.group(),)
        low, high = FUNCTIONS[name]
        if not low <= len(arguments) <= high:
            wanted = "one argument" if high == 1 else f"{low} or more arguments"
            raise self.error("arity", f"{name} takes {wanted}, not {len(arguments)}", token)
        if root is not None:
            node = self.made(Pow(arguments[0], self.made(Div(self.made(Number(Fraction(1))), root))))
        else:
            node = self.made(Call(name, arguments))
        return node if power is None else self.made(Pow(node, power))

    def function_power(self, name: str) -> Node:
        """The 2 of sin^2(x); an inverse function is not read, since sin^-1 means two things."""
        caret = self.advance()
        braces = self.accept("{")
        if self.token.kind != "number":
            raise self.error("function_power", f"write ({name}(x))^n for a power of {name}", caret)
        node = self.made(Number(Fraction(self.advance().text)))
        if braces:
            self.expect("}")
        return node

    def arguments(self, name: str, token: Token) -> tuple[Node, ...]:
        """The arguments of a call, or a juxtaposed product without parentheses."""
        with self.deeper():
            if self.token.text in _CLOSING:
                return self.listed(_CLOSING[self.advance().text])
            if self.token.text in _BARS and (self.token.text != "|" or not self.bars):
                return (self.barred(),)
            if FUNCTIONS[name] != (1, 1) or (self.token.kind != "number" and not self.starts_factor()):
                raise self.error("call", f"{name} needs its argument in parentheses: {name}(…)", token)
            factors = self.factor()
            while not self.at_function() and self.starts_factor():
                factors += self.factor()
            self.loose = self.position
            return (self.joined(factors),)

    def at_function(self) -> bool:
        """Whether the next name begins a call, which ends a juxtaposed argument."""
        token = self.token
        return token.kind == "name" and token.text not in self.bound and (
            token.text == "sum" or bool(names.function(token.text, self.words, self.text, token.column))
        )  # fmt: skip

    def listed(self, closing: str) -> tuple[Node, ...]:
        """Expressions separated by commas."""
        found = []
        with self.deeper(bars=False):
            while True:
                found.append(self.sum())
                if not self.accept(","):
                    break
        self.expect(closing)
        return tuple(found)

    def abbreviation(self, key: str, token: Token) -> Node:
        """An abbreviation of the question, with what it stands for."""
        definition = self.words.given[key]
        arguments: tuple[Node, ...] = ()
        if definition.parameters:
            if self.token.text != "(":
                raise self.error("call", f"{definition.name} needs its argument in parentheses", token)
            self.advance()
            arguments = self.listed(")")
        if len(arguments) != len(definition.parameters):
            wanted = len(definition.parameters)
            raise self.error("arity", f"{definition.name} takes {wanted} argument(s), not {len(arguments)}", token)
        body = substituted(definition.body, dict(zip(definition.parameters, arguments, strict=True)))
        return self.made(Given(definition.name, arguments, body), body)

    def series(self, token: Token) -> Node:
        """`sum(term, i, a, b)`, or `\\sum_{i=a}^{b} term` whose term ends at the next + or -."""
        if self.accept("_"):
            return self.sigma_sum(token)
        if self.token.text != "(":
            raise self.error("sum", "write sum(term, i, 0, inf)", token)
        index = self.index_ahead()
        self.advance()
        with self.deeper(bars=False), self.binding(index):
            body = self.sum()
        self.expect(",")
        self.advance()
        self.expect(",")
        with self.deeper(bars=False):
            lower = self.sum()
            self.expect(",")
            upper = self.sum()
        self.expect(")")
        return self.made(Sum(body, index, lower, upper))

    def sigma_sum(self, token: Token) -> Node:
        """The LaTeX form of a sum, after its underscore."""
        if not self.accept("{") or self.token.kind != "name":
            raise self.error("sum", "write the sum with its bounds: \\sum_{i=0}^{\\infty} …", token)
        index = self.new_index(self.advance())
        self.expect("=")
        lower = self.sum()
        self.expect("}")
        self.expect("^")
        upper = self.group() if self.token.text == "{" else self.joined(self.primary())
        with self.deeper(), self.binding(index):
            body = self.term()
        return self.made(Sum(body, index, lower, upper))
