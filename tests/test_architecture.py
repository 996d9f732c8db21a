"""The house: imports go down only, without a cycle, and the light imports stay light.

Everything is read off the syntax trees, so that imports inside functions and under TYPE_CHECKING count as well.
"""

from __future__ import annotations

import ast
import functools
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import networkx as nx
import pytest

import autograder

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "autograder"

# From the ground up: a room may import those that stand before it. `tests/test_docs.py` wants each in the map.
ROOMS = [
    "errors",
    "core",
    "maths",
    "protocol",
    "checks",
    "student",
    "parts",
    "authoring",
    "sandbox",
    "grading",
    "hidden",
    "audit",
    "printing",
    "reporting",
    "nbgrader",
    "course",
    "defence",
    "review",
    "simulation",
    "commands",
    "cli",
    "__main__",
]
# The author's vocabulary: the package's own `__init__` names what it will import when a word is first used.
VOCABULARY = "autograder"


@dataclass(frozen=True)
class Import:
    """One module imports another, in a file's line."""

    importer: str
    imported: str
    place: str

    def __str__(self) -> str:
        return f"{self.place} imports {self.imported}"


def module_name(path: Path, root: Path) -> str:
    """The dotted name of a module's file below `root`."""
    return path.relative_to(root).with_suffix("").as_posix().replace("/", ".").removesuffix(".__init__")


def modules(root: Path, package: str) -> dict[str, Path]:
    """The modules of a package, by their dotted names."""
    return {module_name(path, root): path for path in sorted((root / package).rglob("*.py"))}


def imports(root: Path, package: str) -> Iterator[Import]:
    """What the modules of a package import, of it and of others, wherever the statement stands in the file."""
    known = modules(root, package)
    for name, path in known.items():
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            for imported in _named(node, name, path):
                # `from package import name` imports the module of that name, if there is one.
                target = imported if imported in known else imported.rpartition(".")[0]
                target = target if target in known else imported
                if target != name:
                    yield Import(name, target, f"{path.relative_to(root)}:{getattr(node, 'lineno', 0)}")


def _named(node: ast.AST, importer: str, path: Path) -> Iterator[str]:
    if isinstance(node, ast.Import):
        yield from (item.name for item in node.names)
    elif isinstance(node, ast.ImportFrom):
        module = node.module or ""
        if node.level:
            words = importer.split(".")
            base = words[: len(words) - node.level + (path.name == "__init__.py")]
            module = ".".join([*base, *filter(None, [node.module])])
        yield from (f"{module}.{item.name}" for item in node.names)


def room(module: str) -> str:
    """The folder or file at the package's top that a module belongs to."""
    return module.split(".")[1] if "." in module else module


def cycles(found: list[Import], package: str, *, by_room: bool) -> list[str]:
    """Each import cycle, between modules or between rooms: who takes part, and the smallest edge to cut."""
    graph = nx.DiGraph()
    weights: Counter[tuple[str, str]] = Counter()
    statement: dict[tuple[str, str], Import] = {}
    for item in found:
        inner = item.imported == package or item.imported.startswith(f"{package}.")
        if not inner or VOCABULARY in (item.importer, item.imported):
            continue
        edge = (room(item.importer), room(item.imported)) if by_room else (item.importer, item.imported)
        if edge[0] != edge[1]:
            weights[edge] += 1
            statement.setdefault(edge, item)
            graph.add_edge(*edge)
    said = []
    for members in nx.strongly_connected_components(graph):
        if len(members) > 1:
            edge = min(graph.subgraph(members).edges, key=lambda edge: (weights[edge], edge))
            count = f" ({weights[edge]} imports)" if weights[edge] > 1 else ""
            said.append(
                f"{', '.join(sorted(members))} import each other; the smallest edge to cut is "
                f"{edge[0]} -> {edge[1]}{count}: {statement[edge]}"
            )
    return said


