"""What decides the marks of a notebook, byte for byte: its problem's folder, the points of its parts, its voids."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from autograder.authoring.voids import Void


def folder_files(folder: Path) -> dict[str, bytes]:
    """Every file in and below a problem's folder by its path from there, but what programs leave there."""
    there = {path.relative_to(folder): path for path in sorted(folder.rglob("*")) if path.is_file()}
    return {name.as_posix(): path.read_bytes() for name, path in there.items() if not any(map(_is_left, name.parts))}


def _is_left(part: str) -> bool:
    return part.startswith(".") or part == "__pycache__"


def digest_of_tests(folder: Path, notebook: Mapping[str, Any], voids: Mapping[str, Void]) -> str:
    """The same for the same bytes in a problem's folder, points in an instructor's notebook, and voids."""
    files = {name: hashlib.sha256(content).hexdigest() for name, content in folder_files(folder).items()}
    marks = [cell["metadata"].get("nbgrader") or {} for cell in notebook["cells"]]
    points = {mark["grade_id"]: float(mark["points"]) for mark in marks if mark.get("grade")}
    told = [files, points, {part: asdict(void) for part, void in voids.items()}]
    return hashlib.sha256(json.dumps(told, sort_keys=True, default=str).encode()).hexdigest()
