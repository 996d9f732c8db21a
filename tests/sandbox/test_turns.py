"""Whose turn it is: what runs long gives way, stands still with its clock, and goes on."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import pytest

from autograder.errors import StaffError
from autograder.sandbox import Limits, Session, turns
from autograder.sandbox.turns import Turn, Turns
from autograder.sandbox.watch import Watch

LOOP = "while True:\n    pass"
FORKS = f"import os\nif not os.fork():\n    {LOOP.replace(chr(10), chr(10) + '    ')}\n{LOOP}"


class Place:
    """A notebook's stand-in: what is told to its process."""

    def __init__(self) -> None:
        self.told: list[str] = []

    def stand_still(self) -> None:
        """As a process's."""
        self.told.append("stand still")

    def go_on(self) -> None:
        """As a process's."""
        self.told.append("go on")


@pytest.mark.parametrize("stall", [LOOP, FORKS, "import time\ntime.sleep(60)"])
def test_a_notebook_that_stalls_gives_way_and_goes_on(stall: str) -> None:
    """With one place, three quick notebooks are done before the one that began; it still has all of its own time."""
    order: list[str] = []
    several, began = Turns(1), threading.Event()

    def stalls() -> None:
        with several.turn() as turn, Session(Limits(cell_seconds=3), turn=turn) as session:
            session.run("x = 5")
            began.set()
            result = session.run(stall)
            order.append(result.detail)
            assert turn.ran() < 20 and turn._stood > 0

    def quick(number: int) -> None:
        with several.turn() as turn, Session(Limits(cell_seconds=30), turn=turn) as session:
            session.run("x = 7")
            order.append(f"quick {number}")

    threads = [threading.Thread(target=stalls)]
    threads[0].start()
    assert began.wait(60)
    threads += [threading.Thread(target=quick, args=(number,)) for number in range(3)]
    for thread in threads[1:]:
        thread.start()
    for thread in threads:
        thread.join(120)
    several.close()
    assert sorted(order[:3]) == ["quick 0", "quick 1", "quick 2"] and order[3:] == ["it was stopped after 3 s"]


@pytest.mark.parametrize("deed", ["0", "os.kill(os.getppid(), signal.SIGCONT)", "os.killpg(0, signal.SIGCONT)"])
def test_what_stands_still_does_nothing(deed: str) -> None:
    """Neither the notebook nor a process that it started takes processor time, or lets the other go on."""
    with Session(Limits(cell_seconds=3), turn=Turn(Turns(1))) as session:
        session._place._begun = time.monotonic()
        session.run(
            f"import os, signal\nif not os.fork():\n    while True:\n        try: {deed}\n        except OSError: 0"
        )
        process = session._process
        assert process is not None
        process.stand_still()
        before = [_ticks(pid) for pid in process._kin()]
        time.sleep(0.3)
        assert len(before) == 2 and [_ticks(pid) for pid in process._kin()] == before
        process.go_on()
        end = time.monotonic() + 20
        while [_ticks(pid) for pid in process._kin()] == before and time.monotonic() < end:
            time.sleep(0.05)
        assert [_ticks(pid) for pid in process._kin()] != before


SENDS = """
import ctypes, os, platform
libc, me, info = ctypes.CDLL(None, use_errno=True), os.getpid(), ctypes.create_string_buffer(128)
x86 = platform.machine() == "x86_64"
def sends(signal):
    ctypes.memmove(info, bytes(__import__("struct").pack("iii", signal, 0, -1)), 12)  # as sigqueue fills it in
    calls = {
        "kill": (62 if x86 else 129, me, signal), "tkill": (200 if x86 else 130, me, signal),
        "tgkill": (234 if x86 else 131, me, me, signal), "sigqueue": (129 if x86 else 138, me, signal, info),
        "thread": (297 if x86 else 240, me, me, signal, info), "pidfd": (424, os.pidfd_open(me), signal, None, 0),
        "timer": (222 if x86 else 107, 0, None, info), "fcntl": (72 if x86 else 25, 1, 10, signal),
    }
    return [name for name, call in calls.items() if libc.syscall(*call) == 0]
"""


@pytest.mark.parametrize(
    ("signal", "which"), [("SIGCONT", []), ("SIGCHLD", ["kill", "pidfd", "sigqueue", "tgkill", "thread", "tkill"])]
)
def test_only_the_grader_lets_a_notebook_go_on(signal: str, which: list[str]) -> None:
    """Where calls are filtered, no call of a notebook sends the signal that lets a process go on; others pass."""
    with Session(Limits(cell_seconds=10)) as session:
        session.run(SENDS)
        printed = session.run(f"import signal\nprint(sorted(sends(signal.{signal})))").outputs[0]["text"]
        assert session._process is not None
        if "calls" in session._process.layers:
            assert printed.strip() == str(which)


def _ticks(pid: int) -> int:
    """Processor time in ticks."""
    with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as file:
        words = file.read().rpartition(")")[2].split()
    return int(words[11]) + int(words[12])


def test_the_clock_stands_still_with_the_notebook() -> None:
    """Own time passes only while it is the notebook's turn, and a process that comes meanwhile stands still at once."""
    turn, process = Turn(Turns(1)), Place()
    turn.take(process)  # type: ignore[arg-type]
    turn._stand_still()
    before = turn.now()
    time.sleep(0.05)
    assert turn.now() == before and process.told == ["stand still"]
    turn.take(process)  # type: ignore[arg-type]
    turn._go_on()
    assert turn.now() < before + 0.04 and process.told == ["stand still", "stand still", "go on"]


