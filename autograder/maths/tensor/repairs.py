"""Single edits that might turn a wrong equation into the right one: the material of the hint ladder."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import combinations

from autograder.maths.tensor.rewriting import positions, put_index
from autograder.maths.tensor.symbols import axes, of_index
from autograder.maths.tensor.tensor_tree import (
    Call,
    Equation,
    Expr,
    Name,
    Number,
    Product,
    Softmax,
    Sum,
    Symbol,
    System,
    Tensor,
    Total,
    children,
)


@dataclass(frozen=True, kw_only=True)
class Repair:
    """`vague` names the kind of slip, `plain` what to change; `equation` is the changed one."""

    code: str
    vague: str
    plain: str
    equation: Equation


def repairs(equation: Equation, system: System) -> Iterator[Repair]:
    """Every single repair of an equation's last link, likely ones first."""
    for kind in (_softmax_index, _scale_dropped, _scale_added, _swapped_names, _transposed, _index, _sign):
        yield from kind(equation, system)


def _with(equation: Equation, right: Expr) -> Equation:
    return replace(equation, links=(*equation.links[:-1], right))


def _symbols(equation: Equation) -> list[Symbol]:
    """Every symbol in use in the equation, once."""
    found: dict[str, Symbol] = {}

    def visit(node: Expr) -> None:
        if isinstance(node, Tensor):
            found.update({symbol.key: symbol for index in node.indices for symbol in of_index(index)})
        if isinstance(node, Total):
            found.update({symbol.key: symbol for symbol in node.symbols})
        for child in children(node):
            visit(child)

    visit(equation.left)
    visit(equation.right)
    return list(found.values())


def _softmax_index(equation: Equation, _: System) -> Iterator[Repair]:
    left = [index.symbol for index in equation.left.indices if index.symbol is not None]
    for node, rebuild in positions(equation.right):
        if not isinstance(node, Softmax):
            continue
        for count in (1, 2):
            for symbols in combinations(left, count):
                if set(symbols) != set(node.symbols):
                    names = ",".join(symbol.key for symbol in symbols)
                    yield Repair(
                        code="softmax_index",
                        vague="the softmax runs over the wrong index",
                        plain=f"let the softmax run over {names}",
                        equation=_with(equation, rebuild(replace(node, symbols=symbols))),
                    )


def _is_scale(node: Expr) -> bool:
    """A factor made of numbers and sizes: `sqrt(U)`, `I`, `1/sqrt(I)`."""
    if isinstance(node, Tensor):
        return not node.indices and len(node.name.base) == 1 and node.name.base.isupper()
    if isinstance(node, Number):
        return True
    return bool(children(node)) and not isinstance(node, (Total, Softmax)) and all(map(_is_scale, children(node)))


def _scale_dropped(equation: Equation, _: System) -> Iterator[Repair]:
    for node, rebuild in positions(equation.right):
        if isinstance(node, Product):
            kept = tuple(pair for pair in node.factors if not _is_scale(pair[1]))
            if kept and len(kept) < len(node.factors) and kept[0][0] == "*":
                right = rebuild(kept[0][1] if len(kept) == 1 else Product(factors=kept))
                yield Repair(
                    code="scale",
                    vague="a constant factor is wrong",
                    plain="remove the scaling factor",
                    equation=_with(equation, right),
                )


def _scale_added(equation: Equation, system: System) -> Iterator[Repair]:
    """`1/sqrt(A)` and `1/A` at the whole right side, inside a softmax, or in place of the scale that stands
    there.
    """
    for node, rebuild in positions(equation.right):
        if node is not equation.right and not _inside_softmax(equation.right, node):
            continue
        bare = node
        if isinstance(node, Product):
            kept = tuple(pair for pair in node.factors if not _is_scale(pair[1]))
            bare = Product(factors=kept) if kept and kept[0][0] == "*" and len(kept) < len(node.factors) else node
        for axis in sorted(axes(system)):
            if len(axis) != 1:
                continue
            size = Tensor(name=Name(base=axis))
            for factor, text in (
                (Call(function="sqrt", arguments=(size,)), f"1/sqrt({axis})"),
                (size, f"1/{axis}"),
            ):
                scaled = Product(factors=(("*", bare), ("/", factor)))
                yield Repair(
                    code="scale",
                    vague="a constant factor is missing or wrong",
                    plain=f"scale by {text}",
                    equation=_with(equation, rebuild(scaled)),
                )


def _inside_softmax(right: Expr, node: Expr) -> bool:
    return any(isinstance(outer, Softmax) and outer.body is node for outer, _ in positions(right))


def _swapped_names(equation: Equation, _: System) -> Iterator[Repair]:
    found = [
        (node, rebuild) for node, rebuild in positions(equation.right) if isinstance(node, Tensor) and node.indices
    ]
    for (first, put_first), (second, _rebuild) in combinations(found, 2):
        if first.name == second.name or len(first.indices) != len(second.indices):
            continue
        once = put_first(replace(first, name=second.name))
        for node, rebuild in positions(once):
            if node is second:
                yield Repair(
                    code="swapped",
                    vague="two tensors are swapped",
                    plain=f"exchange {first.name.key} and {second.name.key}",
                    equation=_with(equation, rebuild(replace(second, name=first.name))),
                )


def _transposed(equation: Equation, _: System) -> Iterator[Repair]:
    for node, rebuild in positions(equation.right):
        if isinstance(node, Tensor):
            for first, second in combinations(range(len(node.indices)), 2):
                indices = list(node.indices)
                indices[first], indices[second] = indices[second], indices[first]
                yield Repair(
                    code="transposed",
                    vague=f"the indices of {node.name.key} are in the wrong order",
                    plain=f"exchange indices {first + 1} and {second + 1} of {node.name.key}",
                    equation=_with(equation, rebuild(replace(node, indices=tuple(indices)))),
                )


def _index(equation: Equation, _: System) -> Iterator[Repair]:
    symbols = _symbols(equation)
    for node, rebuild in positions(equation.right):
        if not isinstance(node, Tensor):
            continue
        for place, index in enumerate(node.indices):
            for symbol in symbols if index.symbol is not None else []:
                if symbol != index.symbol:
                    yield Repair(
                        code="index",
                        vague=f"an index of {node.name.key} is wrong",
                        plain=f"index {place + 1} of {node.name.key} should be {symbol.key}",
                        equation=_with(equation, rebuild(put_index(node, place, symbol))),
                    )


def _sign(equation: Equation, _: System) -> Iterator[Repair]:
    for node, rebuild in positions(equation.right):
        if not isinstance(node, Sum):
            continue
        for place, (sign, body) in enumerate(node.terms):
            terms = (*node.terms[:place], (-sign, body), *node.terms[place + 1 :])
            right = Sum(terms=terms) if len(terms) > 1 or terms[0][0] < 0 else terms[0][1]
            yield Repair(
                code="sign",
                vague="a sign is wrong",
                plain=f"change the sign of term {place + 1} of a sum",
                equation=_with(equation, rebuild(right)),
            )
