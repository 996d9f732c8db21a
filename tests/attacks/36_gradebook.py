"""The gradebook, the course secret and the folder that they lie in do not exist."""

REAL = True
CELLS = [
    """
import os, subprocess
for name in ("gradebook.db", ".course-secret"):
    try:
        print(open("@COURSE@/" + name).read())
    except OSError as error:
        print(error)
print(subprocess.run("cat @COURSE@/*", shell=True, capture_output=True, text=True).stdout)
"""
]
