"""Hostile submissions as data, and the host that they are let loose on: what it holds, and what was left there."""

from __future__ import annotations

import contextlib
import copy
import functools
import os
import secrets
import socket
import subprocess
import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from autograder.authoring import loading, source_notebook
from autograder.core import Report
from autograder.grading.notebook import mark, run_and_grade
from autograder.grading.submission import load_submission
from autograder.sandbox import Limits, warm
from autograder.sandbox.watch import descendants

PROBLEMS = Path(__file__).parent / "data" / "problems"
ANSWERS = {"right": "def right(x):\n    return 2 * x", "wrong": "def wrong(x):\n    return 2 * x"}
MARKS = {"right": "earned", "wrong": "lost"}
BREACH = "BREACH"  # what an attack prints when it has got what it wants
QUICK = Limits(cell_seconds=4, question_seconds=2, notebook_seconds=40, memory_megabytes=1500, disk_megabytes=32)


@dataclass(kw_only=True)
class Host:
    """A machine with something to steal: a gradebook, another submission, a process with a secret, two listeners."""

    folder: Path
    token: str = field(default_factory=lambda: f"TOKEN-{secrets.token_hex(16)}")
    mark: str = field(default_factory=lambda: f"left-{secrets.token_hex(8)}")
    port: int = 0
    called: list[str] = field(default_factory=list)

    @property
    def treasure(self) -> Path:
        """The gradebook."""
        return self.folder / "gradebook.db"

    def text(self, source: str) -> str:
        """A cell with this host's places in it; the token itself is never told."""
        words = {"TREASURE": self.treasure, "PORT": self.port, "MARK": self.mark, "COURSE": self.folder}
        for name, value in {**words, "PROBLEMS": PROBLEMS, "GRADER": os.getpid()}.items():
            source = source.replace(f"@{name}@", str(value))
        return source

    def places(self) -> list[Path]:
        """Where an attack might leave a file."""
        shared = ("/", "/tmp", "/dev/shm", "/var/tmp", "/usr/lib", "/root", "/home", "/srv")
        return [self.folder, Path.cwd(), Path.home(), *map(Path, shared)]

    def files_left(self) -> list[Path]:
        """What bears this attack's mark."""
        found: list[Path] = []
        for place in set(self.places()):
            with contextlib.suppress(OSError):
                found += [path for path in place.iterdir() if self.mark in os.fsdecode(path.name)]
        return found

    def processes_left(self) -> list[int]:
        """Forks of the warm parent; each should have ended with its notebook."""
        assert warm._warm is not None
        root = warm._warm._process.pid
        return [pid for pid in descendants(root)[2:] if not _zombie(pid)]

    def tidy(self) -> None:
        """Remove what an attack left."""
        for path in self.files_left():
            path.unlink(missing_ok=True)


def _zombie(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] in "ZX"
    except OSError:
        return True


@contextlib.contextmanager
def hosted(folder: Path) -> Iterator[Host]:
    """A host that is attacked in a `with` block."""
    host = Host(folder=folder)
    for name in ("gradebook.db", "submitted.ipynb", ".course-secret"):
        (folder / name).write_text(host.token)
    environment = {**os.environ, "AUTOGRADER_SECRET": host.token}
    bystander = subprocess.Popen(["sleep", "600"], env=environment)
    listeners = [socket.create_server(("127.0.0.1", 0)), socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)]
    listeners[1].bind("\0" + host.mark)
    listeners[1].listen()
    host.port = listeners[0].getsockname()[1]
    for listener in listeners:
        threading.Thread(target=_listen, args=(listener, host), daemon=True).start()
    try:
        yield host
        assert bystander.poll() is None, "a process of the host was killed"
        assert host.treasure.read_text() == host.token, "the gradebook was changed"
    finally:
        bystander.kill()
        bystander.wait()
        host.tidy()
        for listener in listeners:
            with contextlib.suppress(OSError):
                listener.shutdown(socket.SHUT_RDWR)
            listener.close()


def _listen(listener: socket.socket, host: Host) -> None:
    with contextlib.suppress(OSError):
        while True:
            connection, _ = listener.accept()
            host.called.append(str(listener.getsockname()))
            connection.close()


def submission(cells: list[str], answers: Mapping[str, str]) -> dict[str, Any]:
    """A notebook of the problem with one right and one wrong answer, and cells of the student's own before them."""
    built = copy.deepcopy(source_notebook.build(loading.load("attacked", PROBLEMS), 0))
    for cell in built["cells"]:
        name = cell["metadata"]["nbgrader"]["grade_id"].removesuffix("-answer")
        if name in answers and cell["metadata"]["nbgrader"]["solution"]:
            cell["source"] = answers[name]
    own = [{"cell_type": "code", "metadata": {}, "source": source, "outputs": []} for source in cells]
    built["cells"][2:2] = own
    return built


@dataclass(kw_only=True)
class Result:
    """What came of one submission."""

    report: Report
    outputs: str
    notebook: str
    seconds: float

    @property
    def marks(self) -> dict[str, str]:
        """Standing of each part."""
        return {outcome.part: outcome.standing for outcome in self.report.outcomes}


def run(
    host: Host, cells: list[str], *, answers: Mapping[str, str] = {}, limits: Limits = QUICK, files: Any = None
) -> Result:
    """Grade one submission by the route of every other."""
    texts = {name: host.text(source) for name, source in {**ANSWERS, **answers}.items()}
    notebook = submission([host.text(cell) for cell in cells], texts)
    start = time.monotonic()
    handed_in = load_submission(notebook, course=PROBLEMS.parent, secret=host.token.encode(), files=files)
    graded = mark(handed_in, [functools.partial(run_and_grade, limits=limits)])
    seconds = time.monotonic() - start
    return Result(report=graded.report, outputs=_shown(graded.notebook), notebook=str(graded.notebook), seconds=seconds)


def _shown(graded: dict[str, Any]) -> str:
    """What the cells showed; a traceback without the source lines that it quotes."""
    outputs = [output for cell in graded["cells"] for output in cell.get("outputs", [])]
    lines = [output.get("text") or output.get("data") or output.get("evalue") for output in outputs]
    return "\n".join(map(str, lines))


def breaches(host: Host, result: Result) -> list[str]:
    """Everything that an attack achieved against the host."""
    found = []
    if BREACH in result.outputs:
        found.append(result.outputs[result.outputs.index(BREACH) :][:200])
    if host.token in result.notebook or host.token in repr(result.report):
        found.append("a secret was read")
    found += [f"{path} was left" for path in host.files_left()]
    found += [f"process {pid} was left" for pid in host.processes_left()]
    found += [f"{address} was reached" for address in host.called]
    return found
