"""A program's endless output is cut, and the program stopped with its cell."""

LIMITS = {"cell_seconds": 2}
CELLS = ["!yes"]
