"""A parent that has imported what notebooks import, and forks a fresh process for each of them.

It computes nothing: after a parallel region in the parent, a child would hang in its first one. It is started once per
grader's process, on first use, and ends with it.
"""

from __future__ import annotations

import atexit
import contextlib
import gc
import itertools
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from autograder.errors import StaffError
from autograder.sandbox import stream
from autograder.wire import decode, encode

START_SECONDS = 120
# All that a student's process may see of the grader's environment, which can hold the course's secret: what a process
# was started with stays readable in /proc, whatever it deletes later.
ENVIRONMENT = ("PATH", "LANG", "LC_ALL", "TZ", "LD_LIBRARY_PATH")


@dataclass(frozen=True, kw_only=True)
class Process:
    """A student's process: its channel, and a descriptor by which it can be killed and seen to be gone."""

    channel: socket.socket
    pid: int
    pidfd: int

    def alive(self) -> bool:
        """Whether it has not ended."""
        try:
            signal.pidfd_send_signal(self.pidfd, 0)
        except ProcessLookupError:
            return False
        return True

    def kill(self) -> None:
        """End it, its process group and everything that descends from it, at once."""
        self.channel.close()
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(self.pidfd, signal.SIGSTOP)  # it adopts its orphans, and must not make new ones
            for _ in range(100):
                for pid in (kin := _descendants(self.pid)):
                    with contextlib.suppress(ProcessLookupError, PermissionError):
                        os.kill(pid, signal.SIGKILL)
                if not kin:
                    break
        # The group first: once its leader is reaped, the number could belong to somebody else.
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, signal.SIGKILL)
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(self.pidfd, signal.SIGKILL)
        os.close(self.pidfd)


def _descendants(pid: int) -> list[int]:
    """The living children of a process, their children, and so on; none where the kernel does not tell."""
    found: list[int] = []
    for parent in itertools.chain([pid], found):
        with contextlib.suppress(OSError):
            for task in Path(f"/proc/{parent}/task").iterdir():
                found += [child for child in map(int, (task / "children").read_text().split()) if not _zombie(child)]
    return found


def _zombie(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] in "ZX"
    except OSError:
        return True


class Warm:
    """The warm parent, seen from the grader's process."""

    def __init__(self) -> None:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
        code = (
            f"import sys; sys.path.insert(0, {root!r}); "
            f"from autograder.sandbox.warm import main; main({theirs.fileno()})"
        )
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-c", code],
            pass_fds=[theirs.fileno()],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            env={name: os.environ[name] for name in ENVIRONMENT if name in os.environ} | {"HOME": "/nonexistent"},
            start_new_session=True,  # Ctrl-C is for the grader, who then ends this
        )
        theirs.close()
        self._control = ours
        self._lock = threading.Lock()
        self._ready = False

    def fork(self, settings: dict[str, Any]) -> Process:
        """A fresh process that serves one notebook; StaffError if the parent cannot give one."""
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            with self._lock:
                self._control.settimeout(START_SECONDS)
                socket.send_fds(self._control, [encode(settings)], [theirs.fileno()])
                message, descriptors, _, _ = socket.recv_fds(self._control, 4096, 1)
            if not message or not descriptors:
                raise OSError("it ended")
        except OSError as error:
            ours.close()
            raise StaffError(
                "warm", f"the process that runs notebooks could not be started: {error}{self._last_words()}"
            ) from error
        finally:
            theirs.close()
        process = Process(channel=ours, pid=decode(message)["pid"], pidfd=descriptors[0])
        try:
            stream.receive(ours, time.monotonic() + START_SECONDS, process.alive)
        except (stream.Silence, stream.Hangup) as error:
            process.kill()
            raise StaffError("warm", "the process that runs notebooks ended before it was ready") from error
        return process

    def _last_words(self) -> str:
        if self._process.poll() is None or self._process.stderr is None:
            return ""
        return "\n" + self._process.stderr.read().decode(errors="replace")[-2000:]

    def close(self) -> None:
        """End the parent; what it forked has ended with its sessions."""
        self._control.close()
        self._process.terminate()
        self._process.wait()
        if self._process.stderr is not None:
            self._process.stderr.close()

    def alive(self) -> bool:
        """Whether the parent can still fork."""
        return self._process.poll() is None


_warm: Warm | None = None
_warm_pid = 0
_lock = threading.Lock()


def fork(settings: dict[str, Any]) -> Process:
    """A fresh process from this grader's warm parent, which is started where there is none."""
    global _warm, _warm_pid
    with _lock:
        if _warm is None or _warm_pid != os.getpid() or not _warm.alive():
            _warm, _warm_pid = Warm(), os.getpid()
            atexit.register(_warm.close)
        warm = _warm
    return warm.fork(settings)


def main(descriptor: int) -> None:
    """The warm parent itself: import, then fork on request until the grader is gone."""
    control = socket.socket(fileno=descriptor)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # children are reaped by the kernel
    _preload()
    gc.collect()
    gc.freeze()
    while True:
        message, descriptors, _, _ = socket.recv_fds(control, 65536, 1)
        if not message:
            return
        pid = os.fork()
        if pid == 0:
            _become_child(control, descriptors[0], decode(message))
        pidfd = os.pidfd_open(pid)
        socket.send_fds(control, [encode({"pid": pid})], [pidfd])
        os.close(pidfd)
        os.close(descriptors[0])


def _become_child(control: socket.socket, descriptor: int, settings: dict[str, Any]) -> None:
    """Never returns: the child ends when its notebook does."""
    try:
        control.close()
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        gc.unfreeze()
        from autograder.sandbox.child import serve

        serve(socket.socket(fileno=descriptor), settings)
    finally:
        os._exit(0)


def _preload() -> None:
    """Import what nearly every notebook imports; one thread before anything computes."""
    import numpy  # noqa: F401
    import torch

    torch.set_num_threads(1)
    torch.set_num_interop_threads(1)
    import torch.nn.functional

    import autograder.sandbox.child
    import autograder.student  # noqa: F401
