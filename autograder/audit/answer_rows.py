"""Rows of a table of answers, as a .jsonl file holds them; a line that is none says why."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from autograder.core import Parameters

EXPECTED = ("full", "less", "none", "held")


@dataclass(frozen=True, kw_only=True)
class Row:
    """One line of a table: the cells that are handed in, by part, and the verdicts that are in order for each."""

    line: int
    slug: str
    cells: Mapping[str, str]
    expected: Mapping[str, tuple[str, ...]]
    seed: int = 0
    parameters: Parameters | None = None
    fault: str = ""  # why the line is no row
    readable: bool = True

    @property
    def order(self) -> tuple[str, str, str]:
        """Rows of one variant and part come together: what the reference answers is worked out once."""
        return self.slug, f"{self.seed} {self.parameters}", ",".join(self.cells)


class Fault(Exception):
    """Why a line is no row, or a row cannot be judged."""


def read(lines: Iterable[str]) -> Iterator[Row]:
    """The rows of a .jsonl file; a line that is none says so in its `fault`."""
    for number, line in enumerate(lines, 1):
        if line.strip():
            folder = ""
            try:
                words = _object(line)
                folder = str(words.get("problem", ""))
                yield _row(number, words)
            except Fault as error:
                yield Row(
                    line=number, slug=folder, cells={}, expected={}, fault=f"line {number}: {error}", readable=False
                )


def _object(line: str) -> dict[str, Any]:
    try:
        words = json.loads(line)
    except ValueError as error:
        raise Fault(f"this is no JSON: {error}") from error
    if not isinstance(words, dict):
        raise Fault("a row is a JSON object")
    return words


def _row(number: int, words: dict[str, Any]) -> Row:
    if not isinstance(words.get("problem"), str):
        raise Fault('the key "problem" is missing')
    parameters = words.get("parameters")
    if not isinstance(parameters, dict | None):
        raise Fault('"parameters" are an object')
    seed = words.get("seed")
    seed = 0 if seed is None and parameters is not None else seed
    if not isinstance(seed, int) or isinstance(seed, bool):
        raise Fault('a row has a "seed", a whole number, or "parameters"')
    cells = _cells(words)
    return Row(
        line=number,
        slug=words["problem"],
        cells=cells,
        expected=_expected(words, cells),
        seed=seed,
        parameters=parameters,
    )


def _cells(words: dict[str, Any]) -> dict[str, str]:
    cells = words.get("cells")
    if cells is None:
        for key in ("part", "cell"):
            if not isinstance(words.get(key), str):
                raise Fault(f'the key "{key}" is missing')
        cells = {words["part"]: words["cell"]}
    if not isinstance(cells, dict) or not cells or not all(isinstance(cell, str) for cell in cells.values()):
        raise Fault('"cells" gives the text of a cell for each part')
    return cells


def _expected(words: dict[str, Any], cells: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
    if "expect" not in words:
        raise Fault('the key "expect" is missing')
    wanted, others = words["expect"], words.get("or") or []
    wanted = wanted if isinstance(wanted, dict) else dict.fromkeys(cells, wanted)
    others = others if isinstance(others, dict) else dict.fromkeys(wanted, others)
    found = {part: (word, *_listed(others.get(part, []))) for part, word in wanted.items()}
    for word in (word for verdicts in found.values() for word in verdicts):
        if word not in EXPECTED:
            raise Fault(f"{word!r} is no verdict; write one of {', '.join(EXPECTED)}")
    if unknown := [part for part in found if part not in cells]:
        raise Fault(f'"expect" names {unknown[0]!r}, for which there is no cell')
    return found


def _listed(words: Any) -> list[Any]:
    return words if isinstance(words, list) else [words]
