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

INTERVAL_MS = 50
_PAGE = os.sysconf("SC_PAGE_SIZE")


class Watch:
    """Watches one process until it ends. `reason` says what it was killed for, and is empty otherwise."""

    def __init__(self, pidfd: int, *, megabytes: int, processes: int) -> None:
        self.reason = ""
        self._limit, self._processes = megabytes * 2**20, processes
        self._pidfd = os.dup(pidfd)  # its own: the process may be given up, and its number be another's, at any moment
        self._root = number(pidfd)
        if self._root is None:
            os.close(self._pidfd)
            return
        threading.Thread(target=self._look, name="watch", daemon=True).start()

    def _look(self) -> None:
        ended = select.poll()
        ended.register(self._pidfd, select.POLLIN)
        try:
            while not ended.poll(INTERVAL_MS):
                if reason := self._excess():
                    self.reason = reason
                    with contextlib.suppress(ProcessLookupError):
                        signal.pidfd_send_signal(self._pidfd, signal.SIGKILL)
                    return
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


def kill_kin(pidfd: int, pid: int) -> None:
    """End all that a process started, where there is no namespace that ends with it; it adopts its orphans."""
    signal.pidfd_send_signal(pidfd, signal.SIGSTOP)  # it must not make new ones
    for _ in range(100):
        kin = [child for child in descendants(pid)[1:] if not _zombie(child)]
        if not kin:
            break
        for child in kin:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(child, signal.SIGKILL)
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)


def _zombie(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as file:
            return file.read().rpartition(")")[2].split()[0] in "ZX"
    except OSError:
        return True
