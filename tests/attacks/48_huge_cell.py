"""A cell of a hundred megabytes is left out, and the rest graded."""

CELLS = ["# " + "x" * 100_000_000]
