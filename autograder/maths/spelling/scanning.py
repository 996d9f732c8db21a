r"""Text to tokens: the one reader of spellings in front of the three grammars.

Two steps. `plain` writes Unicode in ASCII and LaTeX and remembers for each character the column of the student's own
text. `scan` cuts that into numbers, words and signs: a LaTeX command becomes the word or the sign that it stands for,
fonts, spacing and sizes vanish, and what `\frac` and `\sqrt` take without braces gets them, by TeX's rule of one
token: `\frac12 n` is `\frac{1}{2} n`. What the words mean is left to the language.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from autograder.errors import Unreadable, did_you_mean
from autograder.maths.spelling.signs import (
    ACCENTS,
    BOXES,
    CASES,
    COMMANDS,
    ENVIRONMENTS,
    FONTS,
    GREEK_LETTERS,
    LOOK_ALIKES,
    REFUSED,
    SIGNS,
    SILENT,
    SIZES,
    SUBSCRIPTS,
    SUPERSCRIPTS,
    WORDS,
    is_command,
)

DIGITS = 40
LARGEST_EXPONENT = 40
CLOSING = {"(": ")", "[": "]", "{": "}"}

RAW = "write r before the quotes"
_APART = "\x1f"  # keeps a letter's name apart from what follows, without being a space
_TYPED_BY_PYTHON = {"\a": "a", "\b": "b", "\f": "f", "\v": "v", "\r": "r"}

_LAST_BREAK = r"\\\\(?=(?:[\s.$]|\\[\])]|\\end\s*\{[^{}]*\})*\Z)"  # a line break behind which nothing stands
_BLANK = (
    r"(?:[ \t\f\v\r&$]|\\[,;:!> ])+"
    rf"|{_LAST_BREAK}"
    r"|\\(?:hspace|vspace|tag|label)\*?\s*\{[^{}]*\}"
    r"|\.(?=(?:[\s$]|\\[\])]|\\end\s*\{[^{}]*\})*(?:\Z|\n|\\\\))"
    r"|\\[\])](?=[\s.$]*(?:\Z|\n|\\\\))"
)
_MODULES = frozenset(("math", "np", "numpy", "torch", "sp", "sympy"))
_SIGN = r"[-+/^_(){}\[\]|,;=!'<>:@%\"`]|\*\*?|\.\*|\.\.\."
_NUMBER = r"[0-9]+(?:\.[0-9]+)?|\.[0-9]+"
_LINE = rf"(?!{_LAST_BREAK})" r"\\\\(?:\[[^\]\n]{0,20}\])?|\n"
_ENVIRONMENT = r"\\(?:begin|end)\s*\{(?P<environment>[^{}]{0,30})\}(?:\{[lcr|\d]{1,20}\})?"
_FONT = (
    rf"\\(?P<font>{'|'.join(sorted(FONTS, key=len, reverse=True))})(?![A-Za-z])\*?\s*(?:\{{(?P<inside>[^{{}}]*)\}})?"
)
_COMMAND = r"\\(?:(?P<command>[A-Za-z]+)|(?P<escaped>.?))"
_ACCENT = r"->|<-|~(?![\sA-Za-z\\])|\.(?:hat|bar|dot|tilde|vec)(?![A-Za-z])"
_AFTER_BOX = re.compile(rf"(?:{_BLANK}|[.,;])*(?:\Z|\n|\\\\)")
_BAR_BEHIND = re.compile(r"\s*(?:(\.)|(\\?\||\\[lr]?[vV]ert(?![A-Za-z])))?")
_FONT_TAKES = re.compile(r"[A-Za-z{\\]")
_SCIENTIFIC = re.compile(r"[eE]([-+][0-9]+)")
_MEMBER = re.compile(r"\.[A-Za-z]")
_LETTERS = re.compile(r"[A-Za-z]+")
_ACCENTS_TYPED = {"~": "tilde", "->": "vec", "<-": "backvec"}
_SIGNS_TYPED = {"**": "^", ".*": "*"}
_ESCAPED = {"{": "(", "}": ")", "|": "|"}


class Token(NamedTuple):
    """`kind` is number, word, sign, accent, line or end; columns count characters of what was typed.

    `spaced` says that a space stands before it, `command` that it was typed with a backslash or as a letter of its own.
    """

    kind: str
    text: str
    column: int
    end: int
    spaced: bool = False
    command: bool = False


@dataclass(frozen=True, kw_only=True)
class Dialect:
    """What one language needs to know of spellings.

    `refused` maps a sign, or a kind of sign, to the sentence that says what to write instead; `codes` gives a fault the
    code of the language. `accents`, `lines` and `percent` say whether names may have accents, whether `;;` and line
    breaks separate, and whether `%` begins a comment. `splits` says that
    a word may be several names, `e` that Euler's number makes `5e-1` read in two ways, `runs_on` that `\\lnT` is ln T,
    `cases` that cases are read, LaTeX's too, with a colon between value and condition.
    """

    name: str
    longest: int
    what: str
    word: str
    functions: frozenset[str]
    refused: Mapping[str, str]
    codes: Mapping[str, str] = field(default_factory=dict)
    accents: bool = False
    lines: bool = False
    percent: bool = False
    splits: bool = True
    e: bool = True
    runs_on: bool = False
    cases: bool = False

    @cached_property
    def token(self) -> re.Pattern[str]:
        """One token, each kind of it in a group of its own."""
        accent = _ACCENT if self.accents else r"(?!)"
        line = _LINE + (r"|;;" if self.lines else "")
        return re.compile(
            rf"(?P<word>{self.word})|(?P<accent>{accent})|(?P<line>{line})|(?P<sign>{_SIGN})|(?P<number>{_NUMBER})"
            rf"|(?P<blank>{_BLANK})|(?P<point>\.)|(?P<other>{_ENVIRONMENT}|{_FONT}|{_COMMAND}|[~{_APART}])",
            re.DOTALL,
        )

    def refuse(self, token: Token, text: str) -> None:
        """Raise where the language has no such sign; a word is refused as a command only."""
        if token.text in self.refused and (token.kind != "word" or token.command):
            raise fault(self, "character", self.refused[token.text], text, token.column)


def fault(dialect: Dialect, code: str, message: str, text: str, column: int) -> Unreadable:
    """The exception under the language's own code."""
    return Unreadable(dialect.codes.get(code, code), message, text, column)


