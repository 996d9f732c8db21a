"""Every hostile submission in `attacks/`: contained, marked by its answers, flagged where it should be, and gone.

An attack is a file of data: its docstring is its claim, CELLS are the student's cells, ANSWERS replaces the right or
the wrong answer, FILES (or what it returns) lie beside the notebook, LIMITS differ from the usual, MARKS says what
each part must come to, FLAG is a word of the flag that must be raised, and REAL says that the same cells do their harm
where there is no wall.
"""

from __future__ import annotations

import dataclasses
import importlib.util
import platform
import re
import warnings
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from autograder.sandbox import layers
from tests.submissions import MARKS, PROBLEMS, QUICK, Host, breaches, hosted, run

FOLDER = Path(__file__).parents[1] / "attacks"
FILES = sorted(FOLDER.glob("[0-9]*.py"))
TABLE = Path(__file__).parents[2] / "docs" / "sandbox.md"
THERE = layers.found()

pytestmark = pytest.mark.skipif(not all(THERE.values()), reason=f"this machine cannot give the whole wall: {THERE}")


def attack(path: Path) -> ModuleType:
    """The attack in a file."""
    spec = importlib.util.spec_from_file_location(f"attack_{path.stem}", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


ATTACKS = {path.stem: attack(path) for path in FILES}
PATIENCE = 8  # the limits are kept on a quiet machine; what is tested is that every attack ends
HERE = [
    name for name, module in ATTACKS.items() if getattr(module, "MACHINE", platform.machine()) == platform.machine()
]
REAL = [name for name in HERE if getattr(ATTACKS[name], "REAL", False)]


def attack_problems(monkeypatch: pytest.MonkeyPatch) -> None:
    """The problem that attacks are handed in for."""
    monkeypatch.setenv("AUTOGRADER_PROBLEMS", str(PROBLEMS))


@pytest.fixture(autouse=True)
def _problems(monkeypatch: pytest.MonkeyPatch) -> None:
    attack_problems(monkeypatch)


def let_loose(host: Host, module: ModuleType, **limits: Any) -> Any:
    """Grade the attack's submission."""
    changed = dataclasses.replace(QUICK, **{**getattr(module, "LIMITS", {}), **limits})
    answers, files = getattr(module, "ANSWERS", {}), getattr(module, "FILES", {})
    return run(host, module.CELLS, answers=answers, limits=changed, files=files() if callable(files) else files)


@pytest.mark.parametrize("name", HERE)
def test_attack_is_contained(name: str, tmp_path: Path) -> None:
    """It gets nothing, leaves nothing, is marked by its answers, and the next submission is graded as ever."""
    module = ATTACKS[name]
    with hosted(tmp_path) as host:
        result = let_loose(host, module)
        assert breaches(host, result) == []
        assert result.marks == getattr(module, "MARKS", MARKS), result.outputs[-2000:]
        assert len(result.outputs) < 600_000
        assert result.seconds < getattr(module, "SECONDS", 15) * PATIENCE
        flags = " ".join(result.report.flags)
        assert getattr(module, "FLAG", "") in flags and bool(flags) == hasattr(module, "FLAG"), flags
        after = run(host, ["print('honest')"])
        assert after.marks == MARKS and "honest" in after.outputs and not after.report.flags


@pytest.mark.parametrize("name", REAL)
def test_attack_is_real(name: str, tmp_path: Path) -> None:
    """With the wall switched off the same cells do their harm: what contains them is the wall."""
    with hosted(tmp_path) as host, warnings.catch_warnings():
        warnings.simplefilter("ignore", layers.WallWarning)
        assert breaches(host, let_loose(host, ATTACKS[name], without_wall=True)) != []


def test_every_attack_says_what_it_claims() -> None:
    """At least forty attacks, each with a docstring of its own."""
    claims = {name: (module.__doc__ or "").strip() for name, module in ATTACKS.items()}
    assert len(claims) >= 40 and all(claims.values()) and len(set(claims.values())) == len(claims)


def test_the_table_names_attacks_that_exist() -> None:
    """docs/sandbox.md names each attack file, and no other."""
    named = set(re.findall(r"`(\d\d_\w+)`", TABLE.read_text(encoding="utf-8")))
    assert named == set(ATTACKS)
