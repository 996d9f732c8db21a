"""Find and load problem folders: `problems/<slug>/problem.py` holds PROBLEM, `statement.md` what the student reads."""

from __future__ import annotations

import ast
import dataclasses
import functools
import importlib.util
import inspect
import os
import sys
import traceback
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

from autograder.authoring.shipped import shipped
from autograder.core import Problem
from autograder.errors import AuthorError, StaffError, did_you_mean
from autograder.parts.scopes import global_names

FOLDER = "problems"
CONFIGURATION = "nbgrader_config.py"  # what makes a folder an nbgrader course
# What a module calls its lists by part.
TABLES = {"MISTAKES", "EQUIVALENTS"}


def find_problems(start: Path | None = None) -> Path:
    """The folder of problems: AUTOGRADER_PROBLEMS, or `problems/` in `start` or a folder above it.

    One of a course, or one that holds a problem, comes before one that is still empty.
    """
    if given := os.environ.get("AUTOGRADER_PROBLEMS"):
        return Path(given)
    start = (start or Path.cwd()).resolve()
    there = [folder / FOLDER for folder in (start, *start.parents) if (folder / FOLDER).is_dir()]
    known = (folder for folder in there if slugs(folder) or course_at(folder.parent))
    if found := next(known, None) or next(iter(there), None):
        return found
    raise StaffError(
        "no_problems",
        f"there is no {FOLDER}/ folder in {start} or above it; run this in a course (`autograder init COURSE` makes "
        "one), or set AUTOGRADER_PROBLEMS to the folder's path",
    )


def course_at(folder: Path) -> Path | None:
    """The nbgrader course that is this folder, or its `notebooks/`; None where neither is one."""
    return next((place for place in (folder, folder / "notebooks") if (place / CONFIGURATION).is_file()), None)


def slugs(root: Path) -> list[str]:
    """The names of all problem folders."""
    return sorted(path.parent.name for path in root.glob("*/problem.py"))


def load(slug: str, root: Path | None = None) -> Problem:
    """The problem of that name. AuthorError for a slip in its file, StaffError where there is no such folder."""
    root = root or find_problems()
    if not (root / slug / "problem.py").is_file():
        known = slugs(root)
        there = ", ".join(known) or "none yet"
        raise StaffError(
            "unknown_problem",
            f"there is no problem {slug!r} in {root}{did_you_mean(slug, known)}; there are {there}",
        )
    return _load(slug, root.resolve())


def _place(error: Exception, folder: Path) -> str:
    """The file of the folder, and the line, where an exception was raised last."""
    if isinstance(error, SyntaxError) and error.filename and Path(error.filename).parent == folder:
        return f"{Path(error.filename).name}, line {error.lineno},"
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if Path(frame.filename).parent == folder]
    return f"{Path(frames[-1].filename).name}, line {frames[-1].lineno}," if frames else "problem.py"


@functools.cache
def _load(slug: str, root: Path) -> Problem:
    try:
        module = _execute(slug, root / slug / "problem.py", root)
        problem = _problem(module)
    except AuthorError as error:
        raise AuthorError(error.code, f"{FOLDER}/{slug}: {error.message}") from error
    except Exception as error:
        raise AuthorError(
            "import",
            f"{FOLDER}/{slug}/{_place(error, root / slug)} cannot be imported: {type(error).__name__}: {error}",
        ) from error
    return dataclasses.replace(problem, slug=slug)


def _problem(module: ModuleType) -> Problem:
    """PROBLEM, if nothing that stands beside it was forgotten."""
    problem = getattr(module, "PROBLEM", None)
    if not isinstance(problem, Problem):
        raise AuthorError("no_problem", "problem.py must assign PROBLEM = Problem(...)")
    lists = [part.listed() for part in problem.parts]
    listed = [item for items in lists for item in items if callable(item)]
    judged = {item.__module__ for items in lists for item in items[1:] if callable(item)}
    for name, beside in list(sys.modules.items()):
        if name.startswith(f"{module.__name__}.") and (name in judged or TABLES & vars(beside).keys()):
            _nothing_unlisted(beside, listed)
    return problem


def _nothing_unlisted(module: ModuleType, listed: list[Any]) -> None:
    """Beside what is listed, a module of mistakes or equivalents holds what is private: a forgotten one is heard."""
    for name, item in vars(module).items():
        own = isinstance(item, FunctionType | type) and item.__module__ == module.__name__
        if own and item not in listed and not name.startswith("_"):
            raise AuthorError(
                "unlisted",
                f"{name} in {module.__name__.rpartition('.')[2]}.py is listed with no part; list it, or call it "
                f"_{name} if it only serves others",
            )


def unused(problem: Problem) -> list[str]:
    """The functions and classes of problem.py that no other statement of the folder names: perhaps a forgotten mistake.

    What starts with an underscore is the author's own affair.
    """
    name = f"{FOLDER}.{problem.slug}.problem"
    modules = [module for key, module in list(sys.modules.items()) if f"{key}.".startswith(f"{name}.")]
    statements = [item for module in modules for item in ast.parse(inspect.getsource(module)).body]
    named = [(item, _named(item)) for item in statements]
    listed = [each for part in problem.parts for each in (part.reference, *part.mistakes, *part.right_answers())]
    return [
        key
        for key, own in (vars(sys.modules[name]).items() if modules else ())
        if isinstance(own, FunctionType | type) and own.__module__ == name and not key.startswith("_")
        if own not in listed and not any(key in names for item, names in named if getattr(item, "name", "") != key)
    ]


def _named(statement: ast.stmt) -> set[str]:
    """The global names that a statement uses or imports."""
    imports = {item.name for item in ast.walk(statement) if isinstance(item, ast.alias)}
    return imports | {item.id for item in global_names(statement)}


def _execute(slug: str, path: Path, root: Path) -> ModuleType:
    """Import the file under a name of its own, from which `from .mistakes import ...` finds its neighbours.

    What lies beside the folder of problems is importable, and the models of the second distribution: it can use
    `solutions`.
    """
    name = f"problems.{slug}.problem"
    spec = importlib.util.spec_from_file_location(name, path, submodule_search_locations=[str(path.parent)])
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    beside = [str(place.parent) for place in (root, shipped()) if place and str(place.parent) not in sys.path]
    sys.path += beside
    for stale in [key for key in list(sys.modules) if key.startswith(f"{name}.")]:
        del sys.modules[stale]  # the mistakes.py of a folder of the same name elsewhere
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    finally:
        for place in beside:
            sys.path.remove(place)
    return module


def statement_text(slug: str, root: Path | None = None) -> str:
    """The text of the problem's statement.md."""
    path = (root or find_problems()) / slug / "statement.md"
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError as error:
        raise AuthorError("no_statement", f"{FOLDER}/{slug} has no statement.md") from error
