"""A cell that closes every descriptor cuts itself off, and the rest is graded."""

CELLS = ["import os\nos.closerange(0, 4096)"]
