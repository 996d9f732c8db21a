"""An answer written to the channel before the question was asked is noticed, and flagged."""

CELLS = [
    """
import gc, socket
from autograder.protocol import codec
from autograder.sandbox import stream
channel = next(item for item in gc.get_objects() if isinstance(item, socket.socket))
for turn in range(100):
    stream.send(channel, codec.encode({"value": 1.0, "failure": None, "detail": "", "turn": turn}))
"""
]
FLAG = "channel"
