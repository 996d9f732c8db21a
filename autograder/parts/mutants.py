"""Small slips made by machine: every place of a reference where one could be made, and the reference with it.

Functions and modules are changed in their syntax trees, typed answers in their text. A slip is named by its kind; some
change nothing, which whoever uses them has to find out. A kind of answer says which of them are made in it
(`Part.mutants`).
"""

from __future__ import annotations

import ast
import functools
import inspect
import re
import textwrap
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

_UNWRAPPED = {"tanh", "sigmoid", "relu", "softmax", "exp", "log", "sqrt", "abs", "clamp", "cumsum", "contiguous"}
_COMPARED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
}  # fmt: skip
_LIBRARIES = ("torch", "np", "nn", "F", "math")
OFF_BY_ONE = "off by one"
_FINITE = (30.0, 100.0, 1e4)  # in the place of an infinity
_ORDERED = (ast.Sub, ast.Div, ast.MatMult, ast.Pow, ast.FloorDiv)


@dataclass(frozen=True, kw_only=True)
class Mutant:
    """A reference with one slip: its kind, where it was made, and what is handed in."""

    kind: str
    place: str
    subject: Any


def mutants_of_code(reference: Callable[..., Any]) -> Iterator[Mutant]:
    """Every single slip in a function's or a class's body."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(reference)))
    definition = tree.body[0]
    assert isinstance(definition, ast.FunctionDef | ast.ClassDef)
    definition.decorator_list = []
    for node, put in list(places(tree)):
        before = ast.unparse(node)
        for kind, change in changes(node):
            replacement = change(node)
            after = ast.unparse(replacement)
            if after == before:
                continue  # equal arguments exchanged
            put(replacement)
            subject = _compiled(tree, reference)
            put(node)
            yield Mutant(kind=kind, place=f"{before} → {after}", subject=subject)
    yield Mutant(
        kind="remembered",
        place="a result is kept, and given again for arguments of the same shapes",
        subject=_remembering(reference),
    )


def _remembering(reference: Any) -> Any:
    """The function, or the class whose objects' `forward` it is, with its first result for each form of arguments.

    Tensors are told apart by their shapes, all else by its value.
    """
    if isinstance(reference, type):
        forward = reference.forward  # type: ignore[attr-defined]

        def remembering(module: Any, *arguments: Any) -> Any:
            kept = module.__dict__.setdefault("_kept", {})
            return _kept(kept, arguments, lambda: forward(module, *arguments))

        return type(reference.__name__, (reference,), {"forward": remembering})
    kept: dict[Any, Any] = {}

    @functools.wraps(reference)
    def called(*arguments: Any, **keywords: Any) -> Any:
        return _kept(kept, (*arguments, keywords), lambda: reference(*arguments, **keywords))

    return called


def _kept(kept: dict[Any, Any], arguments: tuple[Any, ...], result: Callable[[], Any]) -> Any:
    form = repr([tuple(item.shape) if hasattr(item, "shape") else item for item in arguments])
    if form not in kept:
        kept[form] = result()
    return kept[form]


def places(tree: ast.AST) -> Iterator[tuple[ast.AST, Callable[[ast.AST], None]]]:
    """Every node of a tree, in the order of `ast.walk`, with what puts another one in its place."""
    for parent in ast.walk(tree):
        for field, value in ast.iter_fields(parent):
            if isinstance(value, ast.AST):
                yield value, functools.partial(setattr, parent, field)
            for place, item in enumerate(value) if isinstance(value, list) else ():
                if isinstance(item, ast.AST):
                    yield item, functools.partial(value.__setitem__, place)


def _compiled(tree: ast.AST, reference: Any) -> Any:
    """The definition in a copy of the reference's own globals."""
    names = dict(vars(inspect.getmodule(reference)) if inspect.getmodule(reference) else {})
    module = ast.fix_missing_locations(tree)
    assert isinstance(module, ast.Module)
    exec(compile(module, f"mutant of {reference.__name__}", "exec"), names)  # noqa: S102 - an author's own text
    return names[reference.__name__]


Change = tuple[str, Callable[[Any], Any]]


