"""Where notebooks run: threads of this process, each of which waits for a walled-in child, or a Dask cluster's workers.

Either way a task goes in as data and replies come out as data; the judge stays here.
"""

from __future__ import annotations

import concurrent.futures
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, Protocol

from autograder.errors import StaffError
from autograder.sandbox import warm
from autograder.sandbox.task import Replies, Task, answer, answer_frame


class Workers(Protocol):
    """Answers tasks, `jobs` at a time."""

    jobs: int

    def submit(self, tasks: list[Task]) -> Future[list[Replies]]: ...  # noqa: D102 - described by the class

    def close(self, *, now: bool = False) -> None: ...  # noqa: D102


class Threads:
    """This machine. The work is in the children: a thread only waits for one."""

    def __init__(self, jobs: int) -> None:
        self.jobs = jobs
        self._pool = ThreadPoolExecutor(jobs, thread_name_prefix="notebook")

    def submit(self, tasks: list[Task]) -> Future[list[Replies]]:
        """The replies of one student's notebooks, in order, once they are there."""
        return self._pool.submit(lambda: [answer(task) for task in tasks])

    def close(self, *, now: bool = False) -> None:
        """Let the threads go; `now` ends what still runs."""
        if now:
            warm.shut()
        self._pool.shutdown(wait=not now, cancel_futures=now)


class Cluster:
    """The workers of a Dask scheduler. One that dies loses nothing: what it had is given to another."""

    def __init__(self, scheduler: str) -> None:
        try:
            from distributed import Client
        except ImportError as error:
            raise StaffError(
                "no_dask", "--scheduler needs Dask; install it with: pip install dask distributed"
            ) from error
        try:
            self._client: Any = Client(scheduler, timeout=10, set_as_default=False)
        except (OSError, ValueError) as error:
            raise StaffError("scheduler", f"there is no Dask scheduler at {scheduler}: {error}") from error
        self.jobs = max(2, sum(self._client.nthreads().values()))

    def submit(self, tasks: list[Task]) -> Future[list[Replies]]:
        """The replies of one student's notebooks. Frames travel, and are read by our own codec only."""
        frames = [self._client.submit(answer_frame, task.frame(), pure=False, retries=2) for task in tasks]
        promise: Future[list[Replies]] = concurrent.futures.Future()
        promise.set_running_or_notify_cancel()
        waiting = set(range(len(frames)))

        def arrived(place: int) -> None:
            waiting.discard(place)
            if waiting or promise.done():
                return
            try:
                promise.set_result([Replies.read(frame.result()) for frame in frames])
            except BaseException as error:
                promise.set_exception(error)

        for place, frame in enumerate(frames):
            frame.add_done_callback(lambda _, place=place: arrived(place))
        return promise

    def close(self, *, now: bool = False) -> None:
        """Leave the cluster as it was."""
        self._client.close()
