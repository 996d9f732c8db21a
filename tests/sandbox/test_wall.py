"""The wall's parts one by one, and that nothing goes from one submission to the next."""

from __future__ import annotations

import ctypes
import os
import re
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest

from autograder.core import Question
from autograder.errors import StaffError, Unreadable
from autograder.sandbox import Limits, Session, layers, linux, mounts, seccomp, stream, wall, warm, watch

ROOT = Path(__file__).parents[2]
WALLED = pytest.mark.skipif(not all(layers.found().values()), reason="this machine cannot give the whole wall")


def shown(session: Session, source: str) -> str:
    """What a cell prints."""
    return "".join(str(output.get("text", output)) for output in session.run(source).outputs)


# The filter, run by an interpreter of our own.


def decide(machine: str, number: int, *arguments: int, architecture: int | None = None, muted: bool = False) -> int:
    """What the kernel would do with one call."""
    audit = seccomp._AUDIT[machine] if architecture is None else architecture
    data = struct.pack("<IIQ6Q", number, audit, 0, *(arguments + (0,) * 6)[:6])
    code, place, word = seccomp.program(machine, muted=muted), 0, 0
    while True:
        operation, true, false, operand = code[place]
        if operation == seccomp._RETURN:
            return operand
        if operation == seccomp._LOAD:
            (word,) = struct.unpack_from("<I", data, operand)
            place += 1
            continue
        holds = {
            seccomp._JEQ: word == operand,
            seccomp._JGE: word >= operand,
            seccomp._JSET: bool(word & operand),
        }[operation]
        place += 1 + (true if holds else false)


def numbers(machine: str, name: str) -> int:
    """A call's number."""
    return {"clone": (56, 220), "socket": (41, 198), "ioctl": (16, 29), "prctl": (157, 167), "read": (0, 63)}[name][
        linux.MACHINES.index(machine)
    ]


@pytest.mark.parametrize("machine", linux.MACHINES)
def test_filter_refuses_what_is_listed_and_allows_the_rest(machine: str) -> None:
    """Every listed call fails with EPERM, every other one is allowed, and clone3 is not there."""
    column = linux.MACHINES.index(machine)
    refused = {pair[column] for pair in seccomp.REFUSED.values()} - {None}
    special = {pair[column] for _, pair, *_ in seccomp.BY_ARGUMENT} | {435}
    for number in set(range(470)) - special:
        assert decide(machine, number) == (seccomp.REFUSE if number in refused else seccomp.ALLOW), number
    assert decide(machine, 435) == seccomp.ABSENT


@pytest.mark.parametrize("machine", linux.MACHINES)
@pytest.mark.parametrize(
    ("name", "arguments", "allowed"),
    [
        ("clone", (0x01200011,), True),  # fork
        ("clone", (0x003D0F00,), True),  # a thread
        ("clone", (0x10000011,), False),
        ("clone", (0x20000 | 17,), False),
        ("socket", (1, 1, 0), True),
        ("socket", (2, 1, 0), True),
        ("socket", (10, 2, 0), True),
        ("socket", (16, 3, 0), True),
        ("socket", (17, 3, 0), False),
        ("socket", (40, 1, 0), False),
        ("socket", (0x1_0000_0011, 3, 0), False),
        ("ioctl", (0, 0x5401), True),
        ("ioctl", (0, 0x5412), False),
        ("ioctl", (0, 0xFFFFFFFF_00005412), False),
        ("prctl", (15,), True),
        ("prctl", (1,), False),
    ],
)
def test_filter_looks_at_arguments(machine: str, name: str, arguments: tuple[int, ...], allowed: bool) -> None:
    """Forks, threads and ordinary sockets pass; namespaces, odd sockets and typing into terminals do not."""
    assert decide(machine, numbers(machine, name), *arguments) == (seccomp.ALLOW if allowed else seccomp.REFUSE)


@pytest.mark.parametrize("machine", linux.MACHINES)
def test_filter_kills_another_architecture(machine: str) -> None:
    """Under another architecture's numbers the list would mean other calls."""
    other = next(value for name, value in seccomp._AUDIT.items() if name != machine)
    assert decide(machine, numbers(machine, "read"), architecture=other) == seccomp.KILL
    assert decide(machine, 0x40000000 + 39) == (seccomp.KILL if machine == "x86_64" else seccomp.ALLOW)


