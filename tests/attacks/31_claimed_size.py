"""A reply that claims ten gigabytes is not read."""

CELLS = [
    """
import os, struct, time
for name in os.listdir("/proc/self/fd"):
    try:
        if os.readlink(f"/proc/self/fd/{name}").startswith("socket:"):
            os.write(int(name), struct.pack(">Q", 10 * 2**30))
    except OSError:
        pass
"""
]
FLAG = "channel"
