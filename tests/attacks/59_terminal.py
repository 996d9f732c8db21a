"""There is no terminal but one's own, and nothing can be typed into it."""

CELLS = [
    """
import fcntl, os, pty
try:
    os.open("/dev/tty", os.O_RDWR)
    print("BREACH: the terminal")
except OSError as error:
    print(error)
leader, follower = pty.openpty()
try:
    fcntl.ioctl(follower, 0x5412, b"x")
    print("BREACH: typed")
except OSError as error:
    print(error)
"""
]
