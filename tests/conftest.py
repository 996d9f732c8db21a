"""What holds for every test: torch takes one core, and shapes in the signatures of `solutions` are checked.

A run that leaves out tests for what they need says in its last line how many, by their markers.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from typing import Any

import pytest
from jaxtyping import install_import_hook

os.environ["OMP_NUM_THREADS"] = "1"  # read when torch is imported, here and in every process that a test starts
install_import_hook("solutions", "beartype.beartype")

_LEFT_OUT: Counter[str] = Counter()


def pytest_deselected(items: Sequence[pytest.Item]) -> None:
    """Count by marker what `-m` leaves out."""
    for item in items:
        needs = {line.partition(":")[0] for line in item.config.getini("markers") if ": needs " in line}
        _LEFT_OUT.update(needs & {mark.name for mark in item.iter_markers()})


def pytest_sessionfinish(session: pytest.Session) -> None:
    """A worker tells the process that started it; each worker has counted the same tests."""
    if (told := getattr(session.config, "workeroutput", None)) is not None:
        told["left_out"] = dict(_LEFT_OUT)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """What a worker has told."""
    if not _LEFT_OUT:
        _LEFT_OUT.update(getattr(node, "workeroutput", {}).get("left_out", {}))


@pytest.hookimpl(trylast=True)
def pytest_unconfigure(config: pytest.Config) -> None:
    """The last line of a run."""
    if _LEFT_OUT and not hasattr(config, "workerinput"):
        print("left to `make rest`:", ", ".join(f"{number} {name}" for name, number in sorted(_LEFT_OUT.items())))
