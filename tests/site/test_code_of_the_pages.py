"""The commands of the tutorial and of the pages "How to …" do what the pages say, in their order.

`sh` blocks are run, line by line. A comment above a block says what else it is: `file: PATH` (the whole file), `add to:
PATH`, or `not run: REASON`, for what needs a platform, a server or a person.
"""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from autograder.sandbox import layers
from benchmarks.readme import handed_in_course
from tests import forked

pytestmark = pytest.mark.site

DOCS = Path(__file__).parents[2] / "docs"
BLOCK = re.compile(r"(?:^<!-- (?P<mark>.*?) -->\n)?^```(?P<language>\w+)\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL)
HOW_TO = sorted((DOCS / "how-to").glob("*.md"))


def blocks(text: str) -> Iterator[tuple[str, str, str]]:
    """What each block of code is (run, file, add to, not run), of what, and its body."""
    for found in BLOCK.finditer(text):
        kind, _, what = (found["mark"] or "run: sh").partition(": ")
        assert kind in ("run", "file", "add to", "not run"), found["mark"]
        assert kind != "run" or found["language"] == "sh", f"what is this block?\n{found['body']}"
        yield kind, what, found["body"]


def follow(text: str, folder: Path) -> str:
    """Do what a page says, in a folder; what its commands printed."""
    said = []
    for kind, what, body in blocks(text):
        if kind in ("file", "add to"):
            path = folder / what
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(body if kind == "file" else f"{path.read_text()}\n{body}")
        for line in body.splitlines() if kind == "run" else ():
            words = shlex.split(line, comments=True)
            if words[0] == "cd":
                folder /= words[1]
                continue
            run = command(words, folder)
            assert run.returncode == 0, f"{line}\n{run.stdout}{run.stderr}"
            said.append(run.stdout)
    return "\n".join(said)


def command(words: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    """Run one line."""
    environment = layers.environment()
    if words[0] in forked.MAINS:
        return forked.run(words, cwd=folder, env=environment)
    return subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def graded(tmp_path_factory) -> Path:
    """The course of the pages "How to …", graded once."""
    course = handed_in_course(tmp_path_factory.mktemp("how_to") / "course")
    assert command(["autograder", "grade", "ps1"], course).returncode == 0
    return course


@pytest.mark.parametrize("page", HOW_TO, ids=lambda page: page.stem)
def test_a_page_can_be_followed(page, graded, tmp_path):
    """Each command ends well in a course with three students, and each file is written as the page says."""
    folder = Path(shutil.copytree(graded.parent, tmp_path / "course"), graded.name)
    follow(page.read_text(encoding="utf-8"), folder)


def test_a_void_gives_what_its_page_says(graded, tmp_path):
    """Everybody has the points of the part, also the one whose answer could not be read."""
    folder = Path(shutil.copytree(graded.parent, tmp_path / "course"), graded.name)
    follow((DOCS / "how-to/void.md").read_text(encoding="utf-8"), folder)
    follow((DOCS / "how-to/export.md").read_text(encoding="utf-8"), folder)
    rows = [line.split(",") for line in (folder / "parts.csv").read_text().splitlines()]
    points = [row[rows[0].index("points")] for row in rows[1:] if "memory" in row]
    assert [float(number) for number in points] == [1, 1, 1]


def test_the_tutorial_makes_a_problem_that_is_proved_and_graded(tmp_path):
    """From an empty folder: no fault, no surviving mutant, and the marks that the page names."""
    said = follow((DOCS / "tutorial.md").read_text(encoding="utf-8"), tmp_path)
    assert "0 faults" in said and "0 survive" in said
    marks = (tmp_path / "my-course/ps1.csv").read_text().splitlines()
    assert len(marks) == 3 and "7" in marks[1].split(",") and "0" in marks[2].split(",")
