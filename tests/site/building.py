"""The documentation site, made once in a run."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.made_once import made_once

DOCS = Path(__file__).parents[2] / "docs"


def build(source: Path, target: Path) -> subprocess.CompletedProcess[str]:
    """`make docs`, from one folder into another."""
    words = [sys.executable, "-m", "sphinx", "--quiet", "--fail-on-warning", "--keep-going", source, target]
    return subprocess.run(words, capture_output=True, text=True, check=False)


def built(factory: pytest.TempPathFactory) -> Path:
    """The folder of its pages."""

    def make(target: Path) -> None:
        run = build(DOCS, target)
        assert run.returncode == 0, run.stderr

    return made_once(factory, "site", make)[0]
