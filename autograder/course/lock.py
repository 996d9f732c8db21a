"""One run at a time for each assignment: another waits, and says for whom.

The kernel keeps the lock, and takes it back from a process that has ended, however that came. Machines that share a
folder may not know of each other's locks: so the file says who has it, and is removed at the end.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import socket
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from autograder.errors import StaffError

_PAUSE = 0.2


def path_of(course: Path, assignment: str) -> Path:
    """Where the lock of an assignment lies while there is one."""
    return course / f".{assignment}.lock"


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


@contextlib.contextmanager
def alone(course: Path, assignment: str, *, shared: bool = False, say: Callable[[str], None] = _say) -> Iterator[None]:
    """Wait until no other run grades the assignment, and keep others waiting; its group's, where a course is `shared`.

    What a run on this machine left behind when it was killed is nothing. What one on another machine left may be a run
    that goes on: StaffError names it, and the file to be removed.
    """
    path = path_of(course, assignment)
    try:
        file = _locked(path, 0o660 if shared else 0o600, assignment, say)
    except OSError as error:
        raise StaffError("lock", f"{path} cannot be made, by which other runs are kept waiting: {error}") from error
    try:
        owner = _read(file)
        if owner and owner.get("machine") != _machine():
            raise StaffError(
                "lock",
                f"{_named(owner)} has not said that its run for {assignment} ended. If it goes on, wait for it; if it "
                f"does not, remove {path}",
            )
        _write(file, {"pid": os.getpid(), "host": socket.gethostname(), "machine": _machine(), "since": time.time()})
        try:
            yield
        finally:
            path.unlink(missing_ok=True)
    finally:
        os.close(file)


def _locked(path: Path, mode: int, assignment: str, say: Callable[[str], None]) -> int:
    """The file, open and locked: the one that lies there, and not one that was removed while this waited."""
    said = False
    while True:
        file = os.open(path, os.O_RDWR | os.O_CREAT, mode)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            with contextlib.suppress(PermissionError):  # a colleague's
                os.fchmod(file, mode)
            with contextlib.suppress(FileNotFoundError):
                if os.path.samestat(os.fstat(file), os.stat(path)):
                    return file
        except BlockingIOError:
            if not said:
                owner = _read(file)
                try:
                    say(f"{_named(owner)} works on {assignment}; waiting until it has ended (Ctrl-C gives up)")
                except BaseException:  # whoever is told may give up
                    os.close(file)
                    raise
            said = True
        os.close(file)
        time.sleep(_PAUSE)


def _machine() -> str:
    """This machine, from one start of it to the next; containers on it are no others, since they share its locks."""
    with contextlib.suppress(OSError):
        return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    return socket.gethostname()


def _read(file: int) -> dict[str, Any]:
    try:
        found = json.loads(os.pread(file, 1_000, 0) or b"{}")
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _write(file: int, owner: dict[str, Any]) -> None:
    os.ftruncate(file, 0)
    os.pwrite(file, json.dumps(owner).encode(), 0)


def _named(owner: dict[str, Any]) -> str:
    since = owner.get("since")
    when = time.strftime(" since %H:%M", time.localtime(since)) if isinstance(since, int | float) else ""
    return f"process {owner.get('pid', '?')} on {owner.get('host', 'this machine')}{when}"
