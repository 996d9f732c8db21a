"""The student's side of the wall: runs cells, answers questions, knows no answers.

Everything here can be read and changed by the student's code: what leaves this process is a stranger's data.
"""

from __future__ import annotations

import builtins
import contextlib
import functools
import os
import random
import socket
import sys
import tempfile
import time
from collections.abc import Iterator
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from typing import Any

from autograder.core import LAST_WORDS
from autograder.errors import Unreadable
from autograder.protocol.answering import answers, failure_of
from autograder.protocol.codec import decode, encode
from autograder.sandbox import linux, mounts, stream, wall
from autograder.sandbox.kernel import Kernel
from autograder.sandbox.outputs import MAX_OUTPUTS
from autograder.sandbox.shell import Outputs, Shell, Stream, no_input

# The first traceback takes longer than all else in many a notebook, as does the first one through a file of a library.
_REHEARSED = ("1", "1 / 0", "assert False", "import numpy\nnumpy.testing.assert_allclose(1, 2)")


def serve(channel: socket.socket, layers: frozenset[str], shown: list[tuple[str, str]]) -> None:
    """Live for one notebook: put up the wall, prepare the process, then do what is asked until the channel closes."""
    settings = decode(stream.receive(channel, time.monotonic() + 3600))
    try:
        _prepare(channel, settings, layers, shown)
    except OSError as error:
        stream.send(channel, encode({"fault": str(error)}))
        return
    os.register_at_fork(after_in_child=channel.close)  # a fork of the student's must not answer in its parent's place
    shell, outputs = _at_home(settings["output_characters"])
    kernel = Kernel(shell, outputs, settings["first"]) if settings["kernel"] else None
    stream.send(channel, encode({"ready": True}))
    while True:
        try:
            request = decode(stream.receive(channel, time.monotonic() + 24 * 3600))
        except (stream.Hangup, stream.Silence, ValueError):  # ValueError: closed by the fork above
            return
        if request["do"] == "ask":
            questions = memoryview(stream.receive(channel, time.monotonic() + 24 * 3600))
            _answer(channel, shell, outputs, request, questions, settings["reply_bytes"])
            continue
        _renew(outputs)
        reply: dict[str, Any] = {"turn": request["turn"]}
        with wall.without_spare():
            if kernel:
                reply["restored"], reply["failed"] = kernel.run(request["source"], request["trusted"])
            else:
                shell.run_cell(request["source"], store_history=True)
        reply["outputs"] = outputs.items[:MAX_OUTPUTS]
        stream.send(channel, _safe(reply, "", settings["reply_bytes"]))


def _renew(outputs: Outputs) -> None:
    """No outputs, and new streams where a cell took them away: the shell itself writes to them."""
    outputs.clear()
    for name in ("stdout", "stderr"):
        if not hasattr(getattr(sys, name, None), "write"):
            setattr(sys, name, Stream(outputs, name))


def _answer(
    channel: socket.socket, shell: Shell, outputs: Outputs, request: dict[str, Any], frames: memoryview, most: int
) -> None:
    """Reply to each question, one by one, up to the first that says that there is nothing to ask.

    One for a value and its gradients gets two replies.
    """
    end, turn = 0, request["turn"]
    for size in request["sizes"]:
        start, end = end, end + size
        _renew(outputs)
        for name, found in answers(frames[start:end], shell.user_ns):
            stream.send(channel, _safe({**vars(found), "turn": turn}, name, most))
            turn += 1
            if found.failure in LAST_WORDS:
                return


def _safe(reply: dict[str, Any], name: str, most: int) -> bytes:
    try:
        frame = encode(reply)
        if len(frame) > most:
            raise Unreadable("too_large", f"a value of more than {most // 2**20} MB")
        decode(frame, arrays=False)  # what the other side would not read is no answer
        return frame
    except BaseException as error:  # a student's class may raise whatever it likes
        return encode({**vars(failure_of(error, name)), "outputs": [], "turn": reply["turn"]})


