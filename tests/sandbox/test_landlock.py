"""Files kept by Landlock, where the kernel refuses namespaces as Docker's usual profile and recent Ubuntu do."""

from __future__ import annotations

import errno
import os
import platform
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from autograder.core import Question
from autograder.sandbox import Limits, Session, landlock, layers, linux, seccomp, warm
from tests.sandbox.test_attacks import ATTACKS, attack_problems, let_loose
from tests.sandbox.test_wall import decide, shown
from tests.submissions import MARKS, breaches, hosted, run


def _why_not() -> str:
    try:
        found = landlock.version()
    except OSError as error:
        return f"this kernel has no Landlock: {error}"
    return "" if found >= landlock.LEAST else f"this kernel has version {found} of Landlock only"


LOCKED = pytest.mark.skipif(bool(_why_not()), reason=_why_not() or "there is Landlock")

# A filter that refuses unshare, mount and setns in the kernel, before anything of ours runs. The notebook's user is the
# grader's own: only Landlock stands between them, and not the modes of files.
REFUSING = """
from autograder.sandbox import linux, seccomp, wall
calls = [seccomp.REFUSED[name][linux.MACHINES.index({machine!r})] for name in ("unshare", "mount", "setns")]
refused = [line for number in calls for line in ((0x15, 0, 1, number), (0x06, 0, 0, seccomp.REFUSE))]
linux.prctl(linux.PR_SET_NO_NEW_PRIVS, 1)
seccomp.put([(0x20, 0, 0, 0), *refused, (0x06, 0, 0, seccomp.ALLOW)])
wall._owner = lambda *_: None
"""
WITHOUT = "from autograder.sandbox import landlock\ndef no(*_): raise OSError(95, 'none')\nlandlock.restrict = no\n"


def refuse(monkeypatch: pytest.MonkeyPatch, more: str = "") -> None:
    """Start warm parents in a process to which the kernel refuses namespaces."""
    python = layers.python
    before = REFUSING.format(machine=platform.machine()) + more
    monkeypatch.setattr(layers, "python", lambda code: python(f"exec({before!r}); {code}"))
    monkeypatch.setattr(layers, "_announced", {frozenset({"processes", "network", "names"}), frozenset(layers.LAYERS)})
    monkeypatch.setattr(layers, "announce", lambda *_, **__: None)


@pytest.fixture(scope="module")
def parents() -> Iterator[dict[str, warm.Warm]]:
    """One warm parent for each kind of machine, by what comes `more`; notebooks never share more than that."""
    started = {}
    for more in ("", WITHOUT):
        with pytest.MonkeyPatch.context() as patch:
            refuse(patch, more)
            started[more] = warm.Warm.start()
    yield started
    for parent in started.values():
        parent.close()


def use(monkeypatch: pytest.MonkeyPatch, parents: dict[str, warm.Warm], more: str = "") -> None:
    """Run this test's notebooks there."""
    refuse(monkeypatch, more)
    monkeypatch.setattr(warm, "_warm", parents[more])
    monkeypatch.setattr(warm, "_warm_pid", os.getpid())


@pytest.fixture
def refused(monkeypatch: pytest.MonkeyPatch, parents: dict[str, warm.Warm]) -> None:
    """A machine that refuses namespaces."""
    use(monkeypatch, parents)


@pytest.fixture
def without(monkeypatch: pytest.MonkeyPatch, parents: dict[str, warm.Warm]) -> None:
    """The same machine with a kernel that has no Landlock."""
    use(monkeypatch, parents, WITHOUT)


@LOCKED
def test_landlock_takes_the_layer_files(refused: None) -> None:
    """Where namespaces are refused the layer is there, and the table says by what."""
    there = layers.tried()
    assert "landlock" in there and not there & {"files", "processes", "network", "names"}
    assert layers.found()["files"]
    row = next(line for line in layers.describe().splitlines() if line.startswith("files"))
    assert "yes" in row and "Landlock" in row


def test_without_landlock_the_layer_is_missing(without: None) -> None:
    """A kernel that has neither gives no wall around files, and the table says so."""
    assert not layers.found()["files"]
    row = next(line for line in layers.describe().splitlines() if line.startswith("files"))
    assert "NO" in row and "Landlock" not in row


