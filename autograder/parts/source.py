"""From an author's function to an answer cell: its source and that of what it uses, the body between the marks."""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
from collections.abc import Callable
from typing import Any

from autograder.core import Parameters
from autograder.errors import AuthorError

BEGIN, END = "### BEGIN SOLUTION", "### END SOLUTION"
PARAMETERS = "p"  # the keyword-only argument by which a reference asks for the variant's parameters


def takes_parameters(function: Callable[..., Any]) -> bool:
    """Whether the function asks for the variant's parameters (`*, p`)."""
    parameter = inspect.signature(function).parameters.get(PARAMETERS)
    return parameter is not None and parameter.kind is inspect.Parameter.KEYWORD_ONLY


def argument_names(function: Callable[..., Any]) -> list[str]:
    """The names of the arguments that a student's function gets, in order."""
    return [name for name in inspect.signature(function).parameters if name != PARAMETERS]


def answer_source(subject: Callable[..., Any], name: str, p: Parameters, *, marks: bool) -> str:
    """The source of an answer cell in which `subject` is called `name`; `marks` puts nbgrader's around the body.

    Functions and classes of the same module that `subject` uses come first, inside the marks of their own. A subject
    that takes `*, p` gets the parameters as a global of the cell.
    """
    helpers = _helpers(subject)
    before = [ast.unparse(_definition(helper)) for helper in helpers]
    text = _source(subject)
    if any(helper.__name__ == name for helper in helpers):
        # A mistake that uses the reference would call itself once it bears the reference's name.
        before, text = [_renamed(item, name) for item in before], _renamed(text, name)
    node = _parse(text, subject)
    if isinstance(node, ast.FunctionDef) and takes_parameters(subject):
        before.insert(0, f"{PARAMETERS} = {p!r}")
        text = _without_parameters(text)
        node = _parse(text, subject)
    head, body = _split(text, node)
    head = head.replace(node.name, name, 1)
    parts = []
    if before:
        joined = "\n\n\n".join(before)
        parts.append(f"{BEGIN}\n{joined}\n{END}" if marks else joined)
    parts.append(f"{head}\n    {BEGIN}\n{body}\n    {END}" if marks else f"{head}\n{body}")
    return "\n\n\n".join(parts) + "\n"


def _source(subject: Any) -> str:
    try:
        return textwrap.dedent(inspect.getsource(subject)).rstrip()
    except (OSError, TypeError) as error:
        raise AuthorError("source", f"{subject!r} has no source of its own; write it with def or class") from error


def _parse(text: str, subject: Any) -> ast.FunctionDef | ast.ClassDef:
    node = ast.parse(text).body[0]
    if not isinstance(node, ast.FunctionDef | ast.ClassDef):
        raise AuthorError("source", f"{subject!r} is not written with def or class; a notebook cannot show it")
    return node


def _definition(subject: Any) -> ast.FunctionDef | ast.ClassDef:
    return _parse(_source(subject), subject)


def _renamed(text: str, name: str) -> str:
    return re.sub(rf"\b{name}\b", f"{name}_", text)


def _without_parameters(text: str) -> str:
    """The same function without `*, p` in its signature; comments in the body stay."""
    node = ast.parse(text).body[0]
    assert isinstance(node, ast.FunctionDef)
    node.args.kwonlyargs, node.args.kw_defaults = [], []
    first = node.body[0].lineno
    signature = ast.unparse(ast.FunctionDef(**{**vars(node), "body": [ast.Pass()]})).rsplit("\n", 1)[0]
    return signature + "\n" + "\n".join(text.split("\n")[first - 1 :])


def _split(text: str, node: ast.FunctionDef | ast.ClassDef) -> tuple[str, str]:
    """The signature with its docstring, and the body after it."""
    lines = text.split("\n")
    documented = ast.get_docstring(node) is not None
    if documented and len(node.body) == 1:
        raise AuthorError("source", f"{node.name} has a docstring and nothing after it")
    last = node.body[0].end_lineno if documented else _signature_end(node, lines)
    assert last is not None
    return "\n".join(lines[:last]), "\n".join(lines[last:]).strip("\n")


def _signature_end(node: ast.FunctionDef | ast.ClassDef, lines: list[str]) -> int:
    line = node.body[0].lineno - 1
    while line > node.lineno and not lines[line - 1].rstrip().endswith(":"):
        line -= 1
    return line


def _helpers(subject: Any) -> list[Any]:
    """Functions and classes of the subject's module that it uses, each after those that it uses itself."""
    module = inspect.getmodule(subject)
    names = vars(module) if module else {}
    found: dict[str, Any] = {}

    def visit(current: Any) -> None:
        own = [node.id for node in ast.walk(_definition(current)) if isinstance(node, ast.Name)]
        for name in own:
            item = names.get(name)
            local = (inspect.isfunction(item) or inspect.isclass(item)) and inspect.getmodule(item) is module
            if local and item is not subject and name not in found:
                found[name] = None
                visit(item)
                found[name] = found.pop(name) or item

    visit(subject)
    return list(found.values())
