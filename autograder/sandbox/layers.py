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


def found() -> dict[str, bool]:
    """Which layers there are on this machine, for this user: each was put up once to see."""
    code = "from autograder.sandbox import wall; print(*wall.settle())"
    run = subprocess.run(python(code), env=environment(), capture_output=True, text=True, check=False)
    there = run.stdout.split()
    return {name: name in there for name in LAYERS}


def describe() -> str:
    """A table for people: layer, whether it is there, what a student's process cannot do for it."""
    rows = [f"{name:<11}{'yes' if there else 'NO':<5}{LAYERS[name]}" for name, there in found().items()]
    return "\n".join(rows)


_announced: set[frozenset[str]] = set()


def announce(there: Collection[str], required: bool) -> None:
    """Say once which layers are missing; StaffError where the wall is required."""
    missing = frozenset(LAYERS) - frozenset(there)
    if not missing:
        return
    lacking = "; ".join(f"{name} ({LAYERS[name]})" for name in LAYERS if name in missing)
    if required:
        raise StaffError(
            "wall", f"the sandbox is incomplete on this machine, and --require-sandbox is set; missing: {lacking}"
        )
    if missing not in _announced:
        _announced.add(missing)
        warnings.warn(f"THE SANDBOX IS INCOMPLETE ON THIS MACHINE; MISSING: {lacking}", WallWarning, stacklevel=2)
