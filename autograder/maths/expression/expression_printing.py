"""An expression as text that reads back to the same tree, and as LaTeX for the preview."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from autograder.maths.expression.syntax import (
    Add,
    Call,
    Cases,
    Compare,
    Constant,
    Div,
    Expression,
    Given,
    Mul,
    Neg,
    Node,
    Number,
    Pow,
    Prod,
    Sum,
    Variable,
)
from autograder.maths.spelling import GREEK

# How tightly a node holds together; a looser one inside a tighter place gets parentheses.
_SUM, _PRODUCT, _POWER, _ATOM = 1, 2, 3, 4

_LATEX_SIGNS = {"<": "<", "<=": "\\le", "=": "=", "!=": "\\ne"}
_LATEX_FUNCTIONS = {
    **{name: f"\\{name}" for name in ["exp", "ln", "sin", "cos", "tan", "tanh", "sinh", "cosh", "coth", "max", "min"]},
    "log2": "\\log_2",
    "log10": "\\log_{10}",
    "sigma": "\\sigma",
}


def _tightness(node: Node) -> int:
    match node:
        case Add() | Neg():
            return _SUM
        case Mul() | Div():
            return _PRODUCT
        case Pow():
            return _POWER
        case _:
            return _ATOM


def to_text(expression: Expression | Node) -> str:
    """The expression in ASCII; reading it again gives the same tree."""
    return _text(expression.node if isinstance(expression, Expression) else expression)


def _text(node: Node, least: int = 0) -> str:
    text = _bare_text(node)
    return f"({text})" if _tightness(node) < least else text


def _bare_text(node: Node) -> str:
    match node:
        case Number(value):
            return decimal(value)
        case Constant(name) | Variable(name):
            return name
        case Neg(operand):
            return "-" + _text(operand, _PRODUCT)
        case Add(terms):
            return _joined([_text(term, _SUM if isinstance(term, Neg) else _PRODUCT) for term in terms])
        case Mul(factors):
            first = _text(factors[0], _POWER if isinstance(factors[0], Mul) else _PRODUCT)
            return "*".join([first, *(_text(factor, _POWER) for factor in factors[1:])])
        case Div(numerator, denominator):
            return f"{_text(numerator, _PRODUCT)}/{_text(denominator, _POWER)}"
        case Pow(base, exponent):
            return f"{_text(base, _ATOM)}^{_text(exponent, _ATOM)}"
        case Sum(body, index, lower, upper):
            return f"{_series(node)}({_text(body)}, {index}, {_text(lower)}, {_text(upper)})"
        case Compare(sign, left, right):
            return f"{_text(left)} {sign} {_text(right)}"
        case Cases(values, conditions):
            rows = zip(values, conditions, strict=True)
            return f"cases({'; '.join(f'{_text(value)}, {_condition(condition, _text)}' for value, condition in rows)})"
        case Call(name, arguments) | Given(name, arguments):
            return name + (f"({', '.join(map(_text, arguments))})" if arguments else "")


def _series(node: Sum) -> str:
    return "prod" if isinstance(node, Prod) else "sum"


def _condition(condition: tuple[Compare, ...], shown: Callable[[Node], str]) -> str:
    latex = shown is not _text
    if not condition:
        return "\\text{otherwise}" if latex else "otherwise"
    return (" \\land " if latex else " and ").join(map(shown, condition))


def _joined(terms: list[str]) -> str:
    return terms[0] + "".join(f" - {term[1:]}" if term.startswith("-") else f" + {term}" for term in terms[1:])


def decimal(value: Fraction) -> str:
    """A terminating decimal in full; every number of the language is one."""
    if value.denominator == 1:
        return str(value.numerator)
    places = 1
    while (value * 10**places).denominator != 1:
        places += 1
    digits = str((value * 10**places).numerator).rjust(places + 1, "0")
    return f"{digits[:-places]}.{digits[-places:]}"


def to_latex(expression: Expression | Node) -> str:
    """The expression as the preview shows it; pasted back, it reads as the same tree."""
    return _latex(expression.node if isinstance(expression, Expression) else expression)


def _latex(node: Node, least: int = 0) -> str:
    text = _bare_latex(node)
    tightness = _ATOM - 1 if isinstance(node, Div) else _SUM if isinstance(node, Sum | Cases) else _tightness(node)
    return f"\\left({text}\\right)" if tightness < least else text


def _bare_latex(node: Node) -> str:
    match node:
        case Number(value):
            return decimal(value)
        case Constant("inf"):
            return "\\infty"
        case Constant(name) | Variable(name):
            return latex_name(name)
        case Neg(operand):
            return f"-{_latex(operand, _PRODUCT)}"
        case Add(terms):
            return _joined([_latex(term, _SUM if isinstance(term, Neg) else _PRODUCT) for term in terms])
        case Mul(factors):
            return _latex_product(factors)
        case Div(numerator, denominator):
            return f"\\frac{{{_latex(numerator)}}}{{{_latex(denominator)}}}"
        case Pow(base, exponent):
            return f"{_latex(base, _ATOM)}^{{{_latex(exponent)}}}"
        case Sum(body, index, lower, upper):
            inner = _latex(body, _ATOM if isinstance(node, Prod) else _PRODUCT)
            return f"\\{_series(node)}_{{{latex_name(index)}={_latex(lower)}}}^{{{_latex(upper)}}} {inner}"
        case Compare(sign, left, right):
            return f"{_latex(left)} {_LATEX_SIGNS[sign]} {_latex(right)}"
        case Cases(values, conditions):
            rows = zip(values, conditions, strict=True)
            shown = (f"{_latex(value)} & {_condition(condition, _latex)}" for value, condition in rows)
            return " ".join(("\\begin{cases}", " \\\\ ".join(shown), "\\end{cases}"))
        case Call(name, arguments) | Given(name, arguments):
            return _latex_call(name, arguments)


def _latex_product(factors: tuple[Node, ...]) -> str:
    shown = [_latex(factor, _POWER) for factor in factors]
    text = shown[0]
    for piece in shown[1:]:
        text += f" \\cdot {piece}" if piece[0].isdigit() or piece[0] == "." else f" {piece}"
    return text


def _latex_call(name: str, arguments: tuple[Node, ...]) -> str:
    inner = ", ".join(map(_latex, arguments))
    if name == "abs":
        return f"\\left|{inner}\\right|"
    if name == "binom":
        return f"\\binom{{{_latex(arguments[0])}}}{{{_latex(arguments[1])}}}"
    if name == "ceil":
        return f"\\lceil {inner} \\rceil"
    if name == "floor":
        return f"\\lfloor {inner} \\rfloor"
    if name == "sqrt":
        return f"\\sqrt{{{inner}}}"
    shown = _LATEX_FUNCTIONS.get(name) or (latex_name(name) if len(name) == 1 else f"\\operatorname{{{name}}}")
    return f"{shown}\\left({inner}\\right)" if arguments else latex_name(name)


def latex_name(name: str) -> str:
    """A name with its Greek letter and subscript."""
    letters, _, subscript = name.partition("_")
    head = f"\\{letters}" if letters in GREEK else letters if len(letters) == 1 else f"\\mathrm{{{letters}}}"
    return f"{head}_{{{subscript}}}" if subscript else head
