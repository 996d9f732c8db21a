"""Whose turn it is to run: of many notebooks a few at a time, and first those that have run least.

A notebook that does not come to its end would keep a place from all that wait. So one that has run for a while gives
way: its processes stand still, its clock too, and it goes on once nothing waits that has run less. While others are
still to come, it goes on only where a processor is left for the judge, and one for who comes; or in every eighth place
that comes free, if it has hardly run longer than is usual: on a busy machine many do, and each that stands still keeps
its memory. What a notebook may take is counted in its own time, which begins with its process. Standing still is a
signal from outside; only the clock on the wall shows it.
"""

from __future__ import annotations

import contextlib
import os
import statistics
import threading
import time
from collections import deque
from collections.abc import Iterator

from autograder.errors import StaffError
from autograder.sandbox.process import Process

LONGEST = 10.0  # seconds after which every notebook gives way to one that has run less
SHORTEST = 0.1  # before anything is known about a class, and where all of its notebooks are short
USUAL = 1.25  # of the time that notebooks of this class take in the middle
AGAIN = 8  # places that come free for each that is given to one which stands still and has hardly run longer than usual
HARDLY = 2.0  # times what is usual
STANDING = 64  # notebooks that stand still at a time: they keep their memory
MEMORY_LEFT = 0.2  # of the machine's memory, without which nothing more is begun
_LOOK = 0.05


class Turn:
    """One notebook's place among others; without others, always its own turn. `before` is how long it ran earlier."""

    def __init__(self, turns: Turns | None = None, before: float = 0.0) -> None:
        self.before = before
        self._turns = turns
        self._begun: float | None = None if turns else time.monotonic()
        self._stood = 0.0
        self._before_this = 0.0  # seconds that it had run when it went on early: they do not count against it
        self._standing_since: float | None = None
        self._process: Process | None = None

    def now(self) -> float:
        """The notebook's own time, which stands still with it."""
        since = self._standing_since
        return (time.monotonic() if since is None else since) - self._stood

    def ran(self) -> float:
        """Seconds that the notebook has run, earlier ones included."""
        return self.before + (0.0 if self._begun is None else self.now() - self._begun)

    def take(self, process: Process | None) -> None:
        """The notebook's process is this one from now on, or none: told before one is ended."""
        with self._turns.changed if self._turns else contextlib.nullcontext():
            self._process = process
            self._begun = self._begun or self.now()
            if process and self._standing_since is not None:
                process.stand_still()

    def _over(self) -> float:
        return self.ran() - self._before_this

    def _stand_still(self) -> None:
        self._standing_since = time.monotonic()
        if self._process:
            self._process.stand_still()

    def _go_on(self) -> None:
        if self._standing_since is not None:
            self._stood += time.monotonic() - self._standing_since
            self._standing_since = None
            if self._process:
                self._process.go_on()


class Turns:
    """Gives `jobs` turns at a time; what waits and has run least comes first."""

    def __init__(self, jobs: int) -> None:
        self.jobs = jobs
        self.changed = threading.Condition()
        self._running: list[Turn] = []
        self._waiting: list[Turn] = []  # for their first turn
        self._standing: list[Turn] = []
        self._took: deque[float] = deque(maxlen=100)
        self._closed = False
        self._more = False
        self._admitted = 0
        threading.Thread(target=self._look, name="turns", daemon=True).start()

    @contextlib.contextmanager
    def turn(self, before: float = 0.0) -> Iterator[Turn]:
        """A turn, once it has come; StaffError where it never will."""
        mine = Turn(self, before)
        with self.changed:
            self._waiting.append(mine)
            self._fill()
            self.changed.notify_all()
            self.changed.wait_for(lambda: self._closed or mine in self._running)
            if self._closed:
                raise StaffError("shut", "no more notebooks are run")
        try:
            yield mine
        finally:
            with self.changed:
                self._took.append(mine.ran())
                for place in (self._running, self._standing):
                    if mine in place:
                        place.remove(mine)
                self._fill()
                self.changed.notify_all()

    def expect(self, more: bool) -> None:
        """Whether others are still to come."""
        with self.changed:
            self._more = more
            self._fill()
            self.changed.notify_all()

    def standing(self) -> int:
        """How many notebooks stand still."""
        with self.changed:
            return len(self._standing)

    def close(self) -> None:
        """No turn comes any more."""
        with self.changed:
            self._closed = True
            self.changed.notify_all()

    def _fill(self) -> None:
        while len(self._running) < self.jobs and (first := self._early() or self._first()):
            self._admit(first)
            self._admitted += 1

    def _first(self) -> Turn | None:
        idle = not self._more or len(self._running) + 2 < cores()
        return min((*self._waiting, *(self._standing if idle else ())), key=Turn.ran, default=None)

    def _early(self) -> Turn | None:
        """Who goes on before others that wait, if anybody: to run for as long as if it had just come."""
        if self._admitted % AGAIN == AGAIN - 1 and self._standing and self._took:
            least = min(self._standing, key=Turn.ran)
            if least.ran() < HARDLY * self._share(0.0):
                least._before_this = least.ran()
                return least
        return None

    def _admit(self, turn: Turn) -> None:
        (self._waiting if turn in self._waiting else self._standing).remove(turn)
        self._running.append(turn)
        turn._go_on()
        self.changed.notify_all()

    def _look(self) -> None:
        with self.changed:
            while not self._closed:
                self.changed.wait(_LOOK if self._waiting or self._standing else None)
                self._exchange()

    def _exchange(self) -> None:
        """Let those that have run long give way to those that wait and have run less."""
        while (first := self._first()) and self._running:
            longest = max(self._running, key=Turn._over)
            if longest._over() - first.ran() < self._share(first.ran()):
                return
            if first in self._waiting and not self._room():
                return
            longest._before_this = 0.0
            longest._stand_still()
            self._running.remove(longest)
            self._standing.append(longest)
            self._admit(first)

    def _share(self, ran: float) -> float:
        """How much longer than the other one that gives way must have run.

        While nothing is known, the longer the more of them stand still: it may be what is usual.
        """
        unknown = SHORTEST * (1 + len(self._standing) / (4 * self.jobs))
        usual = max(SHORTEST, USUAL * statistics.median(self._took)) if self._took else unknown
        return min(max(usual, ran / 4), LONGEST)

    def _room(self) -> bool:
        return len(self._standing) < STANDING and memory_left() > MEMORY_LEFT


def cores() -> int:
    """The processor cores that this process may use; all of the machine's where a system does not tell (macOS)."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def memory_left() -> float:
    """The share of the machine's memory that can be had; 1 where that is not told."""
    try:
        with open("/proc/meminfo", encoding="ascii") as file:
            lines = dict(line.split(":") for line in file)
        return int(lines["MemAvailable"].split()[0]) / int(lines["MemTotal"].split()[0])
    except (OSError, ValueError, KeyError):
        return 1.0
