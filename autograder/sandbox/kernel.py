"""A notebook's process as a kernel runs it: its cells in a running event loop, each with a reply about its outputs.

For notebooks with asserts of an instructor's own. Before an instructor's cell runs, what the student's cells changed of
the machinery of asserts is put back (`restoring`).
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec, PathFinder
from typing import Any

from autograder.sandbox.descriptors import Descriptors
from autograder.sandbox.restoring import Baseline, is_plain
from autograder.sandbox.shell import Outputs, Shell

_NO_TRACEBACK = "ERROR: An error occurred while showtraceback was disabled"  # nbgrader's own words


class Beside:
    """Finds modules of some names beside the notebook: before packages, and after the standard library, as IPython."""

    def __init__(self, names: Sequence[str]) -> None:
        self._names, self._folder = frozenset(names) - sys.stdlib_module_names, os.getcwd()

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        """One of these modules; nothing for any other."""
        return PathFinder.find_spec(name, [self._folder]) if name in self._names else None


class Kernel:
    """Runs the cells of one notebook."""

    def __init__(self, shell: Shell, outputs: Outputs, first: Sequence[str]) -> None:
        sys.meta_path.insert(0, Beside(first))
        self._shell, self._outputs = shell, outputs
        os.environ["NBGRADER_EXECUTION"] = "autograde"
        sys.breakpointhook = lambda *_, **__: None  # as in a kernel that no debugger is connected to
        signal.signal(signal.SIGINT, signal.default_int_handler)  # by which a cell is interrupted
        self._loop = asyncio.new_event_loop()
        asyncio.set_event_loop(self._loop)
        self._baseline = Baseline(shell)
        self._descriptors = Descriptors()
        self._whole = self._plain = True  # since the last cell of the instructor's

    def run(self, source: str, trusted: bool) -> tuple[list[str], bool]:
        """Run one cell; the names of what was put back before it, and whether it failed."""
        restored = self._baseline.put_back(not self._plain) if trusted and not self._whole else []
        before = dict(self._shell.user_ns) if trusted else {}
        try:
            succeeded, error = self._loop.run_until_complete(self._cell(source))
        except BaseException as escaped:
            succeeded, error = False, escaped
        if type(self._outputs.items) is not list or self._shell.outputs is not self._outputs:
            self._outputs.items, self._shell.outputs = [], self._outputs  # somebody has put something in its place
            succeeded, error = False, None
        for name, text in self._descriptors.taken():
            self._outputs.write(name, text)
        if not succeeded and not any(item.get("output_type") == "error" for item in self._outputs.items):
            self._show(error)
        if trusted:
            self._baseline.accept(source, before)
            if not self._plain:  # what the student's code did while it was called
                restored += [f"{name} (while it ran)" for name in self._baseline.put_back()]
        self._whole = trusted
        self._plain = trusted or (self._plain and is_plain(source))
        return restored, not succeeded

    async def _cell(self, source: str) -> tuple[bool, BaseException | None]:
        shell = self._shell
        trouble = None
        try:
            cell = shell.transform_cell(source)
        except Exception:
            cell, trouble = source, sys.exc_info()
        if shell.should_run_async(source, transformed_cell=cell, preprocessing_exc_tuple=trouble):
            result = await shell.run_cell_async(
                source, store_history=True, transformed_cell=cell, preprocessing_exc_tuple=trouble
            )
            shell.events.trigger("post_execute")
            shell.events.trigger("post_run_cell", result)
        else:
            result = shell.run_cell(source, store_history=True)
        return result.success, result.error_before_exec or result.error_in_exec

    def _show(self, error: BaseException | None) -> None:
        """An error that the shell did not show, as nbgrader notes one."""
        kind = type(error).__name__ if error is not None else "Error"
        item = {"output_type": "error", "ename": kind, "evalue": "", "traceback": [_NO_TRACEBACK]}
        self._outputs.items.append(item)
