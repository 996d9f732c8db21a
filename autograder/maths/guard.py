"""A hard limit of time and memory around a decision, by a process that can be killed.

    guard.decide("autograder.maths.expression", "x", "9**9**9", variables=["x"])
    guard.call("autograder.maths.growth", "parse", ("n^2",), {"variables": ["n"]}, seconds=1)

A signal handler of Python waits until C code returns, and gmpy2 and flint may not return for hours; a process
can be killed at any moment. Workers are started afresh (not forked: no torch, no threads, no locks of the
parent), kept for later calls, and replaced after a kill. Several threads may call at once. The limit counts
from the moment at which the worker has imported the module.

A worker runs this package's own code on text that it reads by a grammar. It is no sandbox for students' code.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import pickle
import select
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from autograder.errors import StaffError
from autograder.maths.decision import Decision, undecided

SECONDS = 20.0  # a backstop: what a decision may cost is counted in operations, whatever the machine's load
MEMORY = 2 * 2**30
STARTUP_SECONDS = 60.0

_LENGTH = struct.Struct("!Q")


class _Died(Exception):  # named for what happened
    """The worker ended without an answer."""


class _TooLate(Exception):  # named for what happened
    """The worker had no answer in time."""


class _Worker:
    """One process, spoken to in length-prefixed pickles over its standard input and output."""

    def __init__(self, memory: int) -> None:
        self.memory = memory
        root = str(Path(__file__).resolve().parents[2])
        path = os.pathsep.join([root, *filter(None, [os.environ.get("PYTHONPATH")])])
        self.process = subprocess.Popen(
            [sys.executable, "-P", "-m", "autograder.maths.worker", str(memory)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "PYTHONPATH": path, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"},
            start_new_session=True,  # an interrupt in the notebook is not the worker's
            bufsize=0,
        )

    def ask(self, request: tuple[Any, ...], seconds: float) -> tuple[str, Any]:
        """The reply to `request`; raises `_TooLate` or `_Died`."""
        self._send(request)
        kind, value = self._receive(STARTUP_SECONDS)
        if kind == "ready":
            kind, value = self._receive(seconds)
        return kind, value

    def _send(self, request: tuple[Any, ...]) -> None:
        data = pickle.dumps(request)
        try:
            assert self.process.stdin is not None
            view = memoryview(_LENGTH.pack(len(data)) + data)
            while view:
                view = view[self.process.stdin.write(view) :]
        except BrokenPipeError as error:
            raise _Died from error

    def _receive(self, seconds: float) -> tuple[str, Any]:
        deadline = time.monotonic() + seconds
        (length,) = _LENGTH.unpack(self._exactly(_LENGTH.size, deadline))
        reply = pickle.loads(self._exactly(length, deadline))  # noqa: S301  # from our own code, see the module's docstring
        return str(reply[0]), reply[1]

    def _exactly(self, length: int, deadline: float) -> bytes:
        assert self.process.stdout is not None
        descriptor = self.process.stdout.fileno()
        data = bytearray()
        poll = select.poll()
        poll.register(descriptor, select.POLLIN)
        while len(data) < length:
            left = deadline - time.monotonic()
            if left <= 0 or not poll.poll(left * 1000):
                raise _TooLate
            piece = os.read(descriptor, min(length - len(data), 1 << 20))
            if not piece:
                raise _Died
            data += piece
        return bytes(data)

    def close(self, *, kill: bool = True) -> None:
        """End the process and release its pipes."""
        if kill:
            self.process.kill()
        for stream in (self.process.stdin, self.process.stdout):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(timeout=5)

    def disown(self) -> None:
        """After a fork, in the child: the worker belongs to the parent."""
        for stream in (self.process.stdin, self.process.stdout):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()
        self.process.returncode = 0


class _Pool:
    """Idle workers; one that is in use is in nobody's list."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.idle: list[_Worker] = []
        self.busy: list[_Worker] = []

    def take(self, memory: int) -> _Worker:
        with self.lock:
            for worker in reversed(self.idle):
                if worker.memory == memory and worker.process.poll() is None:
                    self.idle.remove(worker)
                    self.busy.append(worker)
                    return worker
        worker = _Worker(memory)
        with self.lock:
            self.busy.append(worker)
        return worker

    def give_back(self, worker: _Worker) -> None:
        with self.lock:
            self.busy.remove(worker)
            spare = len(self.idle) < max(os.cpu_count() or 1, 2)
            if spare:
                self.idle.append(worker)
        if not spare:
            worker.close()

    def discard(self, worker: _Worker) -> None:
        with self.lock:
            self.busy.remove(worker)
        worker.close()

    def close(self) -> None:
        with self.lock:
            workers, self.idle = self.idle, []
        for worker in workers:
            worker.close()

    def disown(self) -> None:
        """In the child of a fork, where another thread of the parent may have held the lock."""
        workers = [*self.idle, *self.busy]
        self.__init__()  # type: ignore[misc]
        for worker in workers:
            worker.disown()


