"""A course of somebody else's, with asserts and no problem of ours: marked as nbgrader marks, behind the wall."""

from __future__ import annotations

import contextlib
import copy
import json
import os
import re
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
from traitlets.config import Config

from autograder.course import adoption, regrading, run
from autograder.errors import StaffError
from autograder.grading import report
from autograder.nbgrader.course_api import done, opened
from autograder.nbgrader.foreign import released_form_of
from tests import forked
from tests.course.conftest import environment
from tests.course.test_formgrader import formgrader
from tests.course.test_formgrader import opened as in_formgrader
from tests.course.test_workers import cluster

KERNEL = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
SQUARE = "def square(x):\n    return np.asarray(x) ** 2"
CUBE = "def cube(x):\n    return x ** 3"
WRONG = "def square(x):\n    return 0\n\ndef cube(x):\n    return 0\n"
SECRET = "assert square(-13) == 169"
CHECKER = "def check(right):\n    assert right\n"  # in a file with the name of a library
TESTS = f"""check(square(2) == 4)
assert_allclose(square(3), 9)
### BEGIN HIDDEN TESTS
assert np.allclose(square([1, 2]), [1, 4])
assert abs(square(-4) - 16) < 1e-9
{SECRET}
### END HIDDEN TESTS"""
PARTIAL = "good = [cube(x) == x**3 for x in (1, 2, 3, 4)]\nfloat(sum(good))"


def marks(**more: Any) -> dict[str, Any]:
    """What nbgrader writes into a cell."""
    usual = {"schema_version": 3, "task": False, "locked": False, "grade": False, "solution": False}
    return {"nbgrader": usual | more}


def solution(text: str) -> str:
    """An answer's cell as its author writes it."""
    return f"### BEGIN SOLUTION\n{text}\n### END SOLUTION"


def numbers() -> Any:
    """A notebook with two tests, one of them for partial credit, an answer in words, and a task."""
    imports = "import numpy as np\nfrom numpy.testing import assert_allclose\nfrom iniconfig import check"
    return new_notebook(
        metadata=KERNEL,
        cells=[
            new_markdown_cell("# Numbers"),
            new_code_cell(imports, metadata=marks(grade_id="imports", locked=True)),
            new_code_cell(solution(SQUARE), metadata=marks(grade_id="square", solution=True)),
            new_code_cell(TESTS, metadata=marks(grade_id="square-test", grade=True, locked=True, points=2)),
            new_code_cell(solution(CUBE), metadata=marks(grade_id="cube", solution=True)),
            new_code_cell(PARTIAL, metadata=marks(grade_id="cube-test", grade=True, locked=True, points=4)),
            new_markdown_cell("Because.", metadata=marks(grade_id="why", grade=True, solution=True, points=3)),
            new_markdown_cell("Draw it.", metadata=marks(grade_id="draw", task=True, locked=True, points=2)),
        ],
    )


def words() -> Any:
    """A second, short notebook."""
    return new_notebook(
        metadata=KERNEL,
        cells=[
            new_code_cell(solution("name = 'Ada'"), metadata=marks(grade_id="name", solution=True)),
            new_code_cell("assert name == 'Ada'", metadata=marks(grade_id="name-test", grade=True, points=1)),
        ],
    )


Files = dict[str, Any]


class Work:
    """A student's files: both notebooks as released, to be changed."""

    def __init__(self, released: Path, source: Path, *, right: bool = True) -> None:
        self.files: Files = {}
        for name in ("numbers", "words"):
            given = nbformat.read(released / f"{name}.ipynb", as_version=4)
            wanted = nbformat.read(source / f"{name}.ipynb", as_version=4)
            stubs = released_form_of(wanted, Config())
            self.files[name] = adoption.answered(wanted, stubs, given, 1 if right else 0)

    @property
    def cells(self) -> list[Any]:
        """The cells of the first notebook."""
        cells: list[Any] = self.files["numbers"].cells
        return cells

    def cell(self, name: str) -> Any:
        """One of them by its id."""
        return next(cell for cell in self.cells if cell.metadata.get("nbgrader", {}).get("grade_id") == name)

    def hand_in(self, folder: Path) -> None:
        """Write all of it, whatever it has become."""
        folder.mkdir(parents=True)
        for name, content in self.files.items():
            path = folder / (name if "." in name else f"{name}.ipynb")
            if isinstance(content, str):
                path.write_text(content)
            else:
                path.write_text(json.dumps(content))


