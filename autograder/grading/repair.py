"""A submitted notebook made whole: the instructor's cells, and from the student only what he may write.

Whatever was done to the file (ids renamed, metadata stripped, cells doubled, moved or deleted, not even JSON), the
result has every cell of the instructor's once and in order. Answers are found by their id, then by their content; the
student's own cells stay where they were, behind the cell that they followed. What had to be mended is a flag.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from autograder.authoring.source_notebook import OPENING, OVERVIEW, answer_id
from autograder.grading.json_values import copied
from autograder.grading.pictures import MAX_TEXT, Beside, allowed, settled
from autograder.protocol.cell_text import answered_names, defined_names

MAX_BYTES = 64 * 2**20
MAX_ITEMS = 1_000_000  # objects and lists in the file: each takes a hundred times its own length in memory
MAX_CELLS = 2_000
MAX_SOURCE = 2**20
MAX_TEXTS = 500_000  # characters of all text cells together
OWN = "autograder_own"  # in the metadata of a text cell that the student added
OWN_LABEL = "**Written by the student:**\n\n"  # what a grader reads above it
_JOINER = "\u2060"
MAX_SIGNS = 1_000  # of one text cell, and
MAX_ALL_SIGNS = 5_000  # of all: the time that Markdown takes grows with the square of its brackets
WIDTH = 200  # of a line that is shown as it was typed
_SIGNS = re.compile(r"[\[`\n]|~~")


@dataclass(frozen=True, kw_only=True)
class Flag:
    """Something a grader should know about a submission; `code` is stable, `message` a sentence."""

    code: str
    message: str


@dataclass(kw_only=True, eq=False)
class StudentCell:
    """A cell as handed in, reduced to what can be trusted to be text; `pictures` are a markdown cell's attachments.

    `squeezed` is all that was handed in, without white space; `remarks` say what of it is not in `source`, `cut`
    whether it was too long, and `plain` whether its Markdown would take too long. `untouched`: its text is that of its
    release, which need not be the last one.
    """

    place: int
    cell_type: str
    source: str
    squeezed: str
    grade_id: str | None
    pictures: dict[str, dict[str, str]] = field(default_factory=dict)
    remarks: list[str] = field(default_factory=list)
    cut: bool = False
    untouched: bool = False
    plain: bool = False
    used: bool = False

    def markdown(self, text: str) -> str:
        """A text of this cell's as it may be shown: nothing in it lives but the cell's pictures."""
        if not self.plain:
            return inert(text, self.pictures).strip()
        lines = [
            line[at : at + WIDTH] for line in inert(text, {}).splitlines() for at in range(0, len(line) or 1, WIDTH)
        ]
        return "".join(f"\n    {line}" for line in lines) + "".join(
            f"\n\n![picture](attachment:{name})" for name in self.pictures
        )


@dataclass(kw_only=True)
class Whole:
    """The mended notebook and what was noticed.

    `held` says, by part, why a person must look for its answer; `broken` why nothing in the file is of use. What is to
    be done then is one decision for all parts.
    """

    notebook: dict[str, Any]
    flags: list[Flag] = field(default_factory=list)
    held: dict[str, str] = field(default_factory=dict)
    broken: str = ""

    def with_remarks(self) -> dict[str, Any]:
        """The notebook, with what was noticed in its metadata, where grading and regrading read it."""
        remarks: dict[str, Any] = {"flags": [flag.message for flag in self.flags], "held": self.held}
        remarks |= {"broken": self.broken} if self.broken else {}
        metadata = self.notebook["metadata"]
        return {**self.notebook, "metadata": {**metadata, "autograder": {**metadata["autograder"], **remarks}}}


def read_cells(content: bytes, beside: Beside | None = None) -> list[StudentCell]:
    """The cells of a submitted file, with pictures from `beside` it; ValueError if it is none."""
    cells = cells_of(document_of(content))
    beside, left, signs = beside or Beside(), MAX_TEXTS, MAX_ALL_SIGNS
    read = []
    for place, item in enumerate(cells):
        if cell := _read_cell(place, item, beside, min(MAX_TEXT, left)):
            read.append(cell)
            if cell.cell_type != "code":
                left -= len(cell.source)
                signs -= _count_signs(cell, min(MAX_SIGNS, signs))
    return read


def document_of(content: bytes) -> dict[str, Any]:
    """The object in a submitted file; ValueError if it is too large, or holds none."""
    if len(content) > MAX_BYTES:
        raise ValueError(f"the file is larger than {MAX_BYTES // 2**20} MB")
    if content.count(b"[") + content.count(b"{") > MAX_ITEMS:
        raise ValueError(f"the file holds more than {MAX_ITEMS:,} lists and objects")
    try:
        document = json.loads(content.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise ValueError(f"the file is not JSON ({type(error).__name__})") from error
    if not isinstance(document, dict):
        raise ValueError("the file is JSON, but not a notebook")
    return document


def cells_of(document: dict[str, Any]) -> list[Any]:
    """The cells in a submitted notebook, whatever they are; ValueError if it has no list of them, or too long a one."""
    cells = document.get("cells")
    if cells is None and isinstance(document.get("worksheets"), list):  # notebook format 3
        sheets = [sheet.get("cells") for sheet in document["worksheets"] if isinstance(sheet, dict)]
        cells = [cell for sheet in sheets if isinstance(sheet, list) for cell in sheet]
    if not isinstance(cells, list):
        raise ValueError("the file is JSON, but not a notebook: it has no list of cells")
    if len(cells) > MAX_CELLS:
        raise ValueError(f"the notebook has {len(cells):,} cells; at most {MAX_CELLS:,} are read")
    return cells


def _count_signs(cell: StudentCell, most: int) -> int:
    """The signs of a text that make it slow to show; one with more than `most` is shown as it was typed."""
    signs = len(_SIGNS.findall(cell.source))
    if signs <= most:
        return signs
    cell.plain = True
    cell.remarks.append(f"A text with {signs:,} lines, brackets and code marks is shown as it was typed.")
    return 0


def _read_cell(place: int, cell: Any, beside: Beside, most: int) -> StudentCell | None:
    if not isinstance(cell, dict) or cell.get("cell_type") not in ("code", "markdown", "raw"):
        return None
    source = cell_source(cell)
    if source is None:
        return None
    metadata = cell.get("metadata")
    marks = metadata.get("nbgrader") if isinstance(metadata, dict) else None
    grade_id = marks.get("grade_id") if isinstance(marks, dict) else None
    source = writable(source)
    read = StudentCell(
        place=place,
        cell_type=cell["cell_type"],
        source=source,
        squeezed=_squeezed(source),
        grade_id=grade_id if isinstance(grade_id, str) else None,
        untouched=isinstance(marks, dict)
        and released_checksum(cell["cell_type"], source, marks) == marks.get("checksum"),
    )
    if read.cell_type == "markdown":
        found = settled(source, cell.get("attachments"), beside, most)
        read.source, read.pictures, read.remarks, read.cut = found.text, found.pictures, found.remarks, found.cut
        return read
    most = MAX_SOURCE if read.cell_type == "code" else most
    if len(source) > most:
        read.source, read.cut = source[:most], True
        read.remarks = [f"A cell of {len(source):,} characters was cut after {most:,}."]
    return read


def cell_source(cell: dict[str, Any]) -> str | None:
    """The text of a cell, in whichever format; None where it is none."""
    source = cell.get("source", cell.get("input", ""))
    if isinstance(source, list):
        source = "".join(line for line in source if isinstance(line, str))
    return source if isinstance(source, str) else None


def released_checksum(cell_type: str, source: str, marks: Mapping[str, Any]) -> str:
    """What nbgrader wrote into the metadata of a cell with this text when it was released.

    Whoever forges it hides that they changed a cell, which is restored all the same.
    """
    grade, solution = bool(marks.get("grade")), bool(marks.get("solution"))
    locked = not solution and (grade or bool(marks.get("locked")))
    words = [source.replace("\r\n", "\n"), cell_type, grade, solution, locked, marks.get("grade_id")]
    if grade and isinstance(marks.get("points"), int | float):
        words.append(float(marks["points"]))
    return hashlib.md5("".join(map(str, words)).encode(), usedforsecurity=False).hexdigest()


def writable(text: str) -> str:
    """The same text without what no UTF-8 file can hold (lone surrogates)."""
    return text.encode("utf-8", "replace").decode("utf-8")


def inert(markdown: str, pictures: Mapping[str, Any] | None = None) -> str:
    """The same text with no HTML and no link in it, pasted pictures excepted: those of `pictures`, if given.

    It will be shown in a grader's browser, beside the grader's session: nothing in it may run or be fetched. A bare
    address is kept from becoming a link by a sign that takes no room.
    """
    text = re.sub(r"<(?=[A-Za-z/?!])", "< ", markdown)
    text = re.sub(r"(?<=\w):(?=//)|\bwww(?=\.\w)", lambda sign: sign[0] + _JOINER, text, flags=re.IGNORECASE)
    kept = "|".join(allowed(pictures)) if pictures is not None else r"\(attachment:[\w .()%-]+\)"
    text = re.sub(rf"\](?=\()(?!{kept or '(?!)'})", "] ", text)
    return re.sub(r"\](?=:)", "] ", text)


def make_whole(
    content: bytes, released: dict[str, Any], source: dict[str, Any], files: Mapping[str, bytes] | None = None
) -> Whole:
    """Mend a submitted file; pictures among the `files` beside it are put into the cells that show them.

    `released` is the notebook that the student was given, `source` the instructor's, with the same cells; the result
    is `source` with the student's answers in place of the solutions (of an answer that is missing: the stub).
    """
    flags: list[Flag] = []
    try:
        cells = read_cells(content, Beside(files=files or {}))
    except ValueError as error:
        return _unreadable(f"The notebook could not be read: {error}.", released, source)
    if not cells:
        flags.append(Flag(code="empty", message="The notebook has no cells."))
    matching = _Matching(cells, released, flags)
    if matching.nothing_is_left():
        return _unusable("Nothing of the notebook that was handed out is in this file.", matching, source)
    held = dict.fromkeys(matching.gone(), "All cells of this part are missing.")
    held |= dict.fromkeys(matching.ambiguous, "More than one cell could be this answer.")
    held |= dict.fromkeys(matching.relying_on_cut(), f"A cell was too long: more than {MAX_SOURCE:,} characters.")
    matching.remark()
    return Whole(notebook=_assemble(matching, source), flags=flags, held=held)


def _unreadable(reason: str, released: dict[str, Any], source: dict[str, Any]) -> Whole:
    """A notebook of stubs, all of it for a person: a file that cannot be read is not a wrong answer."""
    flags = [Flag(code="unreadable_file", message=reason)]
    return _unusable(reason, _Matching([], released, flags), source)


def _unusable(reason: str, matching: _Matching, source: dict[str, Any]) -> Whole:
    """A notebook without an answer to judge: one decision of a person's, whatever else is in the file."""
    if all(flag.message != reason for flag in matching.flags):
        matching.flags.append(Flag(code="nothing_left", message=reason))
    matching.remark()
    parts = [cell["metadata"]["nbgrader"] for cell in source["cells"]]
    held = {marks["grade_id"]: reason for marks in parts if marks.get("grade")}
    return Whole(notebook=_assemble(matching, source), flags=matching.flags, held=held, broken=reason)


