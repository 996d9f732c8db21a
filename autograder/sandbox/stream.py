"""Frames on a stream socket: eight bytes of length, then the frame; with a deadline and a size limit on reading."""

from __future__ import annotations

import select
import socket
import struct
import time
from collections.abc import Callable

from autograder.errors import Unreadable
from autograder.wire import MAX_BYTES

_LENGTH = struct.Struct(">Q")


class Silence(Exception):
    """The other side did not answer in time."""


class Hangup(Exception):
    """The other side is gone."""


def send(channel: socket.socket, frame: bytes) -> None:
    """Write one frame; Hangup if nobody reads any more."""
    try:
        channel.sendall(_LENGTH.pack(len(frame)) + frame)
    except OSError as error:
        raise Hangup(str(error)) from error


def receive(channel: socket.socket, deadline: float, alive: Callable[[], bool] = lambda: True) -> bytes:
    """Read one frame by `deadline` (of `time.monotonic`).

    Raises Silence, Hangup, or Unreadable for a frame that claims to be longer than the codec allows: it is not read.
    """
    (size,) = _LENGTH.unpack(_read(channel, _LENGTH.size, deadline, alive))
    if size > MAX_BYTES:
        raise Unreadable("too_large", "a reply that claims to be longer than any answer may be")
    return _read(channel, size, deadline, alive)


def _read(channel: socket.socket, size: int, deadline: float, alive: Callable[[], bool]) -> bytes:
    content = bytearray()
    while len(content) < size:
        remaining = deadline - time.monotonic()
        if remaining <= 0:
            raise Silence
        # A grandchild may hold the socket open after the process itself is gone: look at both.
        ready, _, _ = select.select([channel], [], [], min(remaining, 0.1))
        if not ready:
            if not alive():
                raise Hangup("the process ended")
            continue
        try:
            piece = channel.recv(min(size - len(content), 2**20))
        except OSError as error:
            raise Hangup(str(error)) from error
        if not piece:
            raise Hangup("the process ended")
        content += piece
    return bytes(content)
