"""Links to the machine's files lead nowhere, and nobody outside follows them."""

REAL = True
CELLS = [
    """
import os
os.symlink("@COURSE@", "data")
os.symlink("@TREASURE@", "/tmp/@MARK@")
for path in ("data/gradebook.db", "/tmp/@MARK@"):
    try:
        print(open(path).read())
    except OSError as error:
        print(error)
"""
]
