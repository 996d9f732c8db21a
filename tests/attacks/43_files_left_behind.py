"""Nothing is left in a home directory, a shared or temporary one, the exchange or the course."""

REAL = True
CELLS = [
    """
import os
for folder in ("~", "/root", "/home", "/dev/shm", "/tmp", "/var/tmp", "/srv", "@COURSE@", "/", "/usr/lib"):
    try:
        with open(os.path.join(os.path.expanduser(folder), "@MARK@"), "w") as file:
            file.write("here")
    except OSError as error:
        print(error)
"""
]
