"""A channel flooded with bytes that nobody asked for is closed, and flagged."""

CELLS = [
    """
import gc, os, socket, threading
channel = next(item for item in gc.get_objects() if isinstance(item, socket.socket))
def flood():
    while True:
        os.write(channel.fileno(), bytes([255]) * 2**16)
threading.Thread(target=flood, daemon=True).start()
"""
]
MARKS = {"right": "lost", "wrong": "lost"}
FLAG = "channel"
