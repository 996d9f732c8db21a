"""From an author's function to an answer cell: its source and that of what it uses, the body between the marks."""

from __future__ import annotations

import ast
import contextlib
import functools
import inspect
import io
import re
import textwrap
import tokenize
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from autograder.core import BEGIN, END, GAP, Parameters
from autograder.errors import AuthorError
from autograder.parts.scopes import bound_names, global_names, renamed
from autograder.protocol.respondents import PARAMETERS, takes_parameters

Definition = ast.FunctionDef | ast.ClassDef


def argument_names(function: Callable[..., Any]) -> list[str]:
    """The names of the arguments that a student's function gets, in order."""
    return list(_arguments(function))


@functools.lru_cache(maxsize=4096)
def _arguments(function: Callable[..., Any]) -> tuple[str, ...]:
    return tuple(name for name in inspect.signature(function).parameters if name != PARAMETERS)


def answer_source(subject: Callable[..., Any], name: str, p: Parameters, *, marks: bool) -> str:
    """The source of an answer cell in which `subject` is called `name`; `marks` puts nbgrader's around the body."""
    text, used = _source_of_all(subject, name, marks)
    given = p if used is None else {key: value for key, value in p.items() if key in used}
    return text.replace(_GIVEN, repr(given))


def stub_source(subject: Callable[..., Any], name: str) -> str:
    """The answer cell as a student gets it: the head, and of a class the signatures of `__init__` and `forward`."""
    text = _called(name, _filled(_source(subject), subject, _taker(subject)), subject.__name__)
    node = _parse(text, subject)
    if isinstance(node, ast.FunctionDef) or not (asked := [item for item in node.body if _is_asked(item)]):
        return f"{_head(text, node)}\n{_gap(4)}\n"
    lines = text.split("\n")
    heads = ["\n".join(lines[item.lineno - 1 : _signature_end(text, item)]) for item in asked]
    return "\n\n".join([_head(text, node), *(f"{head}\n{_gap(8)}" for head in heads)]) + "\n"


def _is_asked(item: ast.stmt) -> bool:
    return isinstance(item, ast.FunctionDef) and item.name in ("__init__", "forward")


def _gap(indent: int) -> str:
    return " " * indent + GAP.format(indent=" " * indent)


_GIVEN = "_the_parameters_of_this_variant_"


@functools.lru_cache(maxsize=4096)
def _source_of_all(subject: Callable[..., Any], name: str, marks: bool) -> tuple[str, frozenset[str] | None]:
    """The same with `_GIVEN` where the parameters stand, and which of them it uses: None where nobody can tell.

    A subject that takes `*, p` gets the parameters in the first line of its body instead. Functions and classes of the
    same module that it uses come first; between marks, a function holds them in its body, so that a cell without its
    solution has one gap. A class or a decorated function cannot, and keeps them above itself in marks of their own.
    """
    taker = _taker(subject)
    helpers = _helpers(subject)
    texts = [_filled(ast.unparse(_definition(helper)), helper, taker) for helper in helpers]
    texts.append(_filled(_source(subject), subject, taker))
    used = {name, *(word for item in texts for word in re.findall(r"\w+", item))}
    inner = bound_names(_parse(texts[-1], subject))
    for helper in helpers:
        if helper.__name__ == name or helper.__name__ in inner:
            # A mistake that uses the reference would call itself once it bears the reference's name; and a helper that
            # stands in the body would hide an argument.
            other = next(item for item in _longer(helper.__name__) if item not in used)
            texts = [renamed(item, helper.__name__, other) for item in texts]
    *before, text = [_called(name, item, subject.__name__) for item in texts]  # it may call itself
    node = _parse(text, subject)
    head, body = _split(text, node)
    keys = _used(texts)
    if not marks:
        return "\n\n\n".join([*before, f"{head}\n{body}"]) + "\n", keys
    if isinstance(node, ast.FunctionDef) and not node.decorator_list:
        body = "\n\n".join([*(textwrap.indent(item, "    ") for item in before), body])
        before = []
    parts = [f"{BEGIN}\n{item}\n{END}" for item in ["\n\n\n".join(before)] if item]
    return "\n\n\n".join([*parts, f"{head}\n    {BEGIN}\n{body}\n    {END}"]) + "\n", keys


def _used(texts: Sequence[str]) -> frozenset[str] | None:
    """The parameters that source texts take by their names; None where one goes over them, or hands them to others."""
    trees = [ast.parse(text) for text in texts]
    nodes = [node for tree in trees for node in ast.walk(tree)]
    names = [node for node in nodes if isinstance(node, ast.Name) and node.id == PARAMETERS]
    keys = [
        str(node.slice.value)
        for node in nodes
        if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant) and node.value in names
    ]
    heads = {item.name: item.args for tree in trees for item in tree.body if isinstance(item, ast.FunctionDef)}
    handed_on = [
        value
        for call in nodes
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id in heads
        for name, value in [
            *zip((item.arg for item in heads[call.func.id].args), call.args, strict=False),
            *((item.arg, item.value) for item in call.keywords),
        ]
        if name == PARAMETERS and value in names
    ]
    loads = sum(isinstance(name.ctx, ast.Load) for name in names)
    return frozenset(keys) if len(keys) + len(handed_on) == loads else None


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


def _called(name: str, text: str, old: str) -> str:
    """The text with `name` for `old`. AuthorError where it means something else in there."""
    tree = ast.parse(text)
    if name != old and name in bound_names(tree.body[0]) and any(item.id == old for item in global_names(tree)):
        raise AuthorError("source", f"{old} is called {name} in a notebook, and has a local {name}; rename that one")
    return renamed(text, old, name)


def _longer(name: str) -> Iterator[str]:
    while True:
        name += "_"
        yield name


def _taker(subject: Any) -> Any:
    """The function or class in whose signature `*, p` is written: a class may inherit its constructor."""
    if not takes_parameters(subject):
        return None
    return next(item for item in subject.__mro__ if "__init__" in vars(item)) if isinstance(subject, type) else subject


def _filled(text: str, item: Any, taker: Any) -> str:
    return _with_parameters(text, item) if item is taker else text


def _with_parameters(text: str, subject: Any) -> str:
    """The same source without `*, p` in the signature, and with `p = …` as the first line of the body."""
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
    given = f"{indent}    {PARAMETERS} = {_GIVEN}"
    return "\n".join([*lines[:first], indent + signature, *lines[last:rest], given, *lines[rest:]])


def _split(text: str, node: Definition) -> tuple[str, str]:
    """The signature with its docstring, and the body after it."""
    if ast.get_docstring(node) is not None and len(node.body) == 1:
        raise AuthorError("source", f"{node.name} has a docstring but no code")
    head = _head(text, node)
    return head, "\n".join(text.split("\n")[len(head.split("\n")) :]).strip("\n")


def _head(text: str, node: Definition) -> str:
    """The signature with its decorators and docstring."""
    documented = ast.get_docstring(node) is not None
    last = node.body[0].end_lineno if documented else _signature_end(text, node)
    return "\n".join(text.split("\n")[:last])


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
        for name in [node.id for node in global_names(_definition(current))]:
            item = names.get(name)
            local = (inspect.isfunction(item) or inspect.isclass(item)) and inspect.getmodule(item) is module
            if local and item is not subject and name not in found:
                found[name] = None
                visit(item)
                found[name] = found.pop(name) or item

    visit(subject)
    return list(found.values())
