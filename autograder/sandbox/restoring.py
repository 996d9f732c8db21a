"""What a student's cells changed of that by which the instructor's cells assert, put back before one of those runs.

Builtins, the functions and classes of the libraries that tests are written with, the shell's own machinery, and the
test functions that an instructor's cell imported or defined. An instructor's cell may change them: what it leaves
behind holds from then on. All of it happens in the student's own process: it undoes what is done in passing, and code
that is written against it can undo it in turn.
"""

from __future__ import annotations

import ast
import contextlib
import importlib
import os
import re
import sys
import threading
import types
from collections.abc import Callable, Iterable, Iterator
from operator import attrgetter, is_
from typing import Any

from autograder.sandbox.shell import Shell

# Libraries of which functions and classes are put back. `warnings` is none of them: notebooks silence it in earnest.
ROOTS = (
    "builtins", "math", "cmath", "operator", "functools", "itertools", "collections", "decimal", "fractions",
    "statistics", "random", "inspect", "ast", "re", "unittest", "doctest", "numpy", "scipy", "pandas", "torch", "sympy",
    "sklearn", "networkx", "pytest", "_pytest", "nose", "hypothesis", "IPython", "traitlets",
)  # fmt: skip
TESTING = ("numpy.testing", "pandas.testing", "pandas._testing", "torch.testing", "unittest", "pytest", "_pytest")
_LARGE = ("torch", "sympy", "scipy", "sklearn", "networkx")
_SEEN = ("torch._tensor", "torch.functional", "torch.nn.functional", "sympy.core.basic", "sympy.core.expr")
MOST = 20  # remarks on one cell
_TESTER = re.compile(r"_*(?:assert|check|test|grade|score|verify|expect)", re.IGNORECASE)
_PRECISION = re.compile(r"%(?:\.\d{1,2})?[efg]")
_SETTINGS = (
    "ast_node_interactivity", "compile", "displayhook", "display_pub", "display_formatter", "custom_exceptions",
    "builtin_trap", "display_trap", "events", "input_transformer_manager", "InteractiveTB", "call_pdb",
)  # fmt: skip
_GONE = object()
# What a cell speaks of that may change a library. Looking through all of them takes longer than most notebooks run.
_IMPORTS = (
    "numpy", "math", "cmath", "random", "collections", "itertools", "time", "datetime", "string", "statistics",
    "fractions", "decimal", "matplotlib", "scipy", "pandas", "torch", "typing", "dataclasses", "warnings",
)  # fmt: skip
_WORDS = (
    "setattr", "delattr", "getattr", "exec", "eval", "compile", "vars", "globals", "locals", "get_ipython", "modules",
    "load", "loads", "read_pickle", "import_module", "patch", "settrace", "setprofile", "attrgetter", "setitem", "sys",
    "methodcaller", "update_wrapper", "measure", "rundocs", "run", "runctx", "run_cell", "builtins", "gc",
)  # fmt: skip


class _Space:
    """A namespace of functions and classes: those of a module, or the methods of a class."""

    def __init__(self, owner: Any) -> None:
        self.owner = owner
        self.take()

    def take(self) -> None:
        """What is there now is what belongs there."""
        there = {name: value for name, value in list(vars(self.owner).items()) if _is_code(value)}
        self.names, self.values = tuple(there), tuple(there.values())
        self.functions = tuple(item for item in self.values if type(item) is types.FunctionType)
        self.all = frozenset(vars(self.owner)) if isinstance(self.owner, type) else None
        self.codes = tuple(map(_code, self.functions))
        self.defaults = tuple(map(_defaults, self.functions))

    def is_whole(self) -> bool:
        """Whether all is as it was."""
        return (
            (self.all is None or len(vars(self.owner)) == len(self.all))
            and all(map(is_, map(vars(self.owner).get, self.names), self.values))
            and all(map(is_, map(_code, self.functions), self.codes))
            and all(map(is_, map(_defaults, self.functions), self.defaults))
        )

    def put_back(self) -> Iterator[str]:
        """Make it whole; the names that were others."""
        there = vars(self.owner)
        for name, value in zip(self.names, self.values, strict=True):
            if there.get(name) is not value:
                setattr(self.owner, name, value)
                yield f"{self.owner.__name__}.{name}"
        for name in there.keys() - self.all if self.all is not None else ():
            if _is_code(there[name]) and any(name in vars(base) for base in self.owner.__mro__[1:]):
                delattr(self.owner, name)  # it stands before what is inherited
                yield f"{self.owner.__name__}.{name}"
        for function, code, defaults in zip(self.functions, self.codes, self.defaults, strict=True):
            if _code(function) is not code or _defaults(function) is not defaults:
                function.__code__, function.__defaults__ = code, defaults
                yield f"{self.owner.__name__}.{function.__name__}"


_code, _defaults = attrgetter("__code__"), attrgetter("__defaults__")
_METHOD = (types.FunctionType, property, classmethod, staticmethod)


def _is_code(value: Any) -> bool:
    kind = type(value)
    return kind in _METHOD or issubclass(kind, type) or callable(value)


