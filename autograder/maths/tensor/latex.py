"""A tree as LaTeX for the preview, every scope visible."""

from __future__ import annotations

import re
from typing import ClassVar

from autograder.maths.spelling import GREEK
from autograder.maths.tensor.rendering import FACTOR, Text
from autograder.maths.tensor.tensor_tree import (
    Concat,
    Expr,
    Index,
    Indicator,
    Name,
    Power,
    Symbol,
    System,
    Tensor,
    Total,
)


class Latex(Text):
    """LaTeX, for MathJax."""

    dots = r"\dots"
    one = r"\mathbb{1}"
    signs: ClassVar[dict[str, str]] = {"<=": r" \le ", "!=": r" \ne "}

    def system(self, system: System) -> str:
        """An `aligned` environment where there is more than one equation."""
        lines = [self.equation(equation) for equation in system.equations]
        if len(lines) == 1:
            return lines[0]
        return "\\begin{aligned}\n" + " \\\\\n".join(line.replace("=", "&=", 1) for line in lines) + "\n\\end{aligned}"

    def parentheses(self, text: str) -> str:
        """Brackets that grow."""
        return rf"\left( {text} \right)"

    def brackets(self, text: str) -> str:
        """Square brackets."""
        return rf"\left[ {text} \right]"

    def name(self, name: Name) -> str:
        """`\\tilde{W}^{Q}_{\\ell+1}`; words are set upright."""
        text = _word(name.base)
        for accent in name.accents:
            text = rf"\{_LATEX_ACCENTS[accent]}{{{text}}}"
        for mark, label in (("_", name.lower), ("^", name.upper)):
            if label:
                text += mark + "{" + _label(label) + "}"
        return text + "'" * name.primes

    def symbol(self, symbol: Symbol) -> str:
        """`t_{\\text{in}}`, `\\Delta t`."""
        offset = len(symbol.letter) == 2
        letter = rf"\Delta {symbol.letter[1]}" if offset else _word(symbol.letter)
        return letter + (f"_{{{_label(symbol.label)}}}" if symbol.label else "") + "'" * symbol.primes

    def tensor(self, node: Tensor) -> str:
        """The name with its index list in plain brackets."""
        if isinstance(node, Indicator):
            return super().tensor(node)
        given = rf" \mid {node.given.replace('...', chr(92) + 'dots ')}" if node.given else ""
        inside = ", ".join(map(self.index, node.indices)) + given
        return self.name(node.name) + (f"[{inside}]" if inside else "")

    def power(self, base: Expr, exponent: Expr) -> str:
        """Braces around the exponent."""
        text = self.parentheses(self.expr(base)) if isinstance(base, Power) else self.expr(base, FACTOR)
        return f"{{{text}}}^{{{self.expr(exponent)}}}"

    def call(self, function: str, arguments: list[str]) -> str:
        """`\\tanh`, `\\sigma`, `\\sqrt{}`."""
        if function == "sqrt":
            return rf"\sqrt{{{arguments[0]}}}"
        upright = {
            "sigma": r"\sigma",
            "relu": r"\text{ReLU}",
            "abs": r"\text{abs}",
            "softplus": r"\text{softplus}",
        }
        return upright.get(function, "\\" + function) + self.parentheses(", ".join(arguments))

    def binder(
        self, word: str, symbols: tuple[Symbol, ...], lower: Index | None = None, upper: Index | None = None
    ) -> str:
        """`\\sum_{t=1}^{T}`, `\\operatorname{softmax}_{i}`."""
        plain = super().binder("", symbols, lower, upper)
        return (r"\sum" if word == "sum" else rf"\operatorname{{{word}}}") + plain

    def _product(self, factors: tuple[tuple[str, Expr], ...]) -> str:
        text = ""
        for position, (operator, body) in enumerate(factors):
            last = position == len(factors) - 1
            loose = (last and isinstance(body, (Total, Concat))) or operator == "/"
            piece = self._bare(body) if loose else self.expr(body, FACTOR)
            if operator == "/":
                text = rf"\frac{{{text}}}{{{piece}}}"
            else:
                text += (r" \cdot " if text and piece[0].isdigit() else "\\, " if text else "") + piece
        return text


_LATEX_ACCENTS = {
    "tilde": "tilde",
    "vec": "vec",
    "backvec": "overleftarrow",
    "hat": "hat",
    "bar": "bar",
    "dot": "dot",
}


def _word(base: str) -> str:
    if base in GREEK:
        return "\\" + base
    if base == "l":
        return r"\ell"
    return base if len(base) == 1 else rf"\text{{{base}}}"


def _label(label: str) -> str:
    """Words of more than one letter upright, `l` as \\ell; `t_in` as a label with a label."""
    first, mark, rest = label.partition("_")
    text = re.sub(r"[A-Za-z]+", lambda match: _word(match.group()), first)
    return f"{text}_{{{_label(rest)}}}" if mark else text


def to_latex(system: System) -> str:
    """The system in LaTeX, every scope visible; it can be parsed again and means the same."""
    return Latex().system(system)
