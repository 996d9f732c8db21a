"""The package's ordinary wheel, made again from the files that run here: no index has it, so a course hands it on.

It is pure Python, and its base dependencies are all that a notebook needs. Students get it without the problem that a
new course begins with, and without the README, whose examples have answers. Same files, same bytes.
"""

from __future__ import annotations

import base64
import hashlib
import importlib.metadata
import io
import tomllib
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from autograder import __version__
from autograder.errors import StaffError

NAME = "deep-learning-autograder"
FILE = f"{NAME.replace('-', '_')}-{__version__}-py3-none-any.whl"
PACKAGE = Path(__file__).resolve().parents[1]
NOT_FOR_STUDENTS = "authoring/example.py"
_WHEEL = "Wheel-Version: 1.0\nGenerator: autograder\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
_WHEN = (2020, 1, 1, 0, 0, 0)


def write_wheel(folder: Path, *, for_students: bool = False) -> Path:
    """Write the wheel into a folder; where it lies. StaffError where nothing says what the package needs."""
    (folder / FILE).write_bytes(content(for_students=for_students))
    return folder / FILE


def content(*, for_students: bool = False) -> bytes:
    """The wheel, with the list of its files as its last one."""
    place, record, buffer = f"{_information()}/RECORD", "", io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, file in _files(for_students):
            digest = base64.urlsafe_b64encode(hashlib.sha256(file).digest()).decode().rstrip("=")
            record += f"{name},sha256={digest},{len(file)}\n"
            archive.writestr(zipfile.ZipInfo(name, _WHEN), file, zipfile.ZIP_DEFLATED)
        archive.writestr(zipfile.ZipInfo(place, _WHEN), f"{record}{place},,\n", zipfile.ZIP_DEFLATED)
    return buffer.getvalue()


def _files(for_students: bool) -> Iterator[tuple[str, bytes]]:
    """Every file of the wheel but the list of them."""
    left_out = PACKAGE / NOT_FOR_STUDENTS if for_students else None
    for path in sorted(PACKAGE.rglob("*")):
        if path.is_file() and "__pycache__" not in path.parts and path != left_out:
            yield path.relative_to(PACKAGE.parent).as_posix(), path.read_bytes()
    texts = _texts()
    if for_students:
        texts["METADATA"] = texts["METADATA"].partition("\n\n")[0] + "\n"
    for name, text in {**texts, "WHEEL": _WHEEL}.items():
        yield f"{_information()}/{name}", text.encode()


def _texts() -> dict[str, str]:
    """What the wheel says of itself, by its files' names."""
    return _of_the_checkout() if (PACKAGE.parent / "pyproject.toml").is_file() else _of_the_installation()


def _information() -> str:
    return FILE.removesuffix("-py3-none-any.whl") + ".dist-info"


def requirements(extra: str = "") -> list[str]:
    """What the package needs, or one of its extras does, as pip is told it."""
    lines = _texts()["METADATA"].partition("\n\n")[0].splitlines()
    told = [line.removeprefix("Requires-Dist: ").partition(";") for line in lines if line.startswith("Requires-Dist:")]
    return [need.strip() for need, _, when in told if (f"'{extra}'" in when.replace('"', "'") if extra else not when)]


def _of_the_installation() -> dict[str, str]:
    """What pip has kept of the wheel that was installed."""
    try:
        installed = importlib.metadata.distribution(NAME)
    except importlib.metadata.PackageNotFoundError as error:
        raise StaffError("not_installed", f"{NAME} is not installed here; install its wheel with pip") from error
    texts = {name: installed.read_text(name) for name in ("METADATA", "entry_points.txt", "licenses/LICENSE")}
    return {name: text for name, text in texts.items() if text}


def _of_the_checkout() -> dict[str, str]:
    """The same by the project's own words, which are newer than what was installed from it."""
    root = PACKAGE.parent
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    scripts = "".join(f"{name} = {target}\n" for name, target in project["scripts"].items())
    return {
        "METADATA": "\n".join([*_words(project), "", (root / project["readme"]).read_text(encoding="utf-8")]),
        "entry_points.txt": f"[console_scripts]\n{scripts}",
        "licenses/LICENSE": (root / "LICENSE").read_text(encoding="utf-8"),
    }


def _words(project: Mapping[str, Any]) -> Iterator[str]:
    yield "Metadata-Version: 2.4"
    yield f"Name: {project['name']}"
    yield f"Version: {__version__}"
    yield f"Summary: {project['description']}"
    yield f"License-Expression: {project['license']}"
    yield "License-File: LICENSE"
    yield from (f"Classifier: {line}" for line in project["classifiers"])
    yield f"Requires-Python: {project['requires-python']}"
    yield from (f"Requires-Dist: {need}" for need in project["dependencies"])
    for extra, needs in project["optional-dependencies"].items():
        yield f"Provides-Extra: {extra}"
        yield from (f"Requires-Dist: {need}; extra == '{extra}'" for need in needs)
    yield "Description-Content-Type: text/markdown"
