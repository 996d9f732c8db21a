"""The student's process: what it can do to itself, and what it cannot do to the next question or the next student."""

import os
import subprocess
import time
from pathlib import Path

import numpy as np
import pytest
import torch

from autograder.core import Question
from autograder.sandbox import Limits, Session, layers

SHORT = Limits(cell_seconds=3, question_seconds=1.5, notebook_seconds=60, output_characters=5_000)


def value(name):
    """The question what a name is bound to."""
    return Question(kind="value", name=name)


def call(name, *arguments):
    """The question what a function returns."""
    return Question(kind="call", name=name, arguments=arguments)


def text(result):
    """All that a cell showed, as text."""
    return "".join(output.get("text", "") or str(output.get("data", output.get("evalue"))) for output in result.outputs)


@pytest.fixture
def session():
    """A session with short limits."""
    with Session(SHORT) as session:
        yield session


def living(marker):
    """The processes whose command line holds a word."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if marker.encode() in path.read_bytes():
                found.append(path.parent.name)
        except OSError:
            continue
    return found


def test_cells_share_a_namespace_and_show_what_a_notebook_shows(session):
    """Prints, the last expression, errors and magics become outputs in nbformat's shape."""
    session.run("x = 2")
    result = session.run("print('seen')\nx + 1")
    assert [output["output_type"] for output in result.outputs] == ["stream", "display_data"]
    assert session.run("1 / 0").outputs[0]["ename"] == "ZeroDivisionError"
    assert "Wall time" in text(session.run("%%time\ny = x"))
    assert session.ask(value("y")).value == 2


@pytest.mark.parametrize(
    ("source", "death", "words"),
    [
        ("while True: pass", "timeout", "3 s"),
        ("import time\nwhile True:\n    try: time.sleep(60)\n    except BaseException: pass", "timeout", "3 s"),
        ("import os; os._exit(0)", "exit", "ended itself"),
        ("import ctypes; ctypes.string_at(0)", "exit", "ended itself"),
        ("import os; os.closerange(3, 1000)", "exit", "ended itself"),
    ],
    ids=["loop", "loop that catches all", "exit", "segfault", "close everything"],
)
def test_a_cell_that_ends_the_process_costs_only_itself(session, source, death, words):
    """The cells before and after it answer as if it had not been there."""
    session.run("before = 1")
    result = session.run(source)
    assert (result.death, words in result.detail) == (death, True)
    assert session.ask(value("before")).value == 1
    session.run("after = before + 1")
    assert session.ask(value("after")).value == 2


@pytest.mark.parametrize(
    ("body", "failure"),
    [
        ("while True: pass", "timeout"),
        ("import os; os._exit(3)", "exit"),
        ("raise SystemExit", "raised"),
        ("raise KeyboardInterrupt", "raised"),
        ("return f()", "raised"),
        ("return bytearray(10**13)", "memory"),
        ("return lambda: 1", "unreadable"),
        ("l = []; l.append(l); return l", "unreadable"),
        ("return [0] * 200_000", "unreadable"),
        ("return float", "unreadable"),
    ],
)
def test_a_function_that_gives_no_value_says_why(session, body, failure):
    """Every way of not answering has its own failure, and the next question is answered."""
    session.run("g = 5")
    session.run(f"def f():\n    {body}")
    assert session.ask(call("f")).failure == failure
    assert session.ask(value("g")).value == 5


def test_memory_has_a_limit():
    """What asks for more than the limit fails by itself; the process may live on."""
    with Session(Limits(memory_megabytes=2000)) as session:
        session.run("def f():\n    import numpy as np\n    return np.ones((20_000, 20_000)).sum()")
        assert session.ask(call("f")).failure in ("memory", "exit")


def test_a_used_up_budget_is_not_a_wrong_answer():
    """What was not run for lack of time is unknown: `staff`, which holds the part for a person."""
    with Session(Limits(cell_seconds=5, question_seconds=5, notebook_seconds=1)) as session:
        session.run("right = 1")
        assert session.run("while True: pass").death == "staff"
        assert session.ask(value("right")).failure == "staff"
        assert session.run("1").death == "staff"


