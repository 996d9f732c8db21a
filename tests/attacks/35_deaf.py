"""A process that stops reading does not keep the grader waiting, although the question is longer than the channel."""

LIMITS = {"question_seconds": 1, "cell_seconds": 1}
MARKS = {"right": "lost", "wrong": "lost"}
CELLS = [
    """
import sys, time
stream = sys.modules["autograder.sandbox.child"].stream
stream.receive = lambda *a, **k: time.sleep(600)
"""
]
