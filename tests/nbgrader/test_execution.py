"""What a configuration says of nbgrader's Execute: what of it holds for an instructor's own notebooks, and where."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest
from nbformat.v4 import new_code_cell, new_notebook
from nbgrader.converters import Autograde
from traitlets.config import Config

from autograder.errors import StaffError
from autograder.nbgrader.course_api import done, opened
from autograder.nbgrader.execution import is_run, kernel_named, not_kept, seconds_of, why_outside
from tests.course.test_foreign import KERNEL, Course, marks


def configured(text: str) -> Any:
    """nbgrader's Autograde with a configuration."""
    config = Config()
    exec(text, {"c": config})
    return Autograde(config=config)


def _raises(cell: Any) -> int:
    raise KeyError("no time")


SECONDS = {
    "": (30.0, 30.0),
    "c.ExecutePreprocessor.timeout = 7": (7.0, 7.0),
    "c.NotebookClient.timeout = 5; c.Execute.timeout = 6": (6.0, 6.0),
    "c.Execute.timeout = None": (300.0, 300.0),
    "c.Execute.timeout = -1": (300.0, 300.0),
    "c.Execute.timeout_func = lambda cell: 9 if 'slow' in cell.source else None": (9.0, 300.0),
    "c.ExecutePreprocessor.timeout_func = lambda cell: 2.5; c.Execute.timeout = 8": (2.5, 2.5),
}


@pytest.mark.parametrize("text", SECONDS)
def test_a_cell_has_the_seconds_that_a_kernel_gives_it(text: str) -> None:
    """`timeout_func` of the cell goes before `timeout`; without either, the notebook's own limit counts."""
    cells = [new_code_cell("slow"), new_code_cell("quick")]
    assert seconds_of(cells, configured(text), 300.0) == SECONDS[text]


def test_a_timeout_func_that_fails_is_named() -> None:
    """It is the instructor's, and the student has no part in it."""
    converter = configured("")
    converter.config.Execute.timeout_func = _raises
    with pytest.raises(StaffError, match=r"c\.Execute\.timeout_func failed: KeyError: 'no time'"):
        seconds_of([new_code_cell("")], converter, 1.0)


NOT_KEPT = {
    "": (),
    "c.Execute.timeout = 3; c.NotebookClient.startup_timeout = 9; c.Execute.enabled = True": (),
    "c.Execute.kernel_name = 'python3'; c.ExecutePreprocessor.kernel_manager_class = 'x.Y'": (),
    "c.Execute.extra_arguments = ['--debug']": ("c.Execute.extra_arguments is not kept",),
    "c.NotebookClient.skip_cells_with_tag = 'no'; c.Execute.allow_errors = False": (
        "c.NotebookClient.skip_cells_with_tag is not kept",
        "c.Execute.allow_errors is not kept",
    ),
    "c.OverwriteCells.enabled = True": (),
    "c.OverwriteCells.enabled = False": ("c.OverwriteCells.enabled = False is not kept",),
}


@pytest.mark.parametrize("text", NOT_KEPT)
def test_what_is_not_kept_is_said(text: str) -> None:
    """One sentence for each; none for what holds as well in the sandbox, or moves nothing there."""
    told = not_kept(configured(text).config)
    assert len(told) == len(NOT_KEPT[text])
    assert all(line.startswith(begin) for line, begin in zip(told, NOT_KEPT[text], strict=True))


@pytest.mark.parametrize(("text", "run"), [("", True), ("c.Execute.enabled = False", False)])
def test_no_execute_is_known(text: str, run: bool) -> None:
    """`nbgrader autograde --no-execute` sets `Execute.enabled`."""
    assert is_run(configured(text)) == run


R = {"kernelspec": {"name": "ir", "display_name": "R", "language": "R"}}
PLACES = [
    (KERNEL, "import numpy, math", "", ""),
    (R, "", "", "one of R"),
    (R, "", "python3", ""),
    (KERNEL, "", "elsewhere", "another Python"),
    ({"kernelspec": {"name": "conda-env-x", "display_name": "x"}}, "", "", ""),
    (KERNEL, "import not_there_at_all", "", "imports 'not_there_at_all'"),
    (KERNEL, "import beside", "", ""),
    (KERNEL, "try:\n    import not_there_at_all\nexcept ImportError:\n    pass", "", ""),
    (KERNEL, "%%writefile not_there_at_all.py\nx = 1\n# ---\nimport not_there_at_all", "", ""),
    (KERNEL, "%%file -a './not_there_at_all/__init__.py'\n# ---\nimport not_there_at_all.part", "", ""),
    (KERNEL, "%%writefile other.py\nx = 1\n# ---\nimport not_there_at_all", "", "imports 'not_there_at_all'"),
    (KERNEL, "%%writefile not_there_at_all.txt\n# ---\nimport not_there_at_all", "", "imports 'not_there_at_all'"),
    (KERNEL, "%%writefile other.py\nimport not_there_at_all", "", ""),
    (KERNEL, "%%bash\nimport not_there_at_all", "", ""),
    (KERNEL, "%%time\nimport not_there_at_all", "", "imports 'not_there_at_all'"),
    (KERNEL, "%matplotlib inline\n!ls\nimport not_there_at_all", "", "imports 'not_there_at_all'"),
]


