"""What a run of letters means: one name, several declared names side by side, or a slip with a suggestion."""

from __future__ import annotations

import re
from fractions import Fraction

from autograder.errors import Unreadable, did_you_mean
from autograder.maths.expression.syntax import Constant, Node, Number, Variable
from autograder.maths.expression.vocabulary import ALIASES, INFINITY_WORDS, LOGS, Vocabulary
from autograder.maths.spelling import GREEK

_SHORT = frozenset(("lb", "ld", "lg", "mod", "comb", "ceil", "binom"))  # words that could be products of letters
_PARTS = re.compile(r"([A-Za-z]+)([0-9]*)(?:_([A-Za-z0-9]+))?")


def _key(name: str) -> str:
    match = _PARTS.fullmatch(name)
    if match is None:
        return name
    subscript = match[2] + (match[3] or "")
    return f"{match[1]}_{subscript}" if subscript else match[1]


def function(name: str, words: Vocabulary, text: str, column: int) -> str:
    """The function that `name` calls, or '' where it is none; a declared variable is never a function."""
    if _key(name) in words.variables:
        return ""
    if name in _SHORT and set(name) <= {*words.variables}:
        raise Unreadable("ambiguous", f"{name} could be one word or a product: write * or spaces between the factors",
                         text, column)  # fmt: skip
    name = ALIASES.get(name, name)
    name = {"log_2": "log2", "log_10": "log10", "ln_2": "log2", "log_e": "ln"}.get(name, name)
    if name == "log" and "log" in words.functions:
        if not LOGS[words.log]:
            raise Unreadable("log", "log is ambiguous here: write ln or log2", text, column)
        return LOGS[words.log]
    if name.startswith("log_") and "ln" in words.functions:
        return "ln"
    return name if name in words.functions else ""


def is_one(name: str, words: Vocabulary) -> bool:
    """Whether letters together are one name of the question, so that none of them is a factor by itself."""
    key = _key(name)
    return key in words.variables or key in words.given or name == "pi" or name.casefold() in INFINITY_WORDS


def given(name: str, words: Vocabulary) -> str:
    """The key of the definition that `name` refers to, or ''."""
    return _key(name) if _key(name) in words.given else ""


def factors(name: str, bound: list[str], words: Vocabulary, text: str, column: int, power: bool) -> list[Node]:
    """The factors that a name token stands for; `power` says that `^` follows, as in `xe^(-x)`."""
    if (single := _single(name, bound, words, text, column)) is not None:
        return [single]
    if (split := _split(name, bound, words, power)) is not None:
        if name in GREEK or any(name.startswith(word) for word in words.functions):
            message = f"{name} could be one word or a product: write * or spaces between the factors"
            raise Unreadable("ambiguous", message, text, column)
        return split
    raise Unreadable("undeclared", _unknown(name, words), text, column)


def _single(name: str, bound: list[str], words: Vocabulary, text: str, column: int) -> Node | None:
    key = _key(name.removeprefix("\\"))
    if name in bound:
        return Variable(name)
    if key in words.variables:
        return Variable(words.variables[key])
    if name == words.imaginary:
        return Constant("i")
    if name.casefold() in INFINITY_WORDS:
        return Constant("inf")
    if name == "pi" and {"p", "i"} <= {*words.variables, *bound}:
        raise Unreadable("ambiguous", "pi could be the number or p times i: write p*i or \\pi", text, column)
    if name == "\\pi":
        return Constant("pi")
    return Constant(name) if name in ("e", "pi") else None


def _split(name: str, bound: list[str], words: Vocabulary, power: bool) -> list[Node] | None:
    """Declared names side by side; `e` counts before digits (`2e3` is 2*e*3) and before a power."""
    known = {
        **{key: Variable(full) for key, full in words.variables.items()},
        **{i: Variable(i) for i in bound},
    }
    found: list[list[Node]] = []

    def descend(rest: str, sofar: list[Node]) -> None:
        if not rest:
            found.append(sofar)
        for length in range(1, len(rest) + 1 if len(found) < 2 else 0):
            if (node := known.get(rest[:length])) is not None:
                descend(rest[length:], [*sofar, node])
        if "e" not in known and (match := re.match(r"e(\d+)", rest)):
            descend(rest[match.end() :], [*sofar, Constant("e"), Number(Fraction(match[1]))])
        if "e" not in known and rest == "e" and power and sofar:
            descend("", [*sofar, Constant("e")])

    if len(name) <= 10:
        descend(name, [])
    return found[0] if len(found) == 1 else None


def _unknown(name: str, words: Vocabulary) -> str:
    known = words.known()
    if name == "softmax":
        return "softmax is not a function of this answer: write it out"
    if other := next((word for word in known if word.casefold() == name.casefold()), ""):
        return f"{name} is not declared: capitals matter (did you mean {other}?)"
    letters = name.rstrip("0123456789")
    if letters != name and _key(letters) in words.variables:
        digits = name[len(letters) :]
        return f"{name} is not declared: write {letters}*{digits} or {letters}^{digits}"
    declared = ", ".join(words.variables.values()) or "none"
    return f"{name} is not declared{did_you_mean(name, known)}; the variables are: {declared}"