def _spaces(names: Iterable[str]) -> dict[str, list[_Space]]:
    """The spaces of modules: their own, and those of the classes that Python code can change."""
    found = {}
    for name in names:
        module = sys.modules.get(name)
        if type(module) is not types.ModuleType:
            continue
        spaces = [_Space(module)]
        for value in spaces[0].values:
            if isinstance(value, type) and value.__module__ == name and value.__flags__ & 1 << 9:  # not a built-in one
                spaces.append(_Space(value))
        found[name] = spaces
    return found


def _known(name: str) -> bool:
    """Whether what a module holds is put back; of large libraries that is what notebooks see of them, and test with."""
    root = name.partition(".")[0]
    if root not in ROOTS:
        return name == Shell.__module__
    return root not in _LARGE or name in _SEEN or name == root or ".testing" in name


_first: dict[str, list[_Space]] = {}


def prepare() -> None:
    """Note once, in the warm parent, what is there before any student's code."""
    if not _first:
        for name in ("numpy.testing", "unittest", "torch.testing"):
            if name.partition(".")[0] in sys.modules:
                importlib.import_module(name)
        _first.update(_spaces(filter(_known, list(sys.modules))))


def is_plain(source: str) -> bool:
    """Whether a cell of a student's can be seen to leave the libraries alone: it only computes, and defines its own."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False  # a magic, perhaps
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names):
                if any(item.name.partition(".")[0] not in _IMPORTS for item in names):
                    return False
            case ast.ImportFrom(module=module, names=names):
                words = {item.name for item in names}
                if (module or "").partition(".")[0] not in _IMPORTS or words & set(_WORDS):
                    return False
            case ast.Attribute(value=ast.Name(id="self"), attr=word) if "__" not in word:
                continue
            case ast.Attribute(attr=word, ctx=context):
                if not isinstance(context, ast.Load) or word in _WORDS or word.startswith("_"):
                    return False
            case ast.Name(id=word):
                if word in _WORDS or (word.startswith("__") and word != "__name__"):
                    return False
    return True


class Baseline:
    """What belongs to the instructor's cells in one notebook's process."""

    def __init__(self, shell: Any) -> None:
        prepare()
        self._shell = shell
        # The shell has put builtins of its own in. What `_first` holds is not copied: that takes long in a fresh fork.
        self._later = _spaces(["builtins"])
        self._given: dict[str, Any] = {}
        self._newest = next(reversed(sys.modules))
        self._take_shell()

    def accept(self, source: str, before: dict[str, Any]) -> None:
        """An instructor's cell has run, on a namespace that was as `before`: what it changed is what belongs there.

        Only what its own text binds: the functions that it calls are the student's.
        """
        self._later |= _spaces(name for name in list(self._new()) if _known(name) or _beside(name))
        self._newest = next(reversed(sys.modules))
        names, changes = _bound(source)
        if changes:
            for _, spaces in self._all():
                for space in spaces:
                    if not space.is_whole():
                        space.take()
            self._take_shell()
        for name, value in list(self._shell.user_ns.items()):
            if (names is None or name in names) and before.get(name, _GONE) is not value:
                if isinstance(value, types.ModuleType) or callable(value):
                    self._given[name] = value
                else:
                    self._given.pop(name, None)

    def put_back(self, libraries: bool = True) -> list[str]:
        """Undo what was changed since; the names of it."""
        changed: list[str] = []
        steps = (self._names, self._put_shell_back, self._tracing, self._threads)
        for step in (self._libraries, *steps) if libraries else steps:
            with contextlib.suppress(Exception):  # what cannot be put back is not
                changed += step()
        return changed[:MOST]

    def _new(self) -> Iterator[str]:
        """The modules that were imported since the last cell of the instructor's."""
        for name in reversed(sys.modules):
            if name == self._newest:
                return
            if name not in _first and name not in self._later:
                yield name

    def _all(self) -> Iterator[tuple[str, list[_Space]]]:
        """The spaces of each module by its name, the module's own first."""
        yield from ((name, spaces) for name, spaces in _first.items() if name not in self._later)
        yield from self._later.items()

    def _libraries(self) -> Iterator[str]:
        for name, spaces in self._all():
            if sys.modules.get(name) is not spaces[0].owner:
                sys.modules[name] = spaces[0].owner
                yield name
        for _, spaces in self._all():
            for space in spaces:
                if not space.is_whole():
                    yield from space.put_back()

    def _names(self) -> Iterator[str]:
        here = self._shell.user_ns
        mine = sys.modules["builtins"]
        if here.get("__builtins__", mine) is not mine and here["__builtins__"] is not vars(mine):
            here["__builtins__"] = mine
            yield "__builtins__"
        for name, value in self._given.items():
            now = here.get(name, _GONE)
            if now is not value and now is not _GONE and _is_put_in_its_place(name, value, now):
                here[name] = value
                yield name

    def _take_shell(self) -> None:
        shell = self._shell
        self._settings = {name: getattr(shell, name, None) for name in _SETTINGS}
        self._own = {name: value for name, value in vars(shell).items() if callable(value)}
        self._listed = [(items, list(items)) for items in _lists(shell)]
        self._precision = shell.display_formatter.formatters["text/plain"].float_format
        self._printers = [(table, dict(table)) for table in _tables(shell)]

    def _put_shell_back(self) -> Iterator[str]:
        shell = self._shell
        for name, value in self._settings.items():
            if getattr(shell, name, None) is not value and getattr(shell, name, None) != value:
                setattr(shell, name, value)
                yield f"get_ipython().{name}"
        for name in [name for name, value in vars(shell).items() if callable(value) and name not in self._own]:
            if hasattr(type(shell), name):
                del vars(shell)[name]
                yield f"get_ipython().{name}"
        for name, value in self._own.items():
            if vars(shell).get(name) is not value:
                vars(shell)[name] = value
                yield f"get_ipython().{name}"
        for items, before in self._listed:
            strange = [item for item in items if not any(item is known for known in before) and not _of_library(item)]
            if strange or any(known not in items for known in before):
                items[:] = before + [item for item in items if item not in before and item not in strange]
                yield "hooks of the shell"
        for table, printers in self._printers:
            for key in list(table):
                if table[key] is not printers.get(key) and not _of_library(table[key]) and not _of_notebook(key):
                    table.pop(key)
                    if key in printers:
                        table[key] = printers[key]
                    yield "how values are displayed"
        plain = shell.display_formatter.formatters["text/plain"]
        if plain.float_format != self._precision and not _PRECISION.fullmatch(plain.float_format):
            plain.float_format = self._precision
            yield "how values are displayed"

    def _threads(self) -> Iterator[str]:
        """Threads of the notebook's own code, which nobody can end; those of a library's pools only wait for work."""
        for thread in threading.enumerate():
            target = getattr(thread, "_target", None)
            if _of_notebook(type(thread)) or (target is not None and not _of_library(target)):
                yield f"{thread.name}, which runs on"

    def _tracing(self) -> Iterator[str]:
        for name in ("trace", "profile"):
            if getattr(sys, f"get{name}")() is not None:
                getattr(sys, f"set{name}")(None)
                yield f"sys.set{name}"


