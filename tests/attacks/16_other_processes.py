"""No process but one's own can be seen."""

REAL = True
CELLS = [
    """
import os
for name in os.listdir("/proc"):
    if name.isdigit() and int(name) != os.getpid():
        print("BREACH: process", name)
"""
]
