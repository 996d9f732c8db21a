"""A submitted notebook made whole: the instructor's cells, and from the student only what he may write.

Whatever was done to the file (ids renamed, metadata stripped, cells doubled, moved or deleted, not even JSON), the
result has every cell of the instructor's once and in order. Answers are found by their id, then by their content; the
student's own cells stay where they were, behind the cell that they followed. What had to be mended is a flag.
"""

from __future__ import annotations

import ast
import copy
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from autograder.notebook import answer_id

MAX_BYTES = 64 * 2**20
MAX_CELLS = 2_000
MAX_SOURCE = 2**20


@dataclass(frozen=True, kw_only=True)
class Flag:
    """Something a grader should know about a submission; `code` is stable, `message` a sentence."""

    code: str
    message: str


@dataclass(kw_only=True)
class StudentCell:
    """A cell as handed in, reduced to what can be trusted to be text."""

    cell_type: str
    source: str
    grade_id: str | None
    used: bool = False


@dataclass(kw_only=True)
class Whole:
    """The mended notebook and what was noticed. `held` says, by part, why a person must look for its answer."""

    notebook: dict[str, Any]
    flags: list[Flag] = field(default_factory=list)
    held: dict[str, str] = field(default_factory=dict)


def read_cells(content: bytes) -> list[StudentCell]:
    """The cells of a submitted file; ValueError with a sentence if it is no notebook."""
    if len(content) > MAX_BYTES:
        raise ValueError(f"the file is larger than {MAX_BYTES // 2**20} MB")
    try:
        document = json.loads(content.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise ValueError(f"the file is not JSON ({type(error).__name__})") from error
    if not isinstance(document, dict):
        raise ValueError("the file is JSON, but not a notebook")
    cells = document.get("cells")
    if cells is None and isinstance(document.get("worksheets"), list):  # notebook format 3
        cells = [
            cell for sheet in document["worksheets"] if isinstance(sheet, dict) for cell in sheet.get("cells") or []
        ]
    if not isinstance(cells, list):
        raise ValueError("the file is JSON, but not a notebook: it has no list of cells")
    if len(cells) > MAX_CELLS:
        raise ValueError(f"the notebook has {len(cells):,} cells; at most {MAX_CELLS:,} are read")
    return [cell for cell in map(_read_cell, cells) if cell]


def _read_cell(cell: Any) -> StudentCell | None:
    if not isinstance(cell, dict) or cell.get("cell_type") not in ("code", "markdown", "raw"):
        return None
    source = cell.get("source", cell.get("input", ""))
    if isinstance(source, list):
        source = "".join(line for line in source if isinstance(line, str))
    if not isinstance(source, str):
        return None
    metadata = cell.get("metadata")
    marks = metadata.get("nbgrader") if isinstance(metadata, dict) else None
    grade_id = marks.get("grade_id") if isinstance(marks, dict) else None
    source = source[:MAX_SOURCE].encode("utf-8", "replace").decode("utf-8")  # lone surrogates cannot be written
    return StudentCell(
        cell_type=cell["cell_type"],
        source=source if cell["cell_type"] == "code" else inert(source),
        grade_id=grade_id if isinstance(grade_id, str) else None,
    )


def inert(markdown: str) -> str:
    """The same text with no HTML tag in it: it will be shown in a grader's browser, beside the grader's session."""
    return re.sub(r"<(?=[A-Za-z/?])", "< ", markdown)


def make_whole(content: bytes, released: dict[str, Any], source: dict[str, Any]) -> Whole:
    """Mend a submitted file.

    `released` is the notebook that the student was given, `source` the instructor's, with the same cells; the result
    is `source` with the student's answers in place of the solutions (of an answer that is missing: the stub).
    """
    flags: list[Flag] = []
    try:
        cells = read_cells(content)
    except ValueError as error:
        return _unreadable(f"The notebook could not be read: {error}.", released, source)
    if not cells:
        flags.append(Flag(code="empty", message="The notebook has no cells."))
    matching = _Matching(cells, released, flags)
    held = dict.fromkeys(matching.ambiguous, "More than one cell could be this answer.")
    return Whole(notebook=_assemble(matching, source), flags=flags, held=held)


def _unreadable(reason: str, released: dict[str, Any], source: dict[str, Any]) -> Whole:
    """A notebook of stubs, all of it for a person: a file that cannot be read is not a wrong answer."""
    flags = [Flag(code="unreadable_file", message=reason)]
    matching = _Matching([], released, flags)
    parts = [cell["metadata"]["nbgrader"] for cell in source["cells"]]
    held = {marks["grade_id"]: reason for marks in parts if marks.get("grade")}
    return Whole(notebook=_assemble(matching, source), flags=flags, held=held)


class _Matching:
    """Which of the student's cells stands for which of the instructor's."""

    def __init__(self, cells: list[StudentCell], released: dict[str, Any], flags: list[Flag]) -> None:
        self.cells, self.flags, self.ambiguous = cells, flags, set[str]()
        self.released = {cell["metadata"]["nbgrader"]["grade_id"]: cell for cell in released["cells"]}
        self.found: dict[str, StudentCell] = {}
        for grade_id, cell in self.released.items():
            self._by_id(grade_id, cell)
        for grade_id, cell in self.released.items():
            if grade_id not in self.found:
                self._by_content(grade_id, cell)
        if cells:
            self._report_missing()

    def _by_id(self, grade_id: str, cell: dict[str, Any]) -> None:
        same = [item for item in self.cells if item.grade_id == grade_id and item.cell_type == cell["cell_type"]]
        if not same:
            return
        if len(same) > 1:
            self.flags.append(Flag(code="duplicate_cell", message=f"{len(same)} cells have the id {grade_id!r}."))
        if not _is_answer(cell):
            for item in same:
                item.used = True
            self.found[grade_id] = same[0]
            if _squeezed(same[0].source) != _squeezed(cell["source"]):
                self.flags.append(
                    Flag(
                        code="changed_cell", message=f"The locked cell {grade_id!r} had been changed; it was restored."
                    )
                )
            return
        # As when the notebook runs from top to bottom, the last one that says anything counts; earlier ones still run.
        written = [item for item in same if _squeezed(item.source) != _squeezed(cell["source"])]
        for item in same:
            item.used = item not in written
        self._take(grade_id, (written or same)[-1])

    def _by_content(self, grade_id: str, cell: dict[str, Any]) -> None:
        free = [item for item in self.cells if not item.used and item.cell_type == cell["cell_type"]]
        if not _is_answer(cell):
            same = [item for item in free if _squeezed(item.source) == _squeezed(cell["source"])]
            for item in same:
                item.used = True
            if same:
                self.found[grade_id] = same[0]
            return
        candidates = [item for item in free if self._answers(grade_id, cell, item)]
        if not candidates:
            return
        marked = [item for item in candidates if _mark_line(cell["source"]) in item.source]
        candidates = marked if cell["cell_type"] == "markdown" and marked else candidates
        if cell["cell_type"] == "markdown" and len(candidates) > 1:
            self.ambiguous.add(grade_id)
        self.flags.append(
            Flag(
                code="found_by_content",
                message=f"The answer {_part(grade_id)!r} had lost its id and was found by its content.",
            )
        )
        self._take(grade_id, candidates[-1])

    def _answers(self, grade_id: str, cell: dict[str, Any], item: StudentCell) -> bool:
        if item.grade_id in self.released:
            return False
        if cell["cell_type"] == "code":
            return _part(grade_id) in set(defined_names(item.source))
        return _mark_line(cell["source"]) in item.source or not self._knows(item)

    def _knows(self, item: StudentCell) -> bool:
        """Whether a markdown cell is one of the instructor's own texts."""
        return any(_squeezed(item.source) == _squeezed(cell["source"]) for cell in self.released.values())

    def _take(self, grade_id: str, item: StudentCell) -> None:
        item.used = True
        self.found[grade_id] = item

    def _report_missing(self) -> None:
        for grade_id, cell in self.released.items():
            if grade_id not in self.found and (_is_answer(cell) or cell["metadata"]["nbgrader"].get("grade")):
                self.flags.append(
                    Flag(code="missing_cell", message=f"The cell {grade_id!r} was missing; it was put back.")
                )

    def extras(self) -> Iterator[tuple[str | None, StudentCell]]:
        """The student's own cells, each with the id of the instructor's cell that it came after."""
        owner = {id(item): grade_id for grade_id, item in self.found.items()}
        after: str | None = None
        for item in self.cells:
            if id(item) in owner:
                after = owner[id(item)]
            elif not item.used and item.source.strip():
                yield after, item


def _assemble(matching: _Matching, source: dict[str, Any]) -> dict[str, Any]:
    extras = list(matching.extras())
    cells = [_extra(item, number) for number, (after, item) in enumerate(extras) if after is None]
    first = len(cells)
    for cell in source["cells"]:
        grade_id = cell["metadata"]["nbgrader"]["grade_id"]
        cell = copy.deepcopy(cell)
        if _is_answer(cell):
            stub = matching.released[grade_id]
            item = matching.found.get(grade_id)
            cell["source"] = item.source if item else stub["source"]
            cell["metadata"] = copy.deepcopy(stub["metadata"])
        cells.append(cell)
        cells += [_extra(item, number) for number, (after, item) in enumerate(extras) if after == grade_id]
    # A student's cell at the very top comes after the title and the imports, which it may have relied on.
    setup = [i for i, cell in enumerate(source["cells"]) if cell["metadata"]["nbgrader"]["grade_id"] == "setup"]
    if first and setup:
        end = first + setup[0] + 1
        cells = cells[first:end] + cells[:first] + cells[end:]
    return {**copy.deepcopy(source), "cells": cells}


def _extra(item: StudentCell, number: int) -> dict[str, Any]:
    cell: dict[str, Any] = {"cell_type": item.cell_type, "id": f"own-{number}", "metadata": {}, "source": item.source}
    if item.cell_type == "code":
        cell |= {"execution_count": None, "outputs": []}
    return cell


def _is_answer(cell: dict[str, Any]) -> bool:
    return bool(cell["metadata"]["nbgrader"].get("solution"))


def _part(grade_id: str) -> str:
    return grade_id.removesuffix(answer_id(""))


def _squeezed(text: str) -> str:
    return re.sub(r"\s+", "", text)


def _mark_line(source: str) -> str:
    """The comment that marks a written answer's cell."""
    return source.split("\n", 1)[0]


def defined_names(source: str) -> Iterator[str]:
    """The names that a cell defines at its top level; by pattern where it does not parse."""
    try:
        tree = ast.parse("\n".join("" if line.lstrip().startswith(("%", "!")) else line for line in source.split("\n")))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        yield from re.findall(r"^(?:async\s+def|def|class)\s+(\w+)", source, re.MULTILINE)
        yield from re.findall(r"^(\w+)\s*(?::[^=\n]+)?=(?!=)", source, re.MULTILINE)
        return
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            yield from (item.id for target in targets for item in ast.walk(target) if isinstance(item, ast.Name))
