"""A student's notebook on Windows, where modules of POSIX are not there, and in a browser, where little else is."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from autograder.authoring import loading
from autograder.authoring.source_notebook import answer_id, build, without_hidden
from autograder.parts import kinds

ROOT = Path(__file__).parents[2]
# What Windows has not.
WINDOWS = """
import os, select, signal, sys
gone = {"fcntl", "resource", "termios", "pwd", "grp", "pty", "tty", "readline", "syslog"}
for name in gone:
    sys.modules[name] = None
for module, names in {
    signal: ("SIGALRM", "SIGKILL", "SIGHUP", "SIGUSR1", "alarm", "setitimer", "pthread_sigmask"),
    select: ("poll", "epoll"),
    os: ("fork", "forkpty", "getuid", "geteuid", "setsid", "sched_getaffinity", "mkfifo", "O_NOFOLLOW", "O_NONBLOCK"),
}.items():
    for name in names:
        if hasattr(module, name):
            delattr(module, name)
"""
# What Pyodide has not, and what is no base dependency.
BROWSER = """
import os, subprocess, sys, threading, _thread
for name in ("torch", "sympy", "mpmath", "flint", "scipy", "nbgrader", "nbformat", "multiprocessing", "matplotlib"):
    sys.modules[name] = None
def refused(*arguments, **options):
    raise RuntimeError("there are no processes and threads here")
os.fork = os.posix_spawn = os.system = subprocess.Popen = subprocess.run = refused
threading.Thread.start = _thread.start_new_thread = refused
"""
RUN = """
import contextlib, io, json, sys
names, failed = {"__name__": "__main__"}, []
for cell in json.load(sys.stdin):
    shown = io.StringIO()
    try:
        with contextlib.redirect_stdout(shown):
            exec(compile(cell, "cell", "exec"), names)
    except Exception as error:
        failed.append(f"{type(error).__name__}: {error} in {cell[:200]}")
    failed += [line for line in shown.getvalue().splitlines() if "✗" in line or "not checked" in line]
print(json.dumps(failed))
print(sorted(name for name in sys.modules if name.split(".")[0] in ("torch", "sympy") and sys.modules[name]))
sys.stdout.flush()
__import__("os")._exit(0)  # libraries that are halfway taken away need not end well
"""
# Each kind of typed answer is among these.
_TORCH = ("import torch", "from torch")
TYPED = (
    "attention_sheet", "positional_rotation", "self_attention_runtime", "loss_heads", "softmax_entropy",
    "language_modeling", "parameter_counting", "recurrent_cells",
)  # fmt: skip
KINDS = {name for name, kind in kinds().items() if not (kind.runs or kind.judged_by_person)}


def cells(slug: str, *, without_code: bool) -> list[str]:
    """The cells of a solved notebook, each answer as its author wrote it."""
    problem, found = loading.load(slug, ROOT / "problems"), []
    runs = {name for part in problem.parts if part.runs for name in (part.name, answer_id(part.name))}
    for cell in build(problem, 1, root=ROOT / "problems")["cells"]:
        if cell["cell_type"] == "code" and not (without_code and cell["metadata"]["nbgrader"]["grade_id"] in runs):
            lines = without_hidden("".join(cell["source"])).split("\n")
            found.append("\n".join(x for x in lines if not (without_code and x.startswith(_TORCH))))
    return found


def failures(before: str, sources: list[str]) -> tuple[list[str], str]:
    """What raises when cells run in a fresh process in which something is missing; and the heavy modules it loaded."""
    run = subprocess.run(
        [sys.executable, "-c", before + RUN], input=json.dumps(sources), capture_output=True, text=True, cwd=ROOT
    )
    assert run.returncode == 0, run.stderr
    failed, heavy = run.stdout.splitlines()[-2:]
    return json.loads(failed), heavy


def test_every_kind_is_tried() -> None:
    """No kind of typed answer is left out below."""
    problems = [loading.load(slug, ROOT / "problems") for slug in TYPED]
    assert {part.kind for problem in problems for part in problem.parts} >= KINDS


@pytest.mark.parametrize("slug", TYPED)
def test_typed_answers_need_neither_torch_nor_processes_nor_threads(slug: str) -> None:
    """Declared, shown and checked as in Pyodide, with the base dependencies alone."""
    assert failures(WINDOWS + BROWSER, cells(slug, without_code=True)) == ([], "[]")


@pytest.mark.parametrize("slug", ["ugrnn_gates", "language_modeling"])
def test_code_answers_need_no_posix(slug: str) -> None:
    """Functions and modules, code that draws and code that trains are checked in their form on Windows."""
    assert failures(WINDOWS, cells(slug, without_code=False))[0] == []


@pytest.mark.parametrize(
    "planted",
    ["import resource", "import select; select.poll()", "import signal; signal.SIGALRM", "import torch",
     "import threading; threading.Thread(target=print).start()", "import subprocess; subprocess.run(['true'])",
     "import os; os.fork()"],
)  # fmt: skip
def test_what_is_not_there_is_missed(planted: str) -> None:
    """The tests above can fail: whoever uses what they take away is heard."""
    assert failures(WINDOWS + BROWSER, [planted])[0] != []
