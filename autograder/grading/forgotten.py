"""Reports without answers: what stays of a graded notebook when its answers are forgotten.

Part, standing, points and codes stay, so that tables and statistics say what they said. What was typed, what messages
quote, and what a guess could be compared with goes. Packs of answers are written anew without it.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from autograder.authoring import privacy
from autograder.grading import answer_store
from autograder.grading.report import FORGOTTEN, in_one_line

_VERDICT = ("check", "ok", "code")
_OUTCOME = ("part", "standing", "points", "max_points", "by_hand")


def is_forgotten(path: Path) -> bool:
    """Whether a report is there, and has no answers any more."""
    return bool(_content(path).get(FORGOTTEN))


def forget(path: Path, day: str, *, shared: bool = False) -> None:
    """Take the answers out of a report; where there is none that can be read, one says that a notebook was graded."""
    old = _content(path)
    if old.get(FORGOTTEN):
        return
    try:
        new = {key: old[key] for key in ("slug", "version", "parameters", "points")}
        new["outcomes"] = [_outcome(item) for item in old["outcomes"]]
    except (KeyError, TypeError):
        new = {"slug": "", "version": 0, "parameters": in_one_line({}), "points": 0.0, "outcomes": []}
    _replace(path, {**new, "flags": [], "digest": "", FORGOTTEN: day}, shared)


def _outcome(old: dict[str, Any]) -> dict[str, Any]:
    empty = dict.fromkeys(("message", "witness", "staff"), "")
    verdicts = [{key: item[key] for key in _VERDICT} | empty for item in old["verdicts"]]
    kept = {key: old[key] for key in _OUTCOME if key in old}
    return {**kept, "notes": [], "verdicts": verdicts, "answers": None}


def has_stray_answers(folder: Path) -> bool:
    """Whether the packs of an assignment hold anything that no report speaks of."""
    used, packs = _used(folder), _packs(folder)
    return any(_unused(pack, used.get(pack.name, set())) for pack in packs)


def repack(folder: Path, *, shared: bool = False) -> None:
    """Leave in the packs of an assignment what its reports speak of. An end at any place costs nothing.

    Packs are never changed: new ones are on disk before a report speaks of them, and old ones go last.
    """
    used, old = _used(folder), []
    moved: dict[tuple[str, int, int], answer_store.Place] = {}
    for pack in _packs(folder):
        places = used.get(pack.name, set())
        if not _unused(pack, places):
            continue
        content = pack.read_bytes()
        pieces = [content[start : start + length] for start, length in sorted(places)]
        found = answer_store.pack(pieces, folder, shared=shared) if pieces else []
        moved |= {(pack.name, *place): new for place, new in zip(sorted(places), found, strict=True)}
        old.append(pack)
    for report in _reports(folder) if moved else ():
        _move(report, moved, shared)
    for pack in old:
        pack.unlink(missing_ok=True)


def _unused(pack: Path, places: set[tuple[int, int]]) -> bool:
    return sum(length for _, length in places) < pack.stat().st_size


def _used(folder: Path) -> dict[str, set[tuple[int, int]]]:
    found: dict[str, set[tuple[int, int]]] = {}
    for report in _reports(folder):
        for place in _places(_content(report)):
            found.setdefault(str(place["pack"]), set()).add((int(place["start"]), int(place["length"])))
    return found


def _places(content: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Where the large answers of a report lie."""
    for item in content.get("outcomes", ()):
        if isinstance(place := item.get("answers"), dict):
            yield place


def _move(path: Path, moved: dict[tuple[str, int, int], answer_store.Place], shared: bool) -> None:
    content, changed = _content(path), False
    for place in _places(content):
        if new := moved.get((place["pack"], place["start"], place["length"])):
            place.update(new)
            changed = True
    if changed:
        _replace(path, content, shared)


def _reports(folder: Path) -> list[Path]:
    """The reports of an assignment, and the old ones that a regrade has kept."""
    return sorted(folder.glob("*/*.json*"))


def _packs(folder: Path) -> list[Path]:
    packs = folder / answer_store.FOLDER
    return sorted(path for path in packs.iterdir() if path.is_file()) if packs.is_dir() else []


def _content(path: Path) -> dict[str, Any]:
    with contextlib.suppress(OSError, ValueError, RecursionError):
        content = json.loads(path.read_text(encoding="utf-8"))
        if isinstance(content, dict):
            return content
    return {}


def _replace(path: Path, content: dict[str, Any], shared: bool) -> None:
    privacy.replace(path, json.dumps(content, indent=1, ensure_ascii=False).encode("utf-8", "replace"), shared=shared)