def upward(found: list[Import]) -> list[str]:
    """Every import of a room that stands above the importer's, and every room that has no place."""
    rank = {name: place for place, name in enumerate(ROOMS)}
    said = []
    for item in found:
        if item.importer == VOCABULARY or not item.imported.startswith(f"{VOCABULARY}."):
            continue
        low, high = room(item.importer), room(item.imported)
        if missing := {low, high} - set(rank):
            said.append(f"{item.place}: {missing.pop()} has no place; name it in ROOMS")
        elif rank[high] > rank[low]:
            said.append(f"{item}, which stands above it")
    return said


@functools.cache
def ours() -> list[Import]:
    """The imports of the package."""
    return list(imports(ROOT, "autograder"))


def plant(root: Path, **files: str) -> list[Import]:
    """The imports of a package of these files; two underscores stand for a folder."""
    for name, text in files.items():
        path = root / "autograder" / f"{name.replace('__', '/')}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return list(imports(root, "autograder"))


def test_imports_go_down() -> None:
    """No room imports one that stands above it."""
    assert upward(ours()) == []


def test_an_upward_import_is_found(tmp_path: Path) -> None:
    """The rule can fail: a core that imports the command line is named with the import that breaks the rule."""
    found = plant(tmp_path, core="def f():\n    from autograder.cli import main\n", cli="main = print\n")
    assert upward(found) == ["autograder/core.py:2 imports autograder.cli, which stands above it"]


@pytest.mark.parametrize("by_room", [False, True])
def test_there_is_no_cycle(by_room: bool) -> None:
    """Neither modules nor rooms import each other."""
    assert cycles(ours(), "autograder", by_room=by_room) == []


PLANTED = {
    "at the top": ("from autograder.core import b\n", "from autograder.errors import a\n"),
    "in a function": ("def f():\n    import autograder.core\n", "from autograder import errors\n"),
    "for types only": (
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from autograder.core import b\n",
        "from autograder.errors import a, c\n",
    ),
    "relative": ("from .core import b\n", "from . import errors\n"),
}


@pytest.mark.parametrize("where", PLANTED)
def test_a_cycle_of_modules_is_found(where: str, tmp_path: Path) -> None:
    """Wherever the import stands that closes a cycle, both modules and the smallest edge are named."""
    errors, core = PLANTED[where]
    (said,) = cycles(plant(tmp_path, errors=errors, core=core), "autograder", by_room=False)
    assert "autograder.core, autograder.errors import each other" in said
    assert "cut is autograder.errors -> autograder.core: autograder/errors.py" in said or "core.py" in said


def test_the_smallest_edge_of_a_cycle_of_rooms_is_named(tmp_path: Path) -> None:
    """Two rooms that import each other through four modules: the edge of one import is to be cut, not that of two."""
    found = plant(
        tmp_path,
        maths__guard="from autograder.parts import typed\n",
        maths__cases="import os\n",
        parts__typed="from autograder.maths import cases\n",
        parts__number="from autograder.maths import cases\n",
    )
    assert cycles(found, "autograder", by_room=False) == []
    (said,) = cycles(found, "autograder", by_room=True)
    assert said == (
        "maths, parts import each other; the smallest edge to cut is "
        "maths -> parts: autograder/maths/guard.py:1 imports autograder.parts.typed"
    )


def test_names_of_modules_are_unique() -> None:
    """A tab of an editor says which module it shows. Only a kind of answer shares its name with its language."""
    names = Counter(path.stem for path in PACKAGE.rglob("*.py") if path.parent.name != "parts")
    assert {name for name, count in names.items() if count > 1} == {"__init__", "__main__"}


def test_the_package_imports_no_course_content() -> None:
    """`autograder` loads problems and solutions by path, never by name."""
    assert [str(item) for item in ours() if item.imported.split(".")[0] in ("problems", "solutions")] == []


# What a problem may import of ours: an author's words, and the languages that can be used alone.
PUBLIC = {f"autograder.{word}" for word in autograder.__all__} | {
    f"autograder.maths.{language}" for language in ("derivation", "expression", "growth", "tensor")
}


def private(found: Iterable[Import]) -> list[str]:
    """The imports of ours that are no public words."""
    return [str(item) for item in found if item.imported.split(".")[0] == "autograder" and item.imported not in PUBLIC]


def test_problems_import_public_words_alone() -> None:
    """What a problem needs, an author's vocabulary has."""
    assert private(imports(ROOT, "problems")) == []