def forged(code: str) -> Callable[[Work], None]:
    """A notebook whose answers are wrong, with code that is to hide it."""

    def change(work: Work) -> None:
        work.cell("square").source = WRONG + code
        work.cell("cube").source = "pass"

    return change


def _skipped(work: Work) -> None:
    forged("")(work)
    for name in ("square-test", "cube-test"):
        work.cell(name).metadata["tags"] = ["skip-execution", "raises-exception"]


def _rewritten(work: Work) -> None:
    forged("")(work)
    work.cell("square-test").source = "assert True"
    work.cell("cube-test").source = "4.0"
    work.cell("cube-test").metadata["nbgrader"]["points"] = 1000


def _claimed(work: Work) -> None:
    forged("")(work)
    work.files["numbers"].metadata["autograder"] = {"slug": "tiny", "version": 1, "seed": 7}


def _shadowing(work: Work) -> None:
    forged("")(work)
    for name in ("numpy.py", "types.py", "torch.py", "ipykernel_launcher.py"):
        work.files[name] = "def allclose(*a, **k): return True\nraise SystemExit"


# Whether any file that can be read holds a hidden test, the grader's own among them.
FILES = """
import os
found, seen = [], 0
for folder, folders, names in os.walk('/'):
    folders[:] = {*folders} - {'lib', 'lib64', 'bin', 'sbin', 'usr', 'sys', 'dev', 'proc', 'etc'}
    for name in names:
        try:
            if os.path.getsize(os.path.join(folder, name)) < 10**6:
                with open(os.path.join(folder, name), 'rb') as file:
                    seen += 1
                    if b'square(' + b'-13)' in file.read():
                        found.append(os.path.join(folder, name))
        except OSError:
            pass
print('HIDDEN', found, seen > 50)
"""
NOBODY = "class Nobody:\n    def __getattr__(self, name):\n        return lambda *a, **k: True\n"
# What hides wrong answers in nbgrader, and what is said about it; nothing where no trace of it is left.
FORGERIES: dict[str, tuple[Callable[[Work], None], str]] = {
    "skipped": (_skipped, ""),
    "rewritten": (_rewritten, "was changed"),
    "claimed": (_claimed, ""),
    "shadowing": (_shadowing, ""),
    "own_comparison": (forged("np.allclose = lambda *a, **k: True\nassert_allclose = print"), "numpy.allclose"),
    "own_numpy": (forged(NOBODY + "np = Nobody()\nassert_allclose = np.x"), "put back: np"),
    "code_of_test_function": (
        forged("import numpy.testing as t\nt.assert_allclose.__code__ = (lambda *a, **k: None).__code__"),
        "assert_allclose",
    ),
    "own_checker": (forged("def check(right):\n    pass\nassert_allclose = check"), "check"),
    "checker_in_place": (
        forged("import iniconfig\niniconfig.check.__code__ = (lambda right: None).__code__"),
        "iniconfig.check",
    ),
    "checker_in_a_file": (lambda work: (forged("")(work), work.files.update({"iniconfig.py": "check = print"}))[0], ""),
    "own_builtins": (
        forged("import builtins\nbuiltins.abs = lambda x: 0\nbuiltins.sum = lambda x: 4.0"),
        "builtins.sum",
    ),
    "own_namespace": (forged("__builtins__ = {**vars(__builtins__), 'float': lambda x: 4.0}"), "__builtins__"),
    "no_asserts": (
        forged(
            "import ast\nclass Drop(ast.NodeTransformer):\n"
            "    def visit_Assert(self, node):\n        return ast.Pass()\n"
            "    def visit_Call(self, node):\n        return ast.Constant(4.0)\n"
            "get_ipython().ast_transformers.append(Drop())"
        ),
        "hooks of the shell",
    ),
    "other_text": (
        forged("get_ipython().input_transformers_cleanup.append(lambda lines: ['4.0\\n'])"),
        "hooks of the shell",
    ),
    "other_cell": (forged("get_ipython().run_cell = lambda *a, **k: None"), "get_ipython().run_cell"),
    "other_shell": (
        forged("async def nothing(*a, **k):\n    return False\ntype(get_ipython()).run_code = nothing"),
        "run_code",
    ),
    "no_traceback": (
        forged("get_ipython().showtraceback = get_ipython()._showtraceback = lambda *a, **k: None"),
        "showtraceback",
    ),
    "own_exceptions": (
        forged("get_ipython().set_custom_exc((Exception,), lambda *a, **k: None)"),
        "get_ipython().custom_exceptions",
    ),
    "all_shown": (
        forged("from IPython.core.interactiveshell import InteractiveShell as I\nI.ast_node_interactivity = 'all'"),
        "",
    ),
    "displayed_score": (
        forged("import sys\ndef square(x):\n    sys.displayhook(2.0)\n    return 0\n"),
        "a value was shown in the test cell square-test",
    ),
    "own_numbers": (
        forged(
            "get_ipython().display_formatter.formatters['text/plain'].for_type(float, lambda v, p, c: p.text('4.0'))"
        ),
        "how values are displayed",
    ),
    "unreadable_outputs": (
        forged("def square(x):\n    get_ipython().outputs.items.append({'x': object()})\n    return 0\ncube = square"),
        "",
    ),
    "no_outputs": (
        forged(
            "class Nothing(list):\n    def append(self, item):\n        pass\n"
            "def square(x):\n    get_ipython().outputs.items = Nothing()\n    return 0\ncube = square"
        ),
        "",
    ),
    "early_exit": (forged("import os\ndef square(x):\n    os._exit(0)\ncube = square"), "ended its process"),
    "system_exit": (forged("def square(x):\n    raise SystemExit(0)\ncube = square"), ""),
    "quiet_end": (forged("import bdb\ndef square(x):\n    raise bdb.BdbQuit\ncube = square"), ""),
    "traced": (
        forged("import sys\nsys.settrace(lambda frame, event, value: None)\n"),
        "sys.settrace",
    ),
    "other_comparison_in_time": (
        forged("def square(x):\n    import numpy\n    numpy.allclose = lambda *a, **k: True\n    return 0\n"),
        "numpy.allclose (while it ran)",
    ),
    "flood": (forged("def square(x):\n    while True:\n        print('x' * 10_000)\ncube = square"), ""),
    "flood_of_pictures": (
        forged("from IPython.display import display\nfor _ in range(100_000):\n    display(1)"),
        "",
    ),
    "files": (forged(FILES), ""),
    "own_kernel": (forged("get_ipython().kernel.do_execute = None"), ""),
}