class _Matching:
    """Which of the student's cells stands for which of the instructor's."""

    def __init__(self, cells: list[StudentCell], released: dict[str, Any], flags: list[Flag]) -> None:
        self.cells, self.flags, self.ambiguous = cells, flags, set[str]()
        self.released = {cell["metadata"]["nbgrader"]["grade_id"]: cell for cell in released["cells"]}
        self.found: dict[str, StudentCell] = {}
        for grade_id, cell in self.released.items():
            if not _is_answer(cell):
                self._locked(grade_id, cell)
        stubs = {grade_id: self._answered(grade_id, cell) for grade_id, cell in self._answers()}
        for grade_id, cell in self._answers():
            if grade_id not in self.found:
                self._elsewhere(grade_id, cell, stubs[grade_id])
        if cells:
            self._report_missing()

    def _answers(self) -> list[tuple[str, dict[str, Any]]]:
        return [(grade_id, cell) for grade_id, cell in self.released.items() if _is_answer(cell)]

    def _flag(self, code: str, message: str) -> None:
        self.flags.append(Flag(code=code, message=message))

    def _take(self, grade_id: str, item: StudentCell) -> None:
        item.used = True
        self.found[grade_id] = item

    def _with_id(self, grade_id: str) -> list[StudentCell]:
        same = [item for item in self.cells if item.grade_id == grade_id]
        if len(same) > 1:
            self._flag("duplicate_cell", f"{len(same)} cells have the id {grade_id!r}.")
        return same

    def _locked(self, grade_id: str, cell: dict[str, Any]) -> None:
        """Find a cell that the student should not have changed. What he wrote into it is kept beside it and run."""
        same = self._with_id(grade_id) or [
            item for item in self.cells if not item.used and _equal(item, cell) and item.grade_id not in self.released
        ]
        for item in same:
            item.used = _equal(item, cell) or not self._worth_running(item, cell)
        if not same:
            return
        self.found[grade_id] = same[0]
        if not all(_equal(item, cell) or item.untouched for item in same):
            self._flag("changed_cell", f"The locked cell {grade_id!r} was changed; it has been restored.")

    def _worth_running(self, item: StudentCell, cell: dict[str, Any]) -> bool:
        """Whether a changed locked cell may hold something that answers rely on; of a test, only new names are."""
        if item.cell_type != "code" or cell["cell_type"] != "code":
            return False
        if not cell["metadata"]["nbgrader"].get("grade"):
            return True
        return bool(set(defined_names(item.source)) - set(defined_names(cell["source"])))

    def _answered(self, grade_id: str, cell: dict[str, Any]) -> StudentCell | None:
        """Find the answer by its id; returns the cell where it stands as it was handed out.

        As when the notebook runs from top to bottom, the last one that says anything counts; earlier ones still run.
        """
        same = self._with_id(grade_id)
        written = [item for item in same if not _equal(item, cell)]
        for item in same:
            item.used = item not in written
        saying = [item for item in written if self._says(grade_id, cell, item)]
        if saying:
            self._take(grade_id, saying[-1])
        return next((item for item in same if item.used), None)

    def _says(self, grade_id: str, cell: dict[str, Any], item: StudentCell) -> bool:
        """Whether a cell that is not the stub answers the part: code by defining its name, text by being there."""
        if cell["cell_type"] == "code":
            return _part(grade_id) in answered_names(item.source)
        return True

    def _elsewhere(self, grade_id: str, cell: dict[str, Any], stub: StudentCell | None) -> None:
        """Find an answer that stands in another cell than its own; or take what there is."""
        candidates = [item for item in self.cells if not item.used and self._could_be(grade_id, cell, item, stub)]
        own = [item for item in self.cells if not item.used and item.grade_id == grade_id]
        if not candidates:
            if remaining := own[-1:] or ([stub] if stub else []):
                self._take(grade_id, remaining[0])
            return
        marked = [item for item in candidates if _mark_line(cell["source"]) in item.source]
        if cell["cell_type"] == "markdown":
            candidates = marked or candidates
            if len(candidates) > 1:
                self.ambiguous.add(grade_id)
        where = "was found in a different cell" if own or stub else "had lost its id and was found by its content"
        self._flag("found_by_content", f"The answer {_part(grade_id)!r} {where}.")
        self._take(grade_id, candidates[-1])

    def _could_be(self, grade_id: str, cell: dict[str, Any], item: StudentCell, stub: StudentCell | None) -> bool:
        if item.grade_id in self.released or item.cell_type != cell["cell_type"] or _equal(item, cell):
            return False
        if cell["cell_type"] == "code":
            return self._says(grade_id, cell, item)
        if _mark_line(cell["source"]) in item.source:
            return True
        if stub is None:
            return bool(item.source.strip())
        return bool(item.source.strip()) and self._follows(item, stub)

    def _follows(self, item: StudentCell, stub: StudentCell) -> bool:
        """Whether nothing but the student's own cells, and the last one, stands between a stub and the cell."""
        between = [other for other in self.cells if stub.place < other.place < item.place]
        ours = self.released.keys() - {OVERVIEW}
        return item.place > stub.place and all(other.grade_id not in ours for other in between)

    def _report_missing(self) -> None:
        for grade_id, cell in self.released.items():
            if grade_id not in self.found and (_is_answer(cell) or cell["metadata"]["nbgrader"].get("grade")):
                self._flag("missing_cell", f"The cell {grade_id!r} was missing; it has been restored.")

    def nothing_is_left(self) -> bool:
        """Whether no cell is as it was handed out, and none answers anything for sure."""
        shown = {_squeezed(cell["source"]) for cell in self.released.values()}
        intact = any((item.squeezed and item.squeezed in shown) or item.untouched for item in self.cells)
        return not intact and not any(self._is_sure(grade_id, cell) for grade_id, cell in self._answers())

    def _is_sure(self, grade_id: str, cell: dict[str, Any]) -> bool:
        """Whether an answer was found that says something: code by its name, text by its cell's id or mark."""
        item = self.found.get(grade_id)
        if item is None or not item.source.strip():
            return False
        return cell["cell_type"] == "code" or item.grade_id == grade_id or _mark_line(cell["source"]) in item.source

    def gone(self) -> list[str]:
        """The parts of which no cell is there, neither by its id nor by its text, not even the question."""
        parts = [_part(name) for name, _ in self._answers()]
        return [part for part in parts if not self.found.keys() & {f"{part}-statement", answer_id(part), part}]

    def relying_on_cut(self) -> list[str]:
        """The parts that cannot be judged since a cell was cut: its own, or where code was cut, any that is code."""
        answers = {self.found[grade_id] for grade_id, _ in self._answers() if grade_id in self.found}
        shown = [item for item in self.cells if item.cut and (item in answers or not item.used)]
        code = any(item.cell_type == "code" for item in shown)
        parts = ((_part(grade_id), cell, self.found.get(grade_id)) for grade_id, cell in self._answers())
        return [part for part, cell, item in parts if item in shown or (code and cell["cell_type"] == "code")]

    def remark(self) -> None:
        """Flag what is not as it was handed in, in the cells that are shown or run."""
        answers = {self.found[grade_id]: _part(grade_id) for grade_id, _ in self._answers() if grade_id in self.found}
        for item in self.cells:
            if item.used and item not in answers:
                continue
            where = f" (cell {item.place + 1}{f', {answers[item]}' if item in answers else ''})"
            code = "cut_cell" if item.cut else "picture"
            for remark in item.remarks:
                self._flag(code, remark + where)

    def extras(self) -> Iterator[tuple[str | None, StudentCell]]:
        """The student's own cells, each with the id of the instructor's cell that it came after."""
        owner = {item.place: grade_id for grade_id, item in self.found.items()}
        stubs = {_squeezed(cell["source"]) for _, cell in self._answers()}  # another copy would empty the answer
        after: str | None = None
        for item in self.cells:
            after = owner.get(item.place, after)
            if not item.used and item.source.strip() and item.squeezed not in stubs:
                yield after, item


