"""Where notebooks run: threads of this process, each of which waits for a walled-in child, or a Dask cluster's workers.

Either way a task goes in as data and replies come out as data; the judge stays here.

A worker's answers are believed, as a marker's are. But it gets nothing of this process: Dask would unpickle whatever a
worker sends, and a pickle is a program. Once a cluster is in use, this process unpickles nothing for Dask.
"""

from __future__ import annotations

import concurrent.futures
import contextlib
import functools
import pickle
import time
from concurrent.futures import Future, ThreadPoolExecutor
from types import SimpleNamespace
from typing import Any, Protocol

from autograder.errors import AutograderError, StaffError
from autograder.protocol.codec import decode, encode
from autograder.sandbox import layers, warm
from autograder.sandbox.task import Replies, Task, answer, answer_frame
from autograder.sandbox.turns import STANDING, Turns

_THREADS = STANDING + 1_000  # they are made as they are needed: one for each notebook that was begun
_LAYER_SECONDS = 120  # for a worker's first import and one look at its layers


class Workers(Protocol):
    """Answers tasks, one notebook's each; `room` says whether more of them would keep it busy.

    `expect` tells it whether more are to come.
    """

    def submit(self, task: Task) -> Future[Replies]: ...  # noqa: D102 - described by the class

    def room(self) -> bool: ...  # noqa: D102

    def expect(self, more: bool) -> None: ...  # noqa: D102

    def close(self, *, now: bool = False) -> None: ...  # noqa: D102


class Threads:
    """This machine. The work is in the children: a thread only waits for one, or for its turn."""

    def __init__(self, jobs: int) -> None:
        self._turns = Turns(jobs)
        self._running: set[Future[Replies]] = set()
        self._pool = ThreadPoolExecutor(_THREADS, thread_name_prefix="notebook")

    def submit(self, task: Task) -> Future[Replies]:
        """The replies of a notebook, once its turn has come and it is over."""
        future = self._pool.submit(self._answer, task)
        self._running.add(future)
        future.add_done_callback(self._running.discard)
        return future

    def _answer(self, task: Task) -> Replies:
        with self._turns.turn(task.spent) as turn:
            return answer(task, turn)

    def room(self) -> bool:
        """Whether at most one waits behind those that run; those that stand still have had their turn."""
        return len(self._running) - self._turns.standing() <= self._turns.jobs

    def expect(self, more: bool) -> None:
        """What stands still leaves processors to what is to come."""
        self._turns.expect(more)

    def close(self, *, now: bool = False) -> None:
        """Let the threads go; `now` ends what still runs."""
        if now:
            self._turns.close()
        with warm.shut() if now else contextlib.nullcontext():
            self._pool.shutdown(cancel_futures=now)
        self._turns.close()


@functools.cache
def _network_is_closed() -> bool:
    return layers.found()["network"]


def answer_behind_a_wall(frame: bytes) -> bytes:
    """What a worker runs: the replies to a task, or why there are none. An empty frame asks for the latter only.

    A student's process with a network could reach the scheduler, and have every worker run what it likes.
    """
    if not _network_is_closed():
        fault = f"its sandbox has no layer `network` ({layers.LAYERS['network']})"
        return encode({"fault": f"{fault}, and students' code could command the cluster"})
    try:
        return answer_frame(frame) if frame else encode({"fault": ""})
    except AutograderError as error:
        return encode({"fault": error.message})


def _read(frame: Any) -> Replies:
    """A worker's replies; StaffError where it says why there are none, or sent something else than bytes."""
    if not isinstance(frame, bytes):
        raise StaffError("worker", f"a worker of the cluster sent {type(frame).__name__} instead of bytes")
    content = decode(frame)
    if isinstance(content, dict) and "fault" in content:
        raise StaffError("worker", f"a worker of the cluster ran nothing: {content['fault']}")
    return Replies.read(frame)


class _Unread(Exception):
    """Something pickled that came from the cluster."""


