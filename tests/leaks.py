"""What no student may get, looked for in whatever is handed to one: answers, mistakes, models, secrets."""

from __future__ import annotations

import ast
import functools
import io
import json
import re
import tarfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

from autograder.authoring import wheel

ROOT = Path(__file__).parents[1]
PRIVATE = ("problem.py", "mistakes.py", ".course-secret", "ledger.jsonl", "gradebook.db", "roster.csv")
FOLDERS = {"problems", "solutions", "source"}
SOLVED = ("BEGIN SOLUTION", "HIDDEN TESTS", "hidden.score", "hidden.own_seed")


_OPENS = re.compile(r"\w+ = \w+\((r?\"\"\"|\[)?")  # a typed answer begins as its stub does


@functools.cache
def of_instructors() -> dict[str, str]:
    """Lines of code and of text that stand in a problem or a model, and are long enough to be nobody else's."""
    found: dict[str, str] = {}
    example = ROOT / "autograder" / wheel.NOT_FOR_STUDENTS
    for path in [*ROOT.glob("problems/*/*.py"), *ROOT.glob("solutions/*.py"), example]:
        text = path.read_text(encoding="utf-8")
        lines = text.split("\n")
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef):
                code = lines[node.lineno : node.end_lineno]
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                code = node.value.split("\n")
            else:
                continue
            found |= {line.strip(): path.name for line in code if len(line.strip()) >= 40}
    for path in ROOT.glob("problems/*/walkthrough.md"):
        lines = path.read_text(encoding="utf-8").split("\n")
        found |= {line.strip(): path.name for line in lines if len(line.strip()) >= 40}
    return found


def members(name: str, content: bytes) -> Iterator[tuple[str, bytes]]:
    """Every file of an archive, and of the archives in it."""
    if name.endswith((".zip", ".whl")):
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            inner = {item: archive.read(item) for item in archive.namelist()}
    elif name.endswith(".tar.gz"):
        with tarfile.open(fileobj=io.BytesIO(content)) as tar:
            files = [(item.name, tar.extractfile(item)) for item in tar if item.isfile()]
            inner = {item: file.read() for item, file in files if file}
    else:
        yield name, content
        return
    for item, part in inner.items():
        yield from members(item, part)


def leaks(archive: Path, secrets: tuple[str, ...] = ()) -> list[str]:
    """What an archive holds that is not a student's: each with the file that it was found in."""
    found = []
    for name, content in members(archive.name, archive.read_bytes()):
        text = content.decode("utf-8", "replace")
        path = Path(name)
        if "autograder" not in path.parts and (path.name in PRIVATE or FOLDERS & set(path.parts)):
            found.append(f"{name} itself")
        found += [f"{name}: a secret" for secret in secrets if secret and secret in text]
        if name.endswith(".ipynb"):
            found += [f"{name}: {mark}" for mark in SOLVED if mark in text]
        else:
            same = of_instructors().keys() & set(map(str.strip, text.split("\n")))
            found += [f"{name}: {line} ({of_instructors()[line]})" for line in same]
    return found


def answers_of(source: dict) -> list[str]:
    """The lines of a source notebook's solutions that are long enough to be no accident, and that no question shows."""
    asked = [cell for cell in source["cells"] if not cell["metadata"].get("nbgrader", {}).get("solution")]
    found, shown = [], "\n".join("".join(cell["source"]) for cell in asked)
    for cell in source["cells"]:
        inside, answer = False, cell["metadata"].get("nbgrader", {}).get("solution")
        for line in "".join(cell["source"]).split("\n"):
            if "END SOLUTION" in line:
                inside = False
            if inside and answer and len(line.strip()) >= 12 and not _OPENS.fullmatch(line.strip()):
                found.append(line.strip())
            inside = inside or "BEGIN SOLUTION" in line
    return [line for line in found if line not in shown]


def text_of(notebook: dict) -> str:
    """All that stands in a notebook's cells."""
    return "\n".join("".join(cell["source"]) for cell in json.loads(json.dumps(notebook))["cells"])