@pytest.mark.parametrize(
    ("machine", "header"),
    [
        ("x86_64", "/usr/include/x86_64-linux-gnu/asm/unistd_64.h"),
        ("aarch64", "/usr/include/asm-generic/unistd.h"),
    ],
)
def test_filter_has_the_kernels_numbers(machine: str, header: str) -> None:
    """The numbers are those of the kernel's own headers, where these are installed."""
    if not os.path.exists(header):
        pytest.skip(f"there is no {header}")
    defined = re.findall(r"#define __NR(?:3264)?_(\w+)\s+(\d+)", Path(header).read_text())
    known = {name: int(number) for name, number in reversed(defined)}
    for name, pair in {**seccomp.REFUSED, **seccomp.MUTED, **seccomp.WATCHING}.items():
        number = pair[linux.MACHINES.index(machine)]
        assert number is None or known.get(name, number) == number, name


@pytest.mark.parametrize("machine", linux.MACHINES)
def test_filter_has_libseccomps_numbers(machine: str) -> None:
    """libseccomp, where it is installed, gives each call that number, or says that the machine has no such call."""
    try:
        resolve = ctypes.CDLL("libseccomp.so.2").seccomp_syscall_resolve_name_arch
    except OSError as error:
        pytest.skip(f"there is no libseccomp: {error}")
    resolve.argtypes = (ctypes.c_uint32, ctypes.c_char_p)
    by_argument = {name: pair for name, pair, *_ in seccomp.BY_ARGUMENT}
    for name, pair in {
        **seccomp.REFUSED,
        **seccomp.MUTED,
        **seccomp.WATCHING,
        **by_argument,
        "clone3": (435, 435),
    }.items():
        wanted, found = pair[linux.MACHINES.index(machine)], resolve(seccomp._AUDIT[machine], name.encode())
        if found == -1:  # a name that it does not know: only a call younger than the library may be one
            assert wanted is not None and wanted > 425, name
        else:
            assert wanted == (found if found >= 0 else None), name


# Layers that are missing.


def test_missing_layers_are_said_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first run without a layer warns and names it; the second is silent."""
    monkeypatch.setattr(layers, "_announced", set())
    with pytest.warns(layers.WallWarning, match=r"network \(has no network"):
        layers.announce(set(layers.LAYERS) - {"network"}, required=False)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        layers.announce(set(layers.LAYERS) - {"network"}, required=False)
        layers.announce(layers.LAYERS, required=True)


def test_a_required_wall_refuses() -> None:
    """Where the wall is required and a layer is missing, no process is left and nothing of the student's has run."""
    with pytest.raises(StaffError, match="network") as caught, Session(Limits(require_wall=True, without_wall=True)):
        pytest.fail("it was required")
    assert caught.value.code == "wall"


def test_the_table_of_layers() -> None:
    """One line a layer, with yes or NO."""
    lines = layers.describe().splitlines()
    assert [line.split()[0] for line in lines] == list(layers.LAYERS)
    assert all(line.split()[1] in ("yes", "NO") for line in lines)


# Where the kernel refuses, as a container without privileges would.

REFUSING = """
import os, sys
sys.path.insert(0, {root!r})
from autograder.sandbox import linux, wall
def refuse(*_): raise OSError(1, "refused")
{refused}
print(*wall.settle())
"""


@pytest.mark.parametrize(
    ("refused", "missing"),
    [
        ("linux.unshare = refuse", {"processes", "network", "names", "files", "user"}),
        ("linux.mount = refuse", {"files"}),
        ("wall.seccomp.install = refuse", {"calls"}),
    ],
)
def test_layers_are_found_by_trying(refused: str, missing: set[str]) -> None:
    """What is refused is missing, and the rest is still there."""
    code = REFUSING.format(root=str(ROOT), refused=refused)
    run = subprocess.run(
        [sys.executable, "-c", code], env=layers.environment(), capture_output=True, text=True, check=True
    )
    there = {name for name, found in layers.found().items() if found}
    assert set(run.stdout.split()) >= there - missing - ({"user"} if os.geteuid() and missing else set())
    assert not set(run.stdout.split()) & missing - {"user"}


