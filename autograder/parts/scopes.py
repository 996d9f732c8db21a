"""Which names of a source text are global by the rules of Python's scopes, and the text with another in their place."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_NOTHING: frozenset[str] = frozenset()


def global_names(
    node: ast.AST, here: frozenset[str] = _NOTHING, around: frozenset[str] = _NOTHING
) -> Iterator[ast.Name]:
    """Every name under `node` that is looked up among the module's names.

    `here` are the names that the scope of `node` has of its own or from functions around it, `around` those that a
    function within it would see: a class keeps its names to itself.
    """
    if isinstance(node, ast.Name):
        if node.id not in here:
            yield node
        return
    inner, outer = _parts(node)
    for child in outer:
        yield from global_names(child, here, around)
    if inner:
        bound, of_module = _bound(node, inner)
        inside = (around | bound) - of_module
        for child in inner:
            yield from global_names(child, inside, around if isinstance(node, ast.ClassDef) else inside)


def bound_names(node: ast.AST) -> set[str]:
    """Every name that a scope under `node` has of its own."""
    inner = [(item, _parts(item)[0]) for item in ast.walk(node)]
    return set().union(*(_bound(item, parts)[0] for item, parts in inner if parts))


def renamed(text: str, old: str, new: str) -> str:
    """The same text in which what the module calls `old` is called `new`.

    Attributes, keywords, names of inner scopes, strings and comments stay, and so does the layout.
    """
    tree = ast.parse(text)
    names = [name for name in global_names(tree) if name.id == old]
    heads = [item for item in tree.body if isinstance(item, _DEFINITIONS) and item.name == old]
    lines = text.encode().split(b"\n")  # columns count bytes
    places = [(name.lineno - 1, name.col_offset) for name in names]
    places += [
        (item.lineno - 1, lines[item.lineno - 1].index(old.encode(), item.col_offset + _KEYWORD[type(item)]))
        for item in heads
    ]
    before, after = old.encode(), new.encode()
    if any(not lines[line].startswith(before, column) for line, column in places):
        return _unparsed(tree, names, heads, new)
    for line, column in sorted(places, reverse=True):
        lines[line] = lines[line][:column] + after + lines[line][column + len(before) :]
    return b"\n".join(lines).decode()


# Where the name of a definition can begin.
_KEYWORD = {ast.FunctionDef: len("def"), ast.AsyncFunctionDef: len("async def"), ast.ClassDef: len("class")}


def _unparsed(tree: ast.Module, names: Iterable[ast.Name], heads: Iterable[ast.stmt], new: str) -> str:
    """Renamed without the layout: before Python 3.12, the columns within some f-strings are wrong."""
    for name in names:
        name.id = new
    for item in heads:
        assert isinstance(item, _DEFINITIONS)
        item.name = new
    return ast.unparse(tree)


def _parts(node: ast.AST) -> tuple[list[ast.AST], list[ast.AST]]:
    """What of a node is in a scope of its own, and what is in the scope around it."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
        body = [node.body] if isinstance(node, ast.Lambda) else node.body
    elif isinstance(node, ast.ClassDef):
        body = node.body
    elif isinstance(node, _COMPREHENSIONS):
        first = node.generators[0]
        inner = [*_elements(node), first.target, *first.ifs, *node.generators[1:]]
        return inner, [first.iter]
    else:
        return [], list(ast.iter_child_nodes(node))
    inner = list(body)
    return inner, [child for child in ast.iter_child_nodes(node) if child not in inner]


def _elements(node: ast.AST) -> list[ast.expr]:
    return [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]  # type: ignore[attr-defined]


def _bound(scope: ast.AST, inner: Iterable[ast.AST]) -> tuple[set[str], set[str]]:
    """The names that a scope binds, and those that it declares to be the module's."""
    arguments = getattr(scope, "args", None)
    bound = {item.arg for item in ast.walk(arguments) if isinstance(item, ast.arg)} if arguments else set()
    of_module: set[str] = set()
    waiting = list(inner)
    while waiting:
        item = waiting.pop()
        match item:
            case ast.Name(ctx=ast.Store() | ast.Del()):
                bound.add(item.id)
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                bound.add(item.name)
            case ast.alias():
                bound.add((item.asname or item.name).split(".")[0])
            case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
                bound.add(name)
            case ast.MatchMapping(rest=str(name)):
                bound.add(name)
            case ast.Global():
                of_module.update(item.names)
            case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
                # `:=` in a comprehension binds in the function around it.
                waiting += [each.target for each in ast.walk(item) if isinstance(each, ast.NamedExpr)]
        waiting += _parts(item)[1]
    return bound - of_module, of_module