def _doubled(work: Work) -> None:
    work.cells.append(copy.deepcopy(work.cell("square-test")))
    stub = copy.deepcopy(work.cell("square"))
    stub.source = "# YOUR CODE HERE\nraise NotImplementedError()"
    work.cells.append(stub)


def _stripped(work: Work) -> None:
    for cell in work.cells:
        cell.metadata = {}


def _deleted(work: Work) -> None:
    for name in ("imports", "square-test", "cube-test"):
        work.cells.remove(work.cell(name))


def _moved(work: Work) -> None:
    work.cells.insert(0, work.cells.pop(work.cells.index(work.cell("square-test"))))


def _retyped(work: Work) -> None:
    for name, kind in (("square-test", "markdown"), ("cube-test", "raw")):
        work.cell(name).cell_type = kind


def _renamed(work: Work) -> None:
    work.files["my homework.ipynb"] = work.files.pop("numbers")


def _newer(work: Work) -> None:
    work.cell("square-test").metadata["nbgrader"]["schema_version"] = 99


# What happens to right answers, none of which costs a point, and what is said about it.
DAMAGES: dict[str, tuple[Callable[[Work], None], str]] = {
    "doubled": (_doubled, "2 cells have the id 'square-test'"),
    "stripped": (_stripped, "had lost its id"),
    "deleted": (_deleted, "The cell 'cube-test' was missing"),
    "moved": (_moved, "Cells were moved"),
    "retyped": (_retyped, "markdown instead of code"),
    "renamed": (_renamed, "handed in as 'my homework.ipynb'"),
    "newer": (_newer, ""),
}
LOUD = "def square(x):\n    import warnings\n    warnings.warn('slow')\n    return np.asarray(x) ** 2"
SHOWN = """import asyncio
from IPython.display import HTML, display
display(HTML('<b>x</b><script>1</script>'))
await asyncio.sleep(0)"""
CLOCK = "import time\ndef cube(x):\n    return x ** 3 if time.time_ns() % 1_000_003 < 500_000 else 0"