@pytest.mark.filterwarnings("ignore::autograder.sandbox.layers.WallWarning")
def test_a_system_with_nothing_of_this_still_grades(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without namespaces, filters and process descriptors, as on macOS: cells, questions and deaths are the same."""
    bare = "import os; from autograder.sandbox import wall; wall.settle = frozenset; del os.pidfd_open; "
    python = layers.python
    monkeypatch.setattr(layers, "python", lambda code: python(bare + code))
    monkeypatch.setattr(warm, "_warm", None)
    with Session(Limits(cell_seconds=2)) as session:
        assert shown(session, "print(1 + 1)") == "2\n"
        assert session.run("while True: pass").death == "timeout"
        assert session.run("import os; os._exit(0)").death == "exit"
        session.run("x = 5")
        assert session.ask(Question(kind="value", name="x")).value == 5
        assert session._process is not None and session._process.pidfd is None and not session._process.layers
    with pytest.raises(StaffError, match="calls"), Session(Limits(require_wall=True)):
        pytest.fail("it was required")


def test_a_failing_fork_harms_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the machine has no process to give, it is said, and the notebooks that run go on."""
    broken = (
        "from autograder.sandbox import wall; real = wall.fork; count = []\n"
        "def fork(layers):\n"
        "    count.append(1)\n"
        "    if len(count) == 3: raise OSError(11, 'no more processes')\n"
        "    return real(layers)\n"
        "wall.fork = fork\n"
    )
    python = layers.python
    monkeypatch.setattr(layers, "python", lambda code: python(broken + code))
    monkeypatch.setattr(warm, "_warm", None)
    with Session() as first:
        assert shown(first, "print(1)") == "1\n"
        with Session() as second, pytest.raises(StaffError, match="no more processes"):
            second.run("1")
        assert shown(first, "print(2)") == "2\n"
        with Session() as third:
            assert shown(third, "print(3)") == "3\n"


def test_who_can_read_the_interpreter(tmp_path: Path) -> None:
    """One closed folder on the way closes all below it."""
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "a" / "b").chmod(0o755)
    (tmp_path / "a").chmod(0o700)
    assert not wall.open_to_all(str(tmp_path / "a" / "b")) and wall.open_to_all("/usr/bin")


# The channel.


def test_a_listener_that_does_not_read_costs_only_its_time() -> None:
    """Sending more than fits into a socket ends at the deadline."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        start = time.monotonic()
        with pytest.raises(stream.Silence):
            stream.send(ours, bytes(2**22), start + 0.2)
        assert time.monotonic() - start < 2


def test_a_longer_frame_than_allowed_is_not_read() -> None:
    """The claimed length is looked at before anything is read, and what is pending is seen without reading it."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        assert not stream.pending(ours)
        stream.send(theirs, bytes(1000))
        assert stream.pending(ours)
        with pytest.raises(Unreadable) as caught:
            stream.receive(ours, time.monotonic() + 1, most=999)
        assert caught.value.code == "too_large"


# Files.


def test_shown_paths(tmp_path: Path) -> None:
    """A path within another is left out, one through a link has both names, one that is not there none."""
    real = tmp_path / "real"
    (real / "lib" / "deep").mkdir(parents=True)
    (tmp_path / "link").symlink_to(real)
    paths = mounts.shown([f"{tmp_path}/link/lib", f"{real}/lib/deep", f"{tmp_path}/nowhere", "relative"])
    assert dict(paths) == {f"{tmp_path}/link/lib": f"{real}/lib", f"{real}/lib": f"{real}/lib"}


@WALLED
def test_nothing_but_what_is_needed_is_shown() -> None:
    """No repository beside this package's own files, no home, no environment beside the interpreter's."""
    with Session() as session:
        text = shown(session, f"import os; print(sorted(os.listdir({str(ROOT)!r})), os.path.exists('/home'))")
        assert text in ("['autograder'] False\n", "['.venv', 'autograder'] False\n")
        assert "problem" not in shown(session, f"print(os.listdir({str(ROOT / 'autograder')!r}))")


@WALLED
def test_a_visible_folder_can_be_read_and_not_written(tmp_path: Path) -> None:
    """A data set that the course names is there for every notebook."""
    (tmp_path / "data.csv").write_text("1,2,3")
    tmp_path.chmod(0o755)
    with Session(Limits(visible=(str(tmp_path),))) as session:
        assert shown(session, f"print(open('{tmp_path}/data.csv').read())") == "1,2,3\n"
        assert "Read-only" in str(session.run(f"open('{tmp_path}/new', 'w')").outputs)


