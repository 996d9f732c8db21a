"""Nobody gets a higher priority or a higher limit."""

REAL = True
CELLS = [
    """
import os, resource
try:
    os.nice(-5)
    print("BREACH: priority")
except OSError as error:
    print(error)
for name in ("CPU", "FSIZE", "NPROC", "NOFILE", "DATA"):
    try:
        resource.setrlimit(getattr(resource, "RLIMIT_" + name), (-1, -1) if name != "NOFILE" else (900, 900))
        print("BREACH: limit", name)
    except (OSError, ValueError) as error:
        print(error)
"""
]
