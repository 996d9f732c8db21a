"""Commands as users run them, each in a process of its own, without seconds of imports for each.

A process imports once what `autograder` and `nbgrader` import, torch and all, and forks a command on request: with its
own arguments, environment, folder, output, exit code and signals. `autograder grade` splits there as it does after its
restart (autograder.sandbox.halves). What a start itself is about is tested with processes that start.
"""

from __future__ import annotations

import atexit
import contextlib
import fcntl
import functools
import gc
import importlib
import json
import os
import pkgutil
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

import autograder
from autograder.sandbox import halves, layers

MAINS = {"autograder": "autograder.cli", "nbgrader": "nbgrader.apps.nbgraderapp"}
RUN_NOTEBOOKS = {"grade", "autograde", "judge", "verify"}
# Besides all of our own package.
IMPORTED = (
    "autograder.nbgrader",  # first: it spares all others a second
    "torch", "torch.nn.functional", "torch._dynamo", "matplotlib.pyplot", "sympy", "numpy.random",
    "nbgrader.apps.nbgraderapp", "nbgrader.apps.api", "nbgrader.exchange.default", "nbgrader.plugins", "rich.live",
    "rich.progress", "rich.table", "rich._emoji_codes", "alembic.script", "sqlalchemy.orm",
    "sqlalchemy.dialects.sqlite", "latex2mathml.converter", "mistune.plugins.def_list", "mistune.plugins.task_lists",
    "mistune.plugins.url", "encodings.ascii", "encodings.utf_8_sig",
)  # fmt: skip
END_SECONDS = 10
PLACE: Path | None = None  # the folder in which the workers of a run find one process that forks for all


class Forked:
    """A command that runs, as far as `subprocess.Popen` with text and pipes shows one."""

    def __init__(self, words: Sequence[str], *, cwd: Path, env: Mapping[str, str], given: str = "") -> None:
        self.args, self.returncode = list(words), None
        self._channel, theirs = socket.socketpair()
        (out, out_end), (err, err_end) = os.pipe(), os.pipe()
        state = {"arguments": self.args, "environment": dict(env), "folder": str(cwd)}
        with tempfile.TemporaryFile() as told, tempfile.TemporaryFile() as stdin:
            for file, text in ((told, json.dumps(state)), (stdin, given)):
                file.write(text.encode())
                file.seek(0)
            descriptors = [told.fileno(), theirs.fileno(), stdin.fileno(), out_end, err_end]
            socket.send_fds(_server(), [b"."], descriptors)
        theirs.close()
        os.close(out_end)
        os.close(err_end)
        self.stdout, self.stderr = os.fdopen(out, encoding="utf-8"), os.fdopen(err, encoding="utf-8")
        self.pid = int(self._told())

    def _told(self) -> str:
        """The next line from where this was forked: the process's number, then how it ended."""
        line = b""
        while not line.endswith(b"\n"):
            piece = self._channel.recv(1)
            assert piece, "the process that forks commands has ended"
            line += piece
        return line.decode()

    def poll(self) -> int | None:
        """The exit code, once there is one."""
        return self._ended(0)

    def _ended(self, seconds: float | None) -> int | None:
        if self.returncode is None and select.select([self._channel], [], [], seconds)[0]:
            self.returncode = os.waitstatus_to_exitcode(int(self._told()))
            self._channel.close()
        return self.returncode

    def communicate(self, timeout: float | None = None) -> tuple[str, str]:
        """What the command writes, to its end; subprocess.TimeoutExpired if that takes too long."""
        written: list[str] = ["", ""]

        def read(number: int, file: Any) -> None:
            with file:
                written[number] = file.read()

        readers = [threading.Thread(target=read, args=item) for item in enumerate((self.stdout, self.stderr))]
        for reader in readers:
            reader.start()
        if self._ended(timeout) is None:
            raise subprocess.TimeoutExpired(self.args, timeout or 0)
        for reader in readers:
            reader.join()
        return written[0], written[1]

    def send_signal(self, number: int) -> None:
        """A signal, unless the command has ended."""
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        """End it at once."""
        self.send_signal(signal.SIGKILL)


def run(
    words: Sequence[str], *, cwd: Path, env: Mapping[str, str], given: str = "", timeout: float = 300
) -> subprocess.CompletedProcess[str]:
    """A command to its end; `given` is its standard input."""
    command = Forked(words, cwd=cwd, env=env, given=given)
    try:
        out, err = command.communicate(timeout)
    finally:
        command.kill()
    return subprocess.CompletedProcess(command.args, command.returncode, out, err)


