r"""Every closed form of an author's, read and computed a second time without anything of ours: by sympy and mpmath.

Both routes must agree on what a text is worth at random points of its domain. An equivalent must also be worth what
the reference is, by the second route alone. sympy evaluates what it parses: only an author's text ever comes here.
"""

from __future__ import annotations

import functools
import random
import re
from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from typing import Any

from autograder.core import Parameters, Part
from autograder.maths import chain

POINTS = 6
DIGITS = 40
_CLOSE = 1e-20
_TINY = 1e-12  # below it, a sum has lost digits
_LOOP = 3000

Point = dict[str, Fraction]
Value = Callable[[Point], Any]


class NotRead(Exception):  # named for what happened
    """sympy cannot read a text; the message says why."""


def read_again(part: Part, p: Parameters, found: Any) -> None:
    """Compare the routes on the reference and on every equivalent of a part whose answers are closed forms."""
    if not part.in_closed_form:
        return
    declared = part.declarations(p)
    points = list(_points(declared, random.Random(f"{part.name} {sorted(map(str, p.items()))}")))
    if not points:
        found.note("second route", "no point of the domains fulfils the constraints: the reference is not read again")
        return
    keys: list[tuple[Value, str]] = []
    second = functools.cache(functools.partial(_second, declared=declared))  # chains have lines in common
    for who, texts, compared in _subjects(part, p):
        try:
            routes = [second(text) for text in texts]
        except NotRead as error:
            found.reread[who] = str(error)
            said = f"{who} is not read a second time ({error})"
            (found.fault if who == "the reference" else found.note)(f"second {who}", said)
            continue
        found.reread.setdefault(who, "")
        for text, route in zip(texts, routes, strict=True):
            _agrees(who, text, route, declared, points, found)
        if who == "the reference":
            keys = routes
            _excluded(keys[0] if len(keys) == 1 else None, declared, points, found)
        elif compared and keys:
            _equals(who, routes, keys if len(keys) == len(routes) else keys[-1:] * len(routes), points, found)


def _subjects(part: Any, p: Parameters) -> Iterator[tuple[str, list[str], bool]]:
    """The reference and each equivalent with its closed forms, and whether they are worth what the reference is."""
    operators = part.declarations(p).get("operators", {})

    def texts(answer: Any) -> list[str]:
        return _texts(answer, operators)

    exact = part.tolerance is None and not part.up_to and not getattr(part, "direction", "")
    yield "the reference", texts(part.right(p)), True
    if (model := part.written_by_author(p)) != part.right(p):
        yield "the model", texts(model), exact
    for item in part.right_answers():
        if part.applies(item, p):
            name = str(getattr(item, "__name__", item))
            yield f"equivalent {name!r}", texts(part.given(item, p)), exact and item not in tuple(part.alternatives)


def _texts(answer: Any, operators: Mapping[str, str]) -> list[str]:
    """The closed forms of an answer: entries of a matrix, lines of a derivation, members of a chain."""
    if isinstance(answer, list | tuple):
        return [str(entry) for row in answer for entry in row]
    lines = [line.text for line in chain.lines(str(answer))]
    kept = [line for line in lines if not (len(lines) > 1 and line == lines[0] and chain.is_label(line))]
    return [chain.written_out(line, operators) for line in kept]


# -- points ------------------------------------------------------------------------------------------------------------


def _points(declared: Mapping[str, Any], rng: random.Random) -> Iterator[Point]:
    """Random points that fulfil the constraints."""
    domains = declared["domains"]
    holds = [_condition(text) for text in declared.get("constraints", ())]
    rules = [_evaluator(_parsed(text, declared)) for text in holds]
    count = 0
    for _ in range(400):
        point = {name: _drawn(text, rng) for name, text in domains.items()}
        if all(_value(rule, point) for rule in rules):
            yield point
            count += 1
        if count == POINTS:
            return


def _drawn(domain: str, rng: random.Random) -> Fraction:
    """A number of a domain, small enough for factorials."""
    part = Fraction(rng.randint(1, 60), rng.choice((7, 11, 13, 17)))
    match domain:
        case "positive":
            return part
        case "gt1":
            return 1 + part
        case "unit":
            return Fraction(rng.randint(1, 28), 29)
        case "posint" | "nat":
            return Fraction(rng.randint(domain == "posint", 9))
        case "int":
            return Fraction(rng.randint(-9, 9))
    numbers = [Fraction(number) for number in re.findall(r"-?\d+(?:\.\d+)?(?:/\d+)?", domain)]
    if domain.strip().startswith("["):
        return numbers[0] + (numbers[1] - numbers[0]) * Fraction(rng.randint(1, 28), 29)
    if domain.strip().startswith("{"):
        step = numbers[1] - numbers[0]
        last = numbers[2] if len(numbers) > 2 else numbers[1] if "..." not in domain else numbers[0] + 9 * step
        return numbers[0] + step * rng.randint(0, int((last - numbers[0]) / step))
    return part * rng.choice((1, -1))


# -- sympy's reading ---------------------------------------------------------------------------------------------------


