r"""The grammar of closed forms: a recursive descent that never evaluates what it reads.

    sum      = [ "-" | "+" ] product { ( "+" | "-" ) product } ;
    product  = factor { "*" signed | "/" signed | factor } ;          a factor beside a factor is a product
    signed   = [ "-" | "+" ] factor ;
    factor   = primary { "!" } [ "^" signed ] ;                       right-associative, tighter than minus
    primary  = NUMBER | NAME | call | series | bracket | bars | "\frac" group group ;
    bracket  = "(" sum ")" | "[" sum "]" | "{" sum "}" ;
    bars     = "|" sum "|" | "\lfloor" sum "\rfloor" ;
    group    = bracket | DIGIT | LETTER ;                             one token, as in TeX: \frac12
    call     = FUNCTION [ "^" NUMBER ] ( "(" sum { "," sum } ")" | bars | factor { factor } )
             | "\sqrt" [ "[" sum "]" ] group ;
    series   = "sum(" sum "," NAME "," sum "," sum ")"
             | "\sum_{" NAME "=" sum "}^" group [ "-" | "+" ] product ;

`ln XY` takes the whole juxtaposed product, `ln(x)y` only the parenthesis, `\sqrt2 n` one token. A quotient of two
numerals before a space is one number: `1/2 n`. What reads in two ways is refused, not guessed: `1/2x`, `a/b c`,
`ln x/y`, `e^xy`, `sqrt 2 n`, `n2`.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction

from autograder.errors import Unreadable
from autograder.maths.expression import names
from autograder.maths.expression.expression_printing import to_text
from autograder.maths.expression.expression_tokens import tokens
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
    walk,
)
from autograder.maths.expression.syntax import substitute as substituted
from autograder.maths.expression.vocabulary import FUNCTIONS, Vocabulary
from autograder.maths.spelling import CLOSING, Token

DEPTH = 60
NODES = 600
EXPANDED = 4000
_BARS = {"|": ("|", "abs"), "bar(": ("bar)", "abs"), "floor(": ("floor)", "floor")}
_TYPED = {"bar(": r"\left|", "bar)": r"\right|", "frac": r"\frac", "floor)": r"\rfloor", "ceil)": r"\rceil"}


class Grammar:
    """One text being read: a cursor over its tokens, what is bound, and the limits on size and depth.

    `read` is the only entry.
    """

    def __init__(self, text: str, words: Vocabulary) -> None:
        self.text = text
        self.words = words
        self.tokens = tokens(text, lambda word: names.is_one(word, words))
        self.position = 0
        self.token = self.tokens[0]
        self.bound: list[str] = []
        self.bars = False
        self.loose = -1
        """Where an argument without parentheses ended."""
        self.depth = 0
        self.nodes = 0
        self.expanded = 0

    def advance(self) -> Token:
        """Step over the current token and return it."""
        token = self.token
        self.position = min(self.position + 1, len(self.tokens) - 1)
        self.token = self.tokens[self.position]
        return token

    def accept(self, sign: str) -> bool:
        """Step over `sign` if it is next."""
        if self.token.kind == "sign" and self.token.text == sign:
            self.advance()
            return True
        return False

    def expect(self, sign: str) -> None:
        """Step over `sign` or say that it is missing."""
        if not self.accept(sign):
            raise self.error("syntax", f"{_TYPED.get(sign, sign)} is missing here")

    @property
    def touching(self) -> bool:
        """Whether the current token follows the one before it without a space or backslash between them."""
        token = self.token
        return not token.spaced and not (token.command and self.text[token.column].isascii())

    @property
    def after_bracket(self) -> bool:
        """Whether the token before the current one is a square bracket that closes."""
        return self.position > 0 and self.tokens[self.position - 1].text == "]"

    def refuse_equation(self) -> None:
        """An equals sign belongs under a sum only; elsewhere a left side was written too."""
        for position, token in enumerate(self.tokens):
            if token.text == "=" and [t.text for t in self.tokens[max(position - 3, 0) : position - 1]] != [
                "_",
                "{",
            ]:
                raise self.error("equation", "write only the expression, without = and the text before it", token)

    def made(self, node: Node, extra: Node | None = None) -> Node:
        """Count a node that was built; `extra` is what an abbreviation stands for."""
        self.nodes += 1
        if extra is not None:
            for _ in walk(extra):
                self.expanded += 1
                if self.expanded > EXPANDED:
                    break
        if self.nodes > NODES or self.expanded > EXPANDED:
            raise self.error("too_long", f"an expression of more than {NODES} parts is not read")
        return node

    @contextmanager
    def deeper(self, *, bars: bool | None = None) -> Iterator[None]:
        """One level further down; `bars` says whether a bar closes at this level."""
        self.depth += 1
        if self.depth > DEPTH:
            raise self.error("too_deep", f"more than {DEPTH} nested levels are not read")
        before = self.bars
        self.bars = before if bars is None else bars
        yield
        self.bars = before
        self.depth -= 1

    @contextmanager
    def binding(self, index: str) -> Iterator[None]:
        """`index` is a name inside."""
        self.bound.append(index)
        yield
        self.bound.pop()

    def index_ahead(self) -> str:
        """The index of a sum whose opening parenthesis is next: its second argument."""
        depth = 0
        for position in range(self.position, len(self.tokens) - 1):
            text = self.tokens[position].text
            depth += (text in ("(", "[", "{")) - (text in (")", "]", "}"))
            if depth == 1 and text == ",":
                return self.new_index(self.tokens[position + 1])
            if depth == 0:
                break
        raise self.error("sum", "write sum(term, i, 0, inf)")

    def new_index(self, token: Token) -> str:
        """A name that can be an index: not a constant, and not the index of a sum around this one."""
        name = token.text
        if token.kind != "word" or name in ("e", "pi", "\\pi", "inf") or name in self.words.functions:
            raise self.error("sum", "the index of a sum is a name: sum(term, i, 0, inf)", token)
        if name in self.bound or name in self.words.given:
            raise self.error("sum", f"the index {name} is already in use: choose another one", token)
        return name

    def error(self, code: str, message: str, token: Token | None = None) -> Unreadable:
        """An `Unreadable` at `token`, by default the current one."""
        return Unreadable(code, message, self.text, (token or self.token).column)

    def unexpected(self) -> Unreadable:
        """The message for a token that cannot stand where it does."""
        text = self.token.text
        if self.token.kind == "end":
            return self.error("syntax", "the expression stops too early: something is missing")
        if text == "=":
            return self.error("equation", "write only the expression, without =")
        if text == ",":
            return self.error("syntax", "there is a comma here: write decimals with a point")
        return self.error("syntax", f"{_TYPED.get(text, text)} cannot stand here")

    # -- the rules

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
                factors = [self.quotient(factors)]
            elif self.starts_factor():
                if self.token.kind == "number":
                    self.refuse_number(factors[-1])
                factors += self.factor()
            else:
                return self.joined(factors)

    def quotient(self, above: list[Node]) -> Node:
        """What is above by the factor that follows; `1/2 n` is one number times n, `a/b c` is refused."""
        if self.loose == self.position - 1:
            raise self.error("ambiguous", "ln a/b and sqrt a/b read in two ways: write ln(a)/b or ln(a/b)")
        below = self.signed()
        numerals = len(above) == len(below) == 1 and isinstance(above[0], Number) and isinstance(below[0], Number)
        plain = numerals and self.token.spaced and self.token.kind != "number"
        if len(below) > 1 or (self.starts_factor() and not plain):
            raise self.error("ambiguous", "a/b c reads in two ways: write (a/b)*c or a/(b*c)")
        return self.made(Div(self.joined(above), below[0]))

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
        if self.token.kind != "word" or not self.touching:
            return False
        before = self.tokens[self.position - 1].kind
        return before == "word" or (before == "number" and base == Constant("e"))

    def starts_factor(self) -> bool:
        """Whether a factor follows, which is then a product without a sign."""
        token = self.token
        return (
            token.kind in ("word", "number")
            or token.text in ("(", "[", "{", "frac", "bar(", "floor(")
            or (token.text == "|" and not self.bars)
        )

    def refuse_number(self, before: Node, *, bare: bool = False) -> None:
        """A number behind a factor is one more behind a bracket or a space; `x2` may be a power, `10 000` a number.

        Behind a function without brackets (`bare`) it may belong to the argument or not.
        """
        token, last = self.token, self.tokens[self.position - 1]
        behind_bracket = last.text in CLOSING.values()
        power = behind_bracket and self.tokens[self.position + 1].text == "^"
        thousands = last.kind == "number" and (len(token.text) == 3 or token.text[0] == "0")
        if not power if bare else not behind_bracket and (isinstance(before, Number) or not token.spaced or thousands):
            raise self.error("juxtaposed_number", "a number after a factor: write * (or ^) between them")

    def primary(self) -> list[Node]:
        """A number, name, call, parenthesis, bar or fraction."""
        token = self.token
        if token.kind == "number":
            self.advance()
            return [self.made(Number(Fraction(token.text)))]
        if token.kind == "word":
            self.advance()
            return self.named(token)
        if token.text in CLOSING:
            return [self.group()]
        if token.text in _BARS:
            return [self.barred()]
        if self.accept("frac"):
            return [self.made(Div(self.single(), self.single()))]
        raise self.unexpected()

    def group(self) -> Node:
        """A parenthesis of any kind; bars inside it are its own."""
        closing = CLOSING[self.advance().text]
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
        r"""What \frac takes: a group; one letter or digit has got its braces before."""
        if self.token.text in CLOSING or self.token.text in _BARS:
            return self.joined(self.primary())
        raise self.error("syntax", r"\frac takes two arguments in braces: \frac{…}{…}")

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
            if self.token.text in CLOSING:
                return self.listed(CLOSING[self.advance().text])
            if self.token.text in _BARS and (self.token.text != "|" or not self.bars):
                return (self.barred(),)
            if FUNCTIONS[name] != (1, 1) or not self.starts_factor():
                raise self.error("call", f"{name} needs its argument in parentheses: {name}(…)", token)
            factors = self.factor()
            while not self.at_function() and self.starts_factor():
                if self.token.kind == "number":
                    self.refuse_number(factors[-1], bare=True)
                second = self.token
                factors += self.factor()
                self.refuse_long_root(name, factors, second)
            self.refuse_long_root(name, factors, token)
            self.loose = self.position
            return (self.joined(factors),)

    def refuse_long_root(self, name: str, factors: list[Node], token: Token) -> None:
        """A root without brackets takes one factor; before two it may end behind the first."""
        if name == "sqrt" and len(factors) > 1:
            first, second = (f"({to_text(x)})" if isinstance(x, Add | Neg) else to_text(x) for x in factors[:2])
            message = f"this root reads in two ways: write sqrt({first})*{second} or sqrt({first}*{second})"
            raise self.error("ambiguous", message, token)

    def at_function(self) -> bool:
        """Whether the next name begins a call, which ends a juxtaposed argument."""
        token = self.token
        return token.kind == "word" and token.text not in self.bound and (
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
        if not self.accept("{") or self.token.kind != "word":
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
