"""A server of this machine cannot be reached."""

REAL = True
CELLS = [
    """
import socket
for address in ("127.0.0.1", "localhost", "::1", "0.0.0.0"):
    try:
        socket.create_connection((address, @PORT@), timeout=1).close()
    except OSError as error:
        print(error)
"""
]
