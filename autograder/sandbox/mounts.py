"""The file system that a student's process sees: what Python needs, read-only, and one small place to write.

Nothing is taken away from a copy of the machine's files: the root begins empty, and gets what is listed here.
"""

from __future__ import annotations

import os
import site
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from autograder.sandbox import linux

WORK = "/notebook"  # where the notebook lies, inside
NAME, UID = "student", 1000  # who the student's process is, inside

# Programs for `!commands`, shared libraries, time zones, fonts. No home, no /var, no /run, no /srv, no /opt.
SYSTEM = (
    "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/usr/bin", "/usr/sbin", "/usr/lib", "/usr/lib32", "/usr/lib64",
    "/usr/libexec", "/usr/local/lib", "/usr/share/zoneinfo", "/usr/share/fonts", "/usr/share/fontconfig",
    "/usr/share/terminfo", "/usr/local/share/fonts", "/etc/alternatives", "/etc/fonts", "/etc/ld.so.cache",
    "/etc/localtime", "/sys/devices/system/cpu", "/nix/store", "/gnu/store",
)  # fmt: skip
DEVICES = ("null", "zero", "full", "random", "urandom")
_OLD, _SCRATCH = "/.old", "/.scratch"
_ETC = {
    "passwd": f"{NAME}:x:{UID}:{UID}::{WORK}:/bin/sh\n",
    "group": f"{NAME}:x:{UID}:\n",
    "hosts": "127.0.0.1 localhost\n",
    "nsswitch.conf": "passwd: files\ngroup: files\nhosts: files\n",
}


@dataclass(frozen=True, kw_only=True)
class Space:
    """How much a submission may write, in all its places together."""

    megabytes: int
    files: int


def needed() -> list[tuple[str, str]]:
    """What every notebook is shown: each with where it lies; what lies within another is left out."""
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    return shown([*SYSTEM, *_interpreter(), package, *os.environ.get("LD_LIBRARY_PATH", "").split(":")])


def shown(paths: Iterable[str]) -> list[tuple[str, str]]:
    """Paths that exist, shortest first, each with where it lies; one through a symbolic link has both its names."""
    both = {name for path in paths if path.startswith("/") for name in (os.path.normpath(path), os.path.realpath(path))}
    kept: list[tuple[str, str]] = []
    for path in sorted(both, key=lambda path: (path.count("/"), path)):
        if path != "/" and os.path.lexists(path) and not any(_covers(other, path) for other, _ in kept):
            kept.append((path, os.path.join(os.path.realpath(os.path.dirname(path)), os.path.basename(path))))
    return kept


def _interpreter() -> list[str]:
    """The interpreter, its standard library and its packages: never a whole prefix, which may be somebody's home."""
    prefixes = {sys.prefix, sys.base_prefix, sys.exec_prefix, sys.base_exec_prefix}
    parts = [f"{prefix}/{part}" for prefix in prefixes for part in ("bin", "lib", "lib64", "pyvenv.cfg")]
    packages = [path for path in (*site.getsitepackages(), *sys.path) if path.endswith("-packages")]
    return [*parts, *packages]


def _covers(folder: str, path: str) -> bool:
    return not os.path.islink(folder) and os.path.commonpath([folder, path]) == folder


def build(shown: Sequence[tuple[str, str]], space: Space, owner: tuple[int, int]) -> None:
    """Make the new root in this process's own mount namespace, and move into it."""
    os.umask(0o022)
    linux.mount("none", "/", None, linux.MS_REC | linux.MS_PRIVATE)
    linux.mount("tmpfs", "/tmp", "tmpfs", linux.MS_NOSUID, "size=1m,nr_inodes=4096,mode=755")  # noqa: S108
    os.mkdir("/tmp" + _OLD)  # noqa: S108 - the new root, which covers the machine's own
    linux.pivot_root("/tmp", "/tmp" + _OLD)  # noqa: S108
    os.chdir("/")
    _writable(space, owner)
    _devices()
    for path, source in shown:
        _show(path, _OLD + source)
    _own_etc()
    _processes()
    linux.umount(_OLD)
    os.rmdir(_OLD)
    linux.mount("none", "/", None, linux.MS_REMOUNT | linux.MS_BIND | linux.MS_RDONLY | linux.MS_NOSUID)
    os.chdir(WORK)


def _writable(space: Space, owner: tuple[int, int]) -> None:
    """One limited file system, under three names: its limit holds for all of them together."""
    os.mkdir(_SCRATCH)
    options = f"size={space.megabytes}m,nr_inodes={space.files},mode=755"
    linux.mount("tmpfs", _SCRATCH, "tmpfs", linux.MS_NOSUID | linux.MS_NODEV, options)
    for path in (WORK, "/tmp", "/dev/shm"):  # noqa: S108
        inner = _SCRATCH + "/" + os.path.basename(path)
        os.mkdir(inner, 0o700)
        os.chown(inner, *owner)
        os.makedirs(path)
        linux.mount(inner, path, None, linux.MS_BIND)
    linux.umount(_SCRATCH)
    os.rmdir(_SCRATCH)


def _devices() -> None:
    for name in DEVICES:
        _bind(f"{_OLD}/dev/{name}", f"/dev/{name}", linux.RDONLY | linux.NOSUID | linux.NOEXEC)
    for name, target in {"fd": "fd", "stdin": "fd/0", "stdout": "fd/1", "stderr": "fd/2"}.items():
        os.symlink(f"/proc/self/{target}", f"/dev/{name}")
    os.mkdir("/dev/pts")
    try:  # terminals of its own, for the programs that `!commands` start
        options = "newinstance,ptmxmode=0666,mode=0620,max=16"
        linux.mount("devpts", "/dev/pts", "devpts", linux.MS_NOSUID | linux.MS_NOEXEC, options)
        os.symlink("pts/ptmx", "/dev/ptmx")
    except OSError:
        pass  # `!commands` fail, and nothing else


def _show(path: str, source: str) -> None:
    """Show one of the machine's files or folders under its own name; a symbolic link stays one."""
    if os.path.islink(source):
        os.makedirs(os.path.dirname(path), exist_ok=True)
        os.symlink(os.readlink(source), path)
    else:
        _bind(source, path, linux.RDONLY | linux.NOSUID | linux.NODEV)


def _bind(source: str, target: str, attributes: int) -> None:
    if os.path.isdir(source):
        os.makedirs(target, exist_ok=True)
    else:
        os.makedirs(os.path.dirname(target), exist_ok=True)
        os.close(os.open(target, os.O_CREAT | os.O_WRONLY))
    linux.mount(source, target, None, linux.MS_BIND | linux.MS_REC)
    linux.seal(target, attributes)


def _own_etc() -> None:
    os.makedirs("/etc", exist_ok=True)
    for name, text in _ETC.items():
        with open(f"/etc/{name}", "w", encoding="utf-8") as file:
            file.write(text)


def _processes() -> None:
    """/proc of its own processes only; an empty folder where even that is not allowed."""
    os.mkdir("/proc")
    flags = linux.MS_NOSUID | linux.MS_NODEV | linux.MS_NOEXEC
    for options in ("subset=pid,hidepid=2", "hidepid=2"):
        try:
            return linux.mount("proc", "/proc", "proc", flags, options)
        except OSError:
            continue
