"""Frames on a stream socket: eight bytes of length, then the frame; with a deadline and a size limit on reading."""

from __future__ import annotations

import socket
import struct
import time
from collections.abc import Callable

from autograder.errors import Unreadable
from autograder.protocol.codec import MAX_BYTES

_LENGTH = struct.Struct(">Q")


class Silence(Exception):
    """The other side did not answer in time."""


class Hangup(Exception):
    """The other side is gone."""


def send(channel: socket.socket, frame: bytes, deadline: float | None = None) -> None:
    """Write one frame; Hangup if nobody reads any more, Silence if not all of it was read by `deadline`."""
    try:
        channel.settimeout(None if deadline is None else max(deadline - time.monotonic(), 0.001))
        channel.sendall(_LENGTH.pack(len(frame)) + frame)
    except TimeoutError as error:
        raise Silence from error
    except OSError as error:
        raise Hangup(str(error)) from error


def pending(channel: socket.socket) -> bool:
    """Whether something was sent that nobody asked for; an end of the stream is nothing."""
    channel.setblocking(False)
    try:
        return bool(channel.recv(1, socket.MSG_PEEK))
    except OSError:
        return False


def receive(
    channel: socket.socket, deadline: float, alive: Callable[[], bool] = lambda: True, most: int = MAX_BYTES
) -> bytes:
    """Read one frame by `deadline` (of `time.monotonic`).

    Raises Silence, Hangup, or Unreadable for a frame that claims to be longer than `most`: it is not read.
    """
    (size,) = _LENGTH.unpack(_read(channel, _LENGTH.size, deadline, alive))
    if size > most:
        raise Unreadable("too_large", "a reply that claims to be longer than any answer may be")
    return _read(channel, size, deadline, alive)


def _read(channel: socket.socket, size: int, deadline: float, alive: Callable[[], bool]) -> bytes:
    content = bytearray()
    while len(content) < size:
        remaining = deadline - time.monotonic()
        if remaining <= 0:
            raise Silence
        # A grandchild may hold the socket open after the process itself is gone: look at both.
        channel.settimeout(min(remaining, 0.1))
        try:
            piece = channel.recv(min(size - len(content), 2**20))
        except TimeoutError as error:
            if not alive():
                raise Hangup("the process ended") from error
            continue
        except OSError as error:
            raise Hangup(str(error)) from error
        if not piece:
            raise Hangup("the process ended")
        content += piece
    return bytes(content)
