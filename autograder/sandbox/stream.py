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


# A clock: by default the one on the wall. One that stands still for a while moves no deadline nearer.
Clock = Callable[[], float]
_SLICE = 0.1  # seconds between two looks at the clock


def send(channel: socket.socket, frame: bytes, deadline: float | None = None, clock: Clock = time.monotonic) -> None:
    """Write one frame; Hangup if nobody reads any more, Silence if not all of it was read by `deadline`."""
    content = memoryview(_LENGTH.pack(len(frame)) + frame)
    while content:
        remaining = _SLICE if deadline is None else deadline - clock()
        if remaining <= 0:
            raise Silence
        try:
            channel.settimeout(min(remaining, _SLICE))
            content = content[channel.send(content) :]
        except TimeoutError:
            continue
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
    channel: socket.socket,
    deadline: float,
    alive: Callable[[], bool] = lambda: True,
    most: int = MAX_BYTES,
    clock: Clock = time.monotonic,
) -> bytes:
    """Read one frame by `deadline` of the clock.

    Raises Silence, Hangup, or Unreadable for a frame that claims to be longer than `most`: it is not read.
    """
    (size,) = _LENGTH.unpack(_read(channel, _LENGTH.size, deadline, alive, clock))
    if size > most:
        raise Unreadable("too_large", "a reply that claims to be longer than any answer may be")
    return _read(channel, size, deadline, alive, clock)


def _read(channel: socket.socket, size: int, deadline: float, alive: Callable[[], bool], clock: Clock) -> bytes:
    content = bytearray()
    while len(content) < size:
        remaining = deadline - clock()
        if remaining <= 0:
            raise Silence
        # A grandchild may hold the socket open after the process itself is gone: look at both.
        channel.settimeout(min(remaining, _SLICE))
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
