"""Many processes that each take less memory than one may are ended for what they take together."""

LIMITS = {"memory_megabytes": 700}
CELLS = [
    """
import os, time
for _ in range(20):
    if os.fork() == 0:
        hoard = bytearray(os.urandom(1)) * (80 * 2**20)
        time.sleep(60)
        os._exit(0)
time.sleep(3.5)
print("BREACH: 1.6 GB in twenty pieces")
"""
]
