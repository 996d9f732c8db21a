"""The parts of the kernel that no exercise needs are out of reach: key rings, io_uring, BPF, perf, userfaultfd."""

REAL = True
CELLS = [
    """
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
numbers = {"x86_64": (250, 425, 321, 298, 323, 304), "aarch64": (219, 425, 280, 241, 282, 265)}[os.uname().machine]
buffer = ctypes.create_string_buffer(256)
every = ((0, -3, 1), (1, buffer), (0, buffer, 72), (buffer, 0, -1, -1, 0), (1,), (-1, buffer, 0))
for number, words in zip(numbers, every):
    ctypes.set_errno(0)
    done = libc.syscall(number, *words)
    print("BREACH" if done >= 0 or ctypes.get_errno() != 1 else "refused", number, done, ctypes.get_errno())
"""
]