@functools.cache
def _server() -> socket.socket:
    """The way to the process that forks, which the first worker that asks starts for all."""
    assert PLACE
    way = socket.socket(socket.AF_UNIX)
    with _alone(PLACE):
        try:
            way.connect(str(PLACE / "forking"))
        except OSError:
            with socket.socket(socket.AF_UNIX) as listener:
                listener.bind(str(PLACE / "forking"))
                listener.listen()
                _start(PLACE, listener.fileno())
            way.connect(str(PLACE / "forking"))
    atexit.register(way.close)
    return way


def _start(place: Path, listener: int) -> None:
    words = layers.python(f"from tests.forked import serve; serve({str(place)!r}, {listener})")
    streams = dict.fromkeys(("stdin", "stdout"), subprocess.DEVNULL)
    process = subprocess.Popen(
        words, pass_fds=[listener], env=layers.environment(), cwd="/", start_new_session=True, **streams
    )

    def end() -> None:
        with contextlib.suppress(subprocess.TimeoutExpired):  # another worker may still need it
            process.wait(END_SECONDS)

    atexit.register(end)


@contextlib.contextmanager
def _alone(place: Path) -> Iterator[None]:
    """Nobody comes while somebody starts the process that forks, or while it ends."""
    with open(place / "forking.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def serve(place: str, descriptor: int) -> None:
    """Import, then fork on request until nobody is left who could ask; in a fork, be the command."""
    listener = socket.socket(fileno=descriptor)
    os.environ["TORCHDYNAMO_DISABLE"] = "1"  # as in a notebook: an optimizer imports the compiler, and nothing uses it
    ours = (item.name for item in pkgutil.walk_packages(autograder.__path__, "autograder."))
    for name in (*IMPORTED, *(name for name in ours if not name.endswith("__main__"))):
        importlib.import_module(name)
    _used_first()
    gc.collect()
    gc.freeze()
    running: dict[int, socket.socket] = {}

    def tell_of_ends(*_: object) -> None:
        while running:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if not pid:
                return
            with running.pop(pid) as channel, contextlib.suppress(OSError):  # who asked may have ended
                channel.send(b"%d\n" % status)

    signal.signal(signal.SIGCHLD, tell_of_ends)
    asking = [listener.accept()[0]]
    while True:
        for one in select.select([listener, *asking], [], [])[0]:
            if one is listener:
                asking.append(listener.accept()[0])
                continue
            message, descriptors, _, _ = socket.recv_fds(one, 1, 5)
            if message:
                _fork([listener, *asking], running, descriptors)
                continue
            asking.remove(one)
            one.close()
            with _alone(Path(place)):
                if not asking and not select.select([listener], [], [], 0)[0]:
                    os.unlink(f"{place}/forking")
                    return


def _fork(ours: Sequence[socket.socket], running: dict[int, socket.socket], descriptors: list[int]) -> None:
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGCHLD])
    pid = os.fork()
    if pid == 0:
        _end(_command, [*ours, *running.values()], descriptors)
    running[pid] = socket.socket(fileno=descriptors.pop(1))
    running[pid].send(b"%d\n" % pid)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGCHLD])
    for number in descriptors:
        os.close(number)


def _used_first() -> None:
    """What libraries make when they are first used, and keep: schemas, maps of tables, what tracebacks look up."""
    from nbformat import validator
    from sqlalchemy import orm

    from autograder.sandbox import child

    for minor in range(6):
        validator.get_validator(4, minor)
    validator.get_validator(4, relax_add_props=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # nbgrader's models overlap
        orm.configure_mappers()
    child.first_tracebacks()


def _end(command: Callable[..., None], *arguments: Any) -> NoReturn:
    """End with a command as an interpreter does, but for the seconds in which it takes torch apart."""
    try:
        command(*arguments)
        code = 0
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
        if isinstance(end.code, str):
            print(end.code, file=sys.stderr)
    except BaseException:
        sys.excepthook(*sys.exc_info())
        code = 1
    threading._shutdown()
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def _command(ours: Sequence[socket.socket], descriptors: Sequence[int]) -> None:
    """What is asked for, from the first line of its `main` to the end of the interpreter."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGCHLD])
    for one in ours:
        one.close()
    state, channel, *streams = descriptors
    os.close(channel)
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    with open(state, encoding="utf-8") as file:
        told = json.load(file)
    program, verb = told["arguments"][:2]
    if RUN_NOTEBOOKS & {verb}:
        halves.split()
    halves._RESTARTED = True
    os.environ.clear()
    os.environ.update(told["environment"])
    sys.argv = told["arguments"]
    os.chdir(told["folder"])
    importlib.import_module(MAINS[program]).main()
