"""No namespace of one's own, in which one would be root, by any of the three calls."""

REAL = True
CELLS = [
    """
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
for flag in (0x10000000, 0x20000, 0x40000000):
    if os.fork() == 0:
        os._exit(7 if libc.unshare(flag) == 0 else 0)
    if os.waitstatus_to_exitcode(os.wait()[1]) == 7:
        print("BREACH: unshare")
number = {"x86_64": 56, "aarch64": 220}[os.uname().machine]
child = libc.syscall(number, 0x10000000 | 17, 0, 0, 0, 0)
if child == 0:
    os._exit(0)
print("BREACH: clone" if child > 0 else ctypes.get_errno())
print("BREACH: clone3" if libc.syscall(435, None, 0) == 0 or ctypes.get_errno() != 38 else "no clone3")
try:
    with open("/proc/self/ns/user") as file:
        print("BREACH: setns" if libc.setns(file.fileno(), 0) == 0 else "no setns")
except OSError as error:
    print(error)
"""
]
