"""Files as nbgrader writes them, put in their place whole."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from nbformat.v4.nbjson import JSONWriter
from nbgrader import utils


def as_text(notebook: Any) -> str:
    """A notebook as nbgrader writes it."""
    text: str = JSONWriter().writes(notebook)
    return text if text.endswith("\n") else text + "\n"


def replace_folder(new: Path, target: Path, permissions: int) -> None:
    """Give a finished folder's files their permissions and put it in the place of the old one."""
    mode = int(str(permissions), 8)
    for file in new.rglob("*"):
        if file.is_file():
            file.chmod(mode)
    if target.exists():
        utils.rmtree(str(target))
    new.replace(target)
