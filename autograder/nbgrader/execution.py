"""How nbgrader's Execute would run a notebook of an instructor's own: in which kernel, for how long, or not at all.

What a configuration says of it holds in the sandbox as well; what cannot hold there is named.
"""

from __future__ import annotations

import ast
import contextlib
import functools
import importlib.util
import os
import re
import sys
from collections.abc import Collection, Iterator, Sequence
from typing import Any

from jupyter_client.kernelspec import KernelSpecManager, NoSuchKernel
from nbgrader.preprocessors import Execute

from autograder.errors import StaffError
from autograder.protocol.run_state import last_line

NOT_RUN = "It was not run: c.Execute.enabled is False (--no-execute), and nobody can say whether it would pass."
NOTHING_RUNS = "no cell is run, since c.Execute.enabled is False (--no-execute), and tests wait for a person"
_SECTIONS = ("NotebookClient", "ExecutePreprocessor", "Execute")  # a later one goes before an earlier one
_KEPT = {"timeout", "timeout_func", "kernel_name", "enabled", "kernel_manager_class"}
# What a configuration says of a kernel that there is none of, and that moves no mark.
_IDLE = {"startup_timeout", "iopub_timeout", "raise_on_iopub_timeout", "shell_timeout_interval", "shutdown_kernel"} | {
    "ipython_hist_file", "store_widget_state", "record_timing", "display_data_priority", "coalesce_streams",
    "execute_retries",
}  # fmt: skip
_RUN_HERE = ("time", "timeit", "capture", "prun")  # magics whose cells are code of the notebook's
_MAGIC = re.compile(r"\s*%%(?P<name>\w+)")
_WRITES = re.compile(
    r"\s*%%(?:writefile|file)\s+(?:(?:-a|--append)\s+)?(?P<quote>['\"]?)(?P<file>[^'\"\n]+?)(?P=quote)\s*(?:\n|$)"
)
_ALWAYS = ("OverwriteCells", "DeduplicateIds", "OverwriteKernelspec", "SaveAutoGrades")


@functools.lru_cache(maxsize=16)
def step(kind: type, converter: Any) -> Any:
    """One of nbgrader's steps as the configuration has it: made once for a class, since they keep nothing."""
    return kind(parent=converter)


def is_run(converter: Any) -> bool:
    """Whether notebooks are to be run at all."""
    return bool(step(Execute, converter).enabled)


def seconds_of(cells: Sequence[Any], converter: Any, most: float) -> tuple[float, ...]:
    """How long each cell may take, as nbclient has it: `timeout_func` of the cell, or `timeout`; else `most`."""
    execute = step(Execute, converter)
    found = []
    for cell in cells:
        try:
            seconds = execute.timeout if execute.timeout_func is None else execute.timeout_func(cell)
            found.append(float(seconds) if seconds and seconds > 0 else most)
        except Exception as error:
            raise StaffError("timeout_func", f"c.Execute.timeout_func failed: {last_line(error)}") from error
    return tuple(found)


def not_kept(config: Any) -> list[str]:
    """What of a configuration does not hold where cells run in the sandbox, a sentence each."""
    told = [
        f"c.{section}.{name} is not kept: cells run in the sandbox, and no kernel is there to be told"
        for section in _SECTIONS
        for name in sorted(config.get(section, ()))
        if name not in _KEPT | _IDLE
    ]
    off = [name for name in _ALWAYS if name in config and config[name].get("enabled", True) is False]
    return told + [f"c.{name}.enabled = False is not kept: tests and marks are always the instructor's" for name in off]


def kernel_named(config: Any) -> str:
    """The kernel that a configuration names for every notebook; empty where each has its own."""
    named = [config[section].get("kernel_name") for section in _SECTIONS if section in config]
    return next((str(name) for name in reversed(named) if name), "")


def why_outside(source: Any, beside: Collection[str] = (), kernel: str = "") -> str:
    """Why a notebook cannot run in the sandbox, by the instructor's source; empty where it can.

    `beside` are the names of the files that lie beside it, and `kernel` is the one that stands for the notebook's own.
    """
    spec = source.metadata.get("kernelspec", {})
    language = source.metadata.get("language_info", {}).get("name") or spec.get("language") or "python"
    name = kernel or str(spec.get("name") or "python3")
    program = sys.executable  # where the name is one from another machine
    with contextlib.suppress(NoSuchKernel, IndexError):
        found = KernelSpecManager().get_kernel_spec(name)
        program, language = found.argv[0], found.language or language
    if language.lower() != "python":
        return f"its kernel {name!r} is one of {language}"
    if os.path.isabs(program) and os.path.dirname(program) != os.path.dirname(sys.executable):
        return f"its kernel {name!r} is another Python, {program}"
    there = {*beside, *written_by(source)}
    for module in sorted(imported_by(source)):
        own = f"{module}.py" in there or any(file.startswith(f"{module}/") for file in there)
        if not own and not _is_there(module):
            return f"it imports {module!r}, which is not installed beside autograder"
    return ""


def imported_by(source: Any) -> set[str]:
    """The first names of the modules that a notebook's code imports for certain."""
    found: set[str] = set()
    for cell in source.cells:
        if cell.cell_type == "code":
            found |= set(_imports(cell.source))
    return found


def written_by(source: Any) -> set[str]:
    """The files that a notebook writes beside itself with a magic, and may import after that."""
    found = (_WRITES.match(cell.source) for cell in source.cells if cell.cell_type == "code")
    return {os.path.normpath(match["file"]) for match in found if match}


def _imports(source: str) -> Iterator[str]:
    if (magic := _MAGIC.match(source)) and magic["name"] not in _RUN_HERE:
        return  # the text of a file, or of another language
    lines = ["" if line.lstrip().startswith(("%", "!", "?")) else line for line in source.split("\n")]
    try:
        body = ast.parse("\n".join(lines)).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    for node in body:
        if isinstance(node, ast.Import):
            yield from (item.name.partition(".")[0] for item in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module.partition(".")[0]


def _is_there(module: str) -> bool:
    try:
        return module in sys.modules or importlib.util.find_spec(module) is not None
    except (ImportError, ValueError):
        return False