@WALLED
def test_ordinary_notebooks_work() -> None:
    """What students write works inside: files of their own, plots, programs, processes, time zones, torch."""
    with Session(Limits(cell_seconds=20), {"data/values.csv": b"1,2\n"}) as session:
        assert "2" in shown(session, "print(open('data/values.csv').read())")
        assert "image/png" in shown(session, "import matplotlib.pyplot as plt\nplt.plot([1, 2])\nplt.show()")
        assert shown(session, "!echo hello | tr a-z A-Z").strip() == "HELLO"
        assert shown(session, "!whoami").strip() == "student"
        zone = (
            "import zoneinfo, datetime\nprint(datetime.datetime(2024, 7, 1, tzinfo=zoneinfo.ZoneInfo('Europe/Rome')))"
        )
        assert "+02:00" in shown(session, zone)
        pool = "import multiprocessing as m\nwith m.get_context('fork').Pool(2) as p: print(p.map(abs, [-1, -2]))"
        assert shown(session, pool) == "[1, 2]\n"
        model = (
            "import torch\nm = torch.nn.LSTM(3, 5)\nm(torch.ones(2, 1, 3))[0].sum().backward()\nm.bias_hh_l0.grad.shape"
        )
        assert "torch.Size([20])" in shown(session, model)
        assert "TemporaryDirectory" in shown(session, "import tempfile\nprint(tempfile.TemporaryDirectory())")
        assert shown(session, "from autograder import student\nprint(student.tensor(2))").startswith("a torch tensor")


# Deaths.


@WALLED
def test_memory_is_a_reason() -> None:
    """A process that the watch ends says for what, and the question is answered by that."""
    source = """
import mmap
def f():
    hoard = [mmap.mmap(-1, 2**27) for _ in range(8)]
    for piece in hoard:
        for place in range(0, len(piece), 4096): piece[place] = 1
"""
    with Session(Limits(memory_megabytes=600)) as session:
        session.run(source)
        answer = session.ask(Question(kind="call", name="f"))
        assert answer.failure == "memory" and "600 MB are allowed" in answer.detail


