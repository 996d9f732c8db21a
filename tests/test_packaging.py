"""How the package is installed: what the texts tell a reader to type gives them this package, and no other.

Both distributions are built, opened, and tried outside the checkout.
"""

from __future__ import annotations

import csv
import json
import os
import re
import subprocess
import sys
import sysconfig
import tomllib
import zipfile
from collections.abc import Iterator
from email import message_from_bytes
from pathlib import Path

import pytest

import autograder
from autograder.authoring import shipped, wheel
from autograder.authoring.loading import load
from autograder.sandbox import mounts
from tests.leaks import leaks

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


SECOND = tomllib.loads((ROOT / "problems/pyproject.toml").read_text(encoding="utf-8"))["project"]


def test_the_package_knows_what_it_is_called() -> None:
    """Its wheel is made under the project's name, and the problems are found, and pinned, under theirs."""
    assert (PROJECT["name"], SECOND["name"]) == (wheel.NAME, shipped.DISTRIBUTION)
    assert SECOND["version"] == autograder.__version__
    assert SECOND["dependencies"] == [f"{PROJECT['name']}[instructor]=={autograder.__version__}"]
    assert "Private :: Do Not Upload" in SECOND["classifiers"]


def test_no_graded_notebook_sees_where_shipped_problems_lie() -> None:
    """The second distribution is data in `share/`: not among what the sandbox shows, which the libraries are."""
    shown = [path for path, _ in mounts.needed()]
    for place, seen in (("data", False), ("purelib", True)):
        path = Path(sysconfig.get_path(place), "share/deep-learning-autograder" if place == "data" else "")
        assert any(path.is_relative_to(folder) for folder in shown) is seen


def call(*words: object, cwd: Path, **environment: str) -> str:
    """Run a program outside the checkout; what it printed."""
    kept = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "AUTOGRADER_PROBLEMS")}
    run = subprocess.run(
        [*map(str, words)], cwd=cwd, env={**kept, "COLUMNS": "400", **environment}, capture_output=True, text=True
    )
    assert run.returncode == 0, f"{words}: {run.stdout}{run.stderr}"
    return run.stdout + run.stderr


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with what was built of both distributions: `dist/`, and in `again/` the wheels of their sdists."""
    place = tmp_path_factory.mktemp("packaging")
    call(sys.executable, "-m", "venv", place / "builder", cwd=place)
    python = place / "builder/bin/python"
    call(python, "-m", "pip", "install", "--quiet", "hatchling>=1.26", cwd=place)
    for project in (ROOT, ROOT / "problems"):
        call(python, "-m", "hatchling", "build", "-d", place / "dist", cwd=project)
    for sdist in sorted((place / "dist").glob("*.tar.gz")):
        words = ("--quiet", "--no-deps", "--no-build-isolation", "-w", place / "again", sdist)
        call(python, "-m", "pip", "wheel", *words, cwd=place)
    return place


def files(path: Path) -> dict[str, bytes]:
    """The files of a wheel, but what says who made it."""
    with zipfile.ZipFile(path) as archive:
        names = [name for name in archive.namelist() if Path(name).name not in ("WHEEL", "RECORD", "METADATA")]
        return {name: archive.read(name) for name in names}


def needs(path: Path) -> set[str]:
    """What a wheel's base needs, and its extras."""
    with zipfile.ZipFile(path) as archive:
        (name,) = [name for name in archive.namelist() if name.endswith("METADATA")]
        said = message_from_bytes(archive.read(name))
    told = [line for line in said.get_all("Requires-Dist", []) if "extra" not in line]
    return {said["Name"], said["Version"], said["Requires-Python"], *told, *said.get_all("Provides-Extra", [])}


@pytest.mark.environment
def test_what_is_built_of_the_package_holds_no_answer(place: Path) -> None:
    """Wheel and sdist hold no answer but to the problem that a new course begins with, and that no student gets.

    The sdist gives the same wheel, and so does what runs here.
    """
    built, again = place / "dist" / wheel.FILE, place / "again" / wheel.FILE
    (sdist,) = place.glob(f"dist/{built.name.split('-py3')[0]}.tar.gz")
    for path in (built, sdist):
        found = leaks(path)
        assert found and [said for said in found if not said.endswith(f"({Path(wheel.NOT_FOR_STUDENTS).name})")] == []
    assert files(built) == files(again) == files(wheel.write_wheel(place))
    assert needs(built) == needs(place / wheel.FILE)
    assert leaks(wheel.write_wheel(place, for_students=True)) == []


@pytest.mark.environment
def test_the_second_distribution_holds_every_problem_and_model(place: Path) -> None:
    """The wheel of the tree and that of the sdist have the same files: all problem folders, all models, as data."""
    (built,), (again,) = (place.glob(f"{folder}/*_problems-*.whl") for folder in ("dist", "again"))
    assert files(built) == files(again)
    share = "data/share/deep-learning-autograder/"
    found = {name.partition(share)[2] for name in files(built)}
    wanted = [path for path in [*ROOT.glob("problems/*/*"), *ROOT.glob("solutions/*")] if path.is_file()]
    assert found == {path.relative_to(ROOT).as_posix() for path in wanted if path.suffix != ".pyc"}


