"""A parent that has imported what notebooks import, and forks a fresh process for each of them.

It computes nothing: after a parallel region in the parent, a child would hang in its first one. It is started once per
grader's process, on first use, and ends with it; or it is the other half of a grader that has split in two (`halves`).
"""

from __future__ import annotations

import atexit
import contextlib
import gc
import importlib
import os
import signal
import socket
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from typing import IO, Any, NoReturn, Protocol

from autograder.errors import StaffError
from autograder.protocol.codec import decode, encode
from autograder.sandbox import layers, mounts, restoring, stream, wall
from autograder.sandbox.process import Process
from autograder.sandbox.watch import Watch, number

START_SECONDS = 120
END_SECONDS = 10


class Parent(Protocol):
    """The process of a warm parent, as `subprocess.Popen` shows one."""

    @property
    def stderr(self) -> IO[bytes] | None: ...  # noqa: D102 - as Popen's

    def poll(self) -> int | None: ...  # noqa: D102

    def wait(self, timeout: float | None = None) -> int: ...  # noqa: D102

    def terminate(self) -> None: ...  # noqa: D102


class Warm:
    """The warm parent, seen from the grader's process."""

    def __init__(self, control: socket.socket, process: Parent) -> None:
        self._control, self._process = control, process
        self._lock = threading.Lock()

    @classmethod
    def start(cls) -> Warm:
        """One in an interpreter of its own."""
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        process = subprocess.Popen(
            layers.python(f"from autograder.sandbox.warm import main; main({theirs.fileno()})"),
            pass_fds=[theirs.fileno()],
            env=layers.environment(),
            cwd="/",
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            start_new_session=True,  # Ctrl-C is for the grader, who then ends this
        )
        theirs.close()
        return cls(ours, process)

    def fork(self, settings: dict[str, Any], *, required: bool = False, walled: bool = True) -> Process:
        """A fresh process, walled in, that serves one notebook; StaffError if the parent cannot give one.

        What is missing of the wall is said before anything of the student's is sent there; where the wall is
        `required`, nothing is.
        """
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            reply, descriptors = self._ask_for_one(walled, bool(settings["kernel"]), theirs)
        except OSError as error:
            ours.close()
            raise StaffError(
                "warm", f"the process that runs notebooks could not be started: {error}{self._last_words()}"
            ) from error
        finally:
            theirs.close()
        process = _process(ours, reply, descriptors[0] if descriptors else None, settings)
        try:
            layers.announce(process.layers, required)
            _start(process, settings)
        except BaseException:
            process.kill()
            raise
        return process

    def _ask_for_one(self, walled: bool, kernel: bool, channel: socket.socket) -> tuple[dict[str, Any], list[int]]:
        """One request and one reply at a time: so each is one message, although this is a stream."""
        with self._lock:
            self._control.settimeout(START_SECONDS)
            socket.send_fds(self._control, [encode({"walled": walled, "kernel": kernel})], [channel.fileno()])
            message, descriptors, _, _ = socket.recv_fds(self._control, 4096, 1)
        if not message:
            raise OSError("it ended")
        reply = decode(message)
        if reply.get("fault"):
            raise OSError(reply["fault"])
        return reply, descriptors

    def _last_words(self) -> str:
        if self._process.poll() is None or self._process.stderr is None:
            return ""
        return "\n" + self._process.stderr.read().decode(errors="replace")[-2000:]

    def close(self) -> None:
        """End the parent; what it forked has ended with its sessions."""
        self._control.close()  # it reads the end, and leaves an account of the time that all of it took
        try:
            self._process.wait(END_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.terminate()
            self._process.wait(END_SECONDS)
        if self._process.stderr is not None:
            self._process.stderr.close()

    def end(self) -> None:
        """End it at once, and all that runs in its namespace with it."""
        with contextlib.suppress(OSError):
            self._process.terminate()

    def alive(self) -> bool:
        """Whether the parent can still fork."""
        return self._process.poll() is None


_warm: Warm | None = None
_shut = False
_warm_pid = 0
_lock = threading.Lock()


def fork(settings: dict[str, Any], *, required: bool = False, walled: bool = True) -> Process:
    """A fresh process from this grader's warm parent, which is started where there is none."""
    with _lock:
        if _shut:
            raise StaffError("shut", "no more notebooks are run")
        if _warm is None or _warm_pid != os.getpid() or not _warm.alive():
            adopt(Warm.start())
        warm = _warm
    assert warm is not None
    return warm.fork(settings, required=required, walled=walled)


def adopt(warm: Warm) -> None:
    """Take a warm parent that is there already, in place of one started on first use."""
    global _warm, _warm_pid
    _warm, _warm_pid = warm, os.getpid()
    atexit.register(warm.close)


@contextlib.contextmanager
def shut() -> Iterator[None]:
    """End every notebook's process, and start no other meanwhile: a run was told to stop, and its threads end."""
    global _shut
    with _lock:
        _shut = True
    if _warm is not None and _warm_pid == os.getpid():
        _warm.end()
    try:
        yield
    finally:
        _shut = False


def _process(channel: socket.socket, reply: dict[str, Any], pidfd: int | None, settings: dict[str, Any]) -> Process:
    there = frozenset(reply["layers"])
    return Process(
        channel=channel,
        pid=reply["pid"] if pidfd is None else number(pidfd) or reply["pid"],
        pidfd=pidfd,
        layers=there,
        watch=Watch(pidfd, megabytes=settings["memory_megabytes"], processes=settings["processes"]),
        directory="" if "files" in there else tempfile.mkdtemp(prefix="notebook-"),
    )


def _start(process: Process, settings: dict[str, Any]) -> None:
    deadline = time.monotonic() + START_SECONDS
    try:
        stream.send(process.channel, encode({**settings, "directory": process.directory}), deadline)
        ready = decode(stream.receive(process.channel, deadline, process.alive))
    except (stream.Silence, stream.Hangup) as error:
        raise StaffError("warm", "the process that runs notebooks ended before it was ready") from error
    if ready.get("fault") is not None:
        raise StaffError("wall", f"the sandbox of a notebook's process could not be built: {ready['fault']}")


def main(descriptor: int) -> None:
    """The warm parent itself: import, then fork on request until the grader is gone."""
    control = socket.socket(fileno=descriptor)
    found = wall.settle()
    preload(("torch", "matplotlib.pyplot", "sympy"))
    serve(control, found)


def serve(control: socket.socket, found: frozenset[str]) -> None:
    """Fork on request, behind the layers that were found, until the grader is gone."""
    from autograder.sandbox.child import rehearse

    signal.signal(signal.SIGCHLD, _reap)
    shown = mounts.needed()
    rehearse()
    gc.collect()
    gc.freeze()
    while True:
        message, descriptors, _, _ = socket.recv_fds(control, 4096, 1)
        if not message:
            return
        request = decode(message)
        wanted = found if request["walled"] else frozenset[str]()
        if request["kernel"]:
            restoring.prepare()
        try:
            pid = wall.fork(wanted)
        except OSError as error:  # too many processes or namespaces now; those that run are to go on
            socket.send_fds(control, [encode({"fault": str(error)})], [])
        else:
            if pid == 0:
                _become_child(control, descriptors[0], wanted, shown)
            _hand_over(control, pid, wanted)
        os.close(descriptors[0])


def _reap(*_: object) -> None:
    """Let children go as they end; unlike ignoring them, this keeps the account of the time that they took."""
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def _hand_over(control: socket.socket, pid: int, wanted: frozenset[str]) -> None:
    pidfds = [os.pidfd_open(pid)] if hasattr(os, "pidfd_open") else []
    socket.send_fds(control, [encode({"pid": pid, "layers": sorted(wanted)})], pidfds)
    for pidfd in pidfds:
        os.close(pidfd)


def _become_child(
    control: socket.socket, descriptor: int, wanted: frozenset[str], shown: list[tuple[str, str]]
) -> NoReturn:
    """The child ends when its notebook does."""
    try:
        control.close()
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        from autograder.sandbox.child import serve

        serve(socket.socket(fileno=descriptor), wanted, shown)
    finally:
        os._exit(0)


def preload(modules: Sequence[str]) -> None:
    """Import what most notebooks import; one thread before anything computes.

    What asks the machine about itself does so here: inside the wall there is little to read about it. Without torch,
    which answers to problems of ours are written with, a fork costs half as much.
    """
    import numpy  # noqa: F401
    from IPython.core import interactiveshell  # noqa: F401 - nbgrader imports it as well

    if "torch" in modules:
        _preload_torch()
    for name in modules:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)


def _preload_torch() -> None:
    import torch

    from autograder.protocol.answering import one_thread

    one_thread()
    torch.set_num_interop_threads(1)
    torch.backends.cpu.get_cpu_capability()
    import torch.nn.functional

    from autograder import parts
    from autograder.maths import derivation, expression, growth, tensor  # noqa: F401 - by which typed answers are read

    parts.kinds()  # what answers are written with
