"""A grader that splits in two before it knows anything: one half grades, the other is the warm parent of all notebooks.

What notebooks import, torch above all, is imported once for both. The half that students' processes are forked from
must never have known a secret: `restart` begins anew in an interpreter whose environment holds none, and only then,
with nothing read yet, `split` forks.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Sequence
from typing import IO

from autograder.sandbox import layers

_RESTARTED = False
_END_SECONDS = 10


def restart(command: str, modules: Sequence[str] = ("torch",)) -> None:
    """Run this command again from the start in a split process; returns where that is so already, or cannot be.

    `command` names the module whose `main` it is; `modules` are those that notebooks import.

    The environment, the arguments and the working directory travel in a nameless file that is read after the split.
    """
    if _RESTARTED or not hasattr(os, "memfd_create"):
        return
    state = {"environment": dict(os.environ), "arguments": sys.argv, "path": sys.path, "folder": os.getcwd()}
    file = os.memfd_create("autograder", 0)
    os.write(file, json.dumps(state).encode())
    code = f"from autograder.sandbox.halves import go_on; go_on({file}, {command!r}, {list(modules)!r})"
    words = layers.python(code)
    sys.stdout.flush()
    sys.stderr.flush()
    os.execve(words[0], words, layers.environment())  # noqa: S606 - a list of our own words


def go_on(file: int, command: str, modules: Sequence[str]) -> None:
    """Split, then be the command that was restarted."""
    global _RESTARTED
    split(modules)
    _RESTARTED = True
    os.lseek(file, 0, os.SEEK_SET)
    with open(file, encoding="utf-8") as content:
        state = json.load(content)
    os.environ.clear()
    os.environ.update(state["environment"])
    sys.argv, sys.path = state["arguments"], state["path"]
    os.chdir(state["folder"])
    importlib.import_module(command).main()


def split(modules: Sequence[str] = ("torch",)) -> None:
    """Import what notebooks import, and make a fork of this process the warm parent.

    For a process that was started with `layers.python` and `layers.environment`, has one thread, and has read nothing
    that a student must not see: all that it knows, they may.
    """
    from autograder.sandbox import wall, warm

    gc.disable()  # a collection walks over all of torch, several times, to find nothing
    warm.preload(modules)
    gc.freeze()
    gc.enable()
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
    pid = os.fork()
    if pid == 0:
        try:
            os.setsid()  # Ctrl-C is for the grader
            os.chdir("/")
            null = os.open(os.devnull, os.O_RDWR)
            for descriptor in (0, 1, 2):
                os.dup2(null, descriptor)
            os.closerange(3, theirs.fileno())
            os.closerange(theirs.fileno() + 1, 4096)
            warm.serve(theirs, wall.settle())
        finally:
            os._exit(0)
    theirs.close()
    warm.adopt(warm.Warm(ours, Half(pid)))


class Half:
    """A forked process, as far as `Warm` needs to know one."""

    stderr: IO[bytes] | None = None

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self._status: int | None = None

    def poll(self) -> int | None:
        """Its exit status, once it has ended."""
        if self._status is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            self._status = status if pid else None
        return self._status

    def wait(self, timeout: float | None = None) -> int:
        """Wait for its end; TimeoutExpired if it does not come."""
        deadline = time.monotonic() + (_END_SECONDS if timeout is None else timeout)
        while (status := self.poll()) is None:
            if time.monotonic() > deadline:
                raise subprocess.TimeoutExpired("warm", _END_SECONDS)
            time.sleep(0.002)
        return status

    def terminate(self) -> None:
        """Ask it to end."""
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGTERM)
