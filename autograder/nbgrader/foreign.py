"""Notebooks of an instructor's own, with asserts: run behind the same wall, scored by nbgrader's own rule on outputs.

Which notebooks these are is told by the instructor's source alone. A score follows from what a test cell showed, beside
the student's code, as in nbgrader: what that can promise is said in docs/adopting.md.
"""

from __future__ import annotations

import ast
import copy
import dataclasses
import json
import logging
import re
import tempfile
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import bleach
import nbformat
from nbconvert.preprocessors import ClearMetadataPreprocessor
from nbgrader import utils
from nbgrader.preprocessors import (
    ClearHiddenTests,
    ClearMarkScheme,
    ClearSolutions,
    Execute,
    IgnorePattern,
    LimitOutput,
    OverwriteCells,
)

from autograder.core import Outcome, Report, Standing, Verdict
from autograder.errors import StaffError
from autograder.grading.foreign_cells import SKIPPED, id_of, is_test, is_trusted
from autograder.grading.notebook import Graded
from autograder.grading.output_limit import limit_outputs
from autograder.grading.pictures import is_picture
from autograder.grading.repair import writable
from autograder.grading.repeatability import digest
from autograder.nbgrader.execution import NOT_RUN, is_run, seconds_of, step
from autograder.protocol.run_state import last_line
from autograder.sandbox import CellResult, Limits
from autograder.sandbox.task import Replies, Task

log = logging.getLogger(__name__)
NOTED = "autograder_foreign"  # in a notebook's metadata: what was noticed when it was read
AFTER = (IgnorePattern, ClearMetadataPreprocessor, LimitOutput)  # nbgrader's steps between running and scoring
CHANCE = "unstable"
_NO_SCORE = re.compile(r"np\.\w+\(|tensor\(|array\(|-|nan|inf", re.IGNORECASE)
# What reads the text or the names of a test that calls it.
_FRAMES = re.compile(
    r"\b(?:_getframe|_current_frames|currentframe|getouterframes|inspect *\. *stack|extract_stack|walk_stack|f_back"
    r"|f_code|f_locals|tb_frame|get_referrers|get_objects|_ih|input_hist\w*|history_manager|linecache)\b"
)
_MAX_HTML = 100_000
_ATTRIBUTES = {"*": ["class", "colspan", "rowspan"]}
_TAGS = {"table", "thead", "tbody", "tr", "th", "td", "caption", "div", "p", "span", "pre", "code", "b", "i", "em"} | {
    "strong", "sub", "sup", "br", "hr", "ul", "ol", "li", "h1", "h2", "h3", "h4"
}  # fmt: skip


def released_form_of(source: Any, config: Any) -> Any:
    """What students were given of a notebook of the instructor's own."""
    released = copy.deepcopy(source)
    for kind in (ClearSolutions, ClearHiddenTests, ClearMarkScheme):
        released, _ = kind(config=config).preprocess(released, {})
    return json.loads(json.dumps(released))


@dataclass(frozen=True, kw_only=True)
class Foreign:
    """A mended notebook of an instructor's own, with the hidden tests in it, and the files beside it.

    `held` says by cell why a person must look, `broken` why none of it is to be run, `outside` why it runs in
    nbgrader's own kernel. `converter` gives nbgrader's steps their configuration, and `own_files` are the names of the
    files that belong to the assignment. Where it is not `run`, its outputs are the student's.
    """

    notebook: Any
    files: Mapping[str, bytes]
    converter: Any
    held: Mapping[str, str] = field(default_factory=dict)
    flags: tuple[str, ...] = ()
    broken: str = ""
    outside: str = ""
    own_files: Collection[str] = ()
    run: bool = True

    @classmethod
    def of(
        cls,
        notebook: Any,
        files: Mapping[str, bytes],
        converter: Any,
        outside: str = "",
        own_files: Collection[str] = (),
    ) -> Foreign:
        """One whose metadata say what was noticed when it was read."""
        noted = notebook.metadata.pop(NOTED, {})
        held = dict(noted.get("held", {}))
        run = is_run(converter)
        if not run:
            held = {id_of(cell): NOT_RUN for cell in notebook.cells if is_test(cell)} | held
        return cls(
            notebook=notebook,
            files=files,
            converter=converter,
            outside=outside,
            own_files=own_files,
            held=held,
            run=run,
            flags=tuple(noted.get("flags", ())),
            broken=noted.get("broken", ""),
        )

    def running(self) -> list[Any]:
        """The cells that run, in order."""
        return [cell for cell in self.notebook.cells if _runs(cell)] if self.run and not self.broken else []

    def task(self, limits: Limits) -> Task:
        """What to run. Each cell may take as long as nbgrader lets it, and the notebook as long as all of them."""
        cells = self.running()
        seconds = seconds_of(cells, self.converter, limits.notebook_seconds)
        return Task(
            cells=tuple(cell.source for cell in cells),
            questions={},
            limits=dataclasses.replace(limits, notebook_seconds=max(limits.notebook_seconds, sum(seconds))),
            seconds=seconds,
            files=self.files,
            trusted=tuple(map(is_trusted, cells)),
            first=tuple(sorted(modules_in(self.own_files))),
        )


