"""A submitted notebook of an instructor's own, mended: each cell that nbgrader marks or locks, once and in order.

What was handed in as it was given out, answered, stays cell by cell what nbgrader itself would grade. Where ids were
doubled, stripped, moved, deleted or retyped, cells are found by their id, then by their text, then by their place among
those that were found. Metadata, and the text of what is locked, are the instructor's.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from autograder.grading.pictures import Beside
from autograder.grading.repair import (
    Flag,
    StudentCell,
    Whole,
    cell_source,
    cells_of,
    document_of,
    read_cells,
    writable,
)
from autograder.protocol.cell_text import defined_names
from autograder.sandbox.outputs import limited, outputs

MAX_SHOWN = 500_000  # characters of one cell's outputs
SKIPPED = "skip-execution"  # the tag by which nbclient passes over a cell


def marks_of(cell: Mapping[str, Any]) -> Mapping[str, Any]:
    """What nbgrader says about a cell that it knows; nothing about any other."""
    marks = cell["metadata"].get("nbgrader") or {}
    kinds = ("grade", "solution", "locked", "task")
    return marks if isinstance(marks.get("grade_id"), str) and any(marks.get(kind) for kind in kinds) else {}


def id_of(cell: Mapping[str, Any]) -> str:
    """The id of a cell that nbgrader knows, or empty."""
    return str(marks_of(cell).get("grade_id", ""))


def ids_in(content: bytes) -> set[str]:
    """The ids of cells that a submitted file has, whatever it is."""
    try:
        return {cell.grade_id for cell in read_cells(content) if cell.grade_id}
    except ValueError:
        return set()


def is_trusted(cell: Mapping[str, Any]) -> bool:
    """Whether a cell's text is the instructor's whatever a student does: a test, or what is locked."""
    marks = marks_of(cell)
    return bool(marks) and not marks.get("solution")


def is_test(cell: Mapping[str, Any]) -> bool:
    """Whether what the cell shows is its score."""
    return bool(marks_of(cell).get("grade")) and not is_manual(cell)


def is_manual(cell: Mapping[str, Any]) -> bool:
    """Whether a person marks the cell: an answer that is graded itself, a text, or a task."""
    marks = marks_of(cell)
    return bool(marks.get("task") or (marks.get("grade") and (marks.get("solution") or cell["cell_type"] != "code")))


def realigned(
    content: bytes,
    released: Mapping[str, Any],
    source: Mapping[str, Any],
    files: Mapping[str, bytes] | None = None,
    *,
    shown: bool = False,
) -> Whole:
    """Mend a submitted file. `released` is what the student was given, `source` the instructor's notebook.

    Pictures are taken from the `files` beside it. Where nothing of the notebook is there, all of it is a person's.
    Outputs of answers stay where they are to be `shown`: nothing is run then.
    """
    try:
        raw = cells_of(document_of(content))
        cells = read_cells(content, Beside(files=files or {}))
    except ValueError as error:
        return _unusable(f"The notebook could not be read: {error}.", "unreadable_file", released, source)
    aligned = _Aligned(cells, raw, released, source, shown=shown)
    if aligned.known and not aligned.found:
        nothing = "Nothing of the notebook that was handed out is in this file."
        return _unusable(nothing, "nothing_left", released, source)
    whole = Whole(notebook=_with(source, aligned.assembled()), flags=aligned.flags, held=aligned.held)
    for cell in cells:
        whole.flags += [Flag(code="cell", message=f"{remark} (cell {cell.place + 1})") for remark in cell.remarks]
    if any(cell.cut and cell.cell_type == "code" for cell in cells):
        reason = "A cell was too long to be run."
        whole.held |= dict.fromkeys(_graded(source), reason)
    return whole


def _graded(source: Mapping[str, Any]) -> list[str]:
    return [id_of(cell) for cell in source["cells"] if marks_of(cell).get("grade") or marks_of(cell).get("task")]


def _unusable(reason: str, code: str, released: Mapping[str, Any], source: Mapping[str, Any]) -> Whole:
    """The notebook as it was handed out, none of it run: one decision of a person's."""
    cells = [{**copy.deepcopy(cell), "source": given["source"]} for cell, given in _pairs(released, source)]
    return Whole(
        notebook=_with(source, cells),
        flags=[Flag(code=code, message=reason)],
        held=dict.fromkeys(_graded(source), reason),
        broken=reason,
    )


def _pairs(released: Mapping[str, Any], source: Mapping[str, Any]) -> list[tuple[Any, Any]]:
    return list(zip(source["cells"], released["cells"], strict=True))


