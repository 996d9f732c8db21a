"""The process cannot arrange to outlive the warm parent that it was forked from."""

REAL = True
CELLS = [
    """
import ctypes
print("BREACH" if ctypes.CDLL(None).prctl(1, 0, 0, 0, 0) == 0 else "refused")
"""
]
