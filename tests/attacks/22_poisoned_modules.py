"""Replacing the modules that carry answers yields a claim instead of an answer, which is no answer."""

CELLS = [
    """
import sys
from autograder import core
from autograder.protocol import answering
def claim(question, namespace):
    return core.Answer(value={"ok": True, "standing": "earned", "points": 100})
answering.answer_alone = sys.modules["autograder.sandbox.child"].answer_alone = claim
"""
]
MARKS = {"right": "lost", "wrong": "lost"}
