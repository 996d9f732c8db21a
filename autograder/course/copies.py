"""Copies of answers in places that nobody knows of: a download that was left in the course, a grader's own notes.

A line that a student wrote, and that nobody handed out, is looked for in every other file of the course.
"""

from __future__ import annotations

import contextlib
import html
import json
import os
import re
import zipfile
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from typing import Any

LEAST = 12  # characters: shorter lines are anybody's, and so are imports
_ANYBODYS = ("import ", "from ")
_HANDED_OUT = ("source", "release", "students")
_MOST = 64 * 2**20  # bytes of a file that is looked into
_TAG = re.compile(r"<[^<>]*>")
_QUOTED = re.compile(r'"((?:[^"\\\n]|\\.)*)"')
_ESCAPES = (("\\n", "\n"), ('\\"', '"'), ("\\\\", "\\"))


def lines_of(root: Path, folders: Iterable[Path]) -> set[str]:
    """What was written in the notebooks of these folders, line by line, without what was handed out."""
    wrote = {line for folder in folders for path in _notebooks(folder) for line in _lines(_cells(path))}
    handed_out = (path for name in _HANDED_OUT for path in (root / name).rglob("*.ipynb")) if wrote else ()
    return wrote - {line for path in handed_out for line in _lines(_cells(path))}


def _notebooks(folder: Path) -> Iterator[Path]:
    return (path for path in folder.rglob("*") if path.is_file() and _is_notebook(path))


def _is_notebook(path: Path) -> bool:
    return path.suffix == ".ipynb"


def _cells(path: Path) -> str:
    """The text of a notebook's cells, or of a file that is none."""
    content = _text(path)
    with contextlib.suppress(ValueError, RecursionError, KeyError, TypeError, AttributeError):
        return "\n".join(_source(cell) for cell in json.loads(content)["cells"])
    return _unescaped(content)


def _source(cell: dict[str, Any]) -> str:
    source = cell.get("source", "")
    return source if isinstance(source, str) else "".join(source)


def _lines(text: str) -> set[str]:
    lines = map(str.strip, text.splitlines())
    return {line for line in lines if len(line) >= LEAST and not line.startswith(_ANYBODYS)}


def _text(path: Path) -> str:
    with contextlib.suppress(OSError):
        if path.stat().st_size <= _MOST:
            return path.read_bytes().decode("utf-8", "ignore")
    return ""


def elsewhere(root: Path, lines: set[str], known: Collection[Path]) -> tuple[Path, ...]:
    """The files of a course, outside of those that are known, that have one of the lines."""
    return tuple(path for path in _others(root, known) if any(_holds(text, lines) for text in _texts(path)))


def _others(root: Path, known: Collection[Path]) -> Iterator[Path]:
    for place, folders, files in os.walk(root):
        folders[:] = sorted(name for name in folders if Path(place, name) not in known)
        for path in (Path(place, name) for name in sorted(files)):
            if path not in known and path.is_file() and not path.is_symlink():
                yield path


def _texts(path: Path) -> Iterator[str]:
    """What a file says; of an archive, what its files say."""
    if not zipfile.is_zipfile(path):
        yield _text(path)
        return
    with (
        contextlib.suppress(OSError, zipfile.BadZipFile, RuntimeError, NotImplementedError),
        zipfile.ZipFile(path) as all_,
    ):
        for item in all_.infolist():
            if item.file_size <= _MOST:
                yield all_.read(item).decode("utf-8", "ignore")


def _holds(text: str, lines: set[str]) -> bool:
    """Whether a text has one of the lines, as it is, in JSON, or in HTML."""
    shapes = (text, _unescaped(text), html.unescape(_TAG.sub("", text)))
    return any(not lines.isdisjoint(_lines(shape)) for shape in shapes)


def _unescaped(text: str) -> str:
    """What stands between the quotes of JSON, as it was typed."""
    text = "\n".join(_QUOTED.findall(text))
    for written, meant in _ESCAPES:
        text = text.replace(written, meant)
    return text
