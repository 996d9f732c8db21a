"""Threads are counted with processes."""

LIMITS = {"processes": 60}
CELLS = [
    """
import threading, time
started = 0
try:
    for _ in range(300):
        threading.Thread(target=time.sleep, args=(600,), daemon=True).start()
        started += 1
except RuntimeError as error:
    print(error)
print("BREACH" if started > 60 else "started", started)
"""
]