def test_too_many_restarts_are_not_a_wrong_answer():
    """The same for a notebook that ends its process again and again."""
    with Session(Limits(restarts=1)) as session:
        session.run("right = 1\ndef f():\n    import os; os._exit(0)")
        assert [session.ask(call("f")).failure for _ in range(3)] == ["exit", "exit", "staff"]
        assert session.ask(value("right")).failure == "staff"


def test_replay_leaves_out_a_cell_that_dies_the_second_time(session):
    """A cell that only works once is dropped when the process has to be made anew; the others are there."""
    session.run("a = 1")
    session.run(f"import os, time\nif time.time() > {time.time() + 1}: os._exit(0)\np = 1")
    session.run("b = 2\ntime.sleep(1)")
    assert session.run("import os; os._exit(0)").death == "exit"
    assert (session.ask(value("a")).value, session.ask(value("b")).value) == (1, 2)
    assert session.ask(value("p")).failure == "missing"


def test_a_session_leaves_no_state_to_the_next():
    """Names, modules, monkey patches, files, the working directory and the environment end with the notebook."""
    with Session(SHORT) as first:
        first.run(
            "import os, torch, builtins\nleft = 1\ntorch.allclose = lambda *a: True\nbuiltins.stolen = 1\n"
            "os.environ['LEFT'] = '1'\nopen('left.txt', 'w').write('x')\nos.chdir('/')"
        )
        assert first.ask(value("left")).value == 1
    with Session(SHORT) as second:
        second.run(
            "import os, torch, builtins\n"
            "found = [torch.allclose(torch.ones(1), torch.zeros(1)), hasattr(builtins, 'stolen'), 'LEFT' in os.environ,"
            " os.path.exists('left.txt'), os.getcwd() == '/']"
        )
        assert second.ask(value("left")).failure == "missing"
        assert second.ask(value("found")).value == [False] * 5


@pytest.mark.filterwarnings("ignore::autograder.sandbox.layers.WallWarning")
@pytest.mark.parametrize("without_wall", [False, True])
def test_the_directory_is_removed(monkeypatch, tmp_path, without_wall):
    """Nothing of a session is left in the temporary directory."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with Session(Limits(without_wall=without_wall)) as session:
        session.run("open('made', 'w').write('x')")
        assert len(list(tmp_path.iterdir())) == without_wall
        session.run("import os; os._exit(0)")
        session.run("open('made', 'w').write('x')")
        assert len(list(tmp_path.iterdir())) == without_wall
    assert list(tmp_path.iterdir()) == []


def test_the_graders_environment_is_not_inherited(monkeypatch):
    """The course's secret may stand in the grader's environment: it is neither in os.environ nor in /proc/self."""
    from autograder.sandbox import warm

    monkeypatch.setenv("AUTOGRADER_SECRET", "sesame-sesame")
    monkeypatch.setattr(warm, "_warm", None)  # a fresh parent, started under this environment
    with Session(SHORT) as session:
        session.run("import os\nseen = str(dict(os.environ)) + open('/proc/self/environ').read()")
        assert "sesame" not in session.ask(value("seen")).value


def test_files_beside_the_notebook_are_there_and_cannot_shadow_a_library():
    """Data can be read; a file called torch.py is not imported in torch's place."""
    with Session(SHORT, {"data/x.txt": b"5", "json.py": b"raise SystemExit"}) as session:
        session.run("x = int(open('data/x.txt').read())\nimport json\nok = json.loads('1')")
        assert (session.ask(value("x")).value, session.ask(value("ok")).value) == (5, 1)


FIND_SOCKET = """
import os, socket, struct, stat
fds = [fd for fd in range(3, 64) if os.path.exists(f'/proc/self/fd/{fd}')]
sockets = [fd for fd in fds if stat.S_ISSOCK(os.fstat(fd).st_mode)]
channel = socket.socket(fileno=os.dup(sockets[0]))
"""


@pytest.mark.parametrize(
    "frame",
    [
        "struct.pack('>Q', 2**62)",
        "struct.pack('>Q', 5) + b'hello'",
        "struct.pack('>Q', 4) + struct.pack('>I', 100)",
        "struct.pack('>Q', 6) + struct.pack('>I', 2) + b'[]'",
        "struct.pack('>Q', 10) + struct.pack('>I', 6) + b'[[[[[['",
        "b'\\x00' * 7",
        "os.urandom(5000)",
    ],
)
def test_garbage_on_the_channel_is_unreadable_and_the_grader_lives(frame):
    """A student who finds the socket can only spoil his own answer to this question."""
    with Session(SHORT) as session:
        session.run(FIND_SOCKET + f"def f():\n    channel.sendall({frame})\n    return 1")
        assert session.ask(call("f")).failure in ("unreadable", "exit", "timeout")
        session.run("right = 1")
        assert session.ask(value("right")).value == 1