def _second(text: str, declared: Mapping[str, Any]) -> tuple[Value, str]:
    """What a text is worth at a point, and how sympy writes it."""
    if "complex" in declared["domains"].values():
        raise NotRead("complex variables")
    tree = _parsed(_translated(text), declared)
    return _evaluator(tree), str(tree)


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


def _parsed(text: str, declared: Mapping[str, Any]) -> Any:
    """sympy's tree of a translated text."""
    from sympy import Symbol
    from sympy.parsing import sympy_parser as parser

    local = _words(declared.get("log", "ln"))
    for name in declared["domains"]:
        local[_plain_name(name)] = Symbol(name)
    before: dict[str, str] = {}
    for head, body in declared.get("definitions", {}).items():
        name, parameters = _head(head)
        domains = {**declared["domains"], **dict.fromkeys(parameters, "real")}
        inside = {**declared, "domains": domains, "definitions": dict(before)}
        local[name] = _definition(_parsed(_translated(body), inside), parameters)
        before[head] = body
    steps = (
        parser.auto_symbol, parser.repeated_decimals, parser.auto_number, parser.factorial_notation,
        parser.convert_xor, parser.split_symbols_custom(lambda word: word not in local and len(word) <= 6),
        parser.implicit_multiplication, parser.implicit_application, parser.function_exponentiation,
        parser.rationalize,
    )  # fmt: skip
    names: dict[str, Any] = {}
    exec("from sympy import Symbol, Integer, Float, Rational, Function, factorial, factorial2", names)  # noqa: S102
    text = re.sub(r"\blambda\b", "lambda_", text)
    try:
        tree = parser.parse_expr(text, local_dict=local, global_dict=names, transformations=steps)
    except Exception as error:
        raise NotRead(f"sympy: {type(error).__name__}: {error}") from error
    if unknown := sorted({symbol.name for symbol in tree.free_symbols} - set(declared["domains"])):
        raise NotRead(f"sympy reads a name {unknown[0]}")
    return tree


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


# -- mpmath's values ---------------------------------------------------------------------------------------------------


def _evaluator(tree: Any) -> Value:
    """What a tree is worth at a point; asked again, it is not worked out again."""
    import mpmath

    found: dict[Any, Any] = {}

    def at(point: Point) -> Any:
        place = tuple(sorted(point.items()))
        if place not in found:
            with mpmath.workdps(DIGITS):
                names = {name: mpmath.mpf(value.numerator) / value.denominator for name, value in point.items()}
                found[place] = _worth(tree, names, {})
        return found[place]

    return at


def _worth(node: Any, names: Mapping[str, Any], known: dict[Any, Any]) -> Any:
    """A node of sympy's tree, in mpmath's numbers. `known` holds the sums and products met so far: one inside another
    that does not depend on its index is worked out once, not for every term."""
    import mpmath as m

    kind = type(node).__name__
    if node.is_Symbol:
        return names[node.name]
    if node.is_Rational:
        return m.mpf(int(node.p)) / int(node.q)
    if kind in ("Sum", "Product"):
        about = (node, *sorted((symbol.name, names[symbol.name]) for symbol in node.free_symbols))
        if about not in known:
            known[about] = _series(kind, node, names, known)
        return known[about]
    if kind == "Piecewise":
        for value, condition in node.args:
            if _worth(condition, names, known):
                return _worth(value, names, known)
        raise ValueError("no case holds")
    constants = {"Exp1": m.e, "Pi": m.pi, "Infinity": m.inf, "NegativeInfinity": -m.inf,
                 "BooleanTrue": True, "BooleanFalse": False}  # fmt: skip
    if kind in constants:
        return constants[kind]
    values = [_worth(argument, names, known) for argument in node.args]
    function = _functions().get(kind) or getattr(m, kind, None)
    if function is None:
        raise NotImplementedError(kind)
    return function(*values)


@functools.cache
def _functions() -> dict[str, Callable[..., Any]]:
    """What sympy's nodes stand for, where mpmath has another name or another convention."""
    import mpmath as m

    return {
        "Add": lambda *x: m.fsum(x), "Mul": lambda *x: m.fprod(x), "Abs": abs, "Max": max, "Min": min,
        "Pow": lambda x, y: m.mpf(1) if y == 0 else m.power(x, y), "ceiling": m.ceil, "binomial": m.binomial,
        "Mod": lambda x, y: x - y * m.floor(x / y), "StrictLessThan": lambda x, y: x < y, "And": lambda *x: all(x),
        "LessThan": lambda x, y: x <= y, "StrictGreaterThan": lambda x, y: x > y, "Or": lambda *x: any(x),
        "GreaterThan": lambda x, y: x >= y, "Equality": lambda x, y: x == y, "Unequality": lambda x, y: x != y,
        "Not": lambda x: not x,
    }  # fmt: skip


def _series(kind: str, node: Any, names: Mapping[str, Any], known: dict[Any, Any]) -> Any:
    import mpmath as m

    (index, low, high), *_ = node.limits
    first, last = _worth(low, names, known), _worth(high, names, known)

    def term(i: Any) -> Any:
        return _worth(node.function, {**names, index.name: m.mpf(i)}, known)

    if last == m.inf or first == -m.inf:
        return (m.nsum if kind == "Sum" else m.nprod)(term, [first, last])
    if last - first > _LOOP:
        raise NotImplementedError("a long sum")
    values = [term(i) for i in range(int(first), int(last) + 1)]
    return m.fsum(values) if kind == "Sum" else m.fprod(values)


