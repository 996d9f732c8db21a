"""The student's side of the wall: runs cells, answers questions, knows no answers.

Everything here can be read and changed by the student's code: what leaves this process is a stranger's data.
"""

from __future__ import annotations

import builtins
import ctypes
import os
import random
import resource
import socket
import sys
import time
from typing import Any

from autograder.answering import answer
from autograder.core import Answer, Question
from autograder.errors import Unreadable
from autograder.sandbox import stream
from autograder.sandbox.shell import Outputs, Shell, Stream, no_input
from autograder.wire import decode, encode

_PR_SET_CHILD_SUBREAPER = 36


def serve(channel: socket.socket, settings: dict[str, Any]) -> None:
    """Live for one notebook: prepare the process, then do what is asked until the channel closes."""
    _prepare(settings)
    os.register_at_fork(after_in_child=channel.close)  # a fork of the student's must not answer in its parent's place
    outputs = Outputs(settings["output_characters"])
    shell = _shell(outputs)
    stream.send(channel, encode({"ready": True}))
    while True:
        try:
            request = decode(stream.receive(channel, time.monotonic() + 24 * 3600))
        except (stream.Hangup, stream.Silence, ValueError):  # ValueError: closed by the fork above
            return
        outputs.clear()
        _restore_streams(outputs)
        if request["do"] == "cell":
            shell.run_cell(request["source"], store_history=True)
            reply = _safe({"outputs": outputs.items})
        else:
            reply = _answer(request["question"], shell)
        stream.send(channel, reply)


def _restore_streams(outputs: Outputs) -> None:
    """New streams where a cell took them away: the shell itself writes to them."""
    for name in ("stdout", "stderr"):
        if not hasattr(getattr(sys, name, None), "write"):
            setattr(sys, name, Stream(outputs, name))


def _answer(question: dict[str, Any], shell: Shell) -> bytes:
    found = answer(Question(**{**question, "arguments": tuple(question["arguments"])}), shell.user_ns)
    return _safe({"value": found.value, "failure": found.failure, "detail": found.detail})


def _safe(reply: dict[str, Any]) -> bytes:
    try:
        return encode(reply)
    except Unreadable as error:
        found = Answer(failure="unreadable", detail=error.message)
        return encode({"value": None, "failure": found.failure, "detail": found.detail, "outputs": []})


def _prepare(settings: dict[str, Any]) -> None:
    """A fresh session, directory, environment, streams, limits and random state."""
    os.setsid()
    # Daemons that the student starts become children of this process again, so that they are found and ended with it.
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    os.umask(0o077)
    os.chdir(settings["directory"])
    os.environ.update(HOME=settings["directory"], TMPDIR=settings["directory"])
    os.environ["MPLBACKEND"] = "module://matplotlib_inline.backend_inline"
    os.environ["OMP_NUM_THREADS"] = "1"
    null = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(null, descriptor)
    megabyte = 2**20
    limits = {
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_FSIZE: settings["file_megabytes"] * megabyte,
        resource.RLIMIT_DATA: settings["memory_megabytes"] * megabyte,
    }
    for limit, value in limits.items():
        resource.setrlimit(limit, (value, value))
    # The notebook's own folder comes last: a file handed in beside it cannot take the place of a library.
    sys.path[:] = [entry for entry in sys.path if entry not in ("", settings["directory"])] + [settings["directory"]]
    _seed()


def _seed() -> None:
    """The same random state for every submission: a second run gives the same answers."""
    import numpy as np
    import torch

    random.seed(0)
    np.random.seed(0)
    torch.manual_seed(0)


def _shell(outputs: Outputs) -> Shell:
    shell: Shell = Shell.instance(outputs=outputs, colors="nocolor")
    sys.stdout, sys.stderr = Stream(outputs, "stdout"), Stream(outputs, "stderr")
    sys.stdin = open(os.devnull)  # noqa: SIM115 - lives as long as the process
    builtins.input = no_input
    return shell
