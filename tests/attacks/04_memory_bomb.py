"""A cell that asks for more memory than allowed gets a MemoryError, or ends alone."""

CELLS = ["hoard = []\nwhile True: hoard.append(bytearray(2**26))"]
LIMITS = {"memory_megabytes": 900}