def modules_in(files: Collection[str]) -> set[str]:
    """The names by which Python files and packages in a folder are imported."""
    parts = [name.removesuffix(".py").split("/") for name in files if name.endswith(".py")]
    return {path[0] for path in parts if len(path) == 1 or path[1:] == ["__init__"]}


def _runs(cell: Any) -> bool:
    return cell.cell_type == "code" and bool(cell.source.strip()) and SKIPPED not in cell.metadata.get("tags", ())


class ForeignAttempt:
    """One run of such a notebook: `task` until it was heard, `graded` after that."""

    def __init__(self, submission: Foreign, limits: Limits) -> None:
        self.submission = submission
        task = submission.task(limits)
        self.task: Task | None = task if task.cells and not submission.outside else None
        self.graded: Graded | None = None
        if submission.outside and submission.run and not submission.broken:
            self._outside(limits)
        elif not task.cells:
            self.heard(Replies())

    def _outside(self, limits: Limits) -> None:
        """Run it in nbgrader's own kernel; where that fails, all of it is a person's."""
        mine = self.submission
        if limits.require_wall:
            raise StaffError("wall", f"the sandbox is required, and this notebook cannot run in it: {mine.outside}")
        notebook, notes = copy.deepcopy(mine.notebook), Notes(held=dict(mine.held), flags=list(mine.flags))
        notes.flags.append(f"ran in nbgrader's own kernel, with no sandbox around it: {mine.outside}")
        try:
            with tempfile.TemporaryDirectory() as folder, utils.setenv(NBGRADER_EXECUTION="autograde"):
                for name, content in mine.files.items():
                    path = Path(folder, name)
                    path.parent.mkdir(parents=True, exist_ok=True)
                    path.write_bytes(content)
                notebook, _ = Execute(parent=mine.converter)(notebook, {"metadata": {"path": folder}})
        except Exception as error:
            reason = f"nbgrader's own kernel failed: {last_line(error)}"
            notes.flags.append(reason)
            notes.held = {id_of(cell): reason for cell in notebook.cells if utils.is_grade(cell)} | notes.held
        self._score(notebook, notes)

    def heard(self, replies: Replies) -> None:
        """Put the outputs into a copy of the notebook, and score them."""
        self.task = None
        notebook = copy.deepcopy(self.submission.notebook)
        cells = dataclasses.replace(self.submission, notebook=notebook).running()
        notes = Notes(held=dict(self.submission.held), flags=[*self.submission.flags, *replies.flags])
        for count, (cell, result) in enumerate(zip(cells, replies.cells, strict=False), 1):
            _fill(cell, count, result, notes)
            if not is_trusted(cell) and (words := sorted(set(_FRAMES.findall(cell.source)))):
                notes.flags.append(
                    f"the cell number {count} looks at who calls it, or at other cells: {', '.join(words)}"
                )
        self._score(notebook, notes)

    def _score(self, notebook: Any, notes: Notes) -> None:
        for kind in AFTER:
            notebook, _ = step(kind, self.submission.converter)(notebook, {})
        self.graded = scored(notebook, notes, digest(notebook, self.submission.files))


@dataclass(kw_only=True)
class Notes:
    """What is noticed while a notebook runs and is scored."""

    held: dict[str, str]
    flags: list[str]


