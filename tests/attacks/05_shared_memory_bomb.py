"""Shared anonymous memory, which no limit of a process counts, is counted from outside; hiding from the count fails."""

LIMITS = {"memory_megabytes": 700}
CELLS = [
    """
import ctypes, mmap, time
ctypes.CDLL(None).prctl(4, 0, 0, 0, 0)  # not dumpable: its memory map cannot be read from outside
hoard = []
for _ in range(24):
    piece = mmap.mmap(-1, 2**26)
    for place in range(0, len(piece), 4096):
        piece[place] = 1
    hoard.append(piece)
time.sleep(0.5)
print("BREACH: 1.5 GB of shared memory")
"""
]
