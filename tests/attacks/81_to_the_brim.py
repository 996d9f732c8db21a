"""A cell that takes all memory but one megabyte leaves a process that can be asked: no answer is lost by that."""

CELLS = [
    "room, hoard, size = bytearray(2**20), [], 2**26\n"
    "while size > 64:\n"
    "    try: hoard.append(bytearray(size))\n"
    "    except MemoryError: size //= 2\n"
    "del room"
]
LIMITS = {"memory_megabytes": 900}
