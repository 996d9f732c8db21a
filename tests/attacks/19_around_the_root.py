"""The machine's files cannot be reached around the root: through /proc, dot-dot, chroot, or an open descriptor."""

REAL = True
CELLS = [
    """
import os
for start in ("/proc/1/root", "/proc/self/root", "/proc/1/cwd/../../../..", "/..", "/.old", "/dev/fd/../../.."):
    try:
        print(start, open(start + "@TREASURE@").read())
    except OSError as error:
        print(error)
for name in os.listdir("/proc/self/fd"):
    try:
        print(name, open(os.open("../../../../../../../@TREASURE@", os.O_RDONLY, dir_fd=int(name))).read())
    except OSError:
        pass
try:
    os.mkdir("cell")
    here = os.open("/", os.O_RDONLY)
    os.chroot("cell")
    os.fchdir(here)
    print("BREACH: chroot")
    os.chroot("../" * 30)
    print(open("@TREASURE@").read())
except OSError as error:
    print(error)
"""
]
