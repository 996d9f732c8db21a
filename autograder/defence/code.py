"""The definitions in a student's cells, and every change of one place in them, as whole lines of the student's text.

A change is one of the slips by which the audit tests hidden tests (`parts.mutants`). Left out are those that cannot be
seen in a value: a `detach`, a precision, a copy; and what stands in an f-string or on several lines.
"""

from __future__ import annotations

import ast
import contextlib
import functools
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from autograder.parts.mutants import Change, changes, places

UNSEEN = ("detached", "detach left out", "clone left out", "single precision", "infinity", "contiguous left out")
_ODD = re.compile(r"-0\b|-1 [+-] 1|\+ 1 - 1|- 1 \+ 1")  # nobody writes that
_BRACKETS = re.compile(r"(?<![\w)\]])\((\w+)\)")
_LONGEST = 140  # letters of a line in which somebody is to see one change
_MOST_LINES = 34  # of a definition that is shown whole
_AROUND = 9  # lines, where it is longer
_SIMPLE = (ast.Name, ast.Constant, ast.Call, ast.Attribute, ast.Subscript, ast.List, ast.Tuple, ast.Dict)
Node = ast.FunctionDef | ast.ClassDef


@dataclass(frozen=True, kw_only=True)
class Definition:
    """A function or class at the top of a cell: its own lines, and the cell's text with these lines alone."""

    name: str
    text: str
    tree: Node = field(repr=False, compare=False)

    @functools.cached_property
    def lines(self) -> list[str]:
        """The lines, the first of which has number 1."""
        return self.text.split("\n")

    def around(self, line: int) -> ast.FunctionDef | None:
        """The innermost function around a line."""
        found = [node for node in self._functions if node.lineno <= line <= (node.end_lineno or 0)]
        return max(found, key=lambda node: node.lineno, default=None)

    @functools.cached_property
    def _functions(self) -> list[ast.FunctionDef]:
        return [node for node in ast.walk(self.tree) if isinstance(node, ast.FunctionDef)]


@dataclass(frozen=True, kw_only=True)
class Slip:
    """A definition with one place changed. `line` is the number of the line that is another one then.

    `inside` is the innermost function there, and `probe` has, in the changed place, a name that there is not: where
    that stops nothing, the place is not reached.
    """

    kind: str
    name: str
    inside: str
    line: int
    after: str
    text: str
    probe: str


def definitions(cells: Iterable[str]) -> dict[str, Definition]:
    """The last definition of each name in the cells; of cells that are no plain Python, none."""
    found: dict[str, Definition] = {}
    for cell in cells:
        tree = None
        with contextlib.suppress(SyntaxError, ValueError, RecursionError):
            tree = ast.parse(cell)
        lines = cell.split("\n")
        for item in tree.body if tree else ():
            if isinstance(item, ast.FunctionDef | ast.ClassDef) and item.col_offset == 0:
                first = min([item.lineno, *(word.lineno for word in item.decorator_list)])
                text = "\n".join(lines[first - 1 : item.end_lineno])
                with contextlib.suppress(SyntaxError):  # a line that two definitions share
                    again = ast.parse(text).body
                    if len(again) == 1 and isinstance(again[0], ast.FunctionDef | ast.ClassDef):
                        found[item.name] = Definition(name=item.name, text=text, tree=again[0])
    return found


@dataclass(frozen=True, kw_only=True)
class Site:
    """A place of a definition where one change can be made; it is made when it is asked for."""

    kind: str
    definition: Definition
    make: Callable[[], Slip | None] = field(repr=False)


def sites(definition: Definition, executed: set[int]) -> Iterator[Site]:
    """Every place of a line that is executed, with each change there, in the order of the tree."""
    tree = ast.parse(definition.text)
    hidden = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in ast.walk(node)}
    for node, put in list(places(tree)):
        line = getattr(node, "lineno", 0)
        one_line = line in executed and line == getattr(node, "end_lineno", 0)
        if not one_line or id(node) in hidden or len(definition.lines[line - 1]) > _LONGEST:
            continue
        for kind, change in (*changes(node), *_rewritings(node)):
            if kind not in UNSEEN:
                make = functools.partial(_slip, definition, tree, node, put, kind, change)
                yield Site(kind=kind, definition=definition, make=make)


def _slip(
    definition: Definition, tree: ast.AST, node: ast.AST, put: Callable[[ast.AST], None], kind: str, change: Any
) -> Slip | None:
    """One change; None where it changes nothing, is more than a line, or is what nobody writes."""
    changed = change(node)
    put(changed)
    text = _rewritten(definition.text, node, changed, tree)
    put(node)
    line: int = node.lineno  # type: ignore[attr-defined]
    if not text or text == definition.text or _ODD.search(text.split("\n")[line - 1]):
        return None
    return Slip(
        kind=kind,
        name=definition.name,
        inside=inner.name if (inner := definition.around(line)) else "",
        line=line,
        after=text.split("\n")[line - 1],
        text=text,
        probe=_spliced(definition.text, node, "no_such_name_"),
    )


