"""The kernel's settings, logs and counters are neither seen nor changed."""

REAL = True
CELLS = [
    """
import os
for path in ("/proc/sys", "/proc/kallsyms", "/sys/kernel", "/sys/fs/cgroup", "/dev/kmsg", "/dev/mem"):
    if os.path.exists(path):
        print("BREACH: sees", path)
"""
]
