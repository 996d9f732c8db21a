"""A loop inside C code, which no interrupt reaches, is stopped as well."""

LIMITS = {"cell_seconds": 1}
CELLS = ["import collections, itertools\ncollections.deque(itertools.repeat(0), maxlen=0)"]