def _value(route: Value, point: Point) -> Any:
    """A real value, None where there is none; NotImplementedError where mpmath cannot say."""
    import mpmath as m

    try:
        value = route(point)
    except (ValueError, ZeroDivisionError, ArithmeticError, m.libmp.NoConvergence):
        return None
    if isinstance(value, m.mpc):
        if abs(value.imag) > _CLOSE * (1 + abs(value)):
            return None
        value = value.real
    return None if isinstance(value, m.mpf) and m.isnan(value) else value


# -- what is compared --------------------------------------------------------------------------------------------------


def _agrees(
    who: str, text: str, route: tuple[Value, str], declared: Mapping[str, Any], points: list[Point], found: Any
) -> None:
    """Our reading and sympy's are worth the same at all points."""
    value, shown = route
    for point in points:
        try:
            ours, read = _ours(text, declared, point)
            theirs = _value(value, point)
        except NotImplementedError:
            continue
        if not _same(ours, theirs):
            found.fault(
                f"second {who}",
                f"{who} {text!r} is read here as {read} = {_said(ours)} at {_place(point)}, but sympy reads {shown} = "
                f"{_said(theirs)}",
            )
            return


def _equals(
    who: str, routes: list[tuple[Value, str]], keys: list[tuple[Value, str]], points: list[Point], found: Any
) -> None:
    """The equivalent is worth what the reference is, by the second route alone."""
    for (route, shown), (key, _) in zip(routes, keys, strict=True):
        for point in points:
            try:
                one, other = _value(route, point), _value(key, point)
            except NotImplementedError:
                continue
            if one is not None and other is not None and not _same(one, other):
                said = f"sympy reads {who} as {shown} = {_said(one)} at {_place(point)}, where the reference is "
                found.fault(f"second {who}", f"{said}{_said(other)}")
                return


def _excluded(key: tuple[Value, str] | None, declared: Mapping[str, Any], points: list[Point], found: Any) -> None:
    """A note where the reference has no value within its domain, or counts come out negative."""
    if key is None:
        return
    whole = all(point[name].denominator == 1 and point[name] >= 0 for point in points for name in point)
    values: list[tuple[Point, Any]] = []
    for point in points:
        try:
            values.append((point, _value(key[0], point)))
        except NotImplementedError:
            return
    advice = "if such numbers cannot occur, say so with constraints=[…] or another domain"
    lacking = [point for point, value in values if value is None]
    if lacking:
        found.note("no value", f"the reference has no real value at {_place(lacking[0])}; {advice}")
    negative = [(point, value) for point, value in values if value is not None and value < 0]
    positive = [value for _, value in values if value is not None and value > 0]
    if whole and negative and positive and all(value == int(value) for _, value in negative):
        point, value = negative[0]
        found.note("negative", f"the reference is {_said(value)} at {_place(point)}; {advice}")


def _ours(text: str, declared: Mapping[str, Any], point: Point) -> tuple[Any, str]:
    """The value by our own reader and arithmetic, with what was read; NotImplementedError where it is unclear."""
    import mpmath
    from flint import fmpq

    from autograder.maths import expression
    from autograder.maths.expression.arithmetic import Unclear, Undefined
    from autograder.maths.expression.comparing import Comparison
    from autograder.maths.expression.extended import Infinity
    from autograder.maths.expression.parsing import reading
    from autograder.maths.precision import precision

    words = {key: value for key, value in declared.items() if key not in ("constraints", "operators")}
    node = expression.parse_answer(text, **words)[-1].node
    lives = {name: _domain(kind) for name, kind in reading(**words).domains}
    machine_of = Comparison(node, node, lives)
    with precision(512):
        machine = machine_of.machine
        machine.start({name: fmpq(value.numerator, value.denominator) for name, value in point.items()})
        try:
            value = machine.value(machine_of.reference)
        except Undefined:
            return None, expression.to_text(node)
        except Unclear as error:
            raise NotImplementedError from error
        with mpmath.workdps(DIGITS):
            if isinstance(value, Infinity):
                number = value.sign * mpmath.inf
            elif isinstance(value, fmpq):
                number = mpmath.mpf(int(value.p)) / int(value.q)
            else:
                number = mpmath.mpf(value.str(DIGITS, radius=False, more=True))
    return number, expression.to_text(node)


def _domain(text: str) -> Any:
    from autograder.maths.expression.vocabulary import domain

    return domain(text)


def _same(one: Any, other: Any) -> bool:
    if one is None or other is None:
        return one is other
    return bool(one == other or abs(one - other) <= _CLOSE * max(abs(one) + abs(other), _TINY))


def _said(value: Any) -> str:
    import mpmath

    return "no value" if value is None else str(mpmath.nstr(value, 8))


def _place(point: Point) -> str:
    return ", ".join(f"{name} = {value}" for name, value in point.items()) or "every point"