def _prepare(
    channel: socket.socket, settings: dict[str, Any], layers: frozenset[str], shown: list[tuple[str, str]]
) -> None:
    """A fresh session, streams, wall, directory with the notebook's files, and environment."""
    os.setsid()
    channel.set_inheritable(False)
    if sys.platform.startswith("linux"):
        # A daemon's parent is this process again, so that it is found and ended with it where there is no namespace.
        linux.prctl(linux.PR_SET_CHILD_SUBREAPER, 1)
    null = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(null, descriptor)
    os.closerange(3, channel.fileno())
    os.closerange(channel.fileno() + 1, 4096)
    wall.enter(layers, {**settings, "shown": shown + [tuple(pair) for pair in settings["visible"]]})
    directory = mounts.WORK if "files" in layers else settings["directory"]
    os.umask(0o077)
    os.chdir(directory)
    for name, content in settings["files"].items():
        with contextlib.suppress(OSError):  # what does not fit is not there, as the notebook will find
            os.makedirs(os.path.dirname(name) or ".", exist_ok=True)
            with open(name, "wb") as file:
                file.write(content.tobytes())
    # There is no compiler: what torch was to compile is run as it is written.
    os.environ.update(HOME=directory, TMPDIR=directory, USER=mounts.NAME, TORCHDYNAMO_DISABLE="1")
    if "files" not in layers:
        tempfile.tempdir = None  # the warm parent's, which need not be there for this process
    # The notebook's own folder comes last: a file handed in beside it cannot take the place of a library.
    sys.path[:] = [entry for entry in sys.path if entry not in ("", directory)] + [directory]


def rehearse() -> None:
    """Do once, in the warm parent, what is the same for every notebook: a shell that has run nothing, and the seeds."""
    first_tracebacks()
    with _folder_of_ipython():
        _shell(Outputs(1000))
    _seed()


@functools.cache
def first_tracebacks() -> None:
    """Run cells in a shell that goes again: the first ones and their tracebacks are slow. Forks need not do it anew."""
    with _folder_of_ipython():
        main, streams = sys.modules["__main__"], (sys.stdout, sys.stderr)
        outputs = Outputs(1000)
        shell = _shell(outputs)
        sys.stdout, sys.stderr = Stream(outputs, "stdout"), Stream(outputs, "stderr")
        for cell in _REHEARSED:
            shell.run_cell(cell, store_history=True)
        Shell.clear_instance()
        for name in ("type", "value", "traceback", "exc"):
            vars(sys).pop(f"last_{name}", None)
        sys.modules["__main__"] = main
        sys.stdout, sys.stderr = streams


@contextlib.contextmanager
def _folder_of_ipython() -> Iterator[None]:
    with tempfile.TemporaryDirectory() as folder:
        os.environ["IPYTHONDIR"] = folder
        yield
        del os.environ["IPYTHONDIR"]


def _seed() -> None:
    """The same random state for every submission: a second run gives the same answers."""
    import numpy as np

    np.random.seed(0)
    if torch := sys.modules.get("torch"):
        torch.manual_seed(0)
    elif not any(isinstance(finder, _SeedsTorch) for finder in sys.meta_path):
        sys.meta_path.insert(0, _SeedsTorch())


class _SeedsTorch:
    """Finds torch, once, where a notebook imports it that nobody had imported before, and seeds it."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        """What torch is made from; nothing for any other module."""
        if name != "torch":
            return None
        sys.meta_path.remove(self)
        found = find_spec(name)
        if found and (loader := found.loader):
            execute = loader.exec_module

            def seeded(module: Any) -> None:
                execute(module)
                module.manual_seed(0)

            loader.exec_module = seeded  # type: ignore[method-assign]
        return found


def _shell(outputs: Outputs) -> Shell:
    shell: Shell = Shell.instance(outputs=outputs, colors="nocolor")
    return shell


def _at_home(characters: int) -> tuple[Shell, Outputs]:
    """The shell that the warm parent has made, in this process's own directory, with streams of its own."""
    shell: Shell = Shell.instance()
    outputs = shell.outputs
    outputs.limit = characters
    shell.move()
    sys.stdout, sys.stderr = Stream(outputs, "stdout"), Stream(outputs, "stderr")
    sys.stdin = open(os.devnull)  # noqa: SIM115 - lives as long as the process
    builtins.input = no_input
    random.seed(0)  # only here: Python gives every fork another state
    return shell, outputs
