"""What a student's cell says: the names that its code binds, and the words of a written answer."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

# What stands in the cell of a written answer: the frame stays above what is written, the place is written over.
FRAME = "> **Your answer.** Double-click here, or select this cell and press Enter. Shift+Enter when you are done."
PLACE = "*Write here, instead of this line.*"
_EMPTY = ("YOUR ANSWER HERE", PLACE)


def written_text(text: str) -> str:
    """What a student wrote into the cell of an answer: without the frame, and nothing where the place is as it was."""
    text = text.replace(FRAME, "").strip()
    return "" if text in _EMPTY else text.removeprefix(PLACE).removesuffix(PLACE).strip()


def defined_names(source: str) -> Iterator[str]:
    """The names that a cell binds at its top level; by pattern where it does not parse."""
    return (name for name, _ in _bound(source))


def answered_names(source: str) -> set[str]:
    """Those of them that it binds to something: `expression(r"")`, `""`, `None` and `...` are nothing yet."""
    return {name for name, value in _bound(source) if value is None or not _is_blank(value)}


def _is_blank(value: ast.expr) -> bool:
    match value:
        case ast.Constant(value=str(text)):
            return not text.strip()
        case ast.Constant(value=given):
            return given is None or given is ...
        case ast.List(elts=items) | ast.Tuple(elts=items) | ast.Call(args=items, keywords=[]):
            return bool(items) and all(map(_is_blank, items))
    return False


def _bound(source: str) -> Iterator[tuple[str, ast.expr | None]]:
    """Each name with what it is assigned, where that is an expression of its own."""
    try:
        tree = ast.parse("\n".join("" if line.lstrip().startswith(("%", "!")) else line for line in source.split("\n")))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        for name in re.findall(r"^(?:async\s+def|def|class)\s+(\w+)", source, re.MULTILINE):
            yield name, None
        for name in re.findall(r"^(\w+)\s*(?::[^=\n]+)?=(?!=)", source, re.MULTILINE):
            yield name, None
        return
    for node in tree.body:
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                yield name, None
            case ast.Import(names=names) | ast.ImportFrom(names=names):
                yield from ((item.asname or item.name.split(".")[0], None) for item in names)
            case ast.Assign(targets=targets, value=value):
                yield from _assigned(targets, value)
            case ast.AnnAssign(target=target, value=value):
                yield from _assigned([target], value)


def _assigned(targets: list[ast.expr], value: ast.expr | None) -> Iterator[tuple[str, ast.expr | None]]:
    for target in targets:
        for item in ast.walk(target):
            if isinstance(item, ast.Name) and isinstance(item.ctx, ast.Store):
                yield item.id, value if item is target else None
