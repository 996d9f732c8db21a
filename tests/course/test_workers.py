"""Tasks as data: the same answers in this process, through bytes, and on a Dask cluster that loses a worker."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from autograder.core import Answer, Question
from autograder.course import workers
from autograder.course.workers import Cluster, Threads, answer_behind_a_wall
from autograder.errors import StaffError, Unreadable
from autograder.grading import plan
from autograder.sandbox import Limits
from autograder.sandbox.task import Asked, Replayed, Replies, Task, Unasked, answer, answer_frame
from tests.course.conftest import ROOT, environment

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
    values = {question.name: here.answers.get((3, Asked.of("", question).keys[0])) for question in QUESTIONS}
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
    found = plan.grade_task("a submission", task, lambda task: rounds.append(task) or Replies(seconds=3))
    assert found == "held" and len(rounds) == plan.ROUNDS
    assert [task.spent for task in rounds] == [3 * number for number in range(plan.ROUNDS)]


def test_after_a_stop_there_can_be_another_run():
    """What ran is ended at once, what waits is not begun, and this process can run notebooks again."""
    stopped = Threads(1)
    endless = [stopped.submit(Task(cells=("while True: pass",), questions={})) for _ in range(2)]
    time.sleep(1)
    start = time.monotonic()
    stopped.close(now=True)
    assert time.monotonic() - start < 15 and all(future.done() for future in endless)
    again = Threads(1)
    assert again.submit(TASK).result(60).cells[0].death is None
    again.close()


def test_a_cluster_that_loses_a_worker_gives_the_same_marks(classroom, graded):
    """Two workers, one killed in the middle: what it had is given to the other, and every mark is as it should be."""
    distributed = pytest.importorskip("distributed", reason="Dask is not installed: pip install dask distributed")
    options = {"n_workers": 2, "threads_per_worker": 1, "processes": True, "dashboard_address": ":0"}
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


SCHEDULER = """
import sys
sys.path.insert(0, {root!r})
from distributed import LocalCluster

