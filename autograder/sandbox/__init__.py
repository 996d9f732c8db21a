"""Where students' code runs: `Session` runs cells and puts questions, and nothing else knows how.

The process that runs the code is a fork of a warm parent (`warm`), lives for one notebook, and is killed at its end.
It is told cells and questions and answers with data over a socket of its own; its standard output is not read.
"""

from autograder.sandbox.session import CellResult, Limits, Session

__all__ = ["CellResult", "Limits", "Session"]