def _assemble(matching: _Matching, source: dict[str, Any]) -> dict[str, Any]:
    """The instructor's cells in order, each with the student's own behind it.

    An answer that stood further down than its place brings along the own cells above it, on which it may rely.
    """
    waiting = list(matching.extras())
    top = [name for name in OPENING if name in matching.released][-1]
    cells: list[dict[str, Any]] = []

    def place(ready: list[tuple[str | None, StudentCell]]) -> None:
        for pair in ready:
            waiting.remove(pair)
            cells.append(_own(pair[1]))

    for cell in source["cells"]:
        grade_id = cell["metadata"]["nbgrader"]["grade_id"]
        if _is_answer(cell):
            item = matching.found.get(grade_id)
            place([pair for pair in waiting if item and pair[1].place < item.place])
            cell = _answer_cell(matching.released[grade_id], cell, item)
        cells.append(copied(cell))
        # A student's cell at the very top comes after the title and the imports, which it may have relied on.
        place([pair for pair in waiting if pair[0] == grade_id or (pair[0] is None and grade_id == top)])
    place(list(waiting))
    return {**copied(source), "cells": cells}


def _answer_cell(stub: dict[str, Any], cell: dict[str, Any], item: StudentCell | None) -> dict[str, Any]:
    """The instructor's answer cell with the student's text in it, or with the stub where there is none."""
    text = item.source if item else stub["source"]
    if cell["cell_type"] == "markdown":
        mark = _mark_line(stub["source"])
        text = f"{mark}\n{item.markdown(text.replace(mark, ''))}" if item else text
    answer = {**cell, "source": text, "metadata": copied(stub["metadata"])}
    if item and item.pictures and cell["cell_type"] == "markdown":
        answer["attachments"] = item.pictures
    return answer


def _own(item: StudentCell) -> dict[str, Any]:
    code = item.cell_type == "code"
    source = item.source if code else item.markdown(item.source)
    cell: dict[str, Any] = {"cell_type": item.cell_type, "id": f"own-{item.place}", "metadata": {}, "source": source}
    if code:
        return cell | {"execution_count": None, "outputs": []}
    cell |= {"metadata": {OWN: True}, "source": OWN_LABEL + source}
    return cell | ({"attachments": item.pictures} if item.pictures and item.cell_type == "markdown" else {})


def _equal(item: StudentCell, cell: dict[str, Any]) -> bool:
    return item.squeezed == _squeezed(cell["source"])


def _is_answer(cell: dict[str, Any]) -> bool:
    return bool(cell["metadata"]["nbgrader"].get("solution"))


def _part(grade_id: str) -> str:
    return grade_id.removesuffix(answer_id(""))


def _squeezed(text: str) -> str:
    return re.sub(r"\s+", "", text)


def _mark_line(source: str) -> str:
    """The comment that marks a written answer's cell."""
    return source.split("\n", 1)[0]
