"""The wall around a student's process, put up layer by layer from within.

The warm parent calls `settle` before it imports anything heavy; each process that it forks calls `enter` before it runs
anything of a student's. Which layers the machine can give is known by trying them, never by guessing.
"""

from __future__ import annotations

import contextlib
import os
import resource
import signal
import socket
import sys
from collections.abc import Callable, Collection, Iterable, Iterator
from pathlib import Path
from typing import Any

from autograder.sandbox import landlock, linux, mounts, seccomp

# What the layers are tried with before there is a submission.
_TRIAL = {
    "disk_megabytes": 16,
    "disk_files": 1000,
    "file_megabytes": 16,
    "memory_megabytes": 1024,
    "cpu_seconds": 60,
    "open_files": 64,
    "processes": 16,
}
_SPARE = 64 * 2**20  # what answers and replies may take beyond what is left by cells that have taken all there is


@contextlib.contextmanager
def without_spare() -> Iterator[None]:
    """Memory up to the notebook's limit alone: whatever a cell leaves, answers and replies have some to work with."""
    usual, most = resource.getrlimit(resource.RLIMIT_DATA)
    less = usual if most == resource.RLIM_INFINITY else most - _SPARE
    resource.setrlimit(resource.RLIMIT_DATA, (less, most))
    try:
        yield
    finally:
        with contextlib.suppress(ValueError):  # a cell has lowered the highest limit itself
            resource.setrlimit(resource.RLIMIT_DATA, (usual, most))


def settle() -> frozenset[str]:
    """Make this process the first of a namespace of its own, where that can be had; the names of the layers that work.

    What calls this goes on as another process: the caller itself stays behind and waits for it.
    """
    if not sys.platform.startswith("linux"):
        return frozenset()
    with contextlib.suppress(OSError):
        if not _may_mount():
            _map_to(0, linux.NEWUSER)
    try:
        linux.unshare(linux.NEWPID)
    except OSError:
        return frozenset(_tried(mine=False))
    _go_on_inside()
    return frozenset(_tried(mine=True))


def _may_mount() -> bool:
    """Whether this process has the right to administer the machine (or the container that it is in)."""
    with open("/proc/self/status", encoding="ascii") as file:
        effective = next(int(line.split()[1], 16) for line in file if line.startswith("CapEff"))
    return bool(effective >> 21 & 1)


def _go_on_inside() -> None:
    """The first process of the namespace is a child; this one does nothing more, and they end together."""
    inside = os.fork()
    if inside:
        os.closerange(3, 4096)
        os.waitpid(inside, 0)
        os._exit(0)
    linux.prctl(linux.PR_SET_PDEATHSIG, signal.SIGKILL)


def fork(layers: Collection[str]) -> int:
    """`os.fork`, whose child is the first process of a namespace where there is that layer."""
    if "processes" not in layers:
        return os.fork()
    here = os.open("/proc/self/ns/pid", os.O_RDONLY | os.O_CLOEXEC)
    linux.unshare(linux.NEWPID)
    pid = -1
    try:
        pid = os.fork()
        return pid
    finally:
        if pid:  # here, whether or not there is a child
            linux.setns(here, linux.NEWPID)
        os.close(here)


def _tried(mine: bool) -> Iterable[str]:
    """The layers that a process gets that tries each of them."""
    reading, writing = os.pipe()
    pid = fork({"processes"} if mine else ())
    if pid == 0:
        got = ["processes"] if mine else []
        for name, step in _steps(_TRIAL, got):
            with contextlib.suppress(OSError):
                step()
                got.append(name)
        os.write(writing, " ".join(got).encode())
        os._exit(0)
    os.close(writing)
    with open(reading, encoding="ascii") as pipe:
        found = pipe.read().split()
    os.waitpid(pid, 0)
    return found


def enter(layers: Collection[str], settings: dict[str, Any]) -> None:
    """Put up the layers around this process, for good; OSError if one that worked before does not now."""
    for name, step in _steps(settings, layers):
        if name in layers:
            step()


def _steps(settings: dict[str, Any], layers: Collection[str]) -> Iterable[tuple[str, Callable[[], None]]]:
    """What puts up each layer, in order: each needs rights that a later one gives away."""
    owner = _somebody()
    myself = os.open("/proc/self", os.O_PATH | os.O_DIRECTORY)
    yield "network", lambda: linux.unshare(linux.NEWNET)
    yield "names", _own_names
    yield "files", lambda: _own_files(settings, owner)
    yield "user", lambda: _become(_owner(owner, layers, settings.get("directory")), myself)
    os.close(myself)
    yield "limits", lambda: _limit(settings, "user" in layers)
    yield "privileges", _give_up_privileges
    if "files" not in layers:
        yield "landlock", lambda: _same_files(settings)
    yield "calls", lambda: seccomp.install("landlock" in layers)


