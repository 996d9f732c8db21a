"""Imports go one way, and the light imports stay light: read off the syntax trees, and from a fresh interpreter."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "autograder"

# A later layer may import an earlier one, and a layer its own members.
LAYERS = [
    {"core", "errors"},
    {"maths"},
    {"wire", "answering", "variants", "inputs", "checks", "statement"},
    {"preview"},
    {"parts", "student"},
    {"sandbox", "judge", "library", "assignment"},
    {"feedback", "report", "notebook", "hidden", "submission", "stability", "simulated", "mutation", "parity"},
    {"examination"},
    {"audit", "strength"},
    {"audit_table", "grading", "foreseeing"},
    {"nbgrader", "course"},
    {"cli"},
    {"__main__"},
]
RANK = {name: rank for rank, layer in enumerate(LAYERS) for name in layer}


def imported(path: Path) -> Iterator[str]:
    """The dotted names that a file imports, at its top or in a function."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (item.name for item in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{item.name}" for item in node.names)


def layer_of(module: str) -> str | None:
    """The first name below the package, if it is one of the layers'."""
    words = module.split(".")
    return words[1] if len(words) > 1 and words[0] == "autograder" and words[1] in RANK else None


def faults(root: Path) -> list[str]:
    """Every import that goes up, as `file imports name`."""
    found = []
    for path in sorted((root / "autograder").rglob("*.py")):
        relative = path.relative_to(root / "autograder")
        own = relative.parts[0].removesuffix(".py")
        if own == "__init__":
            continue
        if own not in RANK:
            found.append(f"{relative} is in no layer; name it in tests/test_architecture.py")
            continue
        for name in imported(path):
            other = layer_of(name)
            if other and RANK[other] > RANK[own]:
                found.append(f"{relative} imports {name}, which lies above it")
    return found


def test_imports_go_one_way() -> None:
    """No module imports one of a later layer."""
    assert faults(ROOT) == []


def test_an_upward_import_is_found(tmp_path: Path) -> None:
    """The test above can fail: a core that imports the command line is named with the import that breaks the rule."""
    (tmp_path / "autograder").mkdir()
    (tmp_path / "autograder" / "core.py").write_text("def f():\n    from autograder.cli import main\n")
    assert faults(tmp_path)[0] == "core.py imports autograder.cli, which lies above it"


def test_the_package_imports_no_course_content() -> None:
    """`autograder` loads problems and solutions by path, never by name."""
    for path in PACKAGE.rglob("*.py"):
        roots = {name.split(".")[0] for name in imported(path)}
        assert not roots & {"problems", "solutions"}, path


def test_solutions_import_nothing_of_ours() -> None:
    """The reference models stand alone."""
    for path in (ROOT / "solutions").rglob("*.py"):
        assert not {name.split(".")[0] for name in imported(path)} & {"autograder", "problems"}, path


def test_only_one_folder_imports_nbgrader() -> None:
    """nbgrader's API is used in `autograder/nbgrader`, and by the simulated class that runs its commands."""
    allowed = {"nbgrader", "course"}
    for path in PACKAGE.rglob("*.py"):
        if any(name.split(".")[0] == "nbgrader" for name in imported(path)):
            assert path.relative_to(PACKAGE).parts[0] in allowed, path


@pytest.mark.parametrize("module", ["autograder", "autograder.student", "autograder.cli"])
def test_light_imports(module: str) -> None:
    """These modules load none of the heavy libraries."""
    heavy = ("torch", "nbgrader", "sympy", "flint", "scipy", "nbformat", "IPython")
    code = f"import sys, {module}; print([name for name in {heavy!r} if name in sys.modules])"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=True)
    assert run.stdout.strip() == "[]"