# -- Unicode to ASCII --------------------------------------------------------------------------------------------------


def plain(text: str, dialect: Dialect) -> tuple[str, list[int] | range]:
    """`text` in ASCII, and for each of its characters, and the end, the column that it came from."""
    if text.isascii() and not _ODD.search(text) and not (dialect.percent and "%" in text):
        return text, range(len(text) + 1)
    out: list[str] = []
    columns: list[int] = []
    position = 0
    while position < len(text):
        piece, width = _piece(text, position, dialect)
        out.append(piece)
        columns.extend([position] * len(piece))
        position += width
    columns.append(len(text))
    return "".join(out), columns


_ODD = re.compile(r"[\a\b\f\v\r\x1f#]")


def _piece(text: str, position: int, dialect: Dialect) -> tuple[str, int]:
    """What stands for the character at `position`, and how many characters that took."""
    letter = text[position]
    if letter in _TYPED_BY_PYTHON and (meant := _swallowed(text, position)):
        return f"\\{meant[0]}", 1
    if letter == "#" or (letter == "%" and dialect.percent):
        end = text.find("\n", position)
        return "", (len(text) if end < 0 else end) - position
    if letter.isascii():
        if letter in "\a\b\x1f":
            raise fault(dialect, "character", f"a character that no key types stands here: {RAW}", text, position)
        return letter, 1
    for table, mark in ((SUPERSCRIPTS, "^"), (SUBSCRIPTS, "_")):
        if letter in table:
            end = position
            while end < len(text) and text[end] in table:
                end += 1
            return f"{mark}{{{''.join(table[raised] for raised in text[position:end])}}}", end - position
    return _letter(text, position, dialect), 1


