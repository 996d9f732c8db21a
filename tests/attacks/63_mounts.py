"""Nothing can be mounted, unmounted or made writable."""

CELLS = [
    """
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
libc.mount.argtypes = [ctypes.c_char_p] * 3 + [ctypes.c_ulong, ctypes.c_char_p]
os.makedirs("here")
for call in (
    lambda: libc.mount(b"x", b"here", b"tmpfs", 0, None),
    lambda: libc.mount(b"/", b"here", None, 4096, None),
    lambda: libc.mount(b"x", b"/usr/lib", None, 32 | 4096, None),
    lambda: libc.umount2(b"/usr/lib", 2),
    lambda: libc.umount2(b"/proc", 2),
    lambda: libc.syscall({"x86_64": 155, "aarch64": 41}[os.uname().machine], b"here", b"here"),
):
    print("BREACH" if call() == 0 else ctypes.get_errno())
"""
]