def _half(work: Work) -> None:
    work.cell("cube").source = "def cube(x):\n    return x ** 3 if x < 3 else 0"
    work.cell("why").source = "No idea."


def _breakpoint(work: Work) -> None:
    work.cell("square").source = SQUARE.replace("    return", "    breakpoint()\n    return")


def _loud(work: Work) -> None:
    work.cell("square").source = LOUD


def _deep(work: Work) -> None:
    work.cell("square").source = SQUARE.replace("    return", "    import os; os.write(2, b'deep\\n')\n    return")


def _program(work: Work) -> None:
    call = "import subprocess; subprocess.run(['sh', '-c', 'echo said; echo slow >&2'])"
    work.cell("square").source = SQUARE.replace("    return", f"    {call}\n    return")


def _said(work: Work) -> None:
    work.cell("square").source = SQUARE.replace("    return", "    import os; os.write(1, b'said\\n')\n    return")


def _rich(work: Work) -> None:
    work.cells.insert(3, new_code_cell(SHOWN))
    work.cells.insert(4, new_code_cell("%matplotlib inline\nimport matplotlib.pyplot as plt\nplt.plot([1, 2])"))
    work.cells.insert(5, new_code_cell("input('?')"))


# Honest work: nbgrader itself marks it as well.
HONEST: dict[str, Callable[[Work], None]] = {
    "right": lambda work: None,
    "half": _half,
    "loud": _loud,
    "deep": _deep,
    "program": _program,
    "said": _said,
    "rich": _rich,
    "breakpoint": _breakpoint,
}
SPY = """import os, sqlite3
places = ['../gradebook.db', '../../../gradebook.db', '../../../source', '/tmp/pytest-of-root']
print('FOUND', [name for name in places if os.path.exists(name)])
sqlite3.connect('../../../gradebook.db').execute('update grade set manual_score = 9')"""


def _spy(work: Work) -> None:
    work.cells.insert(0, new_code_cell(SPY))


def _not_json(work: Work) -> None:
    work.files["numbers"] = '{"cells": ['


def _loop(work: Work) -> None:
    work.cells.insert(2, new_code_cell("kept = 1\nwhile True:\n    pass"))
    work.cells.insert(3, new_code_cell("kept"))


THREAD = """import builtins, threading, time
def work():
    while True:
        builtins.sum = lambda x: 4.0
        time.sleep(0.01)
threading.Thread(target=work, daemon=True).start()
"""
POOL = """from concurrent.futures import ThreadPoolExecutor
pool = ThreadPoolExecutor(2)
list(pool.map(abs, [-1, 2]))
sum = sum  # a name of the notebook's own
import sys; sys.path = sys.path
"""
READER = """import sys
def square(x):
    print(*get_ipython().history_manager.input_hist_parsed[-1:], sys._getframe(1).f_code.co_names)
    return x
"""


def _reader(work: Work) -> None:
    work.cell("square").source = READER


def _pool(work: Work) -> None:
    work.cells.insert(3, new_code_cell(POOL))


OTHERS: dict[str, Callable[[Work], None]] = {
    "reader": _reader,
    "thread": forged(THREAD),
    "pool": _pool,
    "spy": _spy,
    "not_json": _not_json,
    "loop": _loop,
}


# Few for what may not end, and enough for a picture on a busy machine.
SECONDS = """
def seconds(cell):
    return 2 if "while True" in cell.source or cell.metadata.get("nbgrader", {}).get("grade") else 20
c.ExecutePreprocessor.timeout_func = seconds
"""