@pytest.mark.parametrize(
    ("there", "missing"),
    [
        (set(layers.LAYERS), set()),
        (set(layers.LAYERS) - {"files"}, {"files"}),
        (set(layers.LAYERS) - {"files"} | {"landlock"}, set()),
        ({"landlock", "limits"}, set(layers.LAYERS) - {"files", "limits"}),
    ],
)
def test_what_stands_in_is_not_missing(there: set[str], missing: set[str]) -> None:
    """Landlock counts as the layer that it takes, and as no other."""
    assert layers.missing(there) == missing


ON_FILES = (
    "19_around_the_root", "36_gradebook", "37_other_submissions", "39_reference", "43_files_left_behind",
    "53_symbolic_links", "54_remove_everything", "73_watching_others", "18_environment_of_others",
)  # fmt: skip
REAL = ("36_gradebook", "37_other_submissions", "39_reference", "43_files_left_behind")


@LOCKED
@pytest.mark.parametrize("name", ON_FILES)
def test_attacks_on_files_are_contained(
    name: str, refused: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As behind a root of its own: nothing read, nothing left, and the mark is that of the answers."""
    attack_problems(monkeypatch)
    with hosted(tmp_path) as host:
        result = let_loose(host, ATTACKS[name])
        assert breaches(host, result) == []
        assert result.marks == getattr(ATTACKS[name], "MARKS", MARKS), result.outputs[-2000:]
        after = run(host, ["print('honest')"])
        assert after.marks == MARKS and "honest" in after.outputs and not after.report.flags


@pytest.mark.parametrize("name", REAL)
def test_attacks_on_files_are_real(name: str, without: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On the same machine without Landlock the same cells do their harm: what contains them is Landlock."""
    attack_problems(monkeypatch)
    with hosted(tmp_path) as host:
        assert breaches(host, let_loose(host, ATTACKS[name])) != []


HARM = """
import os, shutil
done = []
for name, harm in {
    "read": lambda: open(TARGET).read(),
    "write": lambda: open(TARGET, "a"),
    "cut": lambda: os.truncate(TARGET, 0),
    "cut while opening": lambda: os.open(TARGET, os.O_RDONLY | os.O_TRUNC),
    "remove": lambda: os.remove(TARGET),
    "rename": lambda: os.rename(TARGET, TARGET + "2"),
    "take": lambda: os.rename(TARGET, "mine"),
    "put": lambda: (open("mine", "w").close(), os.rename("mine", TARGET)),
    "link here": lambda: os.link(TARGET, "linked"),
    "read by a link": lambda: (os.symlink(TARGET, "by"), open("by").read()),
    "list": lambda: os.listdir(os.path.dirname(TARGET)),
    "list the root": lambda: os.listdir("/"),
    "make": lambda: open(os.path.dirname(TARGET) + "/new", "w"),
    "make a folder": lambda: os.mkdir(os.path.dirname(TARGET) + "/folder"),
    "by /proc": lambda: open("/proc/self/root" + TARGET).read(),
    "by the working folder": lambda: (os.chdir(os.path.dirname(TARGET)), open(os.path.basename(TARGET)).read()),
    "temporary": lambda: open("/tmp/left-by-landlock", "w"),
    "shared memory": lambda: open("/dev/shm/left-by-landlock", "w"),
    "the interpreter": lambda: open(os.__file__, "a"),
    "another process": lambda: open(f"/proc/{os.getppid()}/environ").read(),
}.items():
    try:
        harm()
        done.append(name)
    except OSError:
        pass
os.chmod(TARGET, 0o777)
os.utime(TARGET, (1, 1))
print(done)
"""


@LOCKED
def test_a_file_beside_the_wall_is_out_of_reach(refused: None, tmp_path: Path) -> None:
    """A file of the grader's own user can be neither read, changed, moved, cut nor closed to the grader."""
    target = tmp_path / "gradebook.db"
    target.write_text("marks")
    target.chmod(0o600)
    before = target.stat()
    with Session() as session:
        assert shown(session, HARM.replace("TARGET", repr(str(target)))) == "[]\n"
    after = target.stat()
    assert (after.st_mode, after.st_mtime, target.read_text()) == (before.st_mode, before.st_mtime, "marks")
    assert [path.name for path in tmp_path.iterdir()] == ["gradebook.db"]


@LOCKED
def test_what_is_behind_landlock_works(refused: None, tmp_path: Path) -> None:
    """Files of one's own, programs, plots, copies, temporary files, late imports, visible folders and answers work."""
    (tmp_path / "data.csv").write_text("1,2,3")
    with Session(Limits(cell_seconds=20, visible=(str(tmp_path),)), {"data/values.csv": b"1,2\n"}) as session:
        assert shown(session, "print(open('data/values.csv').read())") == "1,2\n\n"
        assert shown(session, f"print(open('{tmp_path}/data.csv').read())") == "1,2,3\n"
        assert "Permission denied" in str(session.run(f"open('{tmp_path}/new', 'w')").outputs)
        assert "image/png" in shown(session, "import matplotlib.pyplot as plt\nplt.plot([1, 2])\nplt.show()")
        assert shown(session, "!echo hello | tr a-z A-Z").strip() == "HELLO"
        copy = "import shutil, os\nos.mkdir('b'); shutil.copy('data/values.csv', 'b/c')\nos.rename('b/c', 'd')\n"
        assert shown(session, copy + "print(open('d').read(), open('/dev/null').read())") == "1,2\n \n"
        assert shown(session, "import tempfile\nwith tempfile.TemporaryFile() as f: print(f.write(b'12'))") == "2\n"
        assert shown(session, "import xmlrpc.client, wave; print(wave.__name__)") == "wave\n"
        assert shown(session, "import torch\nprint(torch.nn.LSTM(3, 5)(torch.ones(2, 1, 3))[0].shape[0])") == "2\n"
        session.run("x = 5")
        assert session.ask(Question(kind="value", name="x")).value == 5
        assert session._process is not None
        directory = session._process.directory
        assert directory and "landlock" in session._process.layers
    assert not os.path.exists(directory)


# What each version of the kernel knows.


@pytest.mark.parametrize(
    ("found", "rights"),
    [(1, 0x1FFF), (2, 0x3FFF), (3, 0x7FFF), (4, 0x7FFF), (5, 0xFFFF), (6, 0xFFFF), (7, 0xFFFF), (99, 0xFFFF)],
)
def test_rights_by_version(found: int, rights: int) -> None:
    """A kernel is asked for the rights that its version has, by linux/landlock.h, and for no other."""
    assert landlock.handled(found) == rights


@pytest.mark.parametrize("found", [1, 2])
def test_a_version_that_leaves_files_open_is_none(found: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before version 3 a file could be cut to nothing: the layer is not there, and nothing is restricted."""
    monkeypatch.setattr(landlock, "version", lambda: found)
    with pytest.raises(OSError, match=f"version {found}") as caught:
        landlock.restrict([], [], [])
    assert caught.value.errno == errno.EOPNOTSUPP


@LOCKED
@pytest.mark.parametrize("found", range(3, 8))
def test_each_version_restricts(found: int) -> None:
    """What an older kernel knows is enough: with the rights of each version another file cannot be read."""
    if found > landlock.version():
        pytest.skip(f"this kernel has version {landlock.version()} of Landlock")
    code = (
        f"from autograder.sandbox import landlock; landlock.version = lambda: {found}\n"
        "landlock.restrict(['/usr'], [], ['/dev/null']); open('/usr/bin/env').close(); open('/dev/null', 'w').close()\n"
        f"open({__file__!r})"
    )
    command = [sys.executable, "-c", f"import sys; sys.path.insert(0, {str(Path(__file__).parents[2])!r})\n{code}"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert "PermissionError" in done.stderr and __file__ in done.stderr.splitlines()[-1], done.stderr


@pytest.mark.parametrize("machine", linux.MACHINES)
def test_modes_are_muted_only_with_landlock(machine: str) -> None:
    """A change of mode, owner or time seems to succeed where Landlock keeps files, and is allowed elsewhere."""
    column = linux.MACHINES.index(machine)
    for name, pair in seccomp.MUTED.items():
        number = pair[column]
        if number is not None:
            assert decide(machine, number, muted=True) == seccomp.MUTE, name
            assert decide(machine, number) == seccomp.ALLOW, name
    watching = seccomp.WATCHING["inotify_add_watch"][column]
    assert watching is not None and decide(machine, watching, muted=True) == seccomp.REFUSE
    assert decide(machine, watching) == seccomp.ALLOW


def test_the_worst_attack_goes_no_further_where_nothing_contains_it(
    without: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It would remove the machine that runs the tests: it leaves one file, by which a test fails."""
    attack_problems(monkeypatch)
    harmless = [
        cell.replace("rm -rf", "echo would run rm").replace("shutil.rmtree", "print")
        for cell in ATTACKS["54_remove_everything"].CELLS
    ]
    assert sum("would run rm" in cell for cell in harmless) == 2
    with hosted(tmp_path) as host:
        result = run(host, harmless)
        assert "would run" not in result.outputs and host.files_left() == [host.folder / host.mark]