# By these Dask says that what follows are bytes. Equal text is known without being read.
_BYTES = {pickle.dumps(bytes, protocol) for protocol in range(pickle.HIGHEST_PROTOCOL + 1)}


def _loads_nothing(content: Any, *, buffers: Any = ()) -> Any:
    return bytes if bytes(content) in _BYTES else _Unread("what a worker pickled is not read")


class Cluster:
    """The workers of a Dask scheduler. One that dies loses nothing: what it had is given to another."""

    def __init__(self, scheduler: str) -> None:
        try:
            from distributed import Client, client
            from distributed.protocol import pickle as reader
        except ImportError as error:
            raise StaffError(
                "no_dask", "--scheduler needs Dask; install it with: pip install dask distributed"
            ) from error

        class Deaf(Client):  # type: ignore[misc]
            """A client that heeds neither what workers wish it to print or warn, nor what their errors say."""

            def _handle_event(self, *_: Any, **__: Any) -> None:
                pass

            def _handle_task_erred(self, key: Any = None, exception: Any = None, traceback: Any = None) -> None:
                super()._handle_task_erred(key, _Unread("a worker's error is not read"), None)

        # Every way by which Dask reads a pickle here; for good, since messages may come after the end.
        reader.loads = client.loads = _loads_nothing
        client.pickle = SimpleNamespace(loads=_loads_nothing, dumps=pickle.dumps)
        try:
            self._client: Any = Deaf(scheduler, timeout=10, set_as_default=False)
        except (OSError, ValueError, TypeError) as error:  # TypeError: tls:// without a certificate
            raise StaffError("scheduler", f"there is no Dask scheduler at {scheduler}: {error}") from error
        try:
            self._refuse_open_workers()
        except BaseException:
            self.close()
            raise
        self.jobs: int = max(2, sum(self._client.nthreads().values()))
        self._running: set[Future[Replies]] = set()

    def _refuse_open_workers(self) -> None:
        """StaffError where a worker cannot close the network to students' code; later ones refuse for themselves."""
        asked = {
            worker: self._client.submit(answer_behind_a_wall, b"", workers=[worker], pure=False)
            for worker in self._client.nthreads()
        }
        deadline = time.monotonic() + _LAYER_SECONDS
        while not all(future.done() for future in asked.values()):
            if time.monotonic() > deadline:
                raise StaffError("worker", f"the cluster's workers said nothing for {_LAYER_SECONDS} s")
            time.sleep(0.02)
        for worker, future in asked.items():
            said = _frame(future)
            if fault := (decode(said) if isinstance(said, bytes) else {}).get("fault", "it did not say so"):
                raise StaffError("worker", f"the worker at {worker} is not used: {fault}")

    def submit(self, task: Task) -> Future[Replies]:
        """The replies of a notebook. Frames travel, and are read by our own codec only."""
        promise: Future[Replies] = concurrent.futures.Future()
        promise.set_running_or_notify_cancel()

        def arrived(frame: Any) -> None:
            try:
                promise.set_result(_read(_frame(frame)))
            except BaseException as error:
                promise.set_exception(error)

        sent = self._client.submit(answer_behind_a_wall, task.frame(), pure=False, retries=2)
        self._running.add(promise)
        promise.add_done_callback(self._running.discard)
        sent.add_done_callback(arrived)
        return promise

    def room(self) -> bool:
        """Whether the workers have no more than they can run, and one besides."""
        return len(self._running) <= self.jobs

    def expect(self, more: bool) -> None:
        """Nothing stands still there."""

    def close(self, *, now: bool = False) -> None:
        """Leave the cluster as it was."""
        self._client.close()


def _frame(future: Any) -> Any:
    """What a worker returned. Its exceptions came pickled, and only that there was one is known."""
    if future.status != "finished":
        raise StaffError("worker", f"a worker of the cluster failed ({future.status}); its own log says why")
    return future.result()
