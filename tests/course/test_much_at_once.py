"""A class of any size takes the same room: what is over is judged, written and let go before much else is begun."""

from __future__ import annotations

import gc
import shutil
from concurrent.futures import Future

import pytest

from autograder.course import run as running
from autograder.grading.submission import Submission
from autograder.sandbox.task import Replies, Task, answer


class AtOnce:
    """Workers by which a notebook is over as soon as it is begun, as on a machine of many cores."""

    most = 0  # submissions in memory at a time

    def __init__(self, jobs: int) -> None:
        self._known: dict[tuple[str, ...], Replies] = {}

    def submit(self, task: Task) -> Future[Replies]:
        """The replies, which are there already."""
        future: Future[Replies] = Future()
        future.set_result(self._known.setdefault(task.cells, self._known.get(task.cells) or answer(task)))
        gc.collect()
        there = sum(type(item) is Submission for item in gc.get_objects())
        AtOnce.most = max(AtOnce.most, there)
        return future

    def room(self) -> bool:
        """Always."""
        return True

    def expect(self, more: bool) -> None:
        """Nothing waits."""

    def close(self, *, now: bool = False) -> None:
        """Nothing runs."""


def test_memory_does_not_grow_with_the_class(classroom, monkeypatch: pytest.MonkeyPatch) -> None:
    """With workers faster than the judge, a few notebooks wait for it, however many there are; all are graded."""
    handed = classroom.path / "submitted"
    for path in [path for path in handed.iterdir() if path.name != "perfect"]:
        shutil.rmtree(path)
    for number in range(5 * running.UNHEARD):
        shutil.copytree(handed / "perfect", handed / f"student{number}")
    monkeypatch.setattr(running, "Threads", AtOnce)
    monkeypatch.setattr(running, "_TOGETHER", 1)
    gc.freeze()  # what is there already is not looked through again at every count
    try:
        result = running.run(classroom.path, running.Options(assignment="ps1", feedback=False))
    finally:
        gc.unfreeze()
    assert result.counts()["graded"] == 5 * running.UNHEARD + 1
    assert running.UNHEARD / 2 < AtOnce.most <= running.UNHEARD + 3
