"""A daemon in a session of its own, which holds the channel open and ignores signals, ends with the notebook."""

CELLS = [
    """
import os, signal, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        for number in range(1, 65):
            try:
                signal.signal(number, signal.SIG_IGN)
            except (OSError, ValueError):
                pass
        time.sleep(60)
    os._exit(0)
"""
]