def _rewritings(node: ast.AST) -> Iterator[Change]:
    """What somebody may write instead, often with the same values: operands exchanged, a product of transposes."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Mult):
        yield "exchanged", lambda n: ast.BinOp(n.right, n.op, n.left)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult):
        yield "transposes", lambda n: _turned(ast.BinOp(_turned(n.right), n.op, _turned(n.left)))


def _turned(node: ast.expr) -> ast.expr:
    """The transpose; of a transpose, what it is of."""
    if isinstance(node, ast.Attribute) and node.attr == "T":
        return node.value
    return ast.Attribute(node, "T", ast.Load())


def _rewritten(text: str, node: ast.AST, changed: ast.AST, wanted: ast.AST) -> str:
    """The text with one node rewritten, all else letter by letter; empty where it would then be another tree."""
    for words in _spelled(text, node, changed):
        for put in (words, f"({words})"):
            new = _spliced(text, node, put)
            for each in (_BRACKETS.sub(r"\1", new), new):  # `(1 - g)` may have become `(g)`
                with contextlib.suppress(SyntaxError, ValueError):
                    if _same(ast.parse(each), wanted) and _one_line(text, each):
                        return each
    return ""


def _same(one: Any, two: Any) -> bool:
    """Whether two trees are the same, wherever their nodes stand in a text."""
    if isinstance(one, list) and isinstance(two, list):
        return len(one) == len(two) and all(map(_same, one, two))
    if not isinstance(one, ast.AST) or type(one) is not type(two):
        return type(one) is type(two) and one == two
    return all(_same(getattr(one, word, None), getattr(two, word, None)) for word in one._fields)


def _one_line(text: str, other: str) -> bool:
    return sum(one != two for one, two in zip(text.split("\n"), other.split("\n"), strict=True)) <= 1


def _spelled(text: str, node: ast.AST, changed: ast.AST) -> Iterator[str]:
    """A changed node as text: with the student's own words for what stays, in brackets where need be."""
    kept = {id(item): item for item in ast.walk(node) if item is not node and isinstance(item, ast.expr)}
    if id(changed) in kept:
        yield _words(text, changed)
    for brackets in (False, True):
        inside: dict[str, str] = {}
        with contextlib.suppress(ValueError, AttributeError):
            shown = ast.unparse(_holding(changed, kept, inside, text, brackets))
            for name, words in inside.items():
                shown = shown.replace(name, words)
            yield shown
    yield ast.unparse(changed)


def _holding(node: ast.AST, kept: dict[int, ast.expr], inside: dict[str, str], text: str, brackets: bool) -> ast.AST:
    """The node with a name in the place of each expression that stays; `inside` has their words."""
    if id(node) in kept:
        words, name = _words(text, node), f"kept_{len(inside)}_"
        inside[name] = f"({words})" if brackets and not isinstance(node, _SIMPLE) else words
        return ast.Name(name, ast.Load())
    made = type(node)()
    for word, value in ast.iter_fields(node):
        if isinstance(value, ast.AST):
            value = _holding(value, kept, inside, text, brackets)
        elif isinstance(value, list):
            value = [
                _holding(item, kept, inside, text, brackets) if isinstance(item, ast.AST) else item for item in value
            ]
        setattr(made, word, value)
    return ast.copy_location(made, node) if hasattr(node, "lineno") else made


def _words(text: str, node: ast.AST) -> str:
    line: int = getattr(node, "lineno", 0)
    if not line or line != getattr(node, "end_lineno", 0):
        return ast.unparse(node)
    words = text.split("\n")[line - 1].encode()  # places are counted in bytes
    return words[node.col_offset : node.end_col_offset].decode()  # type: ignore[attr-defined]


def _spliced(text: str, node: ast.AST, words: str) -> str:
    lines = text.split("\n")
    line = lines[node.lineno - 1].encode()  # type: ignore[attr-defined]  # places are counted in bytes
    start, end = node.col_offset, node.end_col_offset  # type: ignore[attr-defined]
    lines[node.lineno - 1] = line[:start].decode() + words + line[end:].decode()  # type: ignore[attr-defined]
    return "\n".join(lines)


def shown(definition: Definition, marked: Sequence[int]) -> list[tuple[int, str]]:
    """The lines to show, with their numbers: all of a definition, or of a long one what stands around those marked.

    Number 0 stands for lines that are left out.
    """
    lines = definition.lines
    if len(lines) <= _MOST_LINES:
        return list(enumerate(lines, 1))
    wanted = {1} | {
        place
        for start, end in _ranges(definition, marked)
        for place in range(start, end + 1)
        if end - start < _MOST_LINES or any(abs(place - line) <= _AROUND for line in marked)
    }
    found: list[tuple[int, str]] = []
    for place in sorted(line for line in wanted if 1 <= line <= len(lines)):
        if found and found[-1][0] != place - 1:
            found.append((0, "…"))
        found.append((place, lines[place - 1]))
    return found


def _ranges(definition: Definition, marked: Sequence[int]) -> Iterator[tuple[int, int]]:
    """The innermost function around each marked line."""
    for line in marked:
        inner = definition.around(line)
        yield (inner.lineno, inner.end_lineno or 0) if inner else (line - _AROUND, line + _AROUND)
