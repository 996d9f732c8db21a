"""Decisions under a hard limit of time and memory."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator

import pytest

from autograder.errors import AuthorError, StaffError, Unreadable
from autograder.maths import guard
from autograder.maths.decision import Decision

EXPRESSION = "autograder.maths.expression"


@pytest.fixture(autouse=True, scope="module")
def _no_workers_left() -> Iterator[None]:
    yield
    guard.close()


def test_a_call_is_the_function() -> None:
    """Arguments and result go there and back."""
    decision = guard.call(EXPRESSION, "decide", ("x+x", "2x"), {"variables": ["x"]})
    assert isinstance(decision, Decision) and decision.equal
    assert guard.decide(EXPRESSION, "x+x", "3x", variables=["x"]).code == "constant_factor"


def test_errors_come_back_as_they_are() -> None:
    """A student's error keeps its code and column, an author's its kind; anything else is the staff's."""
    with pytest.raises(Unreadable) as caught:
        guard.call(EXPRESSION, "parse", ("x +* 2",), {"variables": ["x"]})
    assert (caught.value.code, caught.value.column) == ("syntax", 3)
    with pytest.raises(AuthorError):
        guard.decide(EXPRESSION, "x", "x", domains={"x": "nowhere"})
    with pytest.raises(StaffError) as failed:
        guard.call("math", "sqrt", (-1.0,))
    assert "math domain error" in failed.value.message
    with pytest.raises(StaffError):
        guard.call("autograder.maths.nowhere", "decide")


def test_time() -> None:
    """C code that answers no signal is killed, and the next call works."""
    start = time.monotonic()
    decision = guard.call("math", "factorial", (10**8,), seconds=0.5)
    assert (decision.outcome, decision.code) == ("undecided", "time")
    assert time.monotonic() - start < 30  # without the guard it takes minutes
    assert guard.call("math", "factorial", (3,)) == 6


def test_memory() -> None:
    """What asks for more memory than the limit is undecided, whether Python or the C library says so."""
    assert guard.call("builtins", "bytearray", (2**31,), memory=2**29).code == "memory"
    assert guard.call("os", "abort").code == "memory"
    assert guard.call("os", "_exit", (3,)).code == "crash"
    assert guard.call("math", "factorial", (3,)) == 6


def test_output_does_not_reach_the_channel() -> None:
    """A function that prints disturbs nothing."""
    assert guard.call("builtins", "print", ("noise" * 10000,)) is None
    assert guard.call("os", "write", (1, b"noise")) == 5
    assert guard.call("math", "factorial", (3,)) == 6


def test_large_messages() -> None:
    """Arguments and results larger than a pipe's buffer."""
    text = "x" * 3_000_000
    assert guard.call("operator", "add", (text, text), seconds=20) == text + text


def test_workers_are_reused() -> None:
    """The process stays for the next call."""
    first, second = (guard.call("os", "getpid") for _ in range(2))
    assert first == second != os.getpid()


def test_threads() -> None:
    """Several threads at once, each with its own worker, one of them killed."""
    results: dict[int, object] = {}

    def run(k: int) -> None:
        if k == 2:
            results[k] = guard.call("time", "sleep", (30,), seconds=0.5).code
        else:
            results[k] = [guard.decide(EXPRESSION, "sin(x)", f"{k}sin(x)", variables=["x"]).equal for _ in range(5)]

    threads = [threading.Thread(target=run, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == {0: [False] * 5, 1: [True] * 5, 2: "time", 3: [False] * 5}


def test_fork() -> None:
    """A child of a fork has workers of its own and leaves the parent's alone."""
    guard.close()
    before = guard.call("os", "getpid")
    child = os.fork()
    if child == 0:
        status = 1
        try:
            mine = guard.call("os", "getpid")
            guard.close()
            status = 0 if mine != before else 2
        finally:
            os._exit(status)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert guard.call("os", "getpid") == before


def test_clean_exit() -> None:
    """A program that has called and killed ends without a warning, and its workers end with it."""
    code = (
        "from autograder.maths import guard\n"
        "print(guard.call('os', 'getpid'))\n"
        "guard.call('time', 'sleep', (9,), seconds=0.1)\n"
        "print(guard.call('os', 'getpid'))\n"
    )
    command = [sys.executable, "-X", "dev", "-W", "error", "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    assert done.stderr == ""
    for line in done.stdout.split():
        with pytest.raises(ProcessLookupError):
            os.kill(int(line), 0)


HOSTILE = [
    "9**9**9",
    "9**9**9**9",
    "factorial(10**8)",
    "factorial(factorial(20))",
    "2**10**10",
    "10^10^10^10^10",
    "__import__('os').system('true')",
    "().__class__.__bases__",
    "(" * 1999,
    "x" * 100_000,
    "e^e^e^e^e^e^e",
    "sum(sum(sum(i^j^k, i, 0, 999), j, 0, 999), k, 0, 999)",
    "sum(1/(k+1)^2, k, 0, inf)",
    "x^9^9^9",
    "sin(9^9^9^9)",
    "((x+1/3)^999)^999",
    "*".join(["(x+9^9^5)"] * 80),
    "+".join(f"1/(x+1/{k}^99)^99" for k in range(2, 70)),
    "(" * 55 + "x" + "^99)" * 55,
    "floor(10^10^9*pi)",
    "log2(2^(10^9))",
    "max(9^9^9^9, 9^9^9^9+1)",
    "(9^9^9)!",
    "sum(factorial(k)^99, k, 0, 999)",
    "cos(" * 50 + "x" + ")" * 50,
    "x!" + "!" * 30,
    "sqrt(2)^10^10^5",
    "|" * 1000 + "x" + "|" * 900,
    "sum(x^k/factorial(k), k, 0, 10^12)",
    "tan(pi/2)",
    "0^0^0^0",
    "inf^inf - inf*0",
]


@pytest.mark.parametrize("text", HOSTILE, ids=[text[:24] for text in HOSTILE])
def test_hostile_answers(text: str) -> None:
    """Every one ends by what it may cost, long before the guard ends it: refused or undecided, never accepted."""
    start = guard.call("time", "process_time")
    try:
        decision = guard.decide(EXPRESSION, "x", text, variables=["x"])
    except Unreadable:
        pass
    else:
        assert not decision.equal
    assert 0 <= guard.call("time", "process_time") - start < 2
