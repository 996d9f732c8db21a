"""The system-call filter: a short program for the kernel, written by ourselves so that nothing need be installed.

It is a list of what is refused. Everything else is allowed: torch, numpy and what students call change too often for a
list of what is permitted. Refused calls fail with EPERM, as they would for any unprivileged user; calls by another
architecture's numbers, under which the list would not hold, end the process.
"""

from __future__ import annotations

import ctypes
import errno
import platform
import signal
import struct
from collections.abc import Sequence

from autograder.sandbox import linux

# Name: number on x86-64, number on aarch64 (None where the machine has no such call).
REFUSED: dict[str, tuple[int | None, int | None]] = {
    # other processes' memory, registers and descriptors
    "ptrace": (101, 117), "process_vm_readv": (310, 270), "process_vm_writev": (311, 271), "kcmp": (312, 272),
    "process_madvise": (440, 440), "pidfd_getfd": (438, 438), "move_pages": (279, 239), "migrate_pages": (256, 238),
    # the file system's shape, and files by number instead of by path
    "mount": (165, 40), "umount2": (166, 39), "pivot_root": (155, 41), "chroot": (161, 51), "fsopen": (430, 430),
    "fsmount": (432, 432), "fsconfig": (431, 431), "fspick": (433, 433), "open_tree": (428, 428),
    "move_mount": (429, 429), "mount_setattr": (442, 442), "name_to_handle_at": (303, 264),
    "open_by_handle_at": (304, 265), "fanotify_init": (300, 262), "quotactl": (179, 60), "quotactl_fd": (443, 443),
    # namespaces (clone by its flags, below)
    "unshare": (272, 97), "setns": (308, 268),
    # large and often broken parts of the kernel that no exercise needs
    "bpf": (321, 280), "io_uring_setup": (425, 425), "io_uring_enter": (426, 426), "io_uring_register": (427, 427),
    "perf_event_open": (298, 241), "userfaultfd": (323, 282), "keyctl": (250, 219), "add_key": (248, 217),
    "request_key": (249, 218), "lookup_dcookie": (212, 18), "nfsservctl": (180, 42), "modify_ldt": (154, None),
    "personality": (135, 92), "uselib": (134, None),
    # memory that belongs to no process, so that nobody could count it
    "memfd_create": (319, 279), "memfd_secret": (447, 447), "shmget": (29, 194), "shmat": (30, 196),
    "msgget": (68, 186), "semget": (64, 190), "mq_open": (240, 180),
    # a clock that sends any signal, SIGCONT too
    "timer_create": (222, 107),
    # the machine itself
    "kexec_load": (246, 104), "kexec_file_load": (320, 294), "init_module": (175, 105), "finit_module": (313, 273),
    "delete_module": (176, 106), "reboot": (169, 142), "swapon": (167, 224), "swapoff": (168, 225), "acct": (163, 89),
    "settimeofday": (164, 170), "clock_settime": (227, 112), "clock_adjtime": (305, 266), "adjtimex": (159, 171),
    "sethostname": (170, 161), "setdomainname": (171, 162), "syslog": (103, 116), "iopl": (172, None),
    "ioperm": (173, None), "vhangup": (153, 58),
}  # fmt: skip

# What Landlock leaves to every owner of a file: modes, owners, times and attributes. The student's process may be the
# grader's own user, and could lock the gradebook. These calls seem to succeed and do nothing: so `shutil.copy` works.
MUTED: dict[str, tuple[int | None, int | None]] = {
    "chmod": (90, None), "fchmod": (91, 52), "fchmodat": (268, 53), "fchmodat2": (452, 452), "chown": (92, None),
    "fchown": (93, 55), "lchown": (94, None), "fchownat": (260, 54), "utime": (132, None), "utimes": (235, None),
    "futimesat": (261, None), "utimensat": (280, 88), "setxattr": (188, 5), "lsetxattr": (189, 6),
    "fsetxattr": (190, 7), "removexattr": (197, 14), "lremovexattr": (198, 15), "fremovexattr": (199, 16),
    "setxattrat": (463, 463), "removexattrat": (466, 466), "file_setattr": (469, 469),
}  # fmt: skip

# Nor does Landlock keep a process from being told of what happens in a folder.
WATCHING: dict[str, tuple[int | None, int | None]] = {"inotify_add_watch": (254, 27)}

