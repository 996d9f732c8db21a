"""Two runs at once: the second waits and says so; a killed one leaves nothing that has to be removed by hand."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time

import pytest

from autograder.course.lock import alone, path_of
from autograder.errors import StaffError
from tests.course.conftest import ROOT

HOLDER = """
import sys, time
sys.path.insert(0, {root!r})
from pathlib import Path
from autograder.course.lock import alone
with alone(Path(sys.argv[1]), "ps1"):
    print("held", flush=True)
    time.sleep(60)
"""


def hold(folder):
    """Another process that has the lock."""
    words = [sys.executable, "-c", HOLDER.format(root=str(ROOT)), str(folder)]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "held\n"
    return process


def test_a_second_run_waits_and_says_for_whom(tmp_path):
    """The sentence has the other's number; once that one is killed, its file stops nobody, and none is left."""
    process, said = hold(tmp_path), []
    try:
        threading.Timer(0.6, process.send_signal, [signal.SIGKILL]).start()
        start = time.monotonic()
        with alone(tmp_path, "ps1", say=said.append):
            assert time.monotonic() - start > 0.5
            assert json.loads(path_of(tmp_path, "ps1").read_text())["pid"] == os.getpid()
    finally:
        process.kill()
        process.communicate()
    assert len(said) == 1 and f"process {process.pid} on " in said[0] and "waiting" in said[0]
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("left", "taken"),
    [
        ('{"pid": 1, "host": "elsewhere", "machine": "another", "since": 1}', False),
        ("", True),
        ("[1", True),
        ("[]", True),
        ("here", True),
    ],
)
def test_what_a_dead_run_left(tmp_path, left, taken):
    """On this machine, under whatever host name, it is nothing; on another it is named, with the file to remove."""
    if left == "here":
        with alone(tmp_path, "ps1"):
            left = path_of(tmp_path, "ps1").read_text().replace('"host": "', '"host": "container-')
    path_of(tmp_path, "ps1").write_text(left)
    if taken:
        with alone(tmp_path, "ps1"):
            pass
        return
    with (
        pytest.raises(StaffError, match=r"process 1 on elsewhere.*remove .*\.ps1\.lock") as caught,
        alone(tmp_path, "ps1"),
    ):
        pass
    assert caught.value.code == "lock" and path_of(tmp_path, "ps1").exists()


def test_assignments_do_not_wait_for_each_other(tmp_path):
    """The lock is an assignment's own."""
    with alone(tmp_path, "ps1"), alone(tmp_path, "ps2"):
        assert path_of(tmp_path, "ps1").exists() and path_of(tmp_path, "ps2").exists()


def test_two_runs_at_once(classroom):
    """Both end well, one after the other, with the marks of one; no file and no folder of either is left."""
    before = {path.name for path in classroom.path.iterdir()}
    temporary = classroom.path.parent / "temporary"
    temporary.mkdir()
    os.environ["TMPDIR"] = str(temporary)
    try:
        words = ("grade", "--student", "perfect", "--student", "prints", "--json")
        with alone(classroom.path, "ps1"):
            runs = [classroom.start(*words), classroom.start(*words)]
            first = [run.stderr.readline() for run in runs]
        ended = [(run.communicate(timeout=120), run.returncode) for run in runs]
    finally:
        del os.environ["TMPDIR"]
    assert [code for _, code in ended] == [0, 0], ended
    assert all(f"process {os.getpid()} on" in line and "waiting until it has ended" in line for line in first), first
    states = [line["state"] for line in classroom.lines()]
    assert states == ["start", "done", "done"] * 2
    assert {path.name for path in classroom.path.iterdir()} - before <= {"reports", "autograded", "feedback"}
    assert list(temporary.iterdir()) == []


def test_a_locked_gradebook_is_waited_for(classroom):
    """Longer than SQLite's own five seconds; nothing fails."""
    database = sqlite3.connect(classroom.path / "gradebook.db", isolation_level=None, check_same_thread=False)
    database.execute("begin exclusive")
    end = threading.Timer(9, database.execute, ["rollback"])
    end.start()
    run = classroom.call("grade", "--student", "perfect", "--no-feedback")
    end.join()
    database.close()
    assert run.returncode == 0 and "1 graded" in run.stderr, run.stderr


def test_a_gradebook_that_stays_locked_stops_the_run(classroom, monkeypatch):
    """Nobody is failed for it: the sentence says what to do, and --resume goes on."""
    from autograder.course import run
    from autograder.nbgrader import config, rows

    monkeypatch.setattr(config, "PATIENCE", 1)
    monkeypatch.setattr(rows, "TRIES", 2)

    def while_locked(write):
        def locked(self, *arguments):
            with sqlite3.connect(classroom.path / "gradebook.db") as other:
                other.execute("begin exclusive")
                return write(self, *arguments)

        return locked

    for name in ("_write", "_together"):  # one submission, and many
        monkeypatch.setattr(rows.Rows, name, while_locked(getattr(rows.Rows, name)))
    result = run.run(classroom.path, run.Options(assignment="ps1", students=("perfect", "prints"), feedback=False))
    assert "locked by another program" in result.stopped and result.exit_code == 1
    assert {row.state for row in result.rows} == {"running"}
