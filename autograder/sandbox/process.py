"""A student's process as the grader sees it: its channel, whether it lives, and its end."""

from __future__ import annotations

import contextlib
import os
import select
import shutil
import signal
import socket
import time
from collections.abc import Iterable
from dataclasses import dataclass

from autograder.sandbox import watch
from autograder.sandbox.watch import Watch, descendants, stopped, zombie

END_SECONDS = 10
_STILL_SECONDS = 1.0


@dataclass(frozen=True, kw_only=True)
class Process:
    """A student's process: its channel, and a descriptor by which it can be killed and seen to be gone.

    `pidfd` is None on systems that have no such thing. `layers` are those of the wall around it; `watch` may have
    killed it, and then says why. Without a file system of its own it works in `directory`, which ends with it.
    """

    channel: socket.socket
    pid: int
    pidfd: int | None
    layers: frozenset[str]
    watch: Watch
    directory: str = ""

    def alive(self) -> bool:
        """Whether it has not ended."""
        try:
            self._signal(0)
        except ProcessLookupError:
            return False
        return True

    def kill(self) -> None:
        """End it and all that it started, at once, and wait until they are gone."""
        self.channel.close()
        with contextlib.suppress(ProcessLookupError):
            if "processes" not in self.layers:
                self._kill_kin()
            self._signal(signal.SIGKILL)
        if self.pidfd is not None:
            # The first process of a namespace ends last.
            ended = select.poll()
            ended.register(self.pidfd, select.POLLIN)
            ended.poll(END_SECONDS * 1000)
            os.close(self.pidfd)
        if self.directory:
            shutil.rmtree(self.directory, ignore_errors=True)

    def interrupt(self) -> None:
        """Let it stop what it does, as a kernel is interrupted."""
        with contextlib.suppress(ProcessLookupError):
            self._signal(signal.SIGINT)

    def stand_still(self) -> None:
        """Stop it and all that it started, until it is to go on or is ended."""
        end = time.monotonic() + _STILL_SECONDS
        while time.monotonic() < end:  # what one of them starts meanwhile is seen the next time
            going = [pid for pid in self._kin() if not stopped(pid)]
            if not going:
                self.watch.resting = True
                return
            _send(signal.SIGSTOP, going)
            time.sleep(0.001)

    def go_on(self) -> None:
        """Let it and all that it started run again."""
        self.watch.resting = False
        _send(signal.SIGCONT, self._kin())

    def _kin(self) -> list[int]:
        root = self.pid if self.pidfd is None else watch.number(self.pidfd)
        return descendants(root) if root else []

    def _signal(self, number: int) -> None:
        if self.pidfd is None:
            os.kill(self.pid, number)
        else:
            signal.pidfd_send_signal(self.pidfd, number)

    def _kill_kin(self) -> None:
        """End all that it started, where there is no namespace that ends with it; it adopts its orphans."""
        self._signal(signal.SIGSTOP)  # it must not make new ones
        for _ in range(100):
            kin = [child for child in descendants(self.pid)[1:] if not zombie(child)]
            if not kin:
                break
            _send(signal.SIGKILL, kin)
        # The group before its leader: once that is reaped, the number could belong to somebody else.
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, signal.SIGKILL)


def _send(number: int, pids: Iterable[int]) -> None:
    for pid in pids:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(pid, number)
