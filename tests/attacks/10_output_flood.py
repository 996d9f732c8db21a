"""A gigabyte of output is cut to what a person could read."""

CELLS = ["for _ in range(1000): print('x' * 10**6)"]
FLAG = "shows more than"
