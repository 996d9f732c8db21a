r"""The grammar of closed forms: a recursive descent that never evaluates what it reads.

    sum      = [ "-" | "+" ] product { ( "+" | "-" ) product } ;
    product  = factor { "*" signed | "/" signed | factor } [ ( "mod" | "%" ) signed ] ;   factors side by side multiply
    signed   = [ "-" | "+" ] factor ;
    factor   = primary { "!" } [ "^" signed ] ;                       right-associative, tighter than minus
    primary  = NUMBER | NAME | call | series | cases | bracket | bars | ( "\frac" | "\binom" ) group group ;
    bracket  = "(" sum ")" | "[" sum "]" | "{" sum "}" ;
    bars     = "|" sum "|" | "\lfloor" sum "\rfloor" | "\lceil" sum "\rceil" ;
    group    = bracket | DIGIT | LETTER ;                             one token, as in TeX: \frac12
    call     = FUNCTION [ "_" group ] [ "^" NUMBER ] ( "(" sum { "," sum } ")" | bars | factor { factor } )
             | "\sqrt" [ "[" sum "]" ] group ;
    series   = ( "sum(" | "prod(" ) sum "," NAME "," sum "," sum ")"
             | ( "\sum_{" | "\prod_{" ) NAME "=" sum "}^" group [ "-" | "+" ] product ;
    cases    = "cases(" sum "," when { ";" sum "," when } ")" ;       LaTeX's cases have & and \\
    when     = "otherwise" | [ "if" ] compared { "and" compared } ;
    compared = sum SIGN sum { SIGN sum } ;                            <, <=, >, >=, =, !=

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
    Cases,
    Compare,
    Constant,
    Div,
    Given,
    Mul,
    Neg,
    Node,
    Number,
    Pow,
    Prod,
    Sum,
    free_variables,
    walk,
)
from autograder.maths.expression.syntax import substitute as substituted
from autograder.maths.expression.vocabulary import FUNCTIONS, Vocabulary
from autograder.maths.spelling import CLOSING, REFUSED, Token

DEPTH = 60
NODES = 600
EXPANDED = 4000
_BARS = {
    "|": ("|", "abs"), "bar(": ("bar)", "abs"), "floor(": ("floor)", "floor"), "ceil(": ("ceil)", "ceil"),
}  # fmt: skip
_SERIES = {"sum": Sum, "sum_": Sum, "prod": Prod, "prod_": Prod, "product": Prod}
_CASES = ("cases", "piecewise", "Piecewise")
_SIGNS = ("<", ">", "=", "<=", ">=", "!=", "!")
_FLIPPED = {">": "<", ">=": "<="}
_INTRODUCED = ("if", "for", "when", "falls", "wenn")
_REST = ("otherwise", "else", "sonst")
_CHAINED = "write only the expression, without = and the text before it"
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
        self.remainder = -1
        """Where a remainder without brackets ended."""
        self.percent = False
        """Whether it was written with %."""
        self.comparing = False
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

    def equals_signs(self) -> list[int]:
        """Where an equals sign stands outside all brackets: between the members of a chain."""
        found, depth = [], 0
        for position, token in enumerate(self.tokens):
            if token.kind == "sign":
                depth += (token.text in CLOSING) - (token.text in CLOSING.values())
                if token.text == "=" and depth <= 0:
                    found.append(position)
        return found

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
                raise self.error("sum", "write sum(term, i, 0, inf)")
        raise self.error("syntax", "this bracket, or one inside it, is not closed")

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
        if text in _SIGNS and text != "!":
            return self.error("character", "write an expression, not a comparison")
        if text == ",":
            return self.error("syntax", "there is a comma here: write decimals with a point")
        if text in REFUSED:
            return self.error("character", REFUSED[text])
        return self.error("syntax", f"{_TYPED.get(text, text)} cannot stand here")

    # -- the rules

    def read(self) -> Node:
        """The tree of the whole text."""
        if self.token.kind == "end":
            raise self.error("empty", "there is no text here")
        if found := self.equals_signs():
            raise self.error("equation", _CHAINED, self.tokens[found[0]])
        return self.whole()

    def chain(self) -> tuple[Node, ...]:
        """The members of `a = b = c`; an abbreviation of the question before them says only what they are."""
        if not self.equals_signs():
            return (self.read(),)
        members = [self.sum()]
        while self.accept("="):
            members.append(self.sum())
        if self.token.kind != "end":
            raise self.unexpected()
        return tuple(members[1:] if len(members) > 1 and isinstance(members[0], Given) else members)

    def comparisons(self) -> tuple[Compare, ...]:
        """A text that is a condition: the constraint of a question."""
        found = self.condition()
        if self.token.kind != "end" or not found:
            raise self.unexpected()
        return found

    def whole(self) -> Node:
        """One expression up to the end."""
        node = self.sum()
        if self.token.kind != "end":
            raise self.unexpected()
        return node

    def sum(self) -> Node:
        """Terms with + or - between them."""
        terms = [self.term()]
        while self.token.text in ("+", "-"):
            self.refuse_remainder(in_sum=True)
            terms.append(self.term(in_sum=True))
        if len(terms) > 1:
            self.refuse_remainder(in_sum=True)
        return terms[0] if len(terms) == 1 else self.made(Add(tuple(terms)))

    def term(self, *, in_sum: bool = False) -> Node:
        """A product with its sign."""
        if self.accept("-"):
            with self.deeper():
                inner = self.term()
                self.refuse_remainder(in_sum=in_sum)
                return self.made(Neg(inner))
        if self.accept("+"):
            with self.deeper():
                return self.term()
        return self.product()

    def at_remainder(self) -> bool:
        """Whether an operator of remainders follows: `mod`, `\\bmod` or `%`, which are no names here."""
        token = self.token
        if token.kind == "word" and token.text == "mod":
            return "mod" not in self.words.variables and "mod" not in self.bound
        return token.kind == "sign" and token.text == "%"

    def refuse_remainder(self, *, in_sum: bool = False) -> None:
        """A remainder beside another sign takes more or less of its line; `%` is a product's sign, as in Python."""
        if self.remainder == self.position and not (in_sum and self.percent):
            raise self.error("ambiguous", "a mod b beside + - * / reads in two ways: write mod(a, b)")

    def product(self) -> Node:
        """Factors with *, / or nothing between them."""
        factors = self.factor()
        while True:
            if self.at_remainder():
                self.percent = self.advance().text == "%"
                below = self.signed()
                self.remainder = self.position
                if len(below) > 1 or self.at_remainder() or self.starts_factor() or self.token.text in ("*", "/"):
                    self.refuse_remainder()
                return self.made(Call("mod", (self.joined(factors), below[0])))
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
        while self.token.text == "!" and "factorial" in self.words.functions and not self.unequal():
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
        if token.kind == "word" and (self.at_remainder() or (self.comparing and token.text == "and")):
            return False
        return (
            token.kind in ("word", "number")
            or token.text in ("(", "[", "{", "frac", "binom", "bar(", "floor(", "ceil(")
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
        if self.accept("binom"):
            return [self.made(Call("binom", (self.single("binom"), self.single("binom"))))]
        raise self.unexpected()

    def group(self) -> Node:
        """A parenthesis of any kind; bars inside it are its own."""
        closing = CLOSING[self.advance().text]
        with self.deeper(bars=False), self.apart():
            node = self.sum()
            if closing == "}" and self.accept("choose"):
                node = self.made(Call("binom", (node, self.sum())))
        self.expect(closing)
        self.remainder = -1
        return node

    @contextmanager
    def apart(self) -> Iterator[None]:
        """A bracket, in which no comparison is read."""
        before, self.comparing = self.comparing, False
        yield
        self.comparing = before

    def barred(self) -> Node:
        """An absolute value or a floor, by its bars."""
        closing, name = _BARS[self.advance().text]
        with self.deeper(bars=closing == "|"):
            node = self.sum()
        self.expect(closing)
        return self.made(Call(name, (node,)))

    def single(self, command: str = "frac") -> Node:
        r"""What \frac takes: a group; one letter or digit has got its braces before."""
        if self.token.text in CLOSING or self.token.text in _BARS:
            return self.joined(self.primary())
        raise self.error("syntax", f"\\{command} takes two arguments in braces: \\{command}{{…}}{{…}}")

    def named(self, token: Token) -> list[Node]:
        """What a name begins: a sum, an abbreviation, a call or a variable."""
        if token.text in _SERIES and (token.text != "product" or self.token.text == "("):
            return [self.series(token)]
        if token.text in _CASES and self.token.text == "(":
            return [self.cases()]
        if key := names.given(token.text.removeprefix("\\"), self.words):
            return [self.abbreviation(key, token)]
        if token.text not in self.bound and (name := self.function(token, self.token)):
            return [self.call(name, token)]
        found = names.factors(token.text, self.bound, self.words, self.text, token.column, self.token.text == "^")
        return [self.made(node) for node in found]

    def function(self, token: Token, following: Token) -> str:
        """The function that a word calls; C(n, k) counts, where C is no name of the question."""
        if token.text == "C" and "C" not in self.words.variables and following.text == "(":
            return "binom" if "binom" in self.words.functions else ""
        return names.function(token.text, self.words, self.text, token.column)

    def base(self, token: Token) -> Node | None:
        """The base of `log_b` that is neither 2, e nor 10."""
        label = token.text.removeprefix("log_")
        if token.text == "log" and self.token.text == "_":
            self.advance()
            return self.single("log_") if self.token.text in CLOSING else self.joined(self.primary())
        if label == token.text or label in ("2", "10", "e") or token.text in self.words.variables:
            return None
        if label.isdigit():
            return self.made(Number(Fraction(label)))
        found = names.factors(label, self.bound, self.words, self.text, token.column, False)
        return self.joined([self.made(node) for node in found])

    def logarithm(self, argument: Node, base: Node) -> Node:
        """A logarithm to any base, as the quotient that it is."""
        for value, name in ((2, "log2"), (10, "log10")):
            if base == Number(Fraction(value)):
                return self.made(Call(name, (argument,)))
        if base == Constant("e"):
            return self.made(Call("ln", (argument,)))
        return self.made(Div(self.made(Call("ln", (argument,))), self.made(Call("ln", (base,)))))

    def call(self, name: str, token: Token) -> Node:
        """A function and its argument, with sin^2(x), sqrt[3]{x} and log_b(x)."""
        base = self.base(token)
        power: Node | None = None
        if self.token.text == "^":
            power = self.function_power(name)
        arguments, root = self.arguments(name, token), None
        if name == "sqrt" and self.token.text == "{" and self.after_bracket:
            root, arguments = arguments[0], (self.group(),)
        if base is None and token.text == "log" and len(arguments) == 2:
            base, arguments = arguments[1], arguments[:1]
        low, high = FUNCTIONS[name]
        if not low <= len(arguments) <= high:
            wanted = "one argument" if high == 1 else "two arguments" if high == 2 else f"{low} or more arguments"
            raise self.error("arity", f"{name} takes {wanted}, not {len(arguments)}", token)
        if root is not None:
            node = self.made(Pow(arguments[0], self.made(Div(self.made(Number(Fraction(1))), root))))
        elif base is not None:
            node = self.logarithm(arguments[0], base)
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
            token.text in _SERIES or token.text in _CASES or bool(self.function(token, self.tokens[self.position + 1]))
        )  # fmt: skip

    def listed(self, closing: str) -> tuple[Node, ...]:
        """Expressions separated by commas."""
        found = []
        with self.deeper(bars=False), self.apart():
            while True:
                found.append(self.sum())
                if not self.accept(","):
                    break
        self.expect(closing)
        self.remainder = -1
        return tuple(found)

    def cases(self) -> Node:
        """`cases(a, n = 0; b, otherwise)`; of several conditions that hold the first one counts."""
        values: list[Node] = []
        conditions: list[tuple[Compare, ...]] = []
        self.advance()
        with self.deeper(bars=False):
            while True:
                with self.apart():
                    values.append(self.sum())
                separated = self.accept(",") | self.accept(":")
                conditions.append(self.condition() if separated else ())
                if not conditions[-1] or not self.accept(";"):
                    break
        if self.token.text == ";":
            raise self.error("cases", "a value without a condition is what holds otherwise: it stands last")
        if not conditions[0]:
            raise self.error("cases", "write each value with its condition: cases(a, n = 0; b, otherwise)")
        self.expect(")")
        return self.made(Cases(tuple(values), tuple(conditions)))

    def condition(self) -> tuple[Compare, ...]:
        """Comparisons with `and` between them; none for `otherwise`."""
        if self.token.text in _INTRODUCED and self.token.kind == "word":
            self.advance()
        if self.token.text in _REST and self.token.kind == "word":
            self.advance()
            return ()
        before, self.comparing = self.comparing, True
        found = self.compared()
        while self.token.kind == "word" and self.token.text == "and":
            self.advance()
            found += self.compared()
        self.comparing = before
        return tuple(found)

    def compared(self) -> list[Compare]:
        """`a < b <= c`, as the comparisons of neighbours."""
        left = self.sum()
        found: list[Compare] = []
        while (sign := self.sign()) or not found:
            if not sign:
                raise self.error("cases", "a condition compares: n = 0, n != 0, n < 3, n <= 3")
            right = self.sum()
            pair = (right, left) if sign in _FLIPPED else (left, right)
            found.append(Compare(_FLIPPED.get(sign, sign), *pair))
            self.made(left)
            left = right
        return found

    def unequal(self) -> bool:
        """Whether `!=` stands here, in a condition."""
        following = self.tokens[min(self.position + 1, len(self.tokens) - 1)]
        return self.comparing and self.token.text == "!" and following.text == "=" and not following.spaced

    def sign(self) -> str:
        """The sign of a comparison, if one stands here; `<=` may be one sign or two."""
        if (
            self.token.kind != "sign"
            or self.token.text not in _SIGNS
            or (self.token.text == "!" and not self.unequal())
        ):
            return ""
        sign = self.advance().text
        if sign in ("<", ">", "!", "=") and self.token.text == "=" and not self.token.spaced:
            self.advance()
            return "=" if sign == "=" else f"{sign}="
        return sign

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
        """`sum(term, i, a, b)`, or `\\sum_{i=a}^{b} term` whose term ends at the next + or -; products likewise."""
        if self.accept("_"):
            return self.sigma_sum(token)
        if self.token.text != "(":
            raise self.error("sum", f"write {token.text}(term, i, 0, inf)", token)
        index = self.index_ahead()
        self.advance()
        with self.deeper(bars=False), self.apart(), self.binding(index):
            body = self.sum()
        self.expect(",")
        self.advance()
        self.expect(",")
        with self.deeper(bars=False), self.apart():
            lower = self.sum()
            self.expect(",")
            upper = self.sum()
        self.expect(")")
        return self.made(_SERIES[token.text](body, index, lower, upper))

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
        start = self.position
        with self.deeper(), self.binding(index):
            body = self.term()
        if _SERIES[token.text] is Prod:
            self.refuse_long_product(body, index, start)
        return self.made(_SERIES[token.text](body, index, lower, upper))

    def refuse_long_product(self, body: Node, index: str, start: int) -> None:
        """A product that goes on behind what has its index: the rest may stand inside it or behind it."""
        depth, divided = 0, False
        for token in self.tokens[start : self.position]:
            depth += (token.text in CLOSING) - (token.text in CLOSING.values())
            divided = divided or (token.text == "/" and not depth)
        last = body.factors[-1] if isinstance(body, Mul) else body.denominator if isinstance(body, Div) else body
        if (divided or isinstance(body, Mul)) and index not in free_variables(last):
            raise self.error("ambiguous", "where this product ends reads in two ways: put its factor in brackets")
