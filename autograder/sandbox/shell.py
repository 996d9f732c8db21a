"""The IPython shell that runs a notebook's cells and collects outputs: what a kernel does, without its sockets."""

from __future__ import annotations

import base64
import io
import os
import subprocess
from pathlib import Path
from typing import Any, NoReturn

from IPython.core.displayhook import DisplayHook
from IPython.core.displaypub import DisplayPublisher
from IPython.core.error import StdinNotImplementedError
from IPython.core.interactiveshell import InteractiveShell

_LEAST = 200
_TEXT_LIMIT = "\n… (the rest of this cell's output is left out)\n"


class Outputs:
    """A cell's outputs in nbformat's shape, up to a number of characters."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.clear()

    def clear(self) -> None:
        """Forget everything: a new cell begins."""
        self.items: list[dict[str, Any]] = []
        self.size = 0
        self.stale = False
        self._named: dict[str, dict[str, Any]] = {}

    def _renew(self) -> None:
        if self.stale:
            self.items.clear()
            self.stale = False

    def update(self, name: Any, item: dict[str, Any]) -> None:
        """Show something else in place of an output of this cell."""
        if isinstance(name, str) and name in self._named:
            self._named[name].update(item)

    def add(self, item: dict[str, Any], size: int, name: Any = None) -> None:
        """Add one output, unless the limit is reached; each counts for something, so that there is an end to them."""
        self._renew()
        if isinstance(name, str):
            self._named[name] = item
        if self.size <= self.limit:
            self.size += size + _LEAST
            self.items.append(item)
            if self.size > self.limit:
                self.items[-1] = {"output_type": "stream", "name": "stdout", "text": _TEXT_LIMIT}

    def write(self, name: str, text: str) -> None:
        """Add to a stream, joined with what came just before on the same one."""
        self._renew()
        if self.size > self.limit:
            return
        kept = text[: max(self.limit - self.size, 0)] + (_TEXT_LIMIT if self.size + len(text) > self.limit else "")
        self.size += len(text)
        last = self.items[-1] if self.items else {}
        if last.get("output_type") == "stream" and last["name"] == name:
            last["text"] += kept
        else:
            self.items.append({"output_type": "stream", "name": name, "text": kept})


class Stream(io.TextIOBase):
    """A text stream that collects what is written to it."""

    encoding = "utf-8"

    def __init__(self, outputs: Outputs, name: str) -> None:
        self.outputs, self.name = outputs, name

    def writable(self) -> bool:
        """Always."""
        return True

    def write(self, text: str) -> int:
        """Collect a piece of text."""
        if not isinstance(text, str):
            raise TypeError(f"a string was expected, not {type(text).__name__}")
        self.outputs.write(self.name, text)
        return len(text)


def mime_bundle(data: Any) -> tuple[dict[str, str], int]:
    """A MIME bundle as text, images in base64, and its size; what is no text is left out."""
    bundle = {}
    for kind, content in dict(data).items():
        if isinstance(content, bytes):
            content = base64.b64encode(content).decode()
        if isinstance(kind, str) and isinstance(content, str):
            bundle[kind] = content
    return bundle, sum(map(len, bundle.values()))


class Publisher(DisplayPublisher):  # type: ignore[misc]
    """`display(...)` becomes an output."""

    def publish(
        self, data: Any, metadata: Any = None, *, transient: Any = None, update: bool = False, **_: Any
    ) -> None:
        """Collect one MIME bundle, or show it in place of the one with the same display id."""
        bundle, size = mime_bundle(data)
        item = {"output_type": "display_data", "data": bundle, "metadata": {}}
        name = (transient or {}).get("display_id") if isinstance(transient, dict) else None
        if update:
            self.shell.outputs.update(name, item)
        else:
            self.shell.outputs.add(item, size, name)

    def clear_output(self, wait: bool = False) -> None:
        """Drop what the cell has shown so far, as a notebook would; `wait` until there is something new."""
        if wait:
            self.shell.outputs.stale = True
        else:
            self.shell.outputs.items.clear()


class Hook(DisplayHook):  # type: ignore[misc]
    """The value of a cell's last expression becomes an output."""

    def write_output_prompt(self) -> None:
        """There is no terminal to prompt."""

    def finish_displayhook(self) -> None:
        """There is no terminal to end a line on."""

    def write_format_data(self, format_dict: Any, md_dict: Any = None) -> None:
        """Collect the formatted value."""
        bundle, size = mime_bundle(format_dict)
        item = {"output_type": "execute_result", "data": bundle, "metadata": {}, "execution_count": None}
        self.shell.outputs.add(item, size)


class Shell(InteractiveShell):  # type: ignore[misc]
    """An IPython shell whose every output lands in `outputs`."""

    def __init__(self, outputs: Outputs, **options: Any) -> None:
        self.__dict__["outputs"] = outputs
        super().__init__(display_pub_class=Publisher, displayhook_class=Hook, **options)

    def move(self) -> None:
        """Be at home in this process: its directories, and what it can do there."""
        self.init_ipython_dir(None)
        self.init_profile_dir(None)
        self.init_pushd_popd_magic()
        self.starting_dir = os.getcwd()
        self.history_manager.dir_hist[:] = [Path.cwd()]
        if not _terminals():
            self.system = self._system_by_pipe

    def _system_by_pipe(self, command: str) -> None:
        """`!command` where there is no terminal to run it in."""
        streams: Any = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
        words = self.var_expand(command, depth=1)
        done = subprocess.run(words, shell=True, text=True, errors="replace", check=False, **streams)  # noqa: S602
        self.outputs.write("stdout", done.stdout)
        self.user_ns["_exit_code"] = done.returncode

    def init_history(self) -> None:
        """No history: it would open a database in the home directory and start a thread."""
        from IPython.core.history import HistoryManager

        self.history_manager = HistoryManager(shell=self, parent=self, enabled=False)

    def enable_gui(self, gui: Any = None) -> None:
        """There is no event loop; `%matplotlib inline` works without one."""

    def _showtraceback(self, etype: Any, evalue: Any, stb: Any) -> None:
        trace = [str(line) for line in (stb if isinstance(stb, list) else [stb])]
        item = {"output_type": "error", "ename": getattr(etype, "__name__", "Error"), "evalue": _text(evalue)}
        self.outputs.add({**item, "traceback": trace}, sum(map(len, trace)))


def _terminals() -> bool:
    try:
        for descriptor in os.openpty():
            os.close(descriptor)
    except OSError:
        return False
    return True


def _text(value: Any) -> str:
    try:
        return str(value)[:2000]
    except BaseException:  # a student's exception may raise in its own __str__
        return type(value).__name__


def no_input(*_: Any) -> NoReturn:
    """`input` while grading."""
    raise StdinNotImplementedError("input() is not available while a notebook is graded")
