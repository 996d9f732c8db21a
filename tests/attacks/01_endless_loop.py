"""A cell that never ends costs only itself: it is stopped, and the rest is graded."""

LIMITS = {"cell_seconds": 1}
CELLS = ["while True: pass"]
