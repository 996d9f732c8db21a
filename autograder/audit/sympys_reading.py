r"""A closed form as sympy reads it: an author's ASCII or LaTeX in the syntax of sympy's own parser.

sympy evaluates what it parses: only an author's text ever comes here.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from typing import Any


class NotRead(Exception):  # named for what happened
    """sympy cannot read a text; the message says why."""


_PLAIN = {
    "−": "-", "·": "*", "×": "*", "²": "^2", "³": "^3", "∞": " inf ", "**": "^", "\\cdot": "*", "\\times": "*",
    "\\left": "", "\\right": "", "\\,": " ", "\\;": " ", "\\!": "", "\\ ": " ", "\\infty": " inf ", "$": "", "&": "",
    "\\lfloor": "floor(", "\\rfloor": ")", "\\lceil": "ceil(", "\\rceil": ")", "⌊": "floor(", "⌋": ")", "⌈": "ceil(",
    "⌉": ")", "\\bmod": "%", "\\lvert": "|", "\\rvert": "|", "\\dfrac": "\\frac", "\\tfrac": "\\frac",
}  # fmt: skip


def _translated(text: str) -> str:
    """An author's ASCII or LaTeX in the syntax of sympy's parser."""
    if re.search(r"\\(begin|choose)", text):
        raise NotRead("LaTeX's cases and choose are not translated")
    for sign, plain in _PLAIN.items():
        text = text.replace(sign, plain)
    for command, between in (("frac", ")/("), ("binom", ", ")):
        while (place := text.find(f"\\{command}{{")) >= 0:
            first = _closing(text, place + len(command) + 1)
            second = _closing(text, first + 1)
            head = "binom(" if command == "binom" else "(("
            tail = ")" if command == "binom" else "))"
            above, below = text[place + len(command) + 2 : first], text[first + 2 : second]
            text = f"{text[:place]} {head}{above}{between}{below}{tail} {text[second + 1 :]}"
    while (place := max(text.rfind("\\sum_{"), text.rfind("\\prod_{"))) >= 0:
        text = text[:place] + _with_series(text[place:])
    text = re.sub(r"\\sqrt\{", " sqrt{", text)
    text = re.sub(r"_\{(\w+)\}", r"_\1", text)
    text = re.sub(r"\\([A-Za-z]+)(?=(\d?))", lambda found: f" {found[1]}{' ' if found[2] else ''}", text)
    text = re.sub(r"(?<![A-Za-z_\d.])(\d+(?:\.\d+)?)(?=[A-Za-z])", r"\1*", text)  # Python's 2j is imaginary
    text = re.sub(r"\|([^|]+)\|", r"abs(\1)", text)
    text = re.sub(r"\bmod\b(?!\s*\()", "%", text)
    text = re.sub(r"log_(2|10)\b", r"log\1", text)
    return _with_cases(text.translate(str.maketrans("{}[]", "()()")))


def _with_series(text: str) -> str:
    r"""`\sum_{i=a}^{b} term`, whose term ends at the next + or -, as a call."""
    opening = text.index("{")
    end = _closing(text, opening)
    index, _, low = text[opening + 1 : end].partition("=")
    bound = re.match(r"\s*\^\s*(\\?\w+|\{)", text[end + 1 :])
    if bound is None:
        raise NotRead("a sum without an upper bound")
    start = end + 1 + bound.end()
    high = bound[1]
    if high == "{":
        last = _closing(text, start - 1)
        high, start = text[start:last], last + 1
    depth, stop = 0, len(text)
    for place in range(start, len(text)):
        depth += (text[place] in "({[") - (text[place] in ")}]")
        if depth < 0 or (not depth and text[place] in "+-" and text[start:place].strip()):
            stop = place
            break
    call = text[1:opening].rstrip("_")
    return f" {call}(({text[start:stop]}), {index}, {low}, {high}) {text[stop:]}"


def _closing(text: str, opening: int) -> int:
    """Where the bracket closes that opens here."""
    depth = 0
    for place in range(opening, len(text)):
        depth += (text[place] in "({[") - (text[place] in ")}]")
        if not depth and place >= opening and text[place] in ")}]":
            return place
    raise NotRead("a bracket that does not close")


def _with_cases(text: str) -> str:
    """`cases(a, n = 0; b, otherwise)` as a call with conditions that are calls."""
    while (match := re.search(r"\bcases\(", text)) is not None:
        end = _closing(text, match.end() - 1)
        rows = []
        for row in _apart(text[match.end() : end], ";"):
            value, *condition = _apart(row, ",")
            rest = not condition or re.fullmatch(r"\s*(otherwise|else)\s*", condition[0])
            rows.append(f"({value}), {'always()' if rest else _condition(condition[0])}")
        text = f"{text[: match.start()]}piecewise({', '.join(rows)}){text[end + 1 :]}"
    return text


def _condition(text: str) -> str:
    """Comparisons as calls: `0 < n <= 3` is both(less(0, n), most(n, 3))."""
    calls = []
    for one in re.split(r"\band\b", text.replace("≤", "<=").replace("≥", ">=").replace("≠", "!=")):
        parts = re.split(r"(<=|>=|!=|==|=|<|>)", re.sub(r"^\s*(if|for|when)\b", "", one))
        for place in range(0, len(parts) - 2, 2):
            calls.append(f"{_NAMES[parts[place + 1]]}(({parts[place]}), ({parts[place + 2]}))")
    return f"both({', '.join(calls)})"


_NAMES = {"<": "less", "<=": "most", ">": "more", ">=": "least", "=": "same", "==": "same", "!=": "other"}


def _apart(text: str, sign: str) -> list[str]:
    depth, parts = 0, [""]
    for letter in text:
        depth += (letter == "(") - (letter == ")")
        if letter == sign and not depth:
            parts.append("")
        else:
            parts[-1] += letter
    return parts


def tree_of(text: str, declared: Mapping[str, Any]) -> Any:
    """sympy's tree of a text, which may use what is declared; NotRead where there is none."""
    if "complex" in declared["domains"].values():
        raise NotRead("complex variables")
    return _parsed(_translated(text), declared)


