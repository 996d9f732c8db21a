"""The process behind `guard`: reads calls from standard input, answers on standard output.

Started as `python -m autograder.maths.worker MEMORY`. Nothing but the requested module is imported.
"""

from __future__ import annotations

import gc
import importlib
import os
import pickle
import resource
import signal
import struct
import sys
import traceback
from typing import Any, BinaryIO

from autograder.errors import AutograderError

_LENGTH = struct.Struct("!Q")


def serve(memory: int) -> None:
    """Answer calls until standard input is closed."""
    requests = os.fdopen(os.dup(0), "rb")
    replies = os.fdopen(os.dup(1), "wb")
    # What a library prints must not reach the channel.
    quiet = os.open(os.devnull, os.O_RDWR)
    os.dup2(quiet, 0)
    os.dup2(quiet, 1)
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    # The alarm is left to the kernel, which ends C code too: a backstop where the parent has died.
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    gc.set_threshold(20_000, 20, 20)  # trees are short-lived; a collection walks over all that was imported
    while header := requests.read(_LENGTH.size):
        (length,) = _LENGTH.unpack(header)
        _answer(replies, pickle.loads(requests.read(length)))  # noqa: S301  # the parent's own request


def _answer(replies: BinaryIO, request: tuple[str, str, tuple[Any, ...], dict[str, Any], float]) -> None:
    module, name, args, kwargs, seconds = request
    try:
        function = getattr(importlib.import_module(module), name)
        _write(replies, ("ready", None))
        signal.setitimer(signal.ITIMER_REAL, 2 * seconds + 1)
        try:
            reply = ("value", function(*args, **kwargs))
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
    except AutograderError as error:
        reply = ("raised", error.with_traceback(None))
    except MemoryError:
        reply = ("memory", None)
    except Exception:
        reply = ("failed", traceback.format_exc())
    _write(replies, reply)


def _write(replies: BinaryIO, reply: tuple[str, Any]) -> None:
    data = pickle.dumps(reply)
    replies.write(_LENGTH.pack(len(data)) + data)
    replies.flush()


if __name__ == "__main__":
    serve(int(sys.argv[1]))