BEYOND = [
    ("from autograder.checks.compare import difference", "autograder.checks.compare.difference"),
    ("from autograder.errors import Unreadable", "autograder.errors.Unreadable"),
    ("def f():\n    import autograder.core", "autograder.core"),
    ("from autograder import core", "autograder.core"),
    ("from autograder.maths import guard", "autograder.maths.guard"),
    ("from autograder.maths.expression import parse", "autograder.maths.expression.parse"),
    ("import autograder", "autograder"),
]


@pytest.mark.parametrize(("line", "said"), BEYOND, ids=[line for line, _ in BEYOND])
def test_a_problem_that_imports_more_is_found(line: str, said: str, tmp_path: Path) -> None:
    """A name that is not exported is heard, wherever it stands; an exported one is not."""
    folder = tmp_path / "problems" / "planted"
    folder.mkdir(parents=True)
    (folder / "problem.py").write_text(f"from autograder import Problem, difference\n{line}\n")
    found = private(imports(tmp_path, "problems"))
    assert [item.split(" imports ")[1] for item in found] == [said]


def test_the_modules_of_a_problem_do_not_import_each_other() -> None:
    """Problem imports mistakes, never the other way round."""
    assert cycles(list(imports(ROOT, "problems")), "problems", by_room=False) == []


def test_a_cycle_in_a_problem_is_found(tmp_path: Path) -> None:
    """A mistake that takes the reference out of problem.py, inside a function, is named."""
    folder = tmp_path / "problems" / "planted"
    folder.mkdir(parents=True)
    (folder / "problem.py").write_text("from .mistakes import MISTAKES\n")
    (folder / "mistakes.py").write_text("def wrong(p):\n    from .problem import right\n    return right(p) + 1\n")
    (said,) = cycles(list(imports(tmp_path, "problems")), "problems", by_room=False)
    assert "problems.planted.mistakes, problems.planted.problem import each other" in said


def test_solutions_import_nothing_of_ours() -> None:
    """The reference models stand alone."""
    found = imports(ROOT, "solutions")
    assert [str(item) for item in found if item.imported.split(".")[0] in ("autograder", "problems")] == []


def test_only_one_folder_imports_nbgrader() -> None:
    """nbgrader's API is used in `autograder/nbgrader` alone."""
    outside = [item for item in ours() if room(item.importer) != "nbgrader"]
    assert [str(item) for item in outside if item.imported.split(".")[0] == "nbgrader"] == []


@pytest.mark.parametrize("module", ["autograder", "autograder.student", "autograder.cli"])
def test_light_imports(module: str) -> None:
    """These modules load none of the heavy libraries."""
    heavy = ("torch", "nbgrader", "sympy", "flint", "mpmath", "nbformat", "IPython")
    code = f"import sys, {module}; print([name for name in {heavy!r} if name in sys.modules])"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=True)
    assert run.stdout.strip() == "[]"


@pytest.mark.parametrize("module", ["autograder.commands.grade_class", "autograder.course.run", "autograder.nbgrader"])
def test_a_schema_looks_into_no_string(module: str) -> None:
    """Where notebooks are graded, jsonschema loads nothing to look at addresses, durations and colours in strings."""
    left_out = ("rfc3987_syntax", "isoduration", "uri_template", "webcolors", "arrow")
    code = (
        f"import sys, {module}, autograder.course.run; print([name for name in {left_out!r} if sys.modules.get(name)])"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=True)
    assert run.stdout.strip() == "[]"


def test_kinds_of_answers_are_light() -> None:
    """A notebook imports a kind to show and check an answer: no heavy library, and numpy only where values have it."""
    heavy = ("torch", "nbgrader", "sympy", "flint", "mpmath", "nbformat", "IPython")
    code = (
        "import sys; from autograder import parts\n"
        "for kind in 'choice derivation equation expression growth matrix written'.split(): assert parts.find(kind)\n"
        "print('numpy' in sys.modules)\n"
        f"parts.kinds(); print([name for name in {heavy!r} if name in sys.modules])"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=True)
    assert run.stdout.split("\n")[:2] == ["False", "[]"]
