"""Two tiers of tests: what needs no more than this environment, and the rest, by what it needs."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
OPTIONS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["pytest"]["ini_options"]
MARKERS = [line.partition(":")[0] for line in OPTIONS["markers"]]
TESTS = """
import pytest

def test_plain(): pass

@pytest.mark.training
@pytest.mark.parametrize("n", range(3))
def test_trained(n): pass

@pytest.mark.browser
def test_seen(): pass
"""


def test_the_makefile_leaves_out_what_is_marked() -> None:
    """A marker that the Makefile did not know would be run by `make test`, whatever it needs."""
    (needs,) = re.findall(r"^NEEDS := (.*)$", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    assert needs.split(" or ") == MARKERS


def test_the_gate_runs_both_tiers() -> None:
    """What `make test` leaves out is run by nobody else."""
    assert (ROOT / ".ci/run").read_text(encoding="utf-8").splitlines()[-2:] == ["make test", "make rest"]


@pytest.mark.parametrize(
    ("workers", "chosen", "last"),
    [
        ("0", "not browser", "left to `make rest`: 1 browser"),
        ("0", "browser or training", "4 passed"),
        ("2", "not (browser or training)", "left to `make rest`: 1 browser, 3 training"),
    ],
)
def test_the_last_line_counts_what_was_left_out(tmp_path: Path, workers: str, chosen: str, last: str) -> None:
    """By marker, in one process or several; a run that leaves out nothing of that kind says nothing."""
    shutil.copy(ROOT / "tests/conftest.py", tmp_path)
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers =\n" + "".join(f"    {x}\n" for x in OPTIONS["markers"]))
    (tmp_path / "test_some.py").write_text(TESTS)
    command = [sys.executable, "-m", "pytest", "-n", workers, "-q", "-m", chosen, str(tmp_path)]
    run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert run.returncode == 0 and last in run.stdout.splitlines()[-1], run.stdout
