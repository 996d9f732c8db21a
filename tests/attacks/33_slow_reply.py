"""A reply that drips byte by byte does not keep the grader beyond the time of its cell."""

LIMITS = {"cell_seconds": 1.5}
CELLS = [
    """
import gc, os, socket, struct, time
channel = next(item for item in gc.get_objects() if isinstance(item, socket.socket))
os.write(channel.fileno(), struct.pack(">Q", 10_000))
while True:
    os.write(channel.fileno(), b"x")
    time.sleep(0.01)
"""
]