def _bound(source: str) -> tuple[set[str] | None, bool]:
    """The names that a cell binds, None where its text does not tell, and whether it may change what others made."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None, True
    names: set[str] = set()
    star = changes = False
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name, ctx=ast.Store()) | ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                names.add(name)
            case ast.alias(name=name, asname=asname):
                star = star or name == "*"
                names.add(asname or name.partition(".")[0])
            case ast.Attribute(ctx=ast.Store() | ast.Del()) | ast.Name(id="setattr" | "get_ipython" | "exec"):
                changes = True
            case ast.Attribute(attr="patch" | "use" | "set_trace"):
                changes = True
    return (None if star else names), changes


def _is_put_in_its_place(name: str, value: Any, now: Any) -> bool:
    """Whether a name that an instructor's cell bound is bound to what can only be meant to stand in for it.

    Students use the names of modules for other things, and define functions anew that a cell imported with a star:
    those stay, as nbgrader has it. A test function is not theirs to define, and an object of their own is no module.
    """
    if isinstance(value, types.ModuleType):
        if isinstance(now, types.ModuleType):
            return not any(now is module for module in list(sys.modules.values()))
        return _of_notebook(type(now)) or type(now) is types.SimpleNamespace or type(now).__module__ == "unittest.mock"
    home = getattr(value, "__module__", None) or ""
    return bool(_TESTER.match(name)) or home.startswith(TESTING)


def _beside(name: str) -> bool:
    """Whether a module lies beside the notebook."""
    file = getattr(sys.modules.get(name), "__file__", None)
    return isinstance(file, str) and os.path.abspath(file).startswith(os.getcwd() + os.sep)


def _of_notebook(kind: Any) -> bool:
    home = getattr(kind, "__module__", "") if isinstance(kind, type) else ""
    return home == "__main__" or (isinstance(home, str) and home in sys.modules and _beside(home))


def _of_library(item: Any) -> bool:
    """Whether a function, or an object's class, comes from a file that is not the student's."""
    while isinstance(item, types.MethodType):
        item = item.__func__ if isinstance(item.__func__, types.FunctionType) else item.__self__
    if isinstance(item, types.FunctionType):
        file = item.__code__.co_filename
        return os.path.isabs(file) and not file.startswith(os.getcwd() + os.sep) and os.path.exists(file)
    home = sys.modules.get(type(item).__module__)
    place = getattr(home, "__file__", None)
    return isinstance(place, str) and type(item).__module__ != "functools" and not _beside(type(item).__module__)


def _lists(shell: Any) -> list[list[Any]]:
    manager = shell.input_transformer_manager
    lists = [shell.ast_transformers, shell.input_transformers_post, *shell.events.callbacks.values()]
    return [*lists, manager.cleanup_transforms, manager.line_transforms, manager.token_transformers]


def _tables(shell: Any) -> list[dict[Any, Callable[..., Any]]]:
    plain = shell.display_formatter.formatters["text/plain"]
    return [plain.type_printers, plain.singleton_printers, plain.deferred_printers]