class Course:
    """A course folder without any problem; what its gradebook says."""

    def __init__(self, path: Path, config: str = "", sources: dict[str, Any] | None = None) -> None:
        self.path = path
        source = path / "source/ps1"
        source.mkdir(parents=True)
        for name, notebook in (sources or {"numbers": numbers(), "words": words()}).items():
            nbformat.write(notebook, source / f"{name}.ipynb")
        (source / "iniconfig.py").write_text(CHECKER)
        self.configure(adoption.LINES + config)
        with opened(path) as api:
            done("generate_assignment", api.generate_assignment("ps1"))

    def configure(self, text: str) -> None:
        """Write the course's configuration."""
        (self.path / "nbgrader_config.py").write_text(f"c = get_config()\n{SECONDS}{text}")

    def hand_in(self, student: str, change: Callable[[Work], None]) -> None:
        """Hand in right answers, changed."""
        work = Work(self.path / "release/ps1", self.path / "source/ps1")
        change(work)
        work.hand_in(self.path / "submitted" / student / "ps1")

    def grade(self, **options: Any) -> run.Result:
        """`autograder grade`."""
        return run.run(self.path, run.Options(assignment="ps1", **options))

    def marks(self, student: str) -> dict[str, float | None]:
        """Each cell's score."""
        rows = adoption.rows(self.path, "ps1")
        return {cell: row[0] for (name, _, cell), row in rows.items() if name == student}

    def flags(self, student: str) -> str:
        """What the reports of a student say."""
        place = [report.path_of(self.path, "ps1", student, name) for name in ("numbers", "words")]
        return "\n".join(flag for path in place if path.is_file() for flag in report.load(path).flags)


FULL = {"square-test": 2.0, "cube-test": 4.0}


@pytest.fixture(scope="module")
def graded(tmp_path_factory: pytest.TempPathFactory) -> Course:
    """Everybody, graded once."""
    course = Course(tmp_path_factory.mktemp("foreign") / "course")
    everybody = HONEST | OTHERS | {name: item[0] for name, item in (FORGERIES | DAMAGES).items()}
    for student, change in everybody.items():
        course.hand_in(student, change)
    (course.path / "submitted/nothing/ps1").mkdir(parents=True)
    course.result = course.grade(jobs=2)  # type: ignore[attr-defined]
    return course


def test_nobody_stops_the_others(graded: Course) -> None:
    """Every submission is graded, and who handed in no notebook is `empty`; the points are those of the gradebook."""
    rows = {row.student: row for row in graded.result.rows}  # type: ignore[attr-defined]
    assert {name: (row.state, row.why) for name, row in rows.items() if row.state != "done"} == {
        "nothing": ("empty", "no notebook of this assignment was submitted")
    }
    assert (rows["right"].points, rows["right"].of, rows["right"].held) == (7.0, 12.0, 2)
    assert not (graded.path / ".course-secret").exists()


@pytest.mark.parametrize("student", FORGERIES)
def test_a_forgery_earns_nothing(graded: Course, student: str) -> None:
    """Wrong answers get no point, whatever was done to hide it, and what was put back or noticed is a flag."""
    said, found = FORGERIES[student][1], graded.marks(student)
    assert (found["square-test"], found["cube-test"]) == (0.0, 0.0)
    assert said in graded.flags(student)
    assert found["name-test"] == 1.0


@pytest.mark.parametrize("student", DAMAGES)
def test_damage_costs_nothing(graded: Course, student: str) -> None:
    """Right answers keep their points where cells were doubled, stripped, deleted, moved or retyped."""
    found = graded.marks(student)
    assert {name: found[name] for name in FULL} == FULL
    assert DAMAGES[student][1] in graded.flags(student)


def test_what_cannot_be_read_is_a_persons_and_costs_only_itself(graded: Course) -> None:
    """A notebook that is no JSON is held in each of its cells; the other one is marked."""
    rows = adoption.rows(graded.path, "ps1")
    mine = {cell: row for (name, _, cell), row in rows.items() if name == "not_json"}
    assert {cell for cell, row in mine.items() if row[0] is None and row[2]} >= {"square-test", "cube-test", "why"}
    assert mine["name-test"][0] == 1.0


