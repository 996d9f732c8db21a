"""All that can be written, in the notebook's folder, /tmp and /dev/shm together, is limited."""

REAL = True
CELLS = [
    """
import os
written = 0
for folder in (".", "/tmp", "/dev/shm"):
    try:
        with open(f"{folder}/@MARK@-{len(folder)}", "wb", 0) as file:
            for _ in range(24):
                written += file.write(bytes(2**20))
    except OSError as error:
        print(error)
print("BREACH" if written > 40 * 2**20 else "", written)
"""
]
