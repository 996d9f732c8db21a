"""Tasks as data: the same answers in this process, through bytes, and on a Dask cluster that loses a worker."""

from __future__ import annotations

import os
import signal
import threading
import time

import pytest

from autograder.core import Answer, Question
from autograder.grading import plan
from autograder.sandbox import Limits
from autograder.sandbox.task import Asked, Replayed, Replies, Task, Unasked, answer, answer_frame

QUESTIONS = [Question(kind="value", name=name) for name in ("x", "y", "nothing", "never")]
TASK = Task(
    cells=("x = 1\nprint('one')", "y = open('data.txt').read()", "x = 7 / 0"),
    questions={1: [Asked.of("x", QUESTIONS[0])], 3: [Asked.of("y", question) for question in QUESTIONS[1:]]},
    limits=Limits(cell_seconds=20),
    files={"data.txt": b"beside"},
)


def test_a_task_and_its_replies_are_data():
    """Through bytes and back a task is the same, and so is what comes of it."""
    assert Task.read(TASK.frame()) == TASK
    here, there = answer(TASK), Replies.read(answer_frame(TASK.frame()))
    assert here.answers == there.answers and here.cells == there.cells
    values = {question.name: here.answers.get((3, Asked.of("", question).key)) for question in QUESTIONS}
    assert values["y"] == Answer(value="beside")
    assert values["nothing"].failure == "missing" and values["never"] is None  # nothing is asked after such an answer
    assert here.cells[0].outputs[0]["text"] == "one\n" and here.cells[2].outputs[0]["ename"] == "ZeroDivisionError"


def test_what_was_not_foreseen_is_wanted():
    """A judge that asks something else gets nothing in its place; the question is noted, for a further round."""
    replayed = Replayed(answer(TASK.instead({})))
    with pytest.raises(Unasked):
        replayed.ask(QUESTIONS[0])
    assert [item.part for item in replayed.wanted[0]] == ["x"]
    further = TASK.instead(replayed.wanted)
    assert further.cells == () and further.questions == replayed.wanted


def test_further_rounds_end(monkeypatch):
    """A judge that never has enough gets a bounded number of rounds, and then a person looks."""
    rounds = []

    def never_content(submission, session):
        number = len(rounds)
        try:
            session.ask(Question(kind="call", name="f", arguments=(number,)))
        except Unasked:
            return "held"

    monkeypatch.setattr(plan, "grade", never_content)
    task = Task(cells=("a = 1",), questions={})
    found = plan.grade_replies("a submission", task, Replies(), lambda task: rounds.append(task) or Replies())
    assert found == "held" and len(rounds) == plan.ROUNDS - 1


def test_a_cluster_that_loses_a_worker_gives_the_same_marks(classroom, graded):
    """Two workers, one killed in the middle: what it had is given to the other, and every mark is as it should be."""
    distributed = pytest.importorskip("distributed", reason="Dask is not installed: pip install dask distributed")
    options = {"n_workers": 2, "threads_per_worker": 1, "processes": True, "dashboard_address": None}
    with distributed.LocalCluster(**options, silence_logs=50) as cluster:
        journal = classroom.path / "reports/ps1.jsonl"

        def kill_one():
            end = time.monotonic() + 60
            while time.monotonic() < end and not (journal.exists() and journal.read_bytes().count(b'"done"') >= 3):
                time.sleep(0.02)
            os.kill(cluster.workers[0].process.pid, signal.SIGKILL)

        killer = threading.Thread(target=kill_one)
        killer.start()
        figures = classroom.grade("--scheduler", cluster.scheduler_address)
        killer.join()
    assert figures["graded"] == 15 and figures["exit"] == 0
    assert classroom.rows() == graded.rows() and classroom.finished() == graded.finished()
