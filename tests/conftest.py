"""What holds for every test: torch takes one core, and shapes in the signatures of `solutions` are checked.

Several workers (`--dist loadfile`) share the tests by files, so that what a file's tests share is made once; the long
files come first, those that mostly wait among those that compute. The tests of some files are given out one by one.

A run that leaves out tests for what they need says in its last line how many, by their markers.
"""

from __future__ import annotations

import gc
import os
from collections import Counter
from collections.abc import Sequence
from typing import Any

import pytest
from jaxtyping import install_import_hook

from tests import forked, typechecked  # noqa: F401 - the hook calls it by its name
from tests.made_once import of_this_run

os.environ["OMP_NUM_THREADS"] = "1"  # read when torch is imported, here and in every process that a test starts
gc.set_threshold(50_000)  # collecting eleven thousand tests leaves no garbage that is worth an eighth of its time
install_import_hook("solutions", "tests.typechecked.checked")

_LEFT_OUT: Counter[str] = Counter()
# Seconds a test, and little is shared.
_ONE_BY_ONE = (
    "tests/course/test_every_assignment.py",
    "tests/audit/test_every_problem.py",
    "tests/commands/test_judge_answers.py",
    "tests/commands/test_build_walkthrough.py",
    "tests/solutions/test_training.py",
)
# In this order. An environment, a browser, an attack and a cluster are waited for: others compute meanwhile.
_LONG = (
    "tests/solutions/test_matrix.py",
    "tests/test_packaging.py",
    "tests/browser",
    "tests/sandbox/test_attacks.py",
    _ONE_BY_ONE[0],
    "tests/course/test_workers.py",
    *_ONE_BY_ONE[1:],
    "tests/sandbox/test_wall.py",
    "tests/course/test_changes.py",
    "tests/simulation",
    "tests/course",
    "tests/nbgrader",
    "tests/sandbox",
    "tests/audit",
    "tests/defence",
    "tests/solutions",
)


@pytest.fixture(scope="session", autouse=True)
def _one_process_forks_for_all(tmp_path_factory: pytest.TempPathFactory) -> None:
    forked.PLACE = of_this_run(tmp_path_factory)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Long files first: what is left at the end is short."""
    items.sort(key=lambda item: [item.nodeid.startswith(name) for name in _LONG], reverse=True)


def pytest_collection_finish() -> None:
    """What was imported and collected stays to the end: no search for garbage walks over it, in no fork either."""
    gc.collect()
    gc.freeze()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """xdist's own by files, but for those whose tests have nothing in common."""
    from xdist.scheduler import LoadFileScheduling

    if config.getvalue("dist") != "loadfile":
        return None
    config.option.loadscopereorder = False

    class ByFiles(LoadFileScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return nodeid if nodeid.startswith(_ONE_BY_ONE) else super()._split_scope(nodeid)

    return ByFiles(config, log)


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
