"""The layers of the wall by name: what each is for, which there are here, and what to do where one is missing."""

from __future__ import annotations

import os
import subprocess
import sys
import warnings
from collections.abc import Collection

from autograder.errors import StaffError

LAYERS = {
    "processes": "sees and signals only its own processes, and they end with it",
    "network": "has no network, not even this machine's own",
    "names": "shares no memory, queues or host name with the machine",
    "files": "sees only the interpreter and its own folder, and writes only to that folder, up to a limit",
    "user": "runs as an unprivileged user, with a limit on its processes",
    "limits": "has limits on processor time, memory, open files and processes",
    "privileges": "has no privileges and cannot gain any through a program",
    "calls": "cannot use kernel calls that no exercise needs",
}
# What stands in for a layer where that cannot be had: which, and what it does.
INSTEAD = {
    "landlock": (
        "files",
        "by Landlock: opens only the interpreter and its own folder, and writes only to that folder, without a limit "
        "on all its files together",
    )
}
ENVIRONMENT = ("PATH", "HOME", "LANG", "LC_ALL", "TZ", "LD_LIBRARY_PATH")


class WallWarning(UserWarning):
    """Some layers of the sandbox are not available on this machine."""


def python(code: str) -> list[str]:
    """The command that runs a line of ours in a fresh interpreter, which finds this copy of the package."""
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    return [sys.executable, "-s", "-P", "-c", f"import sys; sys.path.insert(0, {root!r}); {code}"]


def environment() -> dict[str, str]:
    """What such an interpreter, and so every notebook, gets of the grader's environment: no secret, one thread.

    Forks inherit the memory of what they were forked from, its first environment included.
    """
    kept = {name: os.environ[name] for name in ENVIRONMENT if name in os.environ}
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    return {**kept, **threads, "PYTHONHASHSEED": "0", "MPLBACKEND": "module://matplotlib_inline.backend_inline"}


def tried() -> frozenset[str]:
    """The names of what there is on this machine, for this user: each was put up once to see."""
    code = "from autograder.sandbox import wall; print(*wall.settle())"
    run = subprocess.run(python(code), env=environment(), capture_output=True, text=True, check=False)
    return frozenset(run.stdout.split())


def missing(there: Collection[str]) -> frozenset[str]:
    """The layers that are neither there nor stood in for."""
    return frozenset(LAYERS) - frozenset(there) - {INSTEAD[name][0] for name in there if name in INSTEAD}


def found() -> dict[str, bool]:
    """Which layers there are on this machine, for this user."""
    lacking = missing(tried())
    return {name: name not in lacking for name in LAYERS}


def describe() -> str:
    """A table for people: layer, whether it is there, what a student's process cannot do for it."""
    there = tried()
    meaning = LAYERS | dict(INSTEAD[name] for name in there if name in INSTEAD)
    lacking = missing(there)
    rows = [f"{name:<11}{'NO' if name in lacking else 'yes':<5}{meaning[name]}" for name in LAYERS]
    return "\n".join(rows)


_announced: set[frozenset[str]] = set()


def announce(there: Collection[str], required: bool) -> None:
    """Say once which layers are missing; StaffError where the wall is required."""
    gone = missing(there)
    if not gone:
        return
    lacking = "; ".join(f"{name} ({LAYERS[name]})" for name in LAYERS if name in gone)
    if required:
        raise StaffError(
            "wall", f"the sandbox is incomplete on this machine, and --require-sandbox is set; missing: {lacking}"
        )
    if gone not in _announced:
        _announced.add(gone)
        warnings.warn(f"THE SANDBOX IS INCOMPLETE ON THIS MACHINE; MISSING: {lacking}", WallWarning, stacklevel=2)