def test_a_forged_reply_is_a_value_like_any_other(session):
    """What is sent in the answer's place is judged as a value; it carries no verdict, and reasons are a closed list."""
    forged = "encode({'value': 1, 'failure': 'earned', 'detail': ''})"
    session.run(
        FIND_SOCKET + "from autograder.protocol.codec import encode\n"
        f"def f():\n    frame = {forged}\n    channel.sendall(struct.pack('>Q', len(frame)) + frame)\n    return 1"
    )
    assert session.ask(call("f")).failure == "unreadable"


@pytest.mark.parametrize(
    "source",
    [
        "print('x' * 10**8)",
        "for i in range(10**5): print(i)",
        "for i in range(10**5): display({'text/plain': ''}, raw=True)",
        "import sys\nsys.stderr.write('e' * 10**7)",
        "'v' * 10**7",
        "raise ValueError('m' * 10**7)",
    ],
)
def test_outputs_are_capped(session, source):
    """However much a cell shows, a report stays small and the cell has run."""
    result = session.run(source + "\n")
    assert len(str(result.outputs)) < 30_000
    assert session.ask(value("nothing")).failure == "missing"


def test_outputs_sent_past_the_cap_are_cut_on_this_side():
    """The limit in the student's process is only a courtesy."""
    with Session(SHORT) as session:
        session.run(
            "from autograder.sandbox import shell\nshell.Outputs.write = lambda self, name, text: "
            "self.items.append({'output_type': 'stream', 'name': name, 'text': text})"
        )
        assert len(str(session.run("print('x' * 10**6)").outputs)) < 10_000


@pytest.mark.parametrize(
    "source",
    [
        "import sys\nsys.stdout.close()\nsys.stderr.close()",
        "import os\nos.close(0); os.close(1); os.close(2)",
        "import sys\nsys.stdout = sys.stderr = None",
        "import threading, time\nthreading.Thread(target=lambda: time.sleep(100)).start()",
        "import threading\ndef spin():\n    while True: print('x')\nthreading.Thread(target=spin, daemon=True).start()",
        "import os\nif os.fork() == 0:\n    pass",
        "import multiprocessing\nwith multiprocessing.get_context('fork').Pool(2) as pool: pool.map(abs, [1, -2])",
        "get_ipython().reset(new_session=False)",
        "import sys\nsys.setrecursionlimit(10**9)",
        "import signal\nsignal.signal(signal.SIGTERM, signal.SIG_IGN); signal.alarm(0)",
        "import gc, sys\nsys.modules.pop('torch')\ngc.disable()",
    ],
    ids=["close streams", "close descriptors", "no streams", "thread", "busy thread", "fork", "pool", "reset",
         "recursion limit", "signals", "modules"],
)  # fmt: skip
def test_right_answers_survive_what_a_cell_does_to_the_process(session, source):
    """Streams, threads, forks and the shell's state are the student's to break; later answers are still read."""
    session.run(source)
    session.run("def f(x):\n    return x + 1\nanswer = f(1)")
    assert session.ask(value("answer")).value == 2
    assert session.ask(call("f", np.arange(3.0))).value.tolist() == [1, 2, 3]
    assert session.ask(call("f", 4)).value == 5


def test_input_is_not_available(session):
    """`input()` and reading standard input return at once."""
    assert "not available" in text(session.run("input('name? ')"))
    session.run("import sys\nread = sys.stdin.read()")
    assert session.ask(value("read")).value == ""


def test_arguments_are_the_callees_own(session):
    """A function that changes its argument changes nothing for the next question."""
    session.run("def f(x):\n    x += 1\n    return x")
    x = np.zeros(2)
    assert session.ask(call("f", x)).value.tolist() == session.ask(call("f", x)).value.tolist() == [1, 1]