def _fill(cell: Any, count: int, result: CellResult, notes: Notes) -> None:
    """A cell's outputs as nbformat has them; one that did not end shows an error, as in nbgrader."""
    name = id_of(cell) or f"number {count}"
    cell.execution_count = count
    cell.outputs = [nbformat.from_dict(item) for item in result.outputs]
    for item in cell.outputs:
        if item.output_type == "execute_result":
            item.execution_count = count
    if result.restored:
        names = ", ".join(dict.fromkeys(result.restored))
        notes.flags.append(f"at the cell {name}, what the notebook had changed was put back: {names}")
    if not result.death:
        return
    kinds = {"timeout": "CellTimeoutError", "memory": "MemoryError"}
    text = f"{result.detail}"
    error = {"ename": kinds.get(result.death, "DeadKernelError"), "evalue": text, "traceback": [text]}
    cell.outputs.append(nbformat.from_dict({"output_type": "error", **error}))
    if result.death != "timeout":
        notes.flags.append(f"the cell {name} ended its process: {text}")
    if result.death == "staff" and cell.metadata.get("nbgrader", {}).get("grade"):
        notes.held[id_of(cell)] = text


@dataclass(frozen=True, kw_only=True)
class ForeignReport(Report):
    """The report of a notebook that no problem stands behind; `comments` are nbgrader's own, by their cells."""

    comments: Mapping[str, str | None] = field(default_factory=dict)


def scored(notebook: Any, notes: Notes, digest: str) -> Graded:
    """The scores that nbgrader would give, or would have given had nothing gone wrong there."""
    usual = not any("ast_node_interactivity" in cell.source for cell in notebook.cells if is_trusted(cell))
    outcomes, comments = [], {}
    for cell in notebook.cells:
        if utils.is_grade(cell):
            outcomes.append(_outcome(cell, notes, usual))
        if utils.is_solution(cell) or utils.is_task(cell):
            untouched = cell.metadata.nbgrader.get("checksum") == utils.compute_checksum(cell)
            silent = untouched and not utils.is_task(cell) and id_of(cell) not in notes.held
            comments[id_of(cell)] = "No response." if silent else None
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs = [kept for kept in map(_harmless, cell.outputs) if kept]
    flags = (*notes.flags, *limit_outputs(notebook))
    report = ForeignReport(
        slug="",
        version=0,
        parameters={},
        outcomes=tuple(outcomes),
        flags=tuple(dict.fromkeys(flags)),
        digest=digest,
        comments=comments,
    )
    return Graded(notebook=notebook, report=report)


def _outcome(cell: Any, notes: Notes, usual: bool) -> Outcome:
    """One cell's score by nbgrader's own rule, on what it showed itself."""
    name, most = id_of(cell), float(cell.metadata.nbgrader.points)
    if name in notes.held:
        return _held(name, most, "held", notes.held[name])
    judged = cell
    if cell.cell_type == "code" and is_trusted(cell):
        judged = _without_forged(cell, notes) if usual else cell
        shown = next((item.data.get("text/plain", "") for item in judged.outputs if "data" in item), "")
        if judged.outputs and judged.outputs[-1].output_type == "execute_result" and _NO_SCORE.match(shown):
            notes.flags.append(f"{name} shows {shown[:60]!r}, which is no score: nbgrader gives full points for it")
    try:
        score, _ = utils.determine_grade(judged, log)
    except (ValueError, KeyError, TypeError) as error:
        reason = f"the score that {name} shows cannot be used: {error}"
        notes.flags.append(reason)
        return _held(name, most, "held", reason)
    if score is None:
        return _held(name, most, "manual", "A person marks this.")
    standing: Standing = "earned" if score >= most else "lost"
    errors = [item.ename for item in getattr(judged, "outputs", ()) if item.output_type == "error"]
    verdict = Verdict(check="asserts", ok=standing == "earned", code=errors[0] if errors else standing)
    return Outcome(part=name, standing=standing, points=float(score), max_points=most, verdicts=(verdict,))


def _held(name: str, most: float, code: str, reason: str) -> Outcome:
    verdict = Verdict(check="asserts", ok=None, code=code, staff=reason)
    return Outcome(part=name, standing="held", points=0.0, max_points=most, verdicts=(verdict,))


