"""How the package is installed: what the texts tell a reader to type gives them this package, and no other."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

import autograder

ROOT = Path(__file__).resolve().parents[1]
PLACES = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "Makefile", ".ci", "autograder", "benchmarks", "docs",
          "notebooks", "problems", "solutions", "tests")  # fmt: skip
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]

_INSTALL = re.compile(r"\b(?:pip3?|pipx|uv|uv tool) +(?:install|add)\b([^\n]*)")
_REQUIREMENT = re.compile(r"[\w.-]+")


def from_an_index(text: str) -> Iterator[str]:
    """What a text installs by the name of our import package or distribution: no index has either of ours.

    A path (`.`, `./x.whl`) is no name.
    """
    for arguments in _INSTALL.findall(text.replace("\\\n", " ").replace("\\n", "\n")):
        for word in re.split(r"[\s'\"`()]+", arguments.replace("\\", "")):
            name = _REQUIREMENT.match(word)
            if name and re.sub(r"[-_.]+", "-", name[0]).lower() in ("autograder", PROJECT["name"]):
                yield word


def texts() -> Iterator[Path]:
    """Every file of words or code but this one."""
    for place in PLACES:
        root = ROOT / place
        for path in [root] if root.is_file() else sorted(root.rglob("*")):
            if path.suffix in ("", ".md", ".py", ".ipynb", ".toml") and path.is_file() and path != Path(__file__):
                yield path


def test_nothing_is_installed_from_an_index_by_our_name() -> None:
    """On the package index `autograder` is another project's: whoever was told to install it would get that one."""
    found = {str(path): told for path in texts() if (told := list(from_an_index(path.read_text(encoding="utf-8"))))}
    assert found == {}


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("pip install autograder", ["autograder"]),
        ("pip install 'autograder[student]'   # then", ["autograder[student]"]),
        ("\"for PostgreSQL: pip install 'autograder[postgresql]'\",", ["autograder[postgresql]"]),
        ("`python -m pip install --upgrade numpy autograder>=0.1`", ["autograder>=0.1"]),
        ('"!pip install -q \\"autograder[student]\\"\\n"', ["autograder[student]"]),
        ("%pip install \\\n    Deep_Learning.Autograder", ["Deep_Learning.Autograder"]),
        ("uv add deep-learning-autograder", ["deep-learning-autograder"]),
        ("uv pip install autograder==0.1.0", ["autograder==0.1.0"]),
        ("pip install '.[student]'", []),
        ("pip install --editable '.[development]'", []),
        ("pip install './deep_learning_autograder-0.1.0-py3-none-any.whl[student]'", []),
        ("pip install 'psycopg[binary]'", []),
        ("pip install autograder-cli", []),
        ("install autograder by hand", []),
    ],
)
def test_a_text_that_installs_from_an_index_is_found(text: str, told: list[str]) -> None:
    """The test above can fail: our names are found, in quotes, with extras and bounds; paths and others are not."""
    assert list(from_an_index(text)) == told


def test_the_wheel_has_the_name_that_readers_are_told() -> None:
    """The README names the file that `pip wheel .` makes."""
    name = f"{PROJECT['name'].replace('-', '_')}-{autograder.__version__}-py3-none-any.whl"
    assert f"'./{name}[student]'" in (ROOT / "README.md").read_text(encoding="utf-8")