def _with(source: Mapping[str, Any], cells: list[dict[str, Any]]) -> dict[str, Any]:
    for place, cell in enumerate(cells):
        cell["id"] = f"cell-{place}"
        if cell["cell_type"] == "code":
            cell.update(outputs=cell.pop("shown", []), execution_count=None)
        else:
            cell.pop("outputs", None)
            cell.pop("execution_count", None)
    metadata = {name: copy.deepcopy(value) for name, value in source["metadata"].items() if name != "autograder"}
    return {"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}


@dataclass(frozen=True, kw_only=True)
class _Known:
    """A cell that nbgrader knows: as the instructor wrote it, and the text that students were given."""

    name: str
    cell: Mapping[str, Any]
    given: str

    @property
    def squeezed(self) -> str:
        return _squeezed(self.given)


class _Aligned:
    """Which of the student's cells stands for which of the instructor's."""

    def __init__(
        self,
        cells: list[StudentCell],
        raw: list[Any],
        released: Mapping[str, Any],
        source: Mapping[str, Any],
        *,
        shown: bool = False,
    ) -> None:
        self.cells, self.raw, self.shown = cells, raw, shown
        pairs = _pairs(released, source)
        self.known = {
            id_of(cell): _Known(name=id_of(cell), cell=cell, given=given["source"])
            for cell, given in pairs
            if id_of(cell)
        }
        self.plain = {_squeezed(given["source"]): given["source"] for cell, given in pairs if not id_of(cell)}
        self.flags: list[Flag] = []
        self.held: dict[str, str] = {}
        self.found: dict[str, StudentCell] = {}
        for item in self.known.values():
            self._by_id(item)
        for item in self.known.values():
            self._by_text(item)
        for item in self.known.values() if self.found else ():
            self._by_place(item)
        self._say_what_is_missing()

    def _flag(self, code: str, message: str) -> None:
        self.flags.append(Flag(code=code, message=message))

    def _take(self, item: _Known, cell: StudentCell) -> None:
        cell.used = True
        self.found[item.name] = cell
        if cell.cell_type != item.cell["cell_type"]:
            kinds = f"{cell.cell_type} instead of {item.cell['cell_type']}"
            self._flag("retyped_cell", f"The cell {item.name!r} was handed in as {kinds}; its type has been restored.")
        if is_trusted(item.cell) and cell.squeezed != item.squeezed and not cell.untouched:
            self._flag("changed_cell", f"The locked cell {item.name!r} was changed; it has been restored.")

    def _by_id(self, item: _Known) -> None:
        """The last cell with the id, as nbgrader has it; of an answer, the last that is not the stub again."""
        same = [cell for cell in self.cells if cell.grade_id == item.name]
        if not same:
            return
        if len(same) > 1:
            self._flag("duplicate_cell", f"{len(same)} cells have the id {item.name!r}.")
        written = [cell for cell in same if cell.squeezed != item.squeezed]
        self._take(item, (written if written and not is_trusted(item.cell) else same)[-1])
        for cell in same:
            if not cell.used and (cell.squeezed == item.squeezed or is_trusted(item.cell)):
                cell.used = True  # a copy: run again, it would undo the answer

    def _by_text(self, item: _Known) -> None:
        if item.name in self.found or not item.squeezed:
            return
        same = [cell for cell in self._free() if cell.squeezed == item.squeezed]
        if same:
            self._flag("found_by_content", f"The cell {item.name!r} had lost its id and was found by its text.")
            self._take(item, same[-1])

    def _by_place(self, item: _Known) -> None:
        """An answer that lost its id: by the names that it defines, or as the only cell between its neighbours."""
        if item.name in self.found or is_trusted(item.cell):
            return
        names = set(defined_names(item.given)) | set(defined_names(item.cell["source"]))
        code = item.cell["cell_type"] == "code"
        free = [cell for cell in self._free() if (cell.cell_type == "code") == code and cell.squeezed]
        defining = [cell for cell in free if code and names & set(defined_names(cell.source))]
        between = [cell for cell in free if self._stands_at(item, cell) and cell.squeezed not in self.plain]
        choice = [cell for cell in between if cell in defining] or defining or between
        if not choice:
            return
        if len(choice) > 1 and not (code and defining) and is_manual(item.cell):
            self.held[item.name] = "More than one cell could be this answer."
        self._flag("found_by_content", f"The answer {item.name!r} had lost its id and was found by its place or names.")
        self._take(item, choice[-1])

    def _free(self) -> list[StudentCell]:
        return [cell for cell in self.cells if not cell.used and cell.grade_id not in self.known]

    def _stands_at(self, item: _Known, cell: StudentCell) -> bool:
        """Whether a cell stands between those that were found before and behind an instructor's cell."""
        order = list(self.known)
        here = order.index(item.name)
        above = [self.found[name].place for name in order[:here] if name in self.found]
        below = [self.found[name].place for name in order[here + 1 :] if name in self.found]
        return max(above, default=-1) < cell.place < min(below, default=len(self.raw))

    def _say_what_is_missing(self) -> None:
        for name, item in self.known.items():
            if name in self.found:
                continue
            marks = marks_of(item.cell)
            if is_trusted(item.cell):
                self._flag("missing_cell", f"The cell {name!r} was missing; it has been restored.")
            elif marks.get("grade"):
                self._flag("missing_cell", f"The answer {name!r} was missing.")
                self.held[name] = "The cell of this answer is missing."

    def assembled(self) -> list[dict[str, Any]]:
        """The cells of the mended notebook, in the student's order where what is known is in the instructor's."""
        order = [name for name in self.known if name in self.found]
        places = [self.found[name].place for name in order]
        by_place = {self.found[name].place: name for name in order}
        if places == sorted(places):
            groups = [[cell for cell in self.cells if not cell.used or cell.place in by_place]]
        else:
            self._flag("moved_cell", "Cells were moved; their order has been restored.")
            groups = self._in_order(order)
        result: list[dict[str, Any]] = []
        for cell in (cell for group in groups for cell in group):
            name = by_place.get(cell.place)
            result.append(self._instructors(self.known[name], cell) if name else self._own(cell))
        self._put_in_missing(result)
        return result

    def _in_order(self, order: list[str]) -> list[list[StudentCell]]:
        """The known cells in their order, each with the student's own that followed it."""
        owner: dict[str | None, list[StudentCell]] = {None: []}
        by_place = {self.found[name].place: name for name in order}
        now: str | None = None
        for cell in self.cells:
            if cell.place in by_place:
                now = by_place[cell.place]
                owner[now] = [cell]
            elif not cell.used:
                owner[now].append(cell)
        return [owner[None], *(owner[name] for name in order)]

    def _put_in_missing(self, result: list[dict[str, Any]]) -> None:
        """Put back what may not be missing, behind the instructor's cell that stands before it."""
        before = -1
        for name, item in self.known.items():
            at = next((place for place, cell in enumerate(result) if id_of(cell) == name), None)
            if at is not None:
                before = at
            elif is_trusted(item.cell) or marks_of(item.cell).get("grade"):
                text = item.cell["source"] if is_trusted(item.cell) else item.given
                result.insert(before + 1, {**copy.deepcopy(dict(item.cell)), "source": text})
                before += 1

    def _instructors(self, item: _Known, cell: StudentCell) -> dict[str, Any]:
        whole = copy.deepcopy(dict(item.cell))
        if is_trusted(item.cell):
            return whole
        whole.pop("attachments", None)
        return whole | self._written(cell, item.given)

    def _own(self, cell: StudentCell) -> dict[str, Any]:
        tags = (self.raw[cell.place].get("metadata") or {}).get("tags")
        metadata = {"tags": [SKIPPED]} if isinstance(tags, list) and SKIPPED in tags else {}
        given = self.plain.get(cell.squeezed, "")
        return {"cell_type": cell.cell_type, "metadata": metadata, **self._written(cell, given)}

    def _written(self, cell: StudentCell, given: str) -> dict[str, Any]:
        """The text of a cell: as it is where it runs or was given out so; else with nothing in it that lives."""
        text = writable(cell_source(self.raw[cell.place]) or "")
        if cell.cell_type == "code":
            return {"source": cell.source} | ({"shown": _outputs(self.raw[cell.place])} if self.shown else {})
        if text == given:
            return {"source": text}
        shown = cell.markdown(cell.source)
        shown = shown if shown != given else shown + "\n"  # it was changed, if only by a blank
        pictures = {"attachments": cell.pictures} if cell.pictures and cell.cell_type == "markdown" else {}
        return {"source": shown, **pictures}


def _outputs(cell: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The outputs of a submitted cell that have nbformat's shape, their texts in one piece."""
    items = cell.get("outputs")
    whole = [_joined(item) for item in (items if isinstance(items, list) else [])]
    return limited(outputs({"outputs": whole}, results=True), MAX_SHOWN)


def _joined(item: Any) -> Any:
    """An output with each text that stands there as lines in one piece."""
    if not isinstance(item, dict):
        return item
    data = item.get("data")
    whole = {"data": {kind: _text(content) for kind, content in data.items()}} if isinstance(data, dict) else {}
    return {**item, "text": _text(item.get("text"))} | whole


def _text(content: Any) -> Any:
    if isinstance(content, list) and all(isinstance(line, str) for line in content):
        return "".join(content)
    return content


def _squeezed(text: str) -> str:
    return re.sub(r"\s+", "", text)