def _own_names() -> None:
    linux.unshare(linux.NEWIPC | linux.NEWUTS)
    with contextlib.suppress(OSError):
        linux.unshare(linux.NEWCGROUP)
    socket.sethostname(mounts.NAME)


def _own_files(settings: dict[str, Any], owner: tuple[int, int]) -> None:
    linux.unshare(linux.NEWNS)
    space = mounts.Space(megabytes=settings["disk_megabytes"], files=settings["disk_files"])
    mounts.build(settings.get("shown") or mounts.needed(), space, owner)


def _same_files(settings: dict[str, Any]) -> None:
    """The machine's own files, of which little can be opened, and only one folder be written to."""
    shown = settings.get("shown") or mounts.needed()
    readable = [*(path for path, _ in shown), "/proc/self"]
    devices = [f"/dev/{name}" for name in mounts.DEVICES]
    landlock.restrict(readable, filter(None, [settings.get("directory")]), devices)


def _somebody() -> tuple[int, int]:
    """A user and group that nobody is, where this process may become them; else those that it has."""
    wanted = 0x70000000 + int.from_bytes(os.urandom(3), "big")
    for number in (wanted, 65534):
        if all(_mapped(f"/proc/self/{kind}_map", number) for kind in ("uid", "gid")):
            return number, number
    return os.geteuid(), os.getegid()


def _owner(somebody: tuple[int, int], layers: Collection[str], directory: str | None) -> tuple[int, int] | None:
    """Whom to become. Without files of its own that is possible only if the interpreter is open to all."""
    if "files" in layers:
        return somebody
    if not all(map(open_to_all, (sys.prefix, sys.base_prefix, __file__))):
        return None
    if directory:
        os.chown(directory, *somebody)
    return somebody


def open_to_all(path: str) -> bool:
    """Whether every folder on the way to it may be entered by anybody."""
    folders = [path, *map(str, Path(path).resolve().parents)]
    return all(os.stat(folder).st_mode & (0o001 if os.path.isdir(folder) else 0o004) for folder in folders)


def _mapped(path: str, number: int) -> bool:
    with open(path, encoding="ascii") as file:
        ranges = [[int(word) for word in line.split()] for line in file]
    return any(first <= number < first + count for first, _, count in ranges)


def _become(owner: tuple[int, int] | None, myself: int) -> None:
    """Turn into that user, and then into the only user of a namespace of one's own."""
    privileged = owner is not None and owner != (os.geteuid(), os.getegid())
    if owner is not None and privileged:
        os.setgroups([])
        os.setresgid(owner[1], owner[1], owner[1])
        os.setresuid(owner[0], owner[0], owner[0])
        linux.prctl(linux.PR_SET_DUMPABLE, 1)  # or its own /proc would not be its own
    try:
        _map_to(mounts.UID, linux.NEWUSER, myself)
    except OSError:
        if not privileged:
            raise


def _map_to(inside: int, flags: int, myself: int | None = None) -> None:
    """Enter a user namespace, in which this process's user is called `inside`, and nobody else exists."""
    uid, gid = os.geteuid(), os.getegid()
    folder = os.open("/proc/self", os.O_PATH | os.O_DIRECTORY) if myself is None else myself
    linux.unshare(flags)
    for name, text in {"setgroups": "deny", "uid_map": f"{inside} {uid} 1", "gid_map": f"{inside} {gid} 1"}.items():
        file = os.open(name, os.O_WRONLY, dir_fd=folder)
        os.write(file, text.encode())
        os.close(file)
    if myself is None:
        os.close(folder)


def _give_up_privileges() -> None:
    linux.prctl(linux.PR_SET_PDEATHSIG, signal.SIGKILL)  # only now: a change of user clears it
    linux.prctl(linux.PR_SET_NO_NEW_PRIVS, 1)
    with contextlib.suppress(OSError):
        linux.prctl(linux.PR_SET_SECUREBITS, linux.SECUREBITS)
    linux.drop_capabilities()


def _limit(settings: dict[str, Any], counted: bool) -> None:
    """Limits that the kernel itself keeps; that on processes only where they are counted for this submission alone."""
    megabyte = 2**20
    values = {
        "CORE": 0,
        "FSIZE": settings["file_megabytes"] * megabyte,
        "DATA": settings["memory_megabytes"] * megabyte + _SPARE,
        "CPU": settings["cpu_seconds"],
        "NOFILE": settings["open_files"],
        "MEMLOCK": megabyte,
        "MSGQUEUE": 0,
        "SIGPENDING": 1024,
        "RTPRIO": 0,
    } | ({"NPROC": settings["processes"]} if counted else {})
    for name, value in values.items():
        number = getattr(resource, f"RLIMIT_{name}", None)
        if number is not None:
            _, most = resource.getrlimit(number)
            value = value if most == resource.RLIM_INFINITY else min(value, most)
            resource.setrlimit(number, (value, value))
    with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "w", encoding="ascii") as file:
        file.write("1000")  # where memory runs out, the kernel takes this process first
