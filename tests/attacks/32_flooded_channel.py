"""A channel flooded with bytes that nobody asked for is closed, and flagged."""

CELLS = [
    """
import gc, os, socket, threading, time
channel = next(item for item in gc.get_objects() if isinstance(item, socket.socket))
def flood():
    while True:
        os.write(channel.fileno(), bytes([255]) * 2**16)
threading.Thread(target=flood, daemon=True).start()
time.sleep(0.2)
"""
]
FLAG = "channel"