def test_a_spy_sees_nothing(graded: Course) -> None:
    """Neither solutions nor the gradebook are there to be read, and nobody's mark changes."""
    text = (graded.path / "autograded/spy/ps1/numbers.ipynb").read_text()
    shown = next(cell for cell in json.loads(text)["cells"] if "FOUND" in "".join(cell["source"]))["outputs"]
    assert "".join(shown[0]["text"]).startswith("FOUND []")
    assert all(row[1] is None for row in adoption.rows(graded.path, "ps1").values())


def shown_in(course: Course, student: str, word: str) -> str:
    """What the cell with a word in it has printed."""
    cells = json.loads((course.path / f"autograded/{student}/ps1/numbers.ipynb").read_text())["cells"]
    cell = next(cell for cell in cells if word in "".join(cell["source"]) and cell["cell_type"] == "code")
    return "".join("".join(item.get("text", "")) for item in cell["outputs"])


def test_no_file_holds_a_hidden_test(graded: Course) -> None:
    """Whatever a student's code can open."""
    assert "HIDDEN [] True" in shown_in(graded, "files", "print('HIDDEN'")


def test_who_reads_a_test_is_noticed_and_keeps_it_from_nobody(graded: Course) -> None:
    """Its text is in the process that runs it; what is printed of it stands in no page for students."""
    assert SECRET in shown_in(graded, "reader", SECRET)
    assert "looks at who calls it, or at other cells: _getframe, f_code, history_manager" in graded.flags("reader")
    page = re.sub("<[^>]*>", "", (graded.path / "feedback/reader/ps1/numbers.html").read_text())
    assert "".join(SECRET.split()) not in "".join(page.split())
    assert not any("looks at who calls it" in graded.flags(student) for student in (*HONEST, *DAMAGES))


def test_a_thread_that_goes_on_is_noticed(graded: Course) -> None:
    """Nobody can end it, and it may change what a test calls while the test runs; a library's pool only waits."""
    assert "(work), which runs on" in graded.flags("thread")
    assert graded.flags("pool") == ""
    assert {name: graded.marks("pool")[name] for name in FULL} == FULL


def test_a_flood_is_cut(graded: Course) -> None:
    """An autograded notebook stays one that can be opened."""
    for student in ("flood", "flood_of_pictures"):
        assert (graded.path / f"autograded/{student}/ps1/numbers.ipynb").stat().st_size < 3_000_000


def test_outputs_are_those_of_a_kernel(graded: Course) -> None:
    """Pictures, tables, awaited code; what would run in a grader's browser is taken out."""
    cells = json.loads((graded.path / "autograded/rich/ps1/numbers.ipynb").read_text())["cells"]
    html, picture, asked = (cell["outputs"] for cell in cells[3:6])
    assert "".join(html[0]["data"]["text/html"]) == "<b>x</b>"
    assert [item["output_type"] for item in picture] == ["execute_result", "display_data"]
    assert "image/png" in picture[1]["data"]
    assert asked[0]["ename"] == "StdinNotImplementedError"
    assert {name: graded.marks("rich")[name] for name in FULL} == FULL


def test_a_loop_costs_its_own_cell(graded: Course) -> None:
    """It is interrupted, as a kernel is, and what was bound before it stays."""
    cells = json.loads((graded.path / "autograded/loop/ps1/numbers.ipynb").read_text())["cells"]
    assert [item["ename"] for item in cells[2]["outputs"]] == ["KeyboardInterrupt", "CellTimeoutError"]
    assert cells[3]["outputs"][0]["data"]["text/plain"] == ["1"]
    assert {name: graded.marks("loop")[name] for name in FULL} == FULL


