"""The process's own environment, in Python, in C and as it was at the start, holds nothing of the grader's."""

CELLS = [
    """
import ctypes, os
print(dict(os.environ), os.getenv("AUTOGRADER_SECRET"))
block = ctypes.POINTER(ctypes.c_char_p).in_dll(ctypes.CDLL(None), "environ")
place = 0
while block[place]:
    print(block[place])
    place += 1
print(open("/proc/self/environ", "rb").read(), open("/proc/1/cmdline", "rb").read())
"""
]