_NAMESPACES = 0x7E020000
_TIOCSTI, _TIOCLINUX = 0x5412, 0x541C
_F_SETSIG = 10
_SOCKETS = (1, 2, 10, 16)  # local, IPv4, IPv6, and netlink, without which libzmq aborts
# Call, its numbers, which argument, how it is compared, with what: refused where the comparison holds.
BY_ARGUMENT: list[tuple[str, tuple[int, int], int, str, tuple[int, ...]]] = [
    ("clone", (56, 220), 0, "bits", (_NAMESPACES,)),
    ("socket", (41, 198), 0, "not in", _SOCKETS),
    ("ioctl", (16, 29), 1, "in", (_TIOCSTI, _TIOCLINUX)),  # typing into a terminal
    ("prctl", (157, 167), 0, "in", (linux.PR_SET_PDEATHSIG,)),  # outliving the grader
    # A notebook that stands still is let go by the grader alone: each way to send the signal that does it.
    ("kill", (62, 129), 1, "in", (signal.SIGCONT,)),
    ("tkill", (200, 130), 1, "in", (signal.SIGCONT,)),
    ("tgkill", (234, 131), 2, "in", (signal.SIGCONT,)),
    ("rt_sigqueueinfo", (129, 138), 1, "in", (signal.SIGCONT,)),
    ("rt_tgsigqueueinfo", (297, 240), 2, "in", (signal.SIGCONT,)),
    ("pidfd_send_signal", (424, 424), 1, "in", (signal.SIGCONT,)),
    ("fcntl", (72, 25), 1, "in", (_F_SETSIG,)),
]
_CLONE3 = 435  # its flags lie in memory, where a filter cannot look: "no such call" makes libraries use clone

_AUDIT = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
_LOAD, _JEQ, _JGE, _JSET, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
ALLOW, KILL = 0x7FFF0000, 0x80000000
REFUSE, ABSENT, MUTE = 0x00050000 | errno.EPERM, 0x00050000 | errno.ENOSYS, 0x00050000

Instruction = tuple[int, int, int, int]  # code, how far to jump where true, where false, operand


def program(machine: str, *, muted: bool = False) -> list[Instruction]:
    """The filter for one kind of machine; `struct seccomp_data` is number, architecture, pointer, six arguments.

    `muted` is for where files are kept by Landlock.
    """
    column = linux.MACHINES.index(machine)
    code: list[Instruction] = [(_LOAD, 0, 0, 4), (_JEQ, 1, 0, _AUDIT[machine]), (_RETURN, 0, 0, KILL), (_LOAD, 0, 0, 0)]
    if machine == "x86_64":
        code += [(_JGE, 0, 1, 0x40000000), (_RETURN, 0, 0, KILL)]  # the x32 numbers
    refused, silent = ({**REFUSED, **WATCHING}, MUTED) if muted else (REFUSED, {})
    for calls, result in ((refused, REFUSE), (silent, MUTE)):
        for numbers in calls.values():
            number = numbers[column]
            if number is not None:
                code += [(_JEQ, 0, 1, number), (_RETURN, 0, 0, result)]
    code += [(_JEQ, 0, 1, _CLONE3), (_RETURN, 0, 0, ABSENT)]
    for _, pair, argument, comparison, values in BY_ARGUMENT:
        code += _argument_rule(pair[column], argument, comparison, values)
    return [*code, (_RETURN, 0, 0, ALLOW)]


def _argument_rule(number: int, argument: int, comparison: str, values: Sequence[int]) -> list[Instruction]:
    """Look at the lower half of one argument: the kernel takes these as 32 bits wide."""
    operation = _JSET if comparison == "bits" else _JEQ
    hit, miss = (ALLOW, REFUSE) if comparison == "not in" else (REFUSE, ALLOW)
    tests = [(operation, len(values) - place, 0, value) for place, value in enumerate(values)]
    rule = [(_LOAD, 0, 0, 16 + 8 * argument), *tests, (_RETURN, 0, 0, miss), (_RETURN, 0, 0, hit)]
    return [(_JEQ, 0, len(rule), number), *rule]


def install(muted: bool = False) -> None:
    """Put the filter on this process and all that it starts; OSError where the machine is not one we know."""
    if platform.machine() not in linux.MACHINES:
        raise OSError(errno.ENOSYS, f"there is no filter for {platform.machine()}")
    put(program(platform.machine(), muted=muted))


def put(code: Sequence[Instruction]) -> None:
    """Give the kernel a filter."""
    body = ctypes.create_string_buffer(b"".join(struct.pack("=HBBI", *line) for line in code))
    header = ctypes.create_string_buffer(struct.pack("@HP", len(code), ctypes.addressof(body)))
    linux.prctl(linux.PR_SET_NO_NEW_PRIVS, 1)
    linux.prctl(linux.PR_SET_SECCOMP, 2, ctypes.addressof(header))