def changes(node: ast.AST) -> Iterator[Change]:
    """The slips that can be made at one node."""
    match node:
        case ast.BinOp(op=op):
            yield from _operator_changes(op)
        case ast.UnaryOp(op=ast.USub()):
            yield "sign", lambda n: n.operand
            if _is_infinity(node.operand):
                yield from (("infinity", _constant(-size)) for size in _FINITE)
        case ast.Constant(value=value) if type(value) in (int, float):
            yield OFF_BY_ONE, lambda n: ast.Constant(n.value + 1)
            if value:
                yield OFF_BY_ONE, lambda n: ast.Constant(n.value - 1)
        case ast.Constant(value=str(text)) if "->" in text and " " not in text:
            yield from (("indices", _constant(changed)) for changed in _swapped_letters(text))
        case ast.Call():
            yield from _call_changes(node)
        case ast.Compare(ops=ops):
            places = [place for place, op in enumerate(ops) if type(op) in _COMPARED]
            yield from (("boundary", _compared(place)) for place in places)
        case ast.Slice():
            yield from _slice_changes(node)
        case ast.Assign(value=value) if not isinstance(value, ast.Constant | ast.Tuple | ast.List | ast.Dict):
            yield "detached", lambda n: _assigned(n, "detach")
            yield "single precision", lambda n: _assigned(n, "float", "double")
        case ast.Attribute(attr="T" | "mT"):
            yield "transposed", lambda n: n.value
        case ast.Return(value=value) if value is not None and not isinstance(
            value, ast.Tuple | ast.Dict | ast.Constant
        ):
            yield "detached", lambda n: ast.Return(_method(n.value, "detach"))
            yield "extra axis", lambda n: ast.Return(ast.Subscript(n.value, ast.Constant(None), ast.Load()))


def _operator_changes(op: ast.operator) -> Iterator[Change]:
    if isinstance(op, ast.Add | ast.Sub):
        other = ast.Sub if isinstance(op, ast.Add) else ast.Add
        yield "sign", lambda n: ast.BinOp(n.left, other(), n.right)
        yield "term dropped", lambda n: n.left
        yield "term dropped", lambda n: n.right
    if isinstance(op, ast.Mult | ast.Div):
        yield "factor dropped", lambda n: n.left
    if isinstance(op, ast.Mult):
        yield "factor dropped", lambda n: n.right
    if isinstance(op, _ORDERED):
        yield "swapped", lambda n: ast.BinOp(n.right, n.op, n.left)


def _call_changes(node: ast.Call) -> Iterator[Change]:
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    if name in _UNWRAPPED:
        yield "function dropped", _within
    if name in ("clone", "detach") and isinstance(node.func, ast.Attribute):
        yield f"{name} left out", _within
    if len(node.args) > 1 and not any(isinstance(argument, ast.Starred) for argument in node.args):
        yield "arguments swapped", lambda n: ast.Call(n.func, [n.args[1], n.args[0], *n.args[2:]], n.keywords)
    yield from ((f"{word.arg} left out", _without(place)) for place, word in enumerate(node.keywords) if word.arg)


def _within(node: ast.Call) -> ast.expr:
    """What a function is applied to: `x` of `torch.exp(x)`, of `x.exp()` and of `exp(x)`."""
    method = isinstance(node.func, ast.Attribute) and getattr(node.func.value, "id", "") not in _LIBRARIES
    if method:
        return node.func.value  # type: ignore[attr-defined, no-any-return]
    return node.args[0] if node.args else node


def _slice_changes(node: ast.Slice) -> Iterator[Change]:
    """A bound left out, or one further in or out; a number has the latter from `OFF_BY_ONE`."""
    for bound in ("lower", "upper"):
        value = getattr(node, bound)
        if value is None:
            continue
        yield "slice", _bounded(bound, lambda old: None)
        if not isinstance(value, ast.Constant):
            yield "slice", _bounded(bound, lambda old: ast.BinOp(old, ast.Add(), ast.Constant(1)))
            yield "slice", _bounded(bound, lambda old: ast.BinOp(old, ast.Sub(), ast.Constant(1)))


