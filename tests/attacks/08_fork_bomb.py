"""Processes that start processes come to an end at a number, and all of them end with the notebook."""

LIMITS = {"processes": 40}
CELLS = [
    """
import os, time
started = 0
for _ in range(150):
    try:
        if os.fork() == 0:
            os.setsid()
            time.sleep(600)
    except OSError as error:
        print(error)
        break
    started += 1
print("BREACH" if started > 40 else "started", started)
"""
]
