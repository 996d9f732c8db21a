"""Landlock: what a process may open, decided by the kernel without namespaces and without any right.

It stands in for the layer `files` where a root of one's own cannot be had: Docker's usual profile and recent Ubuntu
refuse user namespaces. Everything stays where it is and cannot be opened, except what is listed.
"""

from __future__ import annotations

import ctypes
import errno
import os
import stat
import struct
from collections.abc import Iterable

from autograder.sandbox import linux

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446  # the same on every machine
_VERSION, _PATH_BENEATH = 1, 1

# linux/landlock.h: rights on files, each with the version that brought it. What is handled and not granted is refused.
_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1, 2, 4, 8
_TRUNCATE, _IOCTL_DEV = 1 << 14, 1 << 15
_FIRST = (1 << 13) - 1  # reading, writing, and making and removing each kind of file
_SINCE = {1: _FIRST, 2: 1 << 13, 3: _TRUNCATE, 5: _IOCTL_DEV}  # 2: from one folder into another
_DEVICES = 1 << 6 | 1 << 11  # making devices
_OF_FILES = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE | _IOCTL_DEV  # what a rule on a file may grant
_READ = _EXECUTE | _READ_FILE | _READ_DIR
_TCP = 3  # since 4: bind, connect
_SCOPED = 3  # since 6: abstract sockets and signals stay within

# Before Linux 6.2 any file that the user owns could still be cut to nothing: that is no wall around files.
LEAST = 3


def version() -> int:
    """The kernel's version of Landlock; OSError where it has none, or refuses it to this process."""
    return linux.syscall(_CREATE_RULESET, None, ctypes.c_size_t(0), ctypes.c_uint32(_VERSION))


def handled(found: int) -> int:
    """Every right on files that a version knows."""
    return sum(rights for since, rights in _SINCE.items() if since <= found)


def restrict(readable: Iterable[str], writable: Iterable[str], devices: Iterable[str]) -> None:
    """Let this process open what is listed, and nothing else, for good; OSError where the kernel cannot.

    It can neither open TCP connections nor signal or reach by abstract sockets what is outside, where the version
    knows these.
    """
    found = version()
    if found < LEAST:
        raise OSError(errno.EOPNOTSUPP, f"this kernel has version {found} of Landlock, and {LEAST} is needed")
    rights = handled(found)
    words = (ctypes.c_uint64 * 3)(rights, _TCP if found >= 4 else 0, _SCOPED if found >= 6 else 0)
    ruleset = linux.syscall(_CREATE_RULESET, words, ctypes.c_size_t(ctypes.sizeof(words)), ctypes.c_uint32(0))
    try:
        lists = ((readable, _READ), (writable, rights & ~_DEVICES), (devices, _READ_FILE | _WRITE_FILE))
        for paths, granted in lists:
            for path in paths:
                _grant(ruleset, path, granted)
        linux.prctl(linux.PR_SET_NO_NEW_PRIVS, 1)
        linux.syscall(_RESTRICT_SELF, ctypes.c_int(ruleset), ctypes.c_uint32(0))
    finally:
        os.close(ruleset)


def _grant(ruleset: int, path: str, rights: int) -> None:
    """Rights on a file, or on a folder and all in it; what is not there for this user gets none."""
    try:
        place = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return
    try:
        if not stat.S_ISDIR(os.fstat(place).st_mode):
            rights &= _OF_FILES
        rule = ctypes.create_string_buffer(struct.pack("=Qi", rights, place), 12)
        linux.syscall(_ADD_RULE, ctypes.c_int(ruleset), ctypes.c_int(_PATH_BENEATH), rule, ctypes.c_uint32(0))
    finally:
        os.close(place)