def condition_of(text: str, declared: Mapping[str, Any]) -> Any:
    """The same of a constraint."""
    return _parsed(_condition(text), declared)


def _parsed(text: str, declared: Mapping[str, Any]) -> Any:
    from sympy.parsing import sympy_parser as parser

    domains, definitions = declared["domains"], declared.get("definitions", {})
    local = _declared(declared.get("log", "ln"), tuple(domains), tuple(definitions.items()))
    steps = (
        parser.auto_symbol, parser.repeated_decimals, parser.auto_number, parser.factorial_notation,
        parser.convert_xor, parser.split_symbols_custom(lambda word: word not in local and len(word) <= 6),
        parser.implicit_multiplication, parser.implicit_application, parser.function_exponentiation,
        parser.rationalize,
    )  # fmt: skip
    text = re.sub(r"\blambda\b", "lambda_", text)
    try:
        tree = parser.parse_expr(text, local_dict=dict(local), global_dict=_globals(), transformations=steps)
    except Exception as error:
        raise NotRead(f"sympy: {type(error).__name__}: {error}") from error
    if unknown := sorted({symbol.name for symbol in tree.free_symbols} - set(domains)):
        raise NotRead(f"sympy reads a name {unknown[0]}")
    return tree


@functools.lru_cache(maxsize=256)
def _declared(log: str, variables: tuple[str, ...], definitions: tuple[tuple[str, str], ...]) -> Mapping[str, Any]:
    """What each name stands for that a text may use; a definition may use those before it."""
    from sympy import Symbol

    local = {**_words(log), **{_plain_name(name): Symbol(name) for name in variables}}
    for place, (head, body) in enumerate(definitions):
        name, parameters = _head(head)
        inside = {
            "log": log,
            "domains": dict.fromkeys((*variables, *parameters)),
            "definitions": dict(definitions[:place]),
        }
        local[name] = _definition(_parsed(_translated(body), inside), parameters)
    return local


@functools.cache
def _globals() -> dict[str, Any]:
    """What the text that sympy makes of a text calls."""
    import sympy

    names = ("Symbol", "Integer", "Float", "Rational", "Function", "factorial", "factorial2")
    return {name: getattr(sympy, name) for name in names}


def _plain_name(name: str) -> str:
    return re.sub(r"[{}]", "", "lambda_" if name == "lambda" else name)


def _head(head: str) -> tuple[str, list[str]]:
    name, _, inside = head.replace(" ", "").partition("(")
    return _plain_name(name), [part for part in inside.rstrip(")").split(",") if part]


def _definition(tree: Any, parameters: list[str]) -> Any:
    from sympy import Symbol

    if not parameters:
        return tree
    return lambda *values: tree.subs(dict(zip(map(Symbol, parameters), values, strict=True)), simultaneous=True)


def _words(log: str) -> dict[str, Any]:
    """The names that an author may use, as sympy's functions."""
    import sympy as s

    def logarithm(x: Any, base: Any = None) -> Any:
        return s.log(x) / s.log({"ln": s.E, "log2": 2, "log10": 10}.get(log, s.E) if base is None else base)

    table: dict[str, Any] = {
        **{name: getattr(s, name) for name in ("exp", "sqrt", "sin", "cos", "tan", "tanh", "sinh", "cosh", "coth")},
        **{name: getattr(s, name) for name in ("sech", "asinh", "atan", "floor", "factorial", "pi")},
        "ln": s.log, "log": logarithm, "abs": s.Abs, "ceil": s.ceiling, "binom": s.binomial, "mod": s.Mod,
        "log2": lambda x: s.log(x) / s.log(2), "log10": lambda x: s.log(x) / s.log(10),
        "max": s.Max, "min": s.Min, "relu": lambda x: s.Max(x, 0), "sigma": lambda x: 1 / (1 + s.exp(-x)),
        "softplus": lambda x: s.log(1 + s.exp(x)), "e": s.E, "inf": s.oo, "oo": s.oo,
        "sum": lambda term, i, low, high: s.Sum(term, (i, low, high)),
        "prod": lambda term, i, low, high: s.Product(term, (i, low, high)),
        "piecewise": lambda *rows: s.Piecewise(*zip(rows[::2], rows[1::2], strict=True)),
        "both": lambda *conditions: s.And(*conditions), "always": lambda: s.true,
        "less": s.Lt, "most": s.Le, "more": s.Gt, "least": s.Ge, "same": s.Eq, "other": s.Ne,
    }  # fmt: skip
    others = {
        "sigmoid": "sigma", "ReLU": "relu", "RELU": "relu", "arsinh": "asinh", "arcsinh": "asinh", "arctan": "atan",
        "fabs": "abs", "Abs": "abs", "Max": "max", "Min": "min", "binomial": "binom", "comb": "binom", "nCr": "binom",
        "C": "binom", "ceiling": "ceil", "lb": "log2", "ld": "log2", "product": "prod",
        **dict.fromkeys(("infinity", "infinite", "infty", "Inf"), "inf"),
    }  # fmt: skip
    return {**table, **{name: table[other] for name, other in others.items()}}
