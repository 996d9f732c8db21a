"""Which lines of a definition a call executes, and what the names in them are bound to: by the definition written anew.

The new text runs in the sandbox, where the student's own runs; what it notes is read as an answer.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Any

from autograder.defence.code import Definition

NOTES = "_lines_that_ran"  # a name of the notebook's process
START = f"""\
{NOTES} = {{"lines": [], "shapes": []}}
def _at_line(name, line):
    if [name, line] not in {NOTES}["lines"]:
        {NOTES}["lines"].append([name, line])
def _bound_at(name, line, word, value):
    shape = list(value.shape) if hasattr(value, "shape") else None
    if [name, line, word, shape] not in {NOTES}["shapes"] and len({NOTES}["shapes"]) < 400:
        {NOTES}["shapes"].append([name, line, word, shape])
"""


def traced(definition: Definition) -> str:
    """The definition that notes, before each statement of its functions, that it is reached; the same otherwise."""
    tree = ast.parse(definition.text)
    nodes = list(ast.walk(tree))
    inside = {id(item) for node in nodes if isinstance(node, ast.FunctionDef) for item in ast.walk(node)}
    for node in nodes:
        if isinstance(node, ast.FunctionDef | ast.For | ast.While | ast.If | ast.With | ast.Try | ast.ExceptHandler):
            for word in ("body", "orelse", "finalbody"):
                body = getattr(node, word, None)
                if isinstance(body, list) and body and (word != "body" or id(node) in inside):
                    setattr(node, word, _noting(body, definition.name, isinstance(node, ast.FunctionDef)))
    return ast.unparse(tree)


def _noting(body: list[ast.stmt], name: str, of_function: bool) -> list[ast.stmt]:
    """The statements with a note before each, and one behind each that binds one name."""
    found: list[ast.stmt] = []
    for place, item in enumerate(body):
        words = of_function and place == 0 and isinstance(item, ast.Expr) and isinstance(item.value, ast.Constant)
        if not words and not isinstance(item, ast.Global | ast.Nonlocal):
            found.append(_call("_at_line", name, item.lineno))
        found.append(item)
        if isinstance(item, ast.Assign) and len(item.targets) == 1 and isinstance(item.targets[0], ast.Name):
            word = item.targets[0].id
            found.append(_call("_bound_at", name, item.lineno, word, ast.Name(word, ast.Load())))
    return found


def _call(function: str, *arguments: Any) -> ast.stmt:
    values = [item if isinstance(item, ast.expr) else ast.Constant(item) for item in arguments]
    return ast.Expr(ast.Call(ast.Name(function, ast.Load()), values, []))


def executed(notes: Any) -> dict[str, set[int]]:
    """The lines that ran, by definition; a stranger's data, so that anything else is nothing."""
    found: dict[str, set[int]] = {}
    for item in _rows(notes, "lines", 2):
        found.setdefault(str(item[0]), set()).add(int(item[1]))
    return found


def shapes(notes: Any) -> dict[tuple[str, int, str], list[int]]:
    """The shape of what a line binds to a name, where it was one and the same tensor's shape each time."""
    found: dict[tuple[str, int, str], list[Any]] = {}
    for name, line, word, shape in _rows(notes, "shapes", 4):
        found.setdefault((str(name), int(line), str(word)), []).append(shape)
    return {
        place: each[0]
        for place, each in found.items()
        if len(each) == 1 and isinstance(each[0], list) and all(type(size) is int for size in each[0])
    }


def _rows(notes: Any, word: str, width: int) -> list[list[Any]]:
    rows = notes.get(word) if isinstance(notes, Mapping) else None
    rows = rows if isinstance(rows, list) else []
    return [row for row in rows if isinstance(row, list) and len(row) == width and type(row[1]) is int]