@pytest.mark.environment
def test_a_student_installs_the_wheel_alone(place: Path) -> None:
    """In an empty environment, with its base dependencies from the index: typed answers are shown and checked."""
    call(sys.executable, "-m", "venv", place / "student", cwd=place)
    python = place / "student/bin/python"
    call(python, "-m", "pip", "install", "--quiet", wheel.write_wheel(place, for_students=True), cwd=place)
    code = (
        "import importlib.util as i; assert not i.find_spec('torch') and not i.find_spec('sympy')\n"
        "from autograder import student as form\nform.declare(domains={'x': 'real'})\n"
        "y = form.expression('x^2')\nform.check_expression('y', domains={'x': 'real'})"
    )
    assert "x^{2}" in call(python, "-c", code, cwd=place)


@pytest.fixture(scope="module")
def instructor(place: Path) -> Path:
    """An environment's programs: both wheels, without this checkout; other packages are those of this environment."""
    call(sys.executable, "-m", "venv", place / "instructor", cwd=place)
    python = place / "instructor/bin/python"
    packages = call(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))", cwd=place).strip()
    Path(packages, "others.pth").write_text(sysconfig.get_path("purelib"))
    call(python, "-m", "pip", "install", "--quiet", "--no-deps", place / "dist" / wheel.FILE, cwd=place)
    return python.parent


PRY = """
import os, sys
for top in {sys.prefix, sys.base_prefix, "/"}:
    for folder, _, names in os.walk(top):
        if "problem.py" in names and "gates" in folder or "ugrnn.py" in names:
            print("BREACH:", folder)
"""


@pytest.mark.environment
@pytest.mark.timeout(900)
def test_a_course_of_ones_own_runs_to_exported_marks(place: Path, instructor: Path) -> None:
    """From the wheel, outside the checkout: init, a copied problem, release, hand in, grade, export.

    A notebook that looks for the shipped problems on the grader's disk finds none.
    """
    programs = {
        "PATH": os.pathsep.join([str(instructor), str(Path(sys.executable).parent), os.environ["PATH"]]),
        "JUPYTER_PATH": f"{sys.prefix}/share/jupyter",
    }

    def run(*words: object, cwd: Path = place) -> str:
        return call(*words, cwd=cwd, **programs)

    autograder = instructor / "autograder"
    assert "scaled scores" in run(autograder, "demo", "--students", "1")
    (problems,) = place.glob("dist/*_problems-*.whl")
    run(instructor / "python", "-m", "pip", "install", "--quiet", "--no-deps", problems)
    run(autograder, "init", "course")
    course = place / "course"
    run(autograder, "new", "gates", "--from", "ugrnn_gates", cwd=course)
    run(autograder, "audit", "scaled_scores", "--jobs", "1", "--variants", "2", cwd=course)
    text = (course / "ps1.toml").read_text().replace('["scaled_scores"]', '["scaled_scores", "gates"]')
    (course / "ps1.toml").write_text(text)
    run(autograder, "build", "ps1", cwd=course)
    run(autograder, "release", "ps1", "--zip", cwd=course)
    assert leaks(course / "zips/ps1.zip", ((course / ".course-secret").read_text().strip(),)) == []
    for student in ("ada", "bob"):
        (course / f"submitted/{student}/ps1").mkdir(parents=True)
    for name in ("scaled_scores", "gates"):
        solved = (course / f"source/ps1/{name}.ipynb").read_text()
        (course / f"submitted/ada/ps1/{name}.ipynb").write_text(solved)
        released = json.loads((course / f"release/ps1/{name}.ipynb").read_text())
        pry = {"cell_type": "code", "metadata": {}, "source": PRY, "outputs": [], "execution_count": None, "id": "pry"}
        released["cells"].insert(1, pry)
        (course / f"submitted/bob/ps1/{name}.ipynb").write_text(json.dumps(released))
    run(autograder, "grade", "ps1", "--require-sandbox", cwd=course)
    run(instructor / "python", "-m", "nbgrader", "export", "--to", "grades.csv", cwd=course)
    with (course / "grades.csv").open() as file:
        marks = {row["student_id"]: (float(row["score"]), float(row["max_score"])) for row in csv.DictReader(file)}
    parts = [*load("ugrnn_gates", ROOT / "problems").parts, *load("scaled_scores", course / "problems").parts]
    points = sum(part.points for part in parts)
    waits = sum(part.points for part in parts if part.judged_by_person)
    assert marks == {"ada": (points - waits, points), "bob": (0, points)}
    for name in ("scaled_scores", "gates"):
        assert "BREACH:" not in (course / f"autograded/bob/ps1/{name}.ipynb").read_text().replace(
            'print(\\"BREACH:', ""
        )
