"""Nothing is lost: kill -9 at any moment, a torn line, a full disk, Ctrl-C; `--resume` does the rest and no more."""

from __future__ import annotations

import errno
import json
import os
import random
import resource
import shutil
import signal
import time

import pytest

from autograder.course.journal import Journal, read
from autograder.errors import StaffError


def wait_for(process, condition, seconds=60.0):
    """Until the condition holds, or the process has ended."""
    end = time.monotonic() + seconds
    while not condition() and process.poll() is None and time.monotonic() < end:
        time.sleep(0.005)


def test_a_killed_run_goes_on(classroom, graded):
    """Killed without warning at four moments, then resumed: the marks of an undisturbed run, nothing done twice."""
    rng = random.Random(5)
    path = classroom.path / "reports/ps1.jsonl"
    for done in sorted(rng.sample(range(13), 4)):
        process = classroom.start("grade", "--resume")
        wait_for(process, lambda done=done: path.exists() and path.read_bytes().count(b'"done"') >= done)
        time.sleep(rng.random() * 0.15)
        process.kill()
        process.communicate()
    figures = classroom.grade("--resume")
    assert figures["exit"] == 0 and figures["kept"] + figures["graded"] == 15 and figures["kept"] > 0
    assert classroom.finished() == graded.finished() == sorted(set(classroom.finished()))
    assert classroom.rows() == graded.rows()
    for step in ("autograded", "feedback"):
        assert classroom.pages(step) == graded.pages(step)


def test_resuming_a_finished_run_does_nothing(graded, tmp_path):
    """What is done is not done again; work that has changed since is."""
    shutil.copytree(graded.path.parent, tmp_path / "course", symlinks=True)
    again = type(graded)(tmp_path / "course" / "notebooks")
    assert again.grade("--resume")["kept"] == 15
    path = again.path / "submitted/perfect/ps1/tiny.ipynb"
    path.write_text(path.read_text() + "\n")
    figures = again.grade("--resume")
    assert (figures["kept"], figures["graded"]) == (14, 1)


def test_ctrl_c_ends_cleanly(classroom, graded):
    """Interrupted: soon over, no traceback, a sentence that says how to go on; and it does go on."""
    path = classroom.path / "reports/ps1.jsonl"
    process = classroom.start("grade", "--jobs", "1")  # slowly: nearly done, it could end before it is interrupted
    wait_for(process, lambda: path.exists() and path.read_bytes().count(b'"done"') >= 3)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=20)
    assert process.returncode == 1 and "Traceback" not in err and "--resume" in err
    assert classroom.grade("--resume")["exit"] == 0
    assert classroom.rows() == graded.rows() and classroom.finished() == graded.finished()


def test_a_full_disk_loses_nothing(classroom, graded):
    """Where no file can grow any more, submissions are left undone and said to be; with room again, the run goes on."""
    size = (classroom.path / "gradebook.db").stat().st_size

    def little_room():
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))

    run = classroom.call("grade", "--json", preexec_fn=little_room)
    figures = json.loads(run.stdout.splitlines()[-1])
    assert run.returncode == 1 and figures["failed"] + figures["unfinished"] > 0 and "--resume" in run.stderr
    assert classroom.grade("--resume")["exit"] == 0
    assert classroom.rows() == graded.rows()


def test_a_torn_line_says_nothing(tmp_path):
    """A last line that broke off is passed over, and the next one begins on a line of its own."""
    path = tmp_path / "ps1.jsonl"
    path.write_text('{"student": "ada", "state": "done"}\n{"student": "bea", "sta')
    journal = Journal(path)
    assert set(journal.last) == {"ada"}
    journal.write(student="bea", state="done")
    journal.close()
    assert [line["student"] for line in read(path)] == ["ada", "bea"]
    assert path.read_bytes().count(b"\n") == 3


@pytest.mark.parametrize("content", [b"\x00" * 300, b"[1]\nnull\n7\n", b"[" * 100_000, b"\xff\xfe\n"])
def test_a_spoilt_journal_is_no_obstacle(tmp_path, content):
    """What a power cut may leave (zeros), and lines that are no record, are passed over."""
    path = tmp_path / "ps1.jsonl"
    path.write_bytes(content)
    journal = Journal(path)
    journal.write(student="ada", state="done")
    journal.close()
    assert [line["student"] for line in read(path)] == ["ada"]


def test_a_line_that_cannot_be_written_leaves_nothing(tmp_path, monkeypatch):
    """Half a line on a disk that fills up is taken back, and the run is told."""
    journal = Journal(tmp_path / "ps1.jsonl")
    journal.write(student="ada", state="done")
    write = os.write

    def full(file, content):
        write(file, content[:9])
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "write", full)
    with pytest.raises(StaffError, match="No space left"):
        journal.write(student="bea", state="done")
    monkeypatch.undo()
    journal.close()
    assert (tmp_path / "ps1.jsonl").read_text().count("\n") == 1 and len(read(tmp_path / "ps1.jsonl")) == 1