def _letter(text: str, position: int, dialect: Dialect) -> str:
    letter = text[position]
    kind = unicodedata.decomposition(letter).rpartition(">")[0]
    if kind == "<fraction":
        return _vulgar(text, position, dialect)
    raised = kind in ("<super", "<sub", "<circle", "<square")  # a raised letter is no factor
    shapes = (letter,) if raised else (letter, unicodedata.normalize("NFKC", letter))
    for shape in shapes:
        if shape == "Σ" and dialect.lines:
            return f"\\sum{_APART}"
        if shape in SIGNS:
            return SIGNS[shape] + (_APART if SIGNS[shape][-1].isalpha() else "")
        if shape in GREEK_LETTERS:
            return f"\\{GREEK_LETTERS[shape]}{_APART}"
    if (category := unicodedata.category(letter)) == "Zs" or letter in "\u2061\u2062":
        return " "
    if category == "Cf":
        return ""
    if category == "Nd":
        return str(unicodedata.decimal(letter))
    name = unicodedata.name(letter, "a character without a name")
    if letter in LOOK_ALIKES:
        like = LOOK_ALIKES[letter]
        message = f"{letter!r} is not the {like!r} of the keyboard but {name}: type {like!r}"
        raise fault(dialect, "lookalike", message, text, position)
    if len(shapes[-1]) == 1 and shapes[-1].isascii() and shapes[-1].isprintable():
        return shapes[-1]
    code = "lookalike" if letter.isalpha() and not raised else "character"
    raise fault(dialect, code, f"{letter!r} ({name}) has no meaning in {dialect.what}", text, position)


def _vulgar(text: str, position: int, dialect: Dialect) -> str:
    """`½` is a number by itself; behind a numeral it would be a mixed number or a product."""
    over, _, under = unicodedata.normalize("NFKC", text[position]).partition("⁄")
    if before := re.search(r"(?<![_\d.])[\d.]+\s*$", text[:position]):
        whole = before[0].strip()
        message = f"{whole}{text[position]} reads in two ways: write {whole}+{over}/{under} or {whole}*{over}/{under}"
        raise fault(dialect, "ambiguous", message, text, position)
    if after := re.match(r"\s*[\d.]*\d", text[position + 1 :]):
        message = f"a number behind {text[position]}: write * between them, {text[position]}*{after[0].strip()}"
        raise fault(dialect, "ambiguous", message, text, position + 1)
    return f"({over}/{under})"


# -- what a string without r makes of a backslash ----------------------------------------------------------------------


def _swallowed(text: str, position: int) -> str:
    """The command whose backslash and first letter Python made one character of: `\\f` + `rac` is frac."""
    first = _TYPED_BY_PYTHON.get(text[position]) or {"\n": "n", "\t": "t"}.get(text[position], "")
    rest = _LETTERS.match(text, position + 1)
    return first + rest[0] if rest and is_command(first + rest[0]) else ""


def notes(text: str) -> tuple[str, ...]:
    """What a student should know about the way their text was read."""
    found = dict.fromkeys(
        _swallowed(text, place.start())
        for place in re.finditer(r"[\a\b\f\v\r]", text)
        if _swallowed(text, place.start())
    )
    if not found:
        return ()
    commands = ", ".join(f"\\{name}" for name in found)
    return (f"Python took a backslash of this text for its own; it is read as {commands}. To be sure, {RAW}.",)


def is_blank(line: str) -> bool:
    """Whether a line holds nothing but spaces and a comment."""
    return not line.partition("#")[0].strip()


def explained(error: Unreadable) -> Unreadable:
    """The refusal, with what to do where a line break or a tab is what Python made of a command."""
    for place in re.finditer(r"[\n\t]", error.text):
        if (meant := _swallowed(error.text, place.start())) and RAW not in error.message:
            shown = "a line break" if place[0] == "\n" else "a tab"
            message = f"{error.message} ({shown} stands here: if you mean \\{meant}, {RAW})"
            return Unreadable(error.code, message, error.text, error.column)
    return error


# -- tokens ------------------------------------------------------------------------------------------------------------


