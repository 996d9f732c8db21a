"""A Unix socket by an abstract name, which needs no file, is not reached, and no descriptor is passed."""

REAL = True
CELLS = [
    """
import socket
channel = socket.socket(socket.AF_UNIX)
try:
    channel.connect("\\0" + "@MARK@")
    socket.send_fds(channel, [b"x"], [0])
except OSError as error:
    print(error)
"""
]
