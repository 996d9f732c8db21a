"""The state of a text being read: the current token, what is bound, and the limits on size and depth."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from autograder.errors import Unreadable
from autograder.maths.expression.expression_tokens import Token, tokens
from autograder.maths.expression.syntax import Node, walk
from autograder.maths.expression.vocabulary import Vocabulary

DEPTH = 60
NODES = 600
EXPANDED = 4000


class Reader:
    """A cursor over tokens. Rules of the grammar are written on top of it."""

    def __init__(self, text: str, words: Vocabulary) -> None:
        self.text = text
        self.words = words
        self.tokens = tokens(text)
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
            shown = {"bar)": "\\right|", "floor)": "\\rfloor"}.get(sign, sign)
            raise self.error("syntax", f"{shown} is missing here")

    @property
    def touching(self) -> bool:
        """Whether the current token follows the one before it without a space or backslash between them."""
        column = self.token.column
        return self.text[column : column + 1] != "\\" and self.text[column - 1] not in " \t\n,;:!~&$\u00a0"

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

    def split_digit(self) -> str:
        """The first digit of a number: \\frac12 is one half."""
        token = self.token
        if len(token.text) == 1:
            return self.advance().text
        self.token = Token("number", token.text[1:], token.column + 1)
        self.tokens[self.position] = self.token
        return token.text[0]

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
        if token.kind != "name" or name in ("e", "pi", "\\pi", "inf") or name in self.words.functions:
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
        shown = {"bar)": "\\right|", "frac": "\\frac", "floor)": "\\rfloor"}.get(text, text)
        return self.error("syntax", f"{shown} cannot stand here")
