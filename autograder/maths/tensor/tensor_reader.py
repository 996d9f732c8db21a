"""A cursor over tokens that enforces the limits, and the small grammars of names, labels and indices."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from autograder.errors import Unreadable
from autograder.maths.tensor.tensor_tokens import ACCENTS, GREEK, Token, tokenise
from autograder.maths.tensor.tensor_tree import ACCENT_TEXT, Index, IndexTerm, Lookup, Name, Symbol

DEEPEST = 40
MOST_NODES = 1_500
MOST_PRIMES = 9
LARGEST_INTEGER = 1_000_000


class Reader:
    """Reads names, labels and indices; `Unreadable` is raised at the token that does not fit."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens = tokenise(text)
        self.position = 0
        self.depth = 0
        self.nodes = 0

    # -- the cursor

    @property
    def token(self) -> Token:
        """The token under the cursor."""
        return self.tokens[self.position]

    def ahead(self, distance: int = 1) -> Token:
        """A later token; the end token when there is none."""
        return self.tokens[min(self.position + distance, len(self.tokens) - 1)]

    def at(self, *texts: str) -> bool:
        """Whether the cursor is at one of these symbols."""
        return self.token.kind == "symbol" and self.token.text in texts

    def take(self) -> Token:
        """The token under the cursor, which moves on."""
        token = self.token
        self.position = min(self.position + 1, len(self.tokens) - 1)
        return token

    def accept(self, text: str) -> bool:
        """Move past this symbol if it is here."""
        if self.at(text):
            self.take()
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
        return before.column + len(before.text) == here.column

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
                self.position += 2
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
            if token.kind == "symbol" and token.text in "/*([":
                return False
            words += token.kind == "word"
            signed = signed or (token.kind == "symbol" and token.text in "+-")
            distance += 1
        return self.ahead(distance).text == "[" or (words > 0 and not signed)

    def label(self) -> str:
        """The text of a label without spaces and braces: `{h,R}` -> `h,R`, `{t_{in}}` -> `t_in`."""
        if not self.at("{"):
            if self.token.kind not in ("word", "number"):
                raise self.failure("a label is expected here")
            return self.take().text
        self.take()
        depth, parts = 1, []
        while depth:
            token = self.take()
            if token.kind in ("end", "line", "command", "accent"):
                raise self.failure("this label is not closed, or contains something that is not a label", token=token)
            depth += (token.text == "{") - (token.text == "}")
            if token.text not in ("{", "}"):
                if token.kind == "symbol" and token.text not in ",+-_'":
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
                raise self.failure("an index must be a whole number of moderate size", token=number)
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
        self.position = start
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
            self.position, self.nodes = start, nodes

    def indices(self, closing: str) -> tuple[Index, ...]:
        """The indices up to and including the closing bracket, which must come."""
        found = [self.index()]
        while self.accept(","):
            found.append(self.index())
        self.expect(closing)
        return tuple(found)


def _split(word: str) -> tuple[str, str]:
    """`W1` -> `W`, `1`; the digits become a label."""
    letters = word.rstrip("0123456789")
    return letters, word[len(letters) :]
