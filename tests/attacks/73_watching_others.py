"""Nothing of others can be watched: no folder of the machine's can be waited on, no other mount be seen."""

REAL = True
CELLS = [
    """
import ctypes, os
libc = ctypes.CDLL(None)
watch = libc.inotify_init()
for folder in (b"@COURSE@", b"/var", b"/home", b"/run"):
    if libc.inotify_add_watch(watch, folder, 0xFFF) >= 0:
        print("BREACH: watching", folder)
for line in open("/proc/self/mountinfo"):
    if "@COURSE@" in line or " /home" in line or " /var" in line:
        print("BREACH:", line)
"""
]
