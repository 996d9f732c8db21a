"""Recursion without end, in Python or down to the bottom of the C stack, ends at most its own process."""

CELLS = [
    "def down(n): return down(n + 1)\ndown(0)",
    "import sys\nsys.setrecursionlimit(10**9)",
    "class C:\n    def __getattr__(self, name): return getattr(self, name)\nC().x",
    "nested = []\nfor _ in range(10**6): nested = [nested]\nrepr(nested)",
]