@pytest.fixture(scope="module")
def plain(graded: Course, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The honest students' work in a copy of the course that nbgrader grades by itself."""
    path = tmp_path_factory.mktemp("plain") / "course"
    shutil.copytree(
        graded.path, path, ignore=shutil.ignore_patterns("submitted", "autograded", "feedback", "*.db", "reports")
    )
    for student in HONEST:
        shutil.copytree(graded.path / "submitted" / student, path / "submitted" / student)
    (path / "nbgrader_config.py").write_text("c = get_config()\nc.ExecutePreprocessor.timeout = 60\n")
    with opened(path) as api, pytest.MonkeyPatch.context() as patch:
        patch.delenv("PYTEST_CURRENT_TEST", raising=False)  # where it is set, a kernel does not look at descriptors
        done("generate_assignment", api.generate_assignment("ps1", force=True))
        for student in HONEST:
            done("autograde", api.autograde("ps1", student))
    return path


@pytest.mark.parametrize("student", HONEST)
def test_honest_work_is_marked_as_by_nbgrader(graded: Course, plain: Path, student: str) -> None:
    """Cell by cell: score, mark by hand, whether a person is to look, and comment."""
    ours, theirs = (
        {key: row for key, row in adoption.rows(path, "ps1").items() if key[0] == student}
        for path in (graded.path, plain)
    )
    assert ours == theirs
    assert len(ours) == 5


def test_nbgraders_command_gives_the_same(graded: Course) -> None:
    """`nbgrader autograde` takes the same steps, for one notebook at a time."""
    before = {name: graded.marks(name) for name in ("half", "doubled", "own_comparison", "not_json")}
    with opened(graded.path) as api:
        for student in before:
            done("autograde", api.autograde("ps1", student, force=True))
    assert {name: graded.marks(name) for name in before} == before
    assert "numpy.allclose" in graded.flags("own_comparison")


def test_what_is_done_is_kept_and_chance_is_held(graded: Course) -> None:
    """--resume leaves finished work alone; of two runs that differ, the cell is held."""
    again = graded.grade(resume=True, students=("half",))
    assert {row.student: row.state for row in again.rows} == {"half": "kept"}
    graded.hand_in("clock", lambda work: work.cell("cube").__setitem__("source", CLOCK))
    found = set()
    for _ in range(6):
        graded.grade(students=("clock",), twice=True)
        found.add(graded.marks("clock")["cube-test"])
        if None in found:
            break
    assert None in found
    assert "two runs of the same submission" in graded.flags("clock")


def test_pages_say_scores_in_words_and_hide_what_is_hidden(graded: Course) -> None:
    """A test's score stands at its cell; of a hidden test neither the text nor the line that a traceback quotes."""
    pages = {name: (graded.path / f"feedback/{name}/ps1/numbers.html").read_text() for name in ("half", "skipped")}
    assert "cube-test: partly earned</strong>, 2 of 4 points" in pages["half"]
    assert "square-test: lost</strong>, 0 of 2 points" in pages["skipped"]
    assert "assert_allclose" in re.sub("<[^>]*>", "", pages["skipped"])
    for page in pages.values():
        assert "prefers-color-scheme: dark" in page
        text = "".join(re.sub("<[^>]*>", "", page).split())
        assert "".join(SECRET.split()) not in text and "HIDDENTESTS" not in text
    assert "why" in pages["half"] and "draw" in pages["half"]


def test_regrading_says_what_it_leaves_alone(graded: Course) -> None:
    """There are no stored answers to judge: marks stay, and a sentence says what to run instead."""
    before = graded.marks("half")
    result = regrading.run(graded.path, "ps1", dry_run=False, feedback=False)
    assert "numbers, words: marked by tests in the notebook" in result.notes[0]
    assert (result.exit_code, result.failed, graded.marks("half")) == (0, [], before)


OUTSIDE = {
    "another language": ({"kernelspec": {"name": "ir", "display_name": "R", "language": "R"}}, "", "one of R"),
    "a package": (KERNEL, "import no_such_package_here", "it imports 'no_such_package_here'"),
}


@pytest.mark.parametrize("case", OUTSIDE)
def test_what_cannot_run_in_the_sandbox_is_said_and_refused(tmp_path: Path, case: str) -> None:
    """By nbgrader's own kernel, aloud; not at all where the sandbox is required."""
    metadata, code, said = OUTSIDE[case]
    course = Course(tmp_path / "course")
    source = numbers()
    source.metadata.update(metadata)
    source.cells[1].source += f"\n{code}"
    nbformat.write(source, course.path / "source/ps1/numbers.ipynb")
    with opened(course.path) as api:
        done("generate_assignment", api.generate_assignment("ps1", force=True))
    course.hand_in("ada", lambda work: None)
    refused = course.grade(require_wall=True)
    assert said in refused.stopped and "numbers" in refused.stopped
    assert not (course.path / "autograded").exists()
    if case == "a package":
        allowed = course.grade()
        assert any(said in note for note in allowed.notes)
        assert course.marks("ada")["name-test"] == 1.0
        assert "ran in nbgrader's own kernel" in course.flags("ada")


def test_a_wall_that_is_required_is_there(graded: Course) -> None:
    """Notebooks of the course's own run under --require-sandbox, where the machine has one."""
    with contextlib.suppress(StaffError):
        assert graded.grade(students=("right",), require_wall=True).rows[0].state in ("done", "failed")


def test_workers_of_a_cluster_give_the_same_marks(graded: Course, tmp_path: Path) -> None:
    """`--scheduler`: cells run on Dask's workers, in the sandbox there, and scores are read here."""
    before = {name: (graded.marks(name), graded.flags(name)) for name in ("half", "own_comparison", "doubled")}
    with cluster(tmp_path) as address:
        words = ["--scheduler", address, *(word for name in before for word in ("--student", name))]
        line = ["autograder", "grade", "ps1", "--course", str(graded.path), "--json", *words]
        told = forked.run(line, cwd=tmp_path, env=environment())
    assert told.returncode == 0, told.stderr
    assert json.loads(told.stdout.splitlines()[-1])["graded"] == 3
    assert {name: (graded.marks(name), graded.flags(name)) for name in before} == before


def test_a_fresh_course_of_nbgraders_takes_two_lines(tmp_path: Path) -> None:
    """`nbgrader quickstart`, the two lines, and nbgrader's own commands; its pages open in Formgrader."""
    course, shadow = tmp_path / "course", tmp_path / "shadow"
    shadow.mkdir()  # it starts five interpreters, in each of which jsonschema would make a parser for a second
    (shadow / "rfc3987_syntax.py").write_text("raise ImportError")
    paths = {"PYTHONPATH": f"{shadow}{os.pathsep}{environment()['PYTHONPATH']}"}
    begun = forked.run(["nbgrader", "quickstart", str(course)], cwd=tmp_path, env=environment() | paths)
    assert begun.returncode == 0, begun.stderr
    with (course / "nbgrader_config.py").open("a") as file:
        file.write(f"\n{adoption.LINES}")
    nbgrader(course, "generate_assignment", "ps1")
    shutil.copytree(course / "release/ps1", course / "submitted/ada/ps1")
    nbgrader(course, "autograde", "ps1")
    by_nbgrader = adoption.rows(course, "ps1")
    assert len(by_nbgrader) == 9 and {row[0] for row in by_nbgrader.values()} == {0.0, None}
    told = nbgrader(course, "generate_feedback", "ps1")
    assert "not recognized" not in told
    assert "waiting for a grader" in (course / "feedback/ada/ps1/problem1.html").read_text()
    line = ["autograder", "grade", "ps1", "--course", str(course)]
    assert forked.run(line, cwd=tmp_path, env=environment()).returncode == 0
    assert adoption.rows(course, "ps1") == by_nbgrader
    with formgrader(course) as address, contextlib.closing(sqlite3.connect(course / "gradebook.db")) as database:
        ids = [row[0] for row in database.execute("select id from submitted_notebook")]
        shown = [in_formgrader(address, f"formgrader/submissions/{number}/") for number in ids]
    assert [status for status, _ in shown] == [200, 200]
    assert any("sum_of_squares" in text for _, text in shown)


def nbgrader(course: Path, *words: str) -> str:
    """What a command of nbgrader's says."""
    told = forked.run(["nbgrader", *words], cwd=course, env=environment())
    assert told.returncode == 0, told.stderr
    return f"{told.stdout}{told.stderr}"
