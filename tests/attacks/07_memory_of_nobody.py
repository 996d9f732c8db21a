"""Memory that belongs to no process, where no count finds it, is not given: memfd and System V segments."""

REAL = True
CELLS = [
    """
import ctypes, os
libc = ctypes.CDLL(None)
try:
    print("BREACH: memfd", os.memfd_create("hoard"))
except OSError as error:
    print(error)
segment = libc.shmget(0, 4096, 0o1600)
if segment >= 0:
    libc.shmctl(segment, 0, None)  # remove it again
    print("BREACH: a shared segment")
"""
]
