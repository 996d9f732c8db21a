"""The grader's eye on a student's process and all that it started: memory and number, summed over the tree.

The kernel limits each process by itself; what a hundred of them take together has to be added up. Read from outside,
in /proc, where the student's process cannot reach; it is killed as soon as the sum is over its limit.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import threading
import time

INTERVAL_MS = 50
_MOST_MS = 20 * INTERVAL_MS
_PAGE = os.sysconf("SC_PAGE_SIZE")


class Watch:
    """Watches one process until it ends. `reason` says what it was killed for, and is empty otherwise."""

    def __init__(self, pidfd: int | None, *, megabytes: int, processes: int) -> None:
        self.reason = ""
        self.resting = False  # set by whoever stops the process: a look now and then is enough
        self._limit, self._processes = megabytes * 2**20, processes
        self._root = None if pidfd is None else number(pidfd)
        if pidfd is None or self._root is None:
            return
        self._pidfd = os.dup(pidfd)  # its own: the process may be given up, and its number be another's, at any moment
        threading.Thread(target=self._look, name="watch", daemon=True).start()

    def _look(self) -> None:
        ended = select.poll()
        ended.register(self._pidfd, select.POLLIN)
        try:
            pause = INTERVAL_MS
            while not ended.poll(pause):
                start = time.monotonic()
                if reason := self._excess():
                    self.reason = reason
                    with contextlib.suppress(ProcessLookupError):
                        signal.pidfd_send_signal(self._pidfd, signal.SIGKILL)
                    return
                # A hundred processes take long to look at: that must not become the grader's main work.
                least = INTERVAL_MS if not self.resting else _MOST_MS
                pause = min(max(least, int(5_000 * (time.monotonic() - start))), _MOST_MS)
        finally:
            os.close(self._pidfd)

    def _excess(self) -> str:
        assert self._root is not None
        tree = descendants(self._root)
        if len(tree) > self._processes:
            return f"it started more than {self._processes} processes"
        if sum(map(resident, tree)) > self._limit and (used := sum(map(share, tree))) > self._limit:
            return f"it used {used // 2**20} MB of memory, and {self._limit // 2**20} MB are allowed"
        return ""


def number(pidfd: int) -> int | None:
    """The process's number as this process's own /proc has it."""
    with contextlib.suppress(OSError), open(f"/proc/self/fdinfo/{pidfd}", encoding="ascii") as file:
        for line in file:
            if line.startswith("Pid:"):
                return int(line.split()[1]) if int(line.split()[1]) > 0 else None
    return None


def descendants(root: int) -> list[int]:
    """A process and all below it; in a namespace of its own, orphans too hang below its first process."""
    found = [root]
    for pid in found:
        with contextlib.suppress(OSError):
            for thread in os.listdir(f"/proc/{pid}/task"):
                with (
                    contextlib.suppress(OSError),
                    open(f"/proc/{pid}/task/{thread}/children", encoding="ascii") as file,
                ):
                    found += map(int, file.read().split())
    return found


def resident(pid: int) -> int:
    """Bytes in memory, those that it shares with others counted in full; cheap."""
    with contextlib.suppress(OSError, IndexError), open(f"/proc/{pid}/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * _PAGE
    return 0


def share(pid: int) -> int:
    """Bytes in memory, what is shared divided among those that share it; in full where a process hides that."""
    with contextlib.suppress(OSError, StopIteration), open(f"/proc/{pid}/smaps_rollup", encoding="ascii") as file:
        return next(int(line.split()[1]) * 1024 for line in file if line.startswith("Pss:"))
    return resident(pid)


def zombie(pid: int) -> bool:
    """Whether a process has ended, or was never there."""
    return _state(pid) in "ZX"


def stopped(pid: int) -> bool:
    """Whether a process does nothing: it was stopped, or has ended."""
    return _state(pid) in "TtZX"


def _state(pid: int) -> str:
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as file:
            return file.read().rpartition(")")[2].split()[0]
    except OSError:
        return "X"
