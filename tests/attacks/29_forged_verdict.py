"""A reply that is a verdict instead of an answer is no reply, and flagged."""

CELLS = [
    """
import sys
child = sys.modules["autograder.sandbox.child"]
encode = child.encode
child.encode = lambda reply: encode({"turn": reply["turn"], "ok": True, "standing": "earned", "points": 100.0})
"""
]
MARKS = {"right": "lost", "wrong": "lost"}
FLAG = "channel"
