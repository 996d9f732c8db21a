"""A student's function with another set of names: its code unchanged but for its float literals, its globals replaced.

Functions that it calls from the same module are rebound with it; nothing of the student's own namespace is touched.
"""

from __future__ import annotations

import functools
import math
import types
from collections.abc import Callable
from typing import Any

import numpy as np

from autograder.maths.symbolic.arrays import PreciseArray, precise
from autograder.maths.symbolic.namespaces import builtin_functions, math_namespace, numpy_namespace
from autograder.maths.symbolic.precise import Precise


def rebound(function: Callable[..., Any]) -> Callable[..., Any]:
    """The same function over precise numbers; raises TypeError for what is not a Python function."""
    if isinstance(function, functools.partial):
        options = {name: lifted(value) for name, value in function.keywords.items()}
        return functools.partial(rebound(function.func), *map(lifted, function.args), **options)
    if not isinstance(function, types.FunctionType):
        raise TypeError(f"{type(function).__name__} is not a plain Python function")
    made: Callable[..., Any] = _Rebinding().function(function)
    return made


def lifted_data(value: Any) -> Any:
    """Like `lifted`, for arguments: the entries of arrays are data, in which no fraction or root is looked for."""
    if isinstance(value, np.ndarray) and value.dtype == np.float64:
        return precise(np.frompyfunc(lambda entry: Precise(repr(float(entry))), 1, 1)(value))
    if type(value) in (tuple, list):
        return type(value)(map(lifted_data, value))
    return lifted(value)


def lifted(value: Any) -> Any:
    """Floats and float arrays as precise ones, inside tuples, lists and dicts too; everything else as it is."""
    if isinstance(value, float | np.floating):
        return Precise(value)
    if isinstance(value, np.ndarray):
        return precise(value) if value.dtype.kind == "f" else value.view(PreciseArray)
    if type(value) in (tuple, list):
        return type(value)(map(lifted, value))
    if type(value) is dict:
        return {key: lifted(entry) for key, entry in value.items()}
    return value


class _Rebinding:
    """One set of globals shared by all functions that are rebound together."""

    def __init__(self) -> None:
        self.known: dict[int, Any] = {}
        self.spaces: dict[int, dict[str, Any]] = {}
        self.modules = {id(np): numpy_namespace(), id(math): math_namespace()}

    def function(self, function: types.FunctionType) -> Any:
        if id(function) not in self.known:
            code, sources = _precise_literals(function.__code__), function.__closure__ or ()
            cells = tuple(types.CellType() for _ in sources)
            made = types.FunctionType(code, self.globals(function), function.__name__, None, cells)
            self.known[id(function)] = made  # before its names are looked up, so that a cycle of calls ends
            for cell, source in zip(cells, sources, strict=True):
                cell.cell_contents = self.value(source.cell_contents)
            self._fill(made, function)
        return self.known[id(function)]

    def _fill(self, made: types.FunctionType, function: types.FunctionType) -> None:
        made.__defaults__ = self.value(function.__defaults__)
        made.__kwdefaults__ = self.value(function.__kwdefaults__)
        names = _names(function.__code__)
        space = made.__globals__
        for name in names & function.__globals__.keys() - space.keys():
            space[name] = function.__globals__[name]
            space[name] = self.value(function.__globals__[name])

    def globals(self, function: types.FunctionType) -> dict[str, Any]:
        key = id(function.__globals__)
        if key not in self.spaces:
            shadowed = {k: v for k, v in builtin_functions().items() if k not in function.__globals__}
            self.spaces[key] = {
                "__builtins__": function.__globals__.get("__builtins__", __builtins__),
                "__name__": function.__globals__.get("__name__", "student"),
                **shadowed,
            }
        return self.spaces[key]

    def value(self, value: Any) -> Any:
        if id(value) in self.modules:
            return self.modules[id(value)]
        replaced = _known_function(value, self.modules)
        if replaced is not None:
            return replaced
        installed = "site-packages" in getattr(getattr(value, "__code__", None), "co_filename", "")
        if isinstance(value, types.FunctionType) and not installed:
            return self.function(value)
        return lifted(value)


def _known_function(value: Any, modules: dict[int, Any]) -> Any:
    """`from numpy import exp`, `from math import sqrt`: the stand-in's function of that name."""
    name = getattr(value, "__name__", "")
    for module in (np, math):
        if name and not isinstance(value, types.ModuleType) and getattr(module, name, None) is value:
            return getattr(modules[id(module)], name, None)
    return None


def _names(code: types.CodeType) -> set[str]:
    """Global names that the code, or a function nested in it, mentions."""
    found = set(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            found |= _names(constant)
    return found


def _precise_literals(code: types.CodeType) -> types.CodeType:
    return code.replace(co_consts=tuple(map(_literal, code.co_consts)))


def _literal(constant: Any) -> Any:
    if isinstance(constant, types.CodeType):
        return _precise_literals(constant)
    if isinstance(constant, tuple):
        return tuple(map(_literal, constant))
    return Precise(constant) if isinstance(constant, float) else constant
