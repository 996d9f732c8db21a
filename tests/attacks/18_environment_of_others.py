"""Secrets in the environment of the grader and of other processes cannot be read."""

REAL = True
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