@pytest.mark.parametrize(("metadata", "code", "kernel", "why"), PLACES)
def test_where_a_notebook_runs(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, metadata: Any, code: str, kernel: str, why: str
) -> None:
    """In the sandbox, but for another language, another Python, or a package that is not there."""
    make_kernel(tmp_path, monkeypatch, "elsewhere", ["/opt/other/bin/python", "-m", "ipykernel"], "python")
    config = configured(f"c.Execute.kernel_name = {kernel!r}").config
    cells = [new_code_cell(text) for text in code.split("# ---\n")]
    found = why_outside(new_notebook(cells=cells, metadata=metadata), ["beside.py"], kernel_named(config))
    assert why in found and bool(found) == bool(why)


def make_kernel(folder: Path, monkeypatch: pytest.MonkeyPatch, name: str, words: list[str], language: str) -> None:
    """Let this process know a kernel."""
    place = folder / "share/kernels" / name
    place.mkdir(parents=True)
    told = {"argv": [*words, "-f", "{connection_file}"], "display_name": name, "language": language}
    (place / "kernel.json").write_text(json.dumps(told))
    monkeypatch.setenv("JUPYTER_PATH", str(folder / "share"))


def test_nothing_is_run_where_nothing_is_to_be(tmp_path: Path) -> None:
    """Tests wait for a person instead of having full points for nothing; what an answer showed stays to be seen."""
    course = Course(tmp_path / "course", "c.Execute.enabled = False\n")
    shown = [
        {"output_type": "stream", "name": "stdout", "text": ["mine", "\n"]},
        {"output_type": "nothing"},
        {"output_type": "display_data", "data": {"text/html": ["<script>1</script>", "<b>x</b>"]}, "metadata": {}},
    ]
    course.hand_in("ada", lambda work: work.cell("square").__setitem__("outputs", shown))
    result = course.grade()
    assert any("numbers, words: no cell is run" in note for note in result.notes)
    assert set(course.marks("ada").values()) == {None}
    assert result.rows[0].held == 5
    cells = json.loads((course.path / "autograded/ada/ps1/numbers.ipynb").read_text())["cells"]
    outputs = [cell["outputs"] for cell in cells if cell["cell_type"] == "code"]
    assert outputs[1][0]["text"] == ["mine\n"]
    assert "".join(outputs[1][1]["data"]["text/html"]) == "<b>x</b>"
    assert [len(items) for items in outputs] == [0, 2, 0, 0, 0]


# A kernel of another language, real, small, and on PyPI; it is looked for, and not installed here.
ANSWER = "### BEGIN SOLUTION\ndouble() { echo $(( $1 * 2 )); }\n### END SOLUTION"
STUB = "c.ClearSolutions.code_stub = {'bash': '# YOUR CODE HERE'}\n"
TEST = '[ "$(double 4)" = 8 ]\n### BEGIN HIDDEN TESTS\n[ "$(double 21)" = 42 ]\n### END HIDDEN TESTS'


@pytest.fixture
def in_bash(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Course:
    """A course with one notebook in bash: a right answer, and a wrong one."""
    pytest.importorskip("bash_kernel", reason="there is no kernel of another language: pip install bash_kernel")
    if not shutil.which("bash"):
        pytest.skip("there is no bash")
    make_kernel(tmp_path, monkeypatch, "bash", [sys.executable, "-m", "bash_kernel"], "bash")
    kernel = {"kernelspec": {"name": "bash", "display_name": "Bash", "language": "bash"}}
    cells = [
        new_code_cell(ANSWER, metadata=marks(grade_id="double", solution=True)),
        new_code_cell(TEST, metadata=marks(grade_id="double-test", grade=True, locked=True, points=2)),
    ]
    course = Course(tmp_path / "course", STUB, sources={"shell": new_notebook(cells=cells, metadata=kernel)})
    for student, answer in {"right": "double() { echo $(( $1 + $1 )); }", "wrong": "double() { echo 8; }"}.items():
        work = json.loads((course.path / "release/ps1/shell.ipynb").read_text())
        work["cells"][0]["source"] = answer
        (course.path / f"submitted/{student}/ps1").mkdir(parents=True)
        (course.path / f"submitted/{student}/ps1/shell.ipynb").write_text(json.dumps(work))
    return course


def test_another_language_is_graded_by_nbgraders_own_kernel(in_bash: Course) -> None:
    """Said aloud, refused where the sandbox is required, and with the marks that plain nbgrader gives."""
    refused = in_bash.grade(require_wall=True)
    assert "shell runs in nbgrader's own kernel: its kernel 'bash' is one of bash" in refused.stopped
    assert not (in_bash.path / "autograded").exists()
    result = in_bash.grade()
    assert any("shell runs in nbgrader's own kernel" in note for note in result.notes)
    found = {student: in_bash.marks(student) for student in ("right", "wrong")}
    assert found == {"right": {"double-test": 2.0}, "wrong": {"double-test": 0.0}}
    (in_bash.path / "nbgrader_config.py").write_text(f"c = get_config()\n{STUB}")
    with opened(in_bash.path) as api:
        for student in found:
            done("autograde", api.autograde("ps1", student, force=True))
    assert found == {student: in_bash.marks(student) for student in found}
