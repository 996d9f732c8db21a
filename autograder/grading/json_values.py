"""Notebooks as plain data: copied and written several times faster than by `copy` and `json`, to the same effect."""

from __future__ import annotations

import json
from json.encoder import encode_basestring as quoted
from typing import Any


def copied(value: Any) -> Any:
    """A copy of what JSON can hold, in which dicts keep their type and nothing is shared but what cannot change."""
    if isinstance(value, dict):
        made = dict.__new__(type(value))
        dict.update(made, {key: copied(item) for key, item in value.items()})
        return made
    if isinstance(value, list):
        return [copied(item) for item in value]
    return value


def written(value: Any, line: str = "\n") -> str:
    """As `json.dumps` with an indent of one, sorted keys and all letters as they are; keys are strings."""
    if isinstance(value, str):
        return quoted(value)
    inner = f"{line} "
    if isinstance(value, dict):
        items = [f"{quoted(key)}: {written(item, inner)}" for key, item in sorted(value.items())]
        return f"{{{inner}{f',{inner}'.join(items)}{line}}}" if items else "{}"
    if isinstance(value, list | tuple):
        items = [written(item, inner) for item in value]
        return f"[{inner}{f',{inner}'.join(items)}{line}]" if items else "[]"
    return json.dumps(value)