@WALLED
def test_an_end_of_the_grader_ends_the_notebooks() -> None:
    """After kill -9 of the grader neither the warm parent nor any notebook goes on."""
    code = (
        "from autograder.sandbox import Session, warm\n"
        "import sys, time\n"
        "session = Session()\n"
        "session.run('import os, time\\nif os.fork() == 0:\\n    os.setsid(); time.sleep(100)')\n"
        "print(warm._warm._process.pid, flush=True)\n"
        "session.run('while True: pass')\n"
    )
    command = [sys.executable, "-c", f"import sys; sys.path.insert(0, {str(ROOT)!r})\n{code}"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as grader:
        assert grader.stdout is not None
        root = int(grader.stdout.readline())
        time.sleep(0.3)
        tree = watch.descendants(root)
        grader.send_signal(signal.SIGKILL)
        grader.wait()
    assert len(tree) == 4
    deadline = time.monotonic() + 10
    while any(_runs(pid) for pid in tree) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not any(_runs(pid) for pid in tree)


def _runs(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


# From one submission to the next.

LEAVE = """
import builtins, os, random, sys, warnings
import numpy as np, torch, matplotlib, decimal, locale
builtins.left = 1
os.environ["LEFT"] = "1"
os.chdir("/tmp")
sys.path.append("/left")
sys.modules["left"] = sys
sys.setrecursionlimit(77777)
torch.set_default_dtype(torch.float64)
torch.set_grad_enabled(False)
torch.set_num_threads(3)
torch.manual_seed(77)
np.random.seed(77)
np.set_printoptions(precision=1)
random.seed(77)
decimal.getcontext().prec = 3
matplotlib.rcParams["lines.linewidth"] = 77
warnings.simplefilter("ignore")
for folder in (".", "/notebook", "/tmp", "/dev/shm"):
    open(folder + "/left", "w").write("left")
torch.nn.Module.left = 1
"""
LOOK = """
import builtins, decimal, os, random, sys, threading, warnings
import numpy as np, torch, matplotlib
print(hasattr(builtins, "left"), "LEFT" in os.environ, os.getcwd(), "/left" in sys.path, "left" in sys.modules)
print(sys.getrecursionlimit(), torch.get_default_dtype(), torch.is_grad_enabled(), torch.get_num_threads())
print(torch.rand(1).item(), np.random.rand(), random.random(), np.get_printoptions()["precision"])
print(decimal.getcontext().prec, matplotlib.rcParams["lines.linewidth"], len(warnings.filters), hash("set order"))
print(os.listdir("."), os.listdir("/tmp"), os.listdir("/dev/shm"), hasattr(torch.nn.Module, "left"))
print(threading.active_count(), os.umask(0o077), os.getpid(), os.getuid(), sorted(os.environ), sorted(globals()))
"""


@WALLED
def test_nothing_leaks_from_one_submission_to_the_next() -> None:
    """Whatever a notebook sets, the next one finds what the one before it had found."""
    seen = []
    for _ in range(2):
        with Session() as session:
            seen.append(shown(session, LOOK))
        with Session() as session:
            assert session.run(LEAVE).outputs == []
            assert shown(session, LOOK) != seen[0]
    assert seen[0] == seen[1]
    assert "False False /notebook False False" in seen[0] and "torch.float32 True 1" in seen[0]


@WALLED
def test_a_new_parent_starts_from_the_same_state() -> None:
    """Random numbers and the order of sets are the same in every grader's process, and so are the marks."""
    seen = []
    for _ in range(2):
        with Session() as session:
            seen.append(shown(session, LOOK))
        assert warm._warm is not None
        warm._warm.close()
    assert seen[0] == seen[1]


def test_the_clock_starts_with_the_students_code() -> None:
    """Starting a process takes nothing from the notebook's time."""
    with Session(Limits(notebook_seconds=2)) as session:
        session.run("x = 1")
        assert session._used < 1


# As an ordinary user.

BECOME = """
import os, sys, tempfile
from pathlib import Path
sys.path.insert(0, {root!r})
from autograder.sandbox import linux
linux.unshare(linux.NEWNS)
linux.mount("none", "/", None, linux.MS_REC | linux.MS_PRIVATE)
for needed in (sys.base_prefix, sys.prefix, {root!r}):  # an interpreter under /root is shown to that user as well
    closed = [folder for folder in reversed(Path(needed).parents) if not folder.stat().st_mode & 1]
    if closed:
        kept = tempfile.mkdtemp()
        linux.mount(needed, kept, None, linux.MS_BIND | linux.MS_REC)
        linux.mount("tmpfs", str(closed[0]), "tmpfs", 0, "mode=755")
        os.makedirs(needed)
        linux.mount(kept, needed, None, linux.MS_BIND | linux.MS_REC)
        linux.umount(kept)
        os.rmdir(kept)
os.umask(0o022)
os.setgroups([])
os.setresgid(41999, 41999, 41999)
os.setresuid(41999, 41999, 41999)
os.environ.update(HOME={home!r}, TMPDIR={home!r})
os.execv(sys.executable, [sys.executable, *sys.argv[1:]])
"""


@pytest.fixture
def ordinary() -> Iterator[list[str]]:
    """The start of a Python command that runs as a user who is nobody on this machine."""
    if os.geteuid() != 0 or not all(layers.found().values()):
        pytest.skip("only root can become another user; run as an ordinary user, the other tests say the same")
    home = tempfile.mkdtemp(prefix="ordinary-")
    os.chmod(home, 0o777)
    yield [sys.executable, "-c", BECOME.format(root=str(ROOT), home=home)]
    shutil.rmtree(home)


def test_an_ordinary_user_has_every_layer(ordinary: list[str]) -> None:
    """What root gets, an ordinary user gets."""
    code = (
        f"import sys; sys.path.insert(0, {str(ROOT)!r}); from autograder.sandbox import layers; print(layers.found())"
    )
    run = subprocess.run([*ordinary, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == str(layers.found())


def test_attacks_on_an_ordinary_user(ordinary: list[str]) -> None:
    """An attack on each layer, on a grader without privileges: contained, and real."""
    some = "05 or 15 or 27 or 36 or 43 or 44 or 61 or 62"
    options = ["-q", "-p", "no:cacheprovider", "-k", some, str(ROOT / "tests" / "sandbox" / "test_attacks.py")]
    run = subprocess.run([*ordinary, "-m", "pytest", *options], capture_output=True, text=True, cwd=ROOT)
    assert run.returncode == 0 and "skipped" not in run.stdout, run.stdout[-3000:]
