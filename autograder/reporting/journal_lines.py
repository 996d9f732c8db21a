"""The lines of a journal that are whole: each is a JSON object, appended and never changed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


def read(path: Path) -> list[dict[str, Any]]:
    """Every line that is whole; none where there is no file."""
    lines = []
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        return []
    for text in content.split(b"\n"):
        try:
            line = json.loads(text)
        except (ValueError, RecursionError):
            continue  # it broke off
        if isinstance(line, dict):
            lines.append(line)
    return lines
