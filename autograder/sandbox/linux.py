"""The few calls of the Linux kernel that Python has no name for; each raises OSError where the kernel refuses."""

from __future__ import annotations

import ctypes
import os
import platform
from typing import Any

# unshare(2), setns(2)
NEWNS, NEWCGROUP, NEWUTS, NEWIPC = 0x00020000, 0x02000000, 0x04000000, 0x08000000
NEWUSER, NEWPID, NEWNET = 0x10000000, 0x20000000, 0x40000000
# mount(2), umount2(2), mount_setattr(2)
MS_RDONLY, MS_NOSUID, MS_NODEV, MS_NOEXEC, MS_REMOUNT = 1, 2, 4, 8, 32
MS_BIND, MS_REC, MS_PRIVATE = 4096, 16384, 1 << 18
MNT_DETACH = 2
_NOATIME, _RELATIME, _ST_RELATIME = 1024 | 2048, 1 << 21, 4096
RDONLY, NOSUID, NODEV, NOEXEC = 1, 2, 4, 8
_AT_RECURSIVE = 0x8000
_MOUNT_SETATTR = 442
# prctl(2)
PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_SET_SECCOMP = 1, 4, 22
PR_CAPBSET_DROP, PR_SET_SECUREBITS, PR_SET_NO_NEW_PRIVS = 24, 28, 38
PR_SET_CHILD_SUBREAPER = 36
PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL = 47, 4
# NOROOT, NO_SETUID_FIXUP, NO_CAP_AMBIENT_RAISE, each with its lock; KEEP_CAPS locked off
SECUREBITS = 0b1110_1111

MACHINES = ("x86_64", "aarch64")
_PIVOT_ROOT = {"x86_64": 155, "aarch64": 41}
_CAPABILITY_VERSION = 0x20080522

_libc = ctypes.CDLL(None, use_errno=True)


def _call(name: str, *arguments: Any) -> int:
    result: int = getattr(_libc, name)(*arguments)
    if result == -1:
        code = ctypes.get_errno()
        raise OSError(code, f"{name}: {os.strerror(code)}")
    return result


def syscall(number: int, *arguments: Any) -> int:
    """A call that the C library has no name for."""
    return _call("syscall", ctypes.c_long(number), *arguments)


def unshare(flags: int) -> None:
    """Leave the namespaces named by the flags for new ones."""
    _call("unshare", flags)


def setns(descriptor: int, flags: int) -> None:
    """Enter a namespace by its descriptor."""
    _call("setns", descriptor, flags)


def mount(source: str, target: str, kind: str | None = None, flags: int = 0, options: str = "") -> None:
    """Mount a file system, or bind a folder or file."""
    words = [source.encode(), target.encode(), kind.encode() if kind else None]
    _call("mount", *words, ctypes.c_ulong(flags), options.encode() or None)


def seal(target: str, attributes: int) -> None:
    """Give a mount and every mount below it the attributes; on kernels before 5.12 only the mount itself."""
    words = (ctypes.c_uint64 * 4)(attributes, 0, 0, 0)
    size = ctypes.c_size_t(ctypes.sizeof(words))
    try:
        _call("syscall", ctypes.c_long(_MOUNT_SETATTR), -100, target.encode(), _AT_RECURSIVE, words, size)
    except OSError:
        # The flags that the mount has cannot be taken from it, and must be named again.
        kept = os.statvfs(target).f_flag
        again = kept & (MS_NOSUID | MS_NODEV | MS_NOEXEC | _NOATIME) | (_RELATIME if kept & _ST_RELATIME else 0)
        mount("none", target, None, MS_REMOUNT | MS_BIND | again | attributes)


def umount(target: str) -> None:
    """Detach a mount and all below it."""
    _call("umount2", target.encode(), MNT_DETACH)


def pivot_root(new: str, old: str) -> None:
    """Make `new` the root, and put the old root at `old`."""
    _call("syscall", ctypes.c_long(_PIVOT_ROOT[platform.machine()]), new.encode(), old.encode())


def prctl(option: int, *arguments: int) -> None:
    """Set a property of this process."""
    words = [ctypes.c_ulong(word) for word in (*arguments, 0, 0, 0, 0)][:4]
    _call("prctl", option, *words)


def drop_capabilities() -> None:
    """Give up every capability, for this process and all that it starts."""
    for capability in range(64):
        try:
            prctl(PR_CAPBSET_DROP, capability)
        except OSError:  # the kernel knows no more of them; or we may not, and then have none to give
            break
    header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION, 0)
    _call("capset", header, (ctypes.c_uint32 * 6)())
    prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL)
