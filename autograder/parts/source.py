"""From an author's function to an answer cell: its source and that of what it uses, the body between the marks."""

from __future__ import annotations

import ast
import contextlib
import inspect
import io
import re
import textwrap
import tokenize
from collections.abc import Callable
from typing import Any

from autograder.core import BEGIN, END, Parameters
from autograder.errors import AuthorError
from autograder.protocol.respondents import PARAMETERS, takes_parameters

Definition = ast.FunctionDef | ast.ClassDef


def argument_names(function: Callable[..., Any]) -> list[str]:
    """The names of the arguments that a student's function gets, in order."""
    return [name for name in inspect.signature(function).parameters if name != PARAMETERS]


def answer_source(subject: Callable[..., Any], name: str, p: Parameters, *, marks: bool) -> str:
    """The source of an answer cell in which `subject` is called `name`; `marks` puts nbgrader's around the body.

    A subject that takes `*, p` gets the parameters in the first line of its body instead. Functions and classes of the
    same module that it uses come first; between marks, a function holds them in its body, so that a cell without its
    solution has one gap. A class or a decorated function cannot, and keeps them above itself in marks of their own.
    """
    taker = _taker(subject)
    helpers = _helpers(subject)
    before = [_filled(ast.unparse(_definition(helper)), helper, taker, p) for helper in helpers]
    text = _filled(_source(subject), subject, taker, p)
    if any(helper.__name__ == name for helper in helpers):
        # A mistake that uses the reference would call itself once it bears the reference's name.
        before, text = [_renamed(item, name, f"{name}_") for item in before], _renamed(text, name, f"{name}_")
    node = _parse(text, subject)
    head, body = _split(text, node)
    head = re.sub(rf"^(\s*(?:def|class)\s+){node.name}\b", rf"\g<1>{name}", head, count=1, flags=re.MULTILINE)
    before = [_renamed(item, node.name, name) if _mentions(ast.parse(item), node.name) else item for item in before]
    body = _renamed(body, node.name, name) if _mentions(node, node.name) else body  # it calls itself
    if not marks:
        return "\n\n\n".join([*before, f"{head}\n{body}"]) + "\n"
    if isinstance(node, ast.FunctionDef) and not node.decorator_list:
        body = "\n\n".join([*(textwrap.indent(item, "    ") for item in before), body])
        before = []
    parts = [f"{BEGIN}\n{item}\n{END}" for item in ["\n\n\n".join(before)] if item]
    return "\n\n\n".join([*parts, f"{head}\n    {BEGIN}\n{body}\n    {END}"]) + "\n"


def _source(subject: Any) -> str:
    try:
        text = textwrap.dedent(inspect.getsource(subject)).rstrip()
    except (OSError, TypeError) as error:
        raise AuthorError("source", f"{subject!r} has no source code; write it with def or class") from error
    node = _parse(text, subject)
    if node.name != subject.__name__:  # a lambda in the middle of somebody else's definition, or a renamed closure
        raise AuthorError("source", f"{subject.__name__} has the source code of {node.name}; write it with its own def")
    # A body on the line of its signature leaves nothing to cut out: write it on lines of its own.
    return ast.unparse(node) if node.body[0].lineno <= _signature_end(text, node) else text


def _parse(text: str, subject: Any) -> Definition:
    node: ast.stmt | None = None
    with contextlib.suppress(SyntaxError):  # a lambda in the middle of a line
        node = ast.parse(text).body[0]
    if not isinstance(node, ast.FunctionDef | ast.ClassDef):
        raise AuthorError("source", f"{subject!r} is not written with def or class, so a notebook cannot show it")
    return node


def _definition(subject: Any) -> Definition:
    return _parse(_source(subject), subject)


def _mentions(node: ast.AST, name: str) -> bool:
    return any(isinstance(item, ast.Name) and item.id == name for item in ast.walk(node))


def _renamed(text: str, old: str, new: str) -> str:
    return re.sub(rf"\b{old}\b", new, text)


def _taker(subject: Any) -> Any:
    """The function or class in whose signature `*, p` is written: a class may inherit its constructor."""
    if not takes_parameters(subject):
        return None
    return next(item for item in subject.__mro__ if "__init__" in vars(item)) if isinstance(subject, type) else subject


def _filled(text: str, item: Any, taker: Any, p: Parameters) -> str:
    return _with_parameters(text, item, p) if item is taker else text


def _with_parameters(text: str, subject: Any, p: Parameters) -> str:
    """The same source without `*, p` in the signature, and with `p = {...}` as the first line of the body."""
    node = _parse(text, subject)
    target: ast.stmt = node
    if isinstance(node, ast.ClassDef):
        target = next(item for item in node.body if isinstance(item, ast.FunctionDef) and item.name == "__init__")
    assert isinstance(target, ast.FunctionDef)
    lines = text.split("\n")
    first, last = target.lineno - 1, _signature_end(text, target)
    documented = ast.get_docstring(target) is not None
    rest = target.body[0].end_lineno if documented else last
    indent = " " * target.col_offset
    position = [item.arg for item in target.args.kwonlyargs].index(PARAMETERS)
    del target.args.kwonlyargs[position], target.args.kw_defaults[position]
    target.body, target.decorator_list = [ast.Pass()], []
    signature = ast.unparse(target).rsplit("\n", 1)[0]
    given = f"{indent}    {PARAMETERS} = {p!r}"
    return "\n".join([*lines[:first], indent + signature, *lines[last:rest], given, *lines[rest:]])


def _split(text: str, node: Definition) -> tuple[str, str]:
    """The signature with its docstring, and the body after it."""
    lines = text.split("\n")
    documented = ast.get_docstring(node) is not None
    if documented and len(node.body) == 1:
        raise AuthorError("source", f"{node.name} has a docstring but no code")
    last = node.body[0].end_lineno if documented else _signature_end(text, node)
    assert last is not None
    return "\n".join(lines[:last]), "\n".join(lines[last:]).strip("\n")


def _signature_end(text: str, node: ast.stmt) -> int:
    """The number of the line on which the signature's colon stands."""
    depth = 0
    lines = text.split("\n")[node.lineno - 1 :]
    for token in tokenize.generate_tokens(io.StringIO("\n".join(lines)).readline):
        depth += {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}.get(token.string, 0)
        if token.string == ":" and depth == 0:
            return node.lineno + token.start[0] - 1
    raise AssertionError("a definition without a colon")


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
