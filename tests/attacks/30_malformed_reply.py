"""Replies that are no frames (wrong sizes, object arrays, shapes beyond their bytes, NaN) are refused one by one."""

CELLS = [
    """
import json, struct, sys
child = sys.modules["autograder.sandbox.child"]
headers = iter([
    {"t": "numpy", "d": "object", "s": [3]},
    {"t": "numpy", "d": "float64", "s": [10**12]},
    {"t": "numpy", "d": "float64", "s": [-1, -8]},
    {"t": "pickle", "v": "gASVIAAA"},
] * 9)
def forged(reply):
    header = json.dumps(next(headers)).encode()
    return struct.pack(">I", len(header)) + header
child.encode = forged
"""
]
MARKS = {"right": "earned", "wrong": "lost"}
FLAG = "channel"