_POOL = _Pool()
os.register_at_fork(after_in_child=_POOL.disown)
atexit.register(_POOL.close)


def call(
    module: str,
    function: str,
    args: Sequence[Any] = (),
    kwargs: Mapping[str, Any] | None = None,
    *,
    seconds: float = SECONDS,
    memory: int = MEMORY,
) -> Any:
    """`module.function(*args, **kwargs)` in a worker; what it raises is raised here.

    Returns the decision *undecided* with code `time` or `memory` where the limit was reached, and `crash`
    where the worker died of something else. Arguments and result must be picklable.
    """

    def ask() -> Any:
        return _called(module, function, args, kwargs, seconds, memory)

    key = pickle.dumps((module, function, tuple(args), dict(kwargs or {}))) if _REMEMBERED is not None else b""
    return once(key, ask)


def _called(
    module: str, function: str, args: Sequence[Any], kwargs: Mapping[str, Any] | None, seconds: float, memory: int
) -> Any:
    worker = _POOL.take(memory)
    try:
        kind, value = worker.ask((module, function, tuple(args), dict(kwargs or {}), seconds), seconds)
    except _TooLate:
        _POOL.discard(worker)
        return _stopped("time")
    except _Died:
        _POOL.discard(worker)
        return _stopped("memory" if _ran_out(worker.process.returncode) else "crash")
    except BaseException:
        _POOL.discard(worker)
        raise
    if kind == "memory":
        _POOL.discard(worker)
        return _stopped("memory")
    _POOL.give_back(worker)
    if kind == "raised":
        raise value
    if kind == "failed":
        raise StaffError("guard", f"{module}.{function} failed:\n{value}")
    return value


_REMEMBERED: dict[Any, Any] | None = None


@contextlib.contextmanager
def remembering() -> Iterator[None]:
    """Within this, what was asked before is not computed again: an audit asks much the same under every variant."""
    global _REMEMBERED
    _REMEMBERED, before = ({} if _REMEMBERED is None else _REMEMBERED), _REMEMBERED
    try:
        yield
    finally:
        _REMEMBERED = before


def once(key: Any, make: Callable[[], Any]) -> Any:
    """What `make` gives; while `remembering`, it is made once for each key. What was stopped is not remembered."""
    if _REMEMBERED is None:
        return make()
    if key not in _REMEMBERED:
        found = make()
        if isinstance(found, Decision) and found.code in _STOPPED:
            return found
        _REMEMBERED[key] = found
    return _REMEMBERED[key]


def decide(module: str, *args: Any, seconds: float = SECONDS, memory: int = MEMORY, **kwargs: Any) -> Decision:
    """`module.decide(*args, **kwargs)` within the limits."""
    decision = call(module, "decide", args, kwargs, seconds=seconds, memory=memory)
    assert isinstance(decision, Decision)
    return decision


_STOPPED = {"time": "takes too long", "memory": "needs too much memory", "crash": "could not be finished"}


def _stopped(code: str) -> Decision:
    return undecided(code, f"comparing this answer {_STOPPED[code]}.")


def _ran_out(status: int | None) -> bool:
    """Whether a worker ended as flint and GMP end without memory (by abort), or was killed by the kernel."""
    return status in (-6, -9)


def close() -> None:
    """End all idle workers. Calling again starts new ones."""
    _POOL.close()
