"""A pickle sent as an answer is bytes, and nothing unpickles it."""

CELLS = [
    """
import os, pickle
class Payload:
    def __reduce__(self): return os.system, ("touch @COURSE@/@MARK@",)
"""
]
ANSWERS = {"wrong": "def wrong(x):\n    return pickle.dumps(Payload())"}