def scan(text: str, dialect: Dialect, is_name: Callable[[str], bool]) -> list[Token]:
    """All tokens of `text`, the last of kind `end`; `is_name` says whether a run of letters is one name of several."""
    if len(text) > dialect.longest:
        message = f"{dialect.what} of more than {dialect.longest} characters is not read"
        raise fault(dialect, "too_long", message, text, dialect.longest)
    scanner = _Scanner(text, dialect, is_name)
    scanner.span(0, len(scanner.plain))
    while scanner.found and (scanner.found[-1].text in (",", ";") or scanner.found[-1].kind == "line"):
        scanner.found.pop()  # as in a sentence
    scanner.add("end", "", len(scanner.plain), len(scanner.plain))
    return _Braces(scanner, is_name).all() if scanner.takes_arguments else scanner.found


class _Scanner:
    """One pass over one text."""

    def __init__(self, text: str, dialect: Dialect, is_name: Callable[[str], bool]) -> None:
        self.text, self.dialect, self.is_name = text, dialect, is_name
        self.plain, self.columns = plain(text, dialect)
        self.found: list[Token] = []
        self.spaced = False
        self.takes_arguments = False
        self.swallows = "\t" in text or "\n" in text

    def fault(self, code: str, message: str, position: int) -> Unreadable:
        return fault(self.dialect, code, message, self.text, self.columns[position])

    def add(self, kind: str, text: str, start: int, end: int, *, command: bool = False) -> None:
        columns = self.columns
        self.found.append(Token(kind, text, columns[start], columns[end], self.spaced, command))
        self.spaced = False

    def span(self, position: int, end: int) -> None:
        """The tokens between two places."""
        match_at, plain, columns = self.dialect.token.match, self.plain, self.columns
        append = self.found.append
        while position < end:
            match = match_at(plain, position)
            if match is None:
                shown = plain[position]
                says = self.dialect.refused.get(shown, f"{shown!r} has no meaning in {self.dialect.what}")
                raise self.fault("character", says, position)
            kind, text, start, position = match.lastgroup, match[0], position, match.end()
            if kind == "blank":
                self.spaced = True
                continue
            if kind == "word":
                if (
                    text in _MODULES
                    and plain[position : position + 1] == "."
                    and plain[position + 1 : position + 2].isalpha()
                ):
                    position += 1
                    continue
                if self.swallows:
                    self.refuse_swallowed(start, text)
            elif kind == "number":
                if len(text) > DIGITS or plain[position : position + 1] in "eE":
                    text, position = self.number(text, start, position)
            elif kind == "sign":
                text = _SIGNS_TYPED.get(text, text)
                if text in REFUSED and not (text == ":" and self.dialect.cases):
                    raise self.fault("character", REFUSED[text], start)
            elif kind == "accent":
                text = _ACCENTS_TYPED.get(text, text.lstrip("."))
            elif kind == "point":
                kind = "sign"
            elif kind == "line":
                if not self.line(text, start):
                    continue
            else:
                position = self.other(match)
                continue
            append(Token(kind, text, columns[start], columns[position], self.spaced))
            self.spaced = False

    def line(self, text: str, start: int) -> bool:
        """Whether a line break is a token of the language; else it is a space."""
        if not self.dialect.lines:
            if text != "\n":
                raise self.fault("lines", f"write {self.dialect.what} on one line, without \\\\", start)
            self.spaced = True
        return self.dialect.lines

    def number(self, digits: str, start: int, end: int) -> tuple[str, int]:
        """A numeral of moderate size, with its power of ten where e is no number of the language."""
        if power := _SCIENTIFIC.match(self.plain, end):
            if self.dialect.e:
                readings = f"{digits}*10^({power[1]}) or {digits}*e {power[1][0]} {power[1][1:]}"
                message = f"{digits}{power[0]} reads in two ways, since e is the number 2.718…: write {readings}"
                raise self.fault("ambiguous", message, start)
            digits, end = f"{digits}e{power[1]}", power.end()
        if len(digits) > DIGITS or (power and abs(int(power[1])) > LARGEST_EXPONENT):
            raise self.fault("long_number", f"a number of more than {DIGITS} digits is not read", start)
        return digits, end

    def other(self, match: re.Match[str]) -> int:
        """What stands behind a backslash; returns where reading goes on."""
        position, end = match.start(), match.end()
        if match["environment"] is not None:
            if match["environment"].strip().rstrip("*") in CASES and self.dialect.cases:
                return self.cases(match)
            if match["environment"].strip().rstrip("*") not in ENVIRONMENTS:
                raise self.fault("command", f"the environment {match['environment']} is not read here", position)
            self.spaced = True
        elif match["font"] is not None:
            self.font(match)
        elif (name := match["command"]) is not None:
            return self.command(name, position, end)
        elif match["escaped"] is not None:
            self.escaped(match["escaped"], position, end)
        else:
            self.spaced = self.spaced or match[0] == "~"
        return end

    def cases(self, match: re.Match[str]) -> int:
        """LaTeX's cases as `cases(value, condition; value, condition)`; returns where reading goes on."""
        start, end, depth = match.start(), match.end(), 1
        for mark in re.finditer(r"\\\\|\\(begin|end)\s*\{(?:d|r)?cases\*?\}", self.plain[end:]):
            depth += {"begin": 1, "end": -1, None: 0}[mark[1]]
            if not depth:
                break
        if depth:
            raise self.fault("command", "\\begin{cases} needs its \\end{cases}", start)
        closing = end + mark.start()
        self.add("word", "cases", start, start + 1, command=True)
        self.add("sign", "(", start, start + 1)
        for row in self.pieces(r"\\\\(?:\[[^\]\n]{0,20}\])?", end, closing):
            if not self.plain[slice(*row)].strip():
                continue
            if self.found[-1].text != "(" or self.found[-2].text != "cases":
                self.add("sign", ";", row[0] - 1, row[0])
            for number, (first, last) in enumerate(self.pieces("&", *row)):
                if number:
                    self.add("sign", ",", first - 1, first)
                self.span(first, first + len(self.plain[first:last].rstrip().rstrip(",:")))
        self.add("sign", ")", closing, end + mark.end())
        return end + mark.end()

    def pieces(self, sign: str, start: int, end: int) -> list[tuple[int, int]]:
        """The places between the signs that stand in no environment inside."""
        found, depth = [], 0
        for mark in re.finditer(rf"\\(begin|end)\b|{sign}", self.plain[start:end]):
            depth += {"begin": 1, "end": -1, None: 0}[mark[1]]
            if mark[1] is None and not depth:
                found.append((start + mark.start(), start + mark.end()))
        starts, ends = [start, *(place for _, place in found)], [*(place for place, _ in found), end]
        return list(zip(starts, ends, strict=True))

    def command(self, name: str, position: int, end: int) -> int:
        """A LaTeX command by its meaning."""
        if name in WORDS:
            self.add("word", WORDS[name], position, end, command=True)
        elif name in COMMANDS:
            self.takes_arguments = self.takes_arguments or COMMANDS[name] in ("sqrt", "frac", "binom")
            self.add("sign", COMMANDS[name], position, end, command=True)
        elif name in SIZES:
            return self.sized(name, end)
        elif name in BOXES:
            return self.boxed(end)
        elif name in SILENT:
            self.spaced = True
        elif name in ACCENTS and self.dialect.accents:
            self.add("accent", ACCENTS[name], position, end, command=True)
        elif name in REFUSED:
            raise self.fault("command", REFUSED[name], position)
        elif name in ACCENTS:
            says = f"accents such as \\{name} are not read here: write the name alone"
            raise self.fault("command", says, position)
        elif self.dialect.runs_on:
            self.add("word", name, position + 1, end)
        else:
            hint = did_you_mean(name, [*WORDS, *COMMANDS])
            raise self.fault("command", f"the LaTeX command \\{name} is not read here{hint}", position)
        return end

    def boxed(self, end: int) -> int:
        """A frame around an answer vanishes with its braces; of one around a part of it, the braces stay."""
        opening = re.compile(r"\s*\{").match(self.plain, end)
        alone = not self.found or self.found[-1].kind == "line" or self.found[-1].text == "="
        if opening is None or not alone:
            return end
        depth, closing = 1, opening.end()
        while depth and closing < len(self.plain):
            depth += (self.plain[closing] == "{") - (self.plain[closing] == "}")
            closing += 1
        if depth or not _AFTER_BOX.match(self.plain, closing):
            return end
        self.span(opening.end(), closing - 1)
        return closing

    def refuse_swallowed(self, position: int, word: str) -> None:
        """A tab in front of the rest of a command, or a line break where both could be meant."""
        column = self.columns[position] - 1
        if column < 0 or self.text[column] not in "\n\t" or not (meant := _swallowed(self.text, column)):
            return
        if self.text[column] == "\t" or (not self.dialect.lines and self.is_name(word) and self.is_name(meant)):
            shown = "a line break" if self.text[column] == "\n" else "a tab"
            raise self.fault("control", f"{shown} stands before {word}: if you mean \\{meant}, {RAW}", position)

    def escaped(self, sign: str, position: int, end: int) -> None:
        """A backslash before what is no letter: a brace, a bar, or the beginning of a formula."""
        if sign == "√":
            self.add("word", "sqrt", position, end, command=True)
        elif sign in _ESCAPED:
            self.add("sign", _ESCAPED[sign], position, end)
        elif sign in ("(", "[") and (not self.found or self.found[-1].kind == "line"):
            self.spaced = True
        else:
            shown = f"\\{sign} is not read inside the answer: write {sign}" if sign.strip() else "a lone backslash"
            raise self.fault("command", shown, position)

    def sized(self, name: str, end: int) -> int:
        """`\\left`, `\\bigr` and the like: they vanish, but a bar behind them knows its side."""
        match = _BAR_BEHIND.match(self.plain, end)
        side = "(" if name == "left" or name.endswith("l") else ")" if name.endswith(("r", "right")) else ""
        if match and match[1] and name in ("left", "right"):
            return match.end()
        if match and match[2]:
            self.add("sign", f"bar{side}" if side and not self.dialect.lines else "|", match.start(2), match.end())
            return match.end()
        return end

    def font(self, match: re.Match[str]) -> None:
        """What stands in another font, read without it; several things in braces stay together."""
        if match["inside"] is None:
            if not _FONT_TAKES.match(self.plain, match.end()):
                raise self.fault("font", f"\\{match['font']} needs a word in braces", match.start())
            return
        before, spaced = len(self.found), self.spaced
        self.span(match.start("inside"), match.end("inside"))
        if len(self.found) - before > 1 and not self.dialect.lines:
            opening, closing = self.columns[match.start("inside") - 1], self.columns[match.end() - 1]
            self.found.insert(before, Token("sign", "{", opening, opening + 1, spaced))
            self.found.append(Token("sign", "}", closing, closing + 1))
        elif (
            len(self.found) - before == 1
            and self.found[-1].kind == "word"
            and self.found[-1].text not in ("ell", "inf")
        ):
            self.found[-1] = self.found[-1]._replace(command=True)
        self.spaced = False


