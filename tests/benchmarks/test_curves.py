"""The page on training: every kind has its place, its picture and a row for each task; a command writes it."""

import pytest

from benchmarks import curves
from solutions.tasks import TASKS, kind


@pytest.mark.parametrize("name", curves.KINDS)
def test_the_page_shows_every_task(name):
    """A picture that is there, and a row with the task's present goal, which every seed has reached; once measured."""
    page = curves.PAGE.read_text(encoding="utf-8")
    block = page.split(f"<!-- {name}: ")[1].split(f"<!-- end {name} -->")[0]
    if "](" not in block:
        pytest.skip(f"not measured yet: python -m benchmarks.curves {name}")
    assert f"](training/{name}.png)" in block and (curves.PAGE.with_suffix("") / f"{name}.png").is_file()
    for task in TASKS:
        if kind(task) == name:
            (line,) = (line for line in block.splitlines() if line.startswith(f"| {task} |"))
            assert f"| {', '.join(TASKS[task].goal)} | 5/5 |" in line and TASKS[task].summary in block


def test_a_kind_is_written_by_itself(tmp_path, monkeypatch):
    """Only its own block changes, and its picture is drawn."""
    page = tmp_path / "training.md"
    page.write_text("<!-- clipped: x -->\nold\n<!-- end clipped -->\n<!-- pairs: x -->\nkept\n<!-- end pairs -->\n")
    monkeypatch.setattr(curves, "PAGE", page)
    curves.write("clipped", seeds=1)
    text = page.read_text()
    assert "old" not in text and "| control_not_clipped |" in text and "| clipped |" in text and "kept" in text
    assert [path.name for path in (tmp_path / "training").iterdir()] == ["clipped.png"]