if __name__ == "__main__":
    options = dict(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0", silence_logs=50)
    with LocalCluster(**options, protocol={protocol!r}, host="127.0.0.1", preload={preload!r}) as cluster:
        print(cluster.scheduler_address, flush=True)
        sys.stdin.read()
"""


@contextlib.contextmanager
def cluster(folder: Path, preload: str = "", protocol: str = "tcp"):
    """The address of a scheduler with two workers, in processes of their own, that began with `preload`."""
    pytest.importorskip("distributed", reason="Dask is not installed: pip install dask distributed")
    (folder / "cluster.py").write_text(
        SCHEDULER.format(root=str(ROOT), protocol=protocol, preload=[preload] * bool(preload))
    )
    words = [sys.executable, str(folder / "cluster.py")]
    streams = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen(words, env=environment(), **streams) as process:
        try:
            yield process.stdout.readline().strip()
        finally:
            process.stdin.close()


HOSTILE = """
import os, pickle, sys
from distributed import get_worker
from autograder.course import workers
from autograder.protocol.codec import decode, encode

class Harm:
    def __reduce__(self):
        return exec, ("import os; open({mark!r}, 'a').write(f'{{os.getpid()}} ')",)

class HarmfulError(Exception):
    def __reduce__(self):
        return exec, ("import os; open({mark!r}, 'a').write(f'{{os.getpid()}} ')",)

def hostile(frame):
    if not frame:
        return encode({{"fault": ""}})
    exec("def deed():\\n    " + decode(frame)["cells"][0], globals())
    return deed()

workers.answer_behind_a_wall.__code__ = hostile.__code__
workers.answer_behind_a_wall.__globals__.update(Harm=Harm, HarmfulError=HarmfulError, os=os, pickle=pickle,
    get_worker=get_worker, encode=encode)
"""
DEEDS = {
    "a result": "return Harm()",
    "a result within another": "return [b'bytes', {'key': Harm()}]",
    "an error": "raise HarmfulError('no')",
    "an error that is bytes": "error = HarmfulError('no'); error.args = (Harm(),); raise error",
    "a warning": (
        "get_worker().log_event('warn', {'message': pickle.dumps(Harm()), 'category': pickle.dumps(Harm())}); "
        "return b'no frame'"
    ),
    "a print": "get_worker().log_event('print', {'args': (Harm(),), 'kwargs': {}}); return b'no frame'",
}


def test_what_a_worker_pickles_is_not_executed(tmp_path):
    """A worker's `__reduce__` runs nothing in the grader's process, whatever it sends; read by Dask itself, it does."""
    mark = tmp_path / "executed"
    with cluster(tmp_path, HOSTILE.format(mark=str(mark))) as address:
        for name, deed in DEEDS.items():
            found = Cluster(address)
            try:
                with pytest.raises((StaffError, Unreadable)):
                    found.submit(Task(cells=(deed,), questions={})).result(30)
                time.sleep(0.2)
            finally:
                found.close()
            executed = mark.read_text().split() if mark.exists() else []  # a worker may harm itself
            assert str(os.getpid()) not in executed, name
        frame = Task(cells=(DEEDS["a result"],), questions={}).frame()
        code = (
            "import os, sys; from distributed import Client; from autograder.course import workers\n"
            "sent = Client(sys.argv[1]).submit(workers.answer_behind_a_wall, bytes.fromhex(sys.argv[2]), pure=False)\n"
            "sent.result(30); print(os.getpid())"
        )
        words = [sys.executable, "-c", code, address, frame.hex()]
        naive = subprocess.run(words, env=environment(), capture_output=True, text=True, check=False)
        assert naive.stdout.strip() in mark.read_text().split(), naive.stderr


def test_replies_come_from_a_cluster(tmp_path):
    """Whole replies arrive as they do from a thread."""
    with cluster(tmp_path) as address:
        found = Cluster(address)
        try:
            assert found.jobs == 2
            assert found.submit(TASK).result(100).answers == answer(TASK).answers
        finally:
            found.close()


OPEN = """
from autograder.sandbox import layers
layers.found = lambda: dict.fromkeys(layers.LAYERS, True) | {"network": False}
"""


def test_a_worker_with_an_open_network_is_not_used(tmp_path):
    """Students' code could command the scheduler from there: the run ends before anything is sent."""
    with cluster(tmp_path, OPEN) as address, pytest.raises(StaffError, match=r"not used.*network") as caught:
        Cluster(address)
    assert caught.value.code == "worker"


def test_a_worker_that_came_later_refuses_for_itself(monkeypatch):
    """A worker looks at its own layers before each task, whoever was asked at the start."""
    monkeypatch.setattr(workers, "_network_is_closed", lambda: False)
    with pytest.raises(StaffError, match="network"):
        workers._read(answer_behind_a_wall(TASK.frame()))


@pytest.mark.parametrize("sent", [None, 3, "text", [b"a"], bytearray(b"a")])
def test_only_bytes_are_read(sent):
    """What is no bytes is named by its type and looked at no further."""
    with pytest.raises(StaffError, match=type(sent).__name__):
        workers._read(sent)


def test_a_cluster_behind_tls(tmp_path, monkeypatch):
    """tls:// works by Dask's own settings, and without the certificate there is no cluster."""
    words = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1", "-subj", "/CN=127.0.0.1"]
    if not shutil.which("openssl"):
        pytest.skip("there is no openssl to make a certificate with")
    pem, key = tmp_path / "cert.pem", tmp_path / "key.pem"
    subprocess.run([*words, "-keyout", key, "-out", pem], check=True, capture_output=True)
    settings = {"CA_FILE": pem}
    for role in ("SCHEDULER", "WORKER", "CLIENT"):
        settings |= {f"{role}__CERT": pem, f"{role}__KEY": key}
    for name, value in settings.items():
        monkeypatch.setenv(f"DASK_DISTRIBUTED__COMM__TLS__{name}", str(value))
    with cluster(tmp_path, protocol="tls") as address:
        assert address.startswith("tls://")
        code = (
            "import sys; from autograder.course.workers import Cluster\n"
            "found = Cluster(sys.argv[1]); print(found.jobs); found.close()"
        )
        command = [sys.executable, "-c", code, address]
        assert subprocess.run(command, env=environment(), capture_output=True, text=True).stdout == "2\n"
        bare = {name: value for name, value in environment().items() if "TLS" not in name}
        done = subprocess.run(command, env=bare, capture_output=True, text=True)
        assert done.returncode and "StaffError" in done.stderr, done.stderr