def _bounded(bound: str, change: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def changed(node: ast.Slice) -> ast.Slice:
        bounds = {"lower": node.lower, "upper": node.upper, bound: change(getattr(node, bound))}
        return ast.Slice(bounds["lower"], bounds["upper"], node.step)

    return changed


def _compared(place: int) -> Callable[[Any], Any]:
    """A comparison with one of its operators exchanged."""

    def changed(node: ast.Compare) -> ast.Compare:
        ops = [_COMPARED[type(op)]() if i == place else op for i, op in enumerate(node.ops)]
        return ast.Compare(node.left, ops, node.comparators)

    return changed


def _is_infinity(node: ast.expr) -> bool:
    """`torch.inf`, `math.inf`, `inf` or `float("inf")`."""
    if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "float" and len(node.args) == 1:
        return isinstance(node.args[0], ast.Constant) and node.args[0].value == "inf"
    return getattr(node, "attr", getattr(node, "id", "")) == "inf"


def _constant(value: Any) -> Callable[[Any], Any]:
    return lambda node: ast.Constant(value)


def _without(place: int) -> Callable[[Any], Any]:
    """A call without one of its keywords."""
    return lambda n: ast.Call(n.func, n.args, [*n.keywords[:place], *n.keywords[place + 1 :]])


def _method(value: ast.expr, name: str) -> ast.Call:
    return ast.Call(ast.Attribute(value, name, ast.Load()), [], [])


def _assigned(node: ast.Assign, *names: str) -> ast.Assign:
    """An assignment of what these methods, one after the other, make of the value."""
    return ast.Assign(node.targets, functools.reduce(_method, names, node.value), lineno=node.lineno)


def _swapped_letters(text: str) -> Iterator[str]:
    """An einsum's text with two neighbouring letters of one operand, or of the result, exchanged."""
    for match in re.finditer(r"[A-Za-z]{2,}", text):
        for i in range(match.start(), match.end() - 1):
            yield text[:i] + text[i + 1] + text[i] + text[i + 2 :]


def mutants_of_text(text: str) -> Iterator[Mutant]:
    """Every single slip in a typed answer: a sign, a number, an operator, two indices exchanged, a root left out."""
    for pattern, replacements in _TYPED:
        for match in re.finditer(pattern, text):
            for replacement in replacements:
                changed = match.expand(replacement) if isinstance(replacement, str) else replacement(match)
                if changed != match[0]:
                    subject = text[: match.start()] + changed + text[match.end() :]
                    yield Mutant(kind="typed slip", place=f"{match[0]} → {changed or 'nothing'}", subject=subject)


def mutants_of_rows(rows: Sequence[Sequence[str]]) -> Iterator[Mutant]:
    """Every single slip in an entry of a matrix, and the whole of it transposed."""
    for i, row in enumerate(rows):
        for j, entry in enumerate(row):
            for mutant in mutants_of_text(entry):
                changed = [list(other) for other in rows]
                changed[i][j] = mutant.subject
                place = f"row {i + 1}, column {j + 1}: {mutant.place}"
                yield Mutant(kind=mutant.kind, place=place, subject=changed)
    transposed = [list(column) for column in zip(*rows, strict=True)]
    if transposed != [list(row) for row in rows]:
        yield Mutant(kind="typed slip", place="rows and columns exchanged", subject=transposed)


def _next(match: re.Match[str]) -> str:
    return str(int(match[0]) + 1)


_TYPED: list[tuple[str, list[Any]]] = [
    (r"(?<![A-Za-z\d.^_{])\d+(?![\d.}])", [_next]),
    (r"(?<=[\w)\]}]) ?\+ ?", ["-"]),
    (r"(?<=[\w)\]}]) ?- ?(?=[\w(])", ["+"]),
    (r" ?/ ?sqrt\(\w+\)", [""]),
    (r"(?<=[\w)\]]) ?/ ?", ["*"]),
    (r"(?<=[\w)]) ?\* ?", ["/"]),
    (r"\bln\b", ["log2", ""]),
    (r"\bsin\b", ["cos"]),
    (r"\bcos\b", ["sin"]),
    (r"^-", [""]),
    (r"(?<=[\[,])([\w']+),([\w']+)(?=[,\]])", [r"\2,\1"]),
    (r"\b(softmax|sum)_\{?(\w+?)_1\}?", [r"\1_{\2_2}"]),
    (r"\b(softmax|sum)_\{?(\w+?)_2\}?", [r"\1_{\2_1}"]),
]
