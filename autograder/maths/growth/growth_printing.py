"""A tree back to text: `to_text` in the ASCII that `parse` reads to the same tree, `to_latex` for the preview."""

from __future__ import annotations

from fractions import Fraction

from autograder.maths.growth.growth_tree import Call, Growth, Name, Node, Number, Power, Product, Quotient, Sum


def to_text(growth: Growth) -> str:
    """ASCII without the outer O(...); `parse(to_text(g)) == g`."""
    return _text(growth.tree)


def to_latex(growth: Growth) -> str:
    """`\\Theta(...)`, every product and every argument shown as it was read."""
    return rf"\Theta\left({_latex(growth.tree)}\right)"


def _decimal(value: Fraction) -> str:
    places = 0
    while (value * 10**places).denominator != 1:
        places += 1
    digits = str((value * 10**places).numerator).rjust(places + 1, "0")
    return f"{digits[:-places]}.{digits[-places:]}" if places else digits


def _bracket(node: Node, *kinds: type) -> str:
    return f"({_text(node)})" if isinstance(node, kinds) else _text(node)


def _text(node: Node) -> str:
    match node:
        case Number():
            return _decimal(node.value)
        case Name():
            return node.name
        case Sum():
            parts = [(" - " if sign < 0 else " + ") + _bracket(term, Sum) for sign, term in node.terms]
            return _sum(parts)
        case Product():
            first, *rest = node.factors
            return "*".join([_bracket(first, Sum, Product), *(_bracket(f, Sum, Product, Quotient) for f in rest)])
        case Quotient():
            return f"{_bracket(node.top, Sum)}/{_bracket(node.bottom, Sum, Product, Quotient)}"
        case Power():
            exponent = _text(node.exponent)
            if not isinstance(node.exponent, Number | Name):
                exponent = f"({exponent})"
            return f"{_bracket(node.base, Sum, Product, Quotient, Power)}^{exponent}"
        case Call():
            return _call(node)


def _sum(parts: list[str]) -> str:
    first = parts[0]
    return (f"-{first[3:]}" if first.startswith(" - ") else first[3:]) + "".join(parts[1:])


def _call(node: Call) -> str:
    if node.function == "log" and node.arguments[1] == Number(value=Fraction(2)):
        return f"log2({_text(node.arguments[0])})"
    return f"{node.function}({', '.join(_text(argument) for argument in node.arguments)})"


_LATEX_CALLS = {
    "ln": r"\ln\left({}\right)",
    "sqrt": r"\sqrt{{{}}}",
    "exp": r"{{e}}^{{{}}}",
    "max": r"\max\left({}\right)",
    "min": r"\min\left({}\right)",
    "ceil": r"\lceil {} \rceil",
    "floor": r"\lfloor {} \rfloor",
}


def _latex_bracket(node: Node, *kinds: type) -> str:
    return rf"\left({_latex(node)}\right)" if isinstance(node, kinds) else _latex(node)


def _latex(node: Node) -> str:
    match node:
        case Number():
            return _decimal(node.value)
        case Name():
            return _latex_name(node.name)
        case Sum():
            return _sum([(" - " if sign < 0 else " + ") + _latex_bracket(term, Sum) for sign, term in node.terms])
        case Product():
            return r" \cdot ".join(_latex_bracket(factor, Sum, Product) for factor in node.factors)
        case Quotient():
            return rf"\frac{{{_latex(node.top)}}}{{{_latex(node.bottom)}}}"
        case Power(base=Call(function="exp", arguments=(Number(value=Fraction(numerator=1, denominator=1)),))):
            return f"{{e}}^{{{_latex(node.exponent)}}}"
        case Power():
            return f"{{{_latex_bracket(node.base, Sum, Product, Quotient, Power, Call)}}}^{{{_latex(node.exponent)}}}"
        case Call(function="exp", arguments=(Number(value=Fraction(numerator=1, denominator=1)),)):
            return "e"
        case Call(function="log"):
            argument, base = node.arguments
            return rf"\log_{{{_latex(base)}}}\left({_latex(argument)}\right)"
        case Call():
            return _LATEX_CALLS[node.function].format(", ".join(_latex(argument) for argument in node.arguments))


def _latex_name(name: str) -> str:
    stem, _, label = name.partition("_")
    stem = stem if len(stem) == 1 else rf"\mathrm{{{stem}}}"
    return f"{stem}_{{{label.replace('_', ' ')}}}" if label else stem