@pytest.mark.parametrize(
    ("took", "ran", "share"),
    [
        ([], 0, 0.1),
        ([0.05, 0.05, 0.2], 0, 0.1),
        ([0.2] * 3, 0, 0.25),
        ([2, 2, 60], 0, 2.5),
        ([90], 0, 10),
        ([], 8, 2),
        ([], 400, 10),
    ],
)
def test_how_long_a_turn_is(took: list[float], ran: float, share: float) -> None:
    """A little more than is usual in the class; for what has run long already, longer; never more than ten seconds."""
    several = Turns(1)
    several._took.extend(took)
    assert several._share(ran) == share
    several._standing.extend([Turn()] * 8)  # they may be as long as is usual, unless that is known
    assert several._share(ran) == (share if took else max(3 * turns.SHORTEST, share))
    several.close()


@pytest.mark.parametrize(("cores", "more", "goes_on"), [(2, True, False), (2, False, True), (8, True, True)])
def test_what_stood_still_leaves_processors_to_what_is_to_come(
    cores: int, more: bool, goes_on: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While others are to come, it goes on where one is left for the judge and one for who comes; else at the end."""
    monkeypatch.setattr(turns, "cores", lambda: cores)
    several, place, began = Turns(1), Place(), threading.Event()
    several.expect(more)

    def stalls() -> None:
        with several.turn() as turn:
            turn.take(place)  # type: ignore[arg-type]
            began.set()
            while "go on" not in place.told:
                time.sleep(0.01)

    thread = threading.Thread(target=stalls)
    thread.start()
    assert began.wait(60)
    with several.turn():
        assert place.told == ["stand still"]
    time.sleep(0.2)
    assert (place.told == ["stand still", "go on"]) is goes_on
    several.expect(False)
    thread.join(60)
    assert place.told == ["stand still", "go on"]
    several.close()


@pytest.mark.parametrize(("ran", "goes_on"), [(0.3, True), (0.49, True), (0.51, False), (30.0, False)])
def test_what_hardly_runs_longer_than_is_usual_does_not_stand_until_the_end(
    ran: float, goes_on: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While others are to come it gets one of eight places, to run as long as who comes; what runs long gets none."""
    monkeypatch.setattr(turns, "cores", lambda: 2)
    several, place = Turns(1), Place()
    several._took.extend([0.2] * 100)
    several.expect(True)
    late = Turn(several)
    late.take(place)  # type: ignore[arg-type]
    late._begun = late.now() - ran
    late._stand_still()
    several._standing.append(late)
    admitted = 0
    while "go on" not in place.told and admitted < 2 * turns.AGAIN:
        with several.turn():
            admitted += 1
    assert (late in several._running, late in several._standing) == (goes_on, not goes_on)
    assert (admitted < turns.AGAIN) is goes_on
    assert not goes_on or late._over() < turns.SHORTEST
    several.close()


def test_time_runs_from_when_there_is_a_process() -> None:
    """What a notebook waits for its process is not its own time: it would give way before it has run at all."""
    several = Turns(1)
    with several.turn(before=2.0) as turn:
        time.sleep(0.05)
        assert turn.ran() == 2.0
        turn.take(Place())  # type: ignore[arg-type]
        time.sleep(0.05)
        assert 2.05 <= turn.ran() < 2.1 + 0.5
    several.close()


def test_what_stands_still_is_hardly_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    """A hundred that stand still would take the grader's time; one that goes on is looked at as before."""
    monkeypatch.setattr(Watch, "_excess", lambda self: looks.append(self) or "")
    looks: list[Watch] = []
    with Session(Limits(cell_seconds=10)) as session:
        session.run("x = 5")
        process = session._process
        assert process is not None and process.pidfd is not None
        process.stand_still()
        time.sleep(0.2)
        before = len(looks)
        time.sleep(0.5)
        assert len(looks) - before <= 1
        process.go_on()
        time.sleep(1.5)
        assert len(looks) - before > 5


def test_nothing_more_is_begun_without_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """What stands still keeps its memory: where little is left, the one that runs goes on."""
    monkeypatch.setattr(turns, "memory_left", lambda: 0.1)
    several, order = Turns(1), []

    def runs(name: str, seconds: float) -> None:
        with several.turn() as turn:
            turn.take(Place())  # type: ignore[arg-type]
            time.sleep(seconds)
            order.append(name)

    first = threading.Thread(target=runs, args=("long", 1.2))
    first.start()
    time.sleep(0.1)
    runs("short", 0)
    first.join()
    several.close()
    assert order == ["long", "short"]


def test_no_turn_comes_after_the_end() -> None:
    """A notebook that waits when the run is stopped is told so."""
    several = Turns(1)
    with several.turn():
        threading.Timer(turns.SHORTEST / 5, several.close).start()
        with pytest.raises(StaffError, match="no more notebooks"), several.turn():
            pass


def test_cores_are_told_on_every_system(monkeypatch: pytest.MonkeyPatch) -> None:
    """What this process may use, where a system tells it; else (macOS) all that there are. Nobody else asks for it."""
    monkeypatch.setattr(turns.os, "sched_getaffinity", lambda _: {0, 2, 5}, raising=False)
    monkeypatch.setattr(turns.os, "cpu_count", lambda: 8)
    assert turns.cores() == 3
    monkeypatch.delattr(turns.os, "sched_getaffinity")
    assert turns.cores() == 8
    files = [*Path(turns.__file__).parents[1].rglob("*.py"), *(Path(__file__).parents[2] / "benchmarks").rglob("*.py")]
    asked = [path.name for path in files if "sched_getaffinity" in path.read_text(encoding="utf-8")]
    assert asked == ["turns.py"]