class _Braces:
    """Puts the braces that TeX does not need around the arguments of `\\frac` and `\\sqrt`."""

    def __init__(self, scanner: _Scanner, is_name: Callable[[str], bool]) -> None:
        self.scanner, self.is_name = scanner, is_name
        self.dialect = scanner.dialect
        self.waiting = scanner.found[::-1]  # the next one last
        self.out: list[Token] = []
        self.rest = False
        """Whether the next token is the rest of a number that was cut."""

    def fault(self, token: Token, message: str, code: str = "ambiguous") -> Unreadable:
        return fault(self.dialect, code, message, self.scanner.text, token.column)

    def all(self) -> list[Token]:
        while self.waiting:
            self.step()
        return self.out

    def step(self) -> None:
        """One token, or a command with all that it takes."""
        token = self.waiting.pop()
        self.out.append(token)
        if not token.command or token.kind != "sign":
            return
        if token.text == "sqrt":
            if self.waiting[-1].text == "[":
                self.group()
            bare = self.waiting[-1].text not in CLOSING
            self.argument(token)
            if bare and self.waiting[-1].text == "!":
                raise self.fault(self.waiting[-1], "this factorial reads in two ways: put braces, \\sqrt{…}")
        elif token.text in ("frac", "binom"):
            first = self.waiting[-1]
            self.argument(token)
            second = self.waiting[-1]
            self.argument(token)
            if not self.dialect.splits and second.end == first.end and self.waiting[-1].text == "{":
                raise self.refused(token)  # \frac x1{y}
        if self.rest and token.text in ("sqrt", "frac", "binom"):
            raise self.refused(token)
        self.rest = False

    def refused(self, command: Token) -> Unreadable:
        shown = {"sqrt": "\\sqrt{…}", "frac": "\\frac{…}{…}", "binom": "\\binom{…}{…}"}[command.text]
        return self.fault(self.waiting[-1], f"LaTeX takes one digit or letter here: put braces, {shown}")

    def group(self) -> None:
        """A bracket with all that is in it."""
        depth = 0
        while self.waiting and self.waiting[-1].kind != "end":
            token = self.waiting[-1]
            depth += (token.text in CLOSING) - (token.text in CLOSING.values())
            self.step()
            if depth <= 0:
                return

    def argument(self, command: Token) -> None:
        """One token as TeX takes it: a group, a digit, a letter or a command; a whole name where it is one."""
        token = self.waiting[-1]
        if token.text in ("{", "("):
            self.group()
        elif token.kind == "number":
            if "." in token.text or "e" in token.text.lower():
                raise self.refused(command)
            self.waiting.pop()
            self.rest = len(token.text) > 1
            self.put(token, 1, "number")
        elif token.kind == "word" and (token.command or self.is_name(token.text) or len(token.text) == 1):
            if token.text in self.dialect.functions and not self.is_name(token.text):
                if command.text != "sqrt":
                    raise self.refused(command)
                return  # \sqrt\ln n
            self.waiting.pop()
            self.wrapped(token)
        elif token.kind == "word":
            if any(token.text.startswith(function) for function in self.dialect.functions):
                return
            if not self.dialect.splits and not (command.text == "frac" and token.text[1:].isdigit()):
                raise self.refused(command)
            self.waiting.pop()
            self.put(token, 1, "word")
        elif token.kind == "sign" and token.text in ("sqrt", "frac") and token.command:
            self.out.append(token._replace(text="{", command=False))
            self.step()
            self.out.append(Token("sign", "}", self.out[-1].column, self.out[-1].end))

    def put(self, token: Token, width: int, kind: str) -> None:
        """The first character of a token in braces; the rest of it waits as a token of its own."""
        first, rest = token.text[:width], token.text[width:]
        if rest:
            start = token.column + width
            kind_of_rest = "number" if rest.isdigit() else "word"
            self.waiting.append(Token(kind_of_rest, rest, start, token.end))
        self.wrapped(Token(kind, first, token.column, token.column + width, token.spaced, token.command))

    def wrapped(self, token: Token) -> None:
        """A token in braces, with the subscript and the primes that belong to a name."""
        self.out.append(Token("sign", "{", token.column, token.column, token.spaced))
        self.out.append(token._replace(spaced=False))
        if token.kind == "word":
            while self.waiting[-1].text in ("_", "'"):
                mark = self.waiting.pop()
                self.out.append(mark)
                if mark.text == "_" and self.waiting[-1].text == "{":
                    self.group()
                elif mark.text == "_" and self.waiting[-1].kind in ("word", "number"):
                    self.out.append(self.waiting.pop())
        self.out.append(Token("sign", "}", self.out[-1].end, self.out[-1].end))
        following = self.waiting[-1]
        if token.kind == "word" and self.dialect.lines and following.text in ("[", "("):
            message = "put braces around what belongs together: \\sqrt{…}, \\frac{…}{…}"
            raise self.fault(following, message, "syntax")
