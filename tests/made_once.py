"""What the tests of several files look at is made once in a run, by the first process that asks for it."""

from __future__ import annotations

import fcntl
import os
import pickle
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest


def of_this_run(factory: pytest.TempPathFactory) -> Path:
    """The temporary folder that all workers of a run share: every one has a folder of its own in it."""
    place = factory.getbasetemp()
    return place.parent if "PYTEST_XDIST_WORKER" in os.environ else place


def made_once(factory: pytest.TempPathFactory, name: str, make: Callable[[Path], Any]) -> tuple[Path, Any]:
    """The folder that `make` filled, and what it returned. Both are there to be looked at: who writes, copies."""
    place = of_this_run(factory)
    folder, returned = place / name, place / f"{name}.pickle"
    with open(place / f"{name}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not returned.exists():
            shutil.rmtree(folder, ignore_errors=True)  # of somebody who failed
            folder.mkdir()
            content = pickle.dumps(make(folder))
            returned.write_bytes(content)
    return folder, pickle.loads(returned.read_bytes())
