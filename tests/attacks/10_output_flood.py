"""A gigabyte of output is cut to what a person could read."""

CELLS = ["for _ in range(1000): print('x' * 10**6)"]
# It has the time to write all of it, on a busy machine too: what a cell showed that was ended by its time is gone.
LIMITS = {"cell_seconds": 60, "notebook_seconds": 100}
FLAG = "shows more than"