def _without_forged(cell: Any, notes: Notes) -> Any:
    """The test cell without values that its own last line cannot have shown: code that it called has shown them."""
    results = [item for item in cell.outputs if item.output_type == "execute_result"]
    failed = any(item.output_type == "error" for item in cell.outputs)
    if not results:
        return cell
    own = [] if failed or not _shows_value(cell.source) else results[-1:]
    forged = [item for item in results if item not in own]
    if not forged:
        return cell
    notes.flags.append(f"a value was shown in the test cell {id_of(cell)} that the cell itself does not show")
    judged = copy.deepcopy(cell)
    judged.outputs = [item for item in judged.outputs if item not in forged]
    return judged


def _shows_value(source: str) -> bool:
    """Whether the last line of a cell is an expression whose value is shown."""
    lines = ["" if line.lstrip().startswith(("%", "!")) else line for line in source.split("\n")]
    if any(line.startswith("%") for line in source.split("\n")):
        return True  # a magic may show what it likes
    try:
        body = ast.parse("\n".join(lines)).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return True
    return bool(body) and isinstance(body[-1], ast.Expr) and not source.rstrip().endswith(";")


def _harmless(output: Any) -> Any:
    """An output that a browser can only show: text, pictures, and tables; or nothing."""
    if output.output_type == "error":
        trace = [writable(line) for line in output.traceback]
        return nbformat.from_dict({**output, "evalue": writable(output.evalue), "traceback": trace})
    if "data" not in output:
        return nbformat.from_dict({**output, "text": writable(output.text)})
    data = {
        kind: writable(content)
        for kind, content in output.data.items()
        if isinstance(content, str) and (kind == "text/plain" or is_picture(kind, content))
    }
    html = output.data.get("text/html")
    if isinstance(html, str) and len(html) <= _MAX_HTML:
        html = re.sub(r"(?is)<(style|script)\b.*?</\1\s*>", "", html)
        data["text/html"] = writable(bleach.clean(html, tags=_TAGS, attributes=_ATTRIBUTES, strip=True))
    return nbformat.from_dict({**output, "data": data}) if data else None


def settled(attempts: Sequence[ForeignAttempt]) -> Graded:
    """The last of some runs; a cell whose score was another one before is held, since chance would decide it."""
    runs = [attempt.graded for attempt in attempts if attempt.graded]
    last = runs[-1]
    before = {item.part: item.points for run in runs[:-1] for item in run.report.outcomes}
    outcomes, flags = [], list(last.report.flags)
    for item in last.report.outcomes:
        if item.standing != "held" and before.get(item.part, item.points) != item.points:
            reason = f"{item.part}: two runs of the same submission gave different scores"
            flags.append(reason)
            item = _held(item.part, item.max_points, CHANCE, reason)
        outcomes.append(item)
    report = dataclasses.replace(last.report, outcomes=tuple(outcomes), flags=tuple(flags))
    return dataclasses.replace(last, report=report)


def fill_in(report: ForeignReport, grades: Mapping[str, Any], comments: Mapping[str, Any]) -> ForeignReport:
    """Scores and comments into the gradebook's rows by nbgrader's rule: where a mark by hand stays, a person looks."""
    for outcome in report.outcomes:
        grade = grades[outcome.part]
        grade.auto_score = None if outcome.standing == "held" else outcome.points
        grade.needs_manual_grade = grade.manual_score is not None or grade.auto_score is None
    for name, comment in report.comments.items():
        comments[name].auto_comment = comment
    return report


@dataclass(frozen=True, kw_only=True)
class SourceCells:
    """The gradebook's cells of one notebook, under the names by which nbgrader's OverwriteCells asks for them."""

    source: Mapping[str, Any]
    graded: Mapping[str, Any]

    def find_source_cell(self, name: str, *_: str) -> Any:
        """The cell as the instructor released it."""
        from nbgrader.api import MissingEntry

        if name not in self.source:
            raise MissingEntry(name)
        return self.source[name]

    def find_graded_cell(self, name: str, *_: str) -> Any:
        """What it is worth."""
        return self.graded[name]


class Overwrite(OverwriteCells):  # type: ignore[misc]
    """nbgrader's OverwriteCells on cells that were read already."""

    def __init__(self, cells: SourceCells, parent: Any) -> None:
        super().__init__(parent=parent)
        self.gradebook = cells
        self.notebook_id = self.assignment_id = ""

    def preprocess(self, nb: Any, resources: Any) -> Any:
        """Each cell in turn."""
        for index, cell in enumerate(nb.cells):
            nb.cells[index], resources = self.preprocess_cell(cell, resources, index)
        return nb, resources
