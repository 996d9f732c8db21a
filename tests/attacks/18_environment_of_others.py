"""Secrets in the environment of the grader and of other processes cannot be read."""

import os

REAL = os.geteuid() == 0  # an ordinary user's warm parent is confined to a user namespace already
CELLS = [
    """
import glob, os
print(dict(os.environ))
for path in glob.glob("/proc/[0-9]*/environ"):
    try:
        print(path, open(path, "rb").read())
    except OSError:
        pass
"""
]
