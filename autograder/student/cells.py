"""What was run in this kernel, and what stands in the notebook's file: by them a definition is known to be old."""

from __future__ import annotations

import ast
import contextlib
import json
import os
import re
import time
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from autograder.protocol.cell_text import defined_names
from autograder.student.local_checks import of_the_notebook, the_shell
from autograder.student.preview import bound_now


@dataclass(frozen=True, kw_only=True)
class Run:
    """A cell as it was run: its number, its id where the kernel is told it, how it stopped, and what it bound."""

    source: str
    number: int
    cell: str
    when: float
    stopped: str
    names: frozenset[str]
    bound: frozenset[str]


_RUNS: list[Run] = []
_BEFORE: dict[str, Any] = {}


_LONGEST = 100_000  # characters of a cell that is looked at
# An answer between quotes, up to the last quote and bracket on a line.
_QUOTED = re.compile(
    r"""^(?P<left>\w+[ \t]*=[ \t]*\w+\()[rR]?(?P<quote>\"{3}|'{3}|"|')(?P<text>.*?)(?P=quote)"""
    r"(?P<right>\)[ \t]*(?:#[^\n]*)?)$",
    re.MULTILINE | re.DOTALL,
)


def watch() -> None:
    """From here on each cell that is run in this kernel is remembered, and read as it was typed."""
    shell = the_shell()
    if shell and not getattr(shell, "autograder_watches", False):
        shell.autograder_watches = True
        shell.events.register("pre_run_cell", _before)
        shell.events.register("post_run_cell", _after)
        shell.input_transformers_cleanup.append(_as_typed)


def _as_typed(lines: list[str]) -> list[str]:
    """The lines of a cell, in which an answer that is no Python for what stands in its quotes is quoted otherwise."""
    source = "".join(lines)
    return as_typed(source).splitlines(keepends=True)


def as_typed(source: str) -> str:
    """The text of a cell. What Python cannot read there for quotes, line ends or backslashes in an answer's quotes is
    quoted so that it is that text; what it can read is left alone.
    """
    if len(source) > _LONGEST or not _QUOTED.search(source) or _is_python(source):
        return source
    quoted = _QUOTED.sub(lambda found: f"{found['left']}{found['text']!r}{found['right']}", source)
    return quoted if _is_python(quoted) else source


def _is_python(source: str) -> bool:
    try:
        with warnings.catch_warnings(action="ignore"):
            ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def _before(info: Any) -> None:
    names, source = of_the_shell(), as_typed(info.raw_cell or "")
    _BEFORE.clear()
    if len(source) <= _LONGEST:
        _BEFORE.update({name: names.get(name, _NOTHING) for name in defined_names(source)})
    bound_now(_BEFORE)


def _after(result: Any) -> None:
    info, names = result.info, of_the_shell()
    source = (info and info.raw_cell) or ""
    error = result.error_before_exec or result.error_in_exec
    wanted = frozenset(_BEFORE)
    changed = {name for name in wanted if names.get(name, _NOTHING) is not _BEFORE[name]}
    _RUNS.append(
        Run(
            source=source,
            number=result.execution_count or 0,
            cell=getattr(info, "cell_id", None) or "",
            when=time.time(),
            stopped=type(error).__name__ if error else "",
            names=wanted,
            bound=frozenset(changed if error else wanted),
        )
    )
    _BEFORE.clear()


_NOTHING = object()


def of_the_shell() -> dict[str, Any]:
    """The names of the notebook's kernel."""
    names: dict[str, Any] = the_shell().user_ns
    return names


def outdated(name: str) -> str:
    """Why what a name is bound to is no longer what the notebook says; empty where nothing is known against it."""
    tried = next((run for run in reversed(_RUNS) if name in run.names), None)
    if tried is None:
        return ""
    if name not in tried.bound:
        older = next((run for run in reversed(_RUNS) if name in run.bound), None)
        since = f"What is looked at here was defined before, by cell [{older.number}]" if older else "It is not defined"
        return f"cell [{tried.number}] was to define {name} and stopped with {tried.stopped}. {since}"
    again = [run for run in _RUNS[_RUNS.index(tried) + 1 :] if tried.cell and run.cell == tried.cell]
    if again:
        return (
            f"it was defined by cell [{tried.number}], which no longer stands so: run again as [{again[-1].number}], "
            f"it does not define {name}"
        )
    return _changed_in_the_file(name, tried)


def _changed_in_the_file(name: str, run: Run) -> str:
    """Whether the cell stands otherwise in the notebook's file, saved after it was run."""
    path = notebook_file()
    if path is None or path.stat().st_mtime <= run.when:
        return ""
    cells = cells_of(path)
    texts = {_squeezed(cell) for cell in cells if cell.get("cell_type") == "code"}
    if not cells or _squeezed({"source": run.source}) in texts:
        return ""
    return f"its cell was changed after it was run as [{run.number}]. Run it again"


def _squeezed(cell: dict[str, Any]) -> str:
    return "".join("".join(cell.get("source", "")).split())


def notebook_file() -> Path | None:
    """The file of the notebook, where the editor says so: VS Code, and JupyterLab's server."""
    for file in (of_the_notebook().get("__vsc_ipynb_file__"), os.environ.get("JPY_SESSION_NAME")):
        if isinstance(file, str) and file.endswith(".ipynb") and Path(file).is_file():
            return Path(file)
    return None


def cells_of(path: Path) -> list[dict[str, Any]]:
    """The cells in a notebook's file; none where it cannot be read."""
    with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
        return [cell for cell in json.loads(path.read_text(encoding="utf-8"))["cells"] if isinstance(cell, dict)]
    return []