def test_the_same_notebook_draws_the_same_random_numbers():
    """Random states are the same in every session."""
    draws = []
    for _ in range(2):
        with Session(SHORT) as session:
            session.run("import random, numpy, torch\nd = [random.random(), numpy.random.rand(), float(torch.rand(1))]")
            draws.append(session.ask(value("d")).value)
    assert draws[0] == draws[1]


@pytest.mark.parametrize("detach", ["start_new_session=True", "start_new_session=False"])
def test_what_the_student_started_ends_with_the_session(detach):
    """Background processes are ended, also those in a session of their own."""
    marker = f"31536{os.getpid() % 1000:03d}{'1' if 'True' in detach else '0'}"
    with Session(SHORT) as session:
        session.run(f"import subprocess\nsubprocess.Popen(['sleep', '{marker}'], {detach})")
        session.run(f"!setsid sh -c 'sleep {marker} &'")
        assert living(marker)
    for _ in range(50):
        if not living(marker):
            break
        time.sleep(0.1)
    assert not living(marker)


def test_matplotlib_and_torch_with_gradients_work():
    """What notebooks do every day."""
    pytest.importorskip("matplotlib")
    with Session() as session:
        result = session.run("%matplotlib inline\nimport matplotlib.pyplot as plt\nplt.plot([1, 2]);")
        assert any("image/png" in output.get("data", {}) for output in result.outputs)
        session.run("import torch\nw = torch.ones(3, requires_grad=True)\n(w ** 2).sum().backward()\ng = w.grad")
        assert session.ask(value("g")).value.tolist() == [2, 2, 2]


def test_a_module_with_other_parameters_says_which(session):
    """The reply comes through as an answer: nothing about it is forged."""
    session.run("import torch\nclass Layer(torch.nn.Linear):\n    pass")
    state = {"W": np.ones((2, 2))}
    options = {"init": {"in_features": 2, "out_features": 2}, "state": state}
    found = session.ask(Question(kind="module", name="Layer", arguments=(np.ones(2),), options=options))
    assert (found.failure, found.detail) == ("parameters", "has no parameter W")
    assert not session.flags


MANY = """
import torch
class Many(torch.nn.Module):
    def __init__(self, n):
        super().__init__()
        self.p = torch.nn.ParameterList(torch.nn.Parameter(torch.zeros(2)) for _ in range(n))
    def forward(self, x):
        return x + sum(self.p)
"""


@pytest.mark.parametrize("called", ["p", "q"])
@pytest.mark.parametrize("gradient", [False, True])
def test_a_module_of_many_parameters_is_answered_as_any_other(session, called, gradient):
    """A thousand parameters, their gradients, and a thousand other names: none of it is forged."""
    import torch

    session.run(MANY)
    row = torch.ones(2, dtype=torch.float64)
    options = {"init": {"n": 1_000}, "state": {f"{called}.{place}": row for place in range(1_000)}}
    if gradient:
        options["cotangent"] = [row]
    found = session.ask(Question(kind="module", name="Many", arguments=(row,), options=options))
    assert (found.failure, found.detail) == ((None, "") if called == "p" else ("parameters", "has no parameter q.0"))
    if called == "p":
        assert found.value.tolist() == [1001, 1001] if not gradient else len(found.value) == 1_001
    assert not session.flags


def test_typed_answers_find_their_languages_imported(session):
    """Once for all notebooks: each process would take longer over it than over a notebook's cells."""
    names = [f"autograder.maths.{name}" for name in ("derivation", "expression", "growth", "tensor")]
    shown = session.run(f"import sys; print([name for name in {names} if name not in sys.modules])").outputs
    assert shown[0]["text"] == "[]\n"


@pytest.mark.parametrize("modules", [("torch",), ()])
def test_torch_begins_with_the_same_state(modules):
    """Whether it was imported once for all notebooks, or by the notebook itself, which leaves the start light."""
    code = (
        f"from autograder.sandbox import halves; halves.split({modules!r}); import sys; "
        "from autograder.sandbox.task import Task, answer; print('torch' in sys.modules); "
        "print(answer(Task(cells=('import torch; print(torch.rand(1))',), questions={})).cells[0].outputs[0]['text'])"
    )
    told = subprocess.run(layers.python(code), env=layers.environment(), capture_output=True, text=True, check=True)
    expected = torch.rand(1, generator=torch.Generator().manual_seed(0))
    assert told.stdout.split("\n")[:2] == [str(bool(modules)), str(expected)]
