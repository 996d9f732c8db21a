"""Answers that nobody listed, a table of them: each row is an answer cell and the verdict that it deserves.

A row is judged as a student's notebook is: the variant's own notebook, with the row's cell in place of the official
answer, in a process of its own behind the wall, asked what grading would ask. The other answers are the official ones.
"""

from __future__ import annotations

import dataclasses
import functools
import json
import threading
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from autograder.authoring import loading
from autograder.authoring.source_notebook import answer_id, build
from autograder.authoring.variants import part_key, variant
from autograder.core import Answer, Ask, Outcome, Parameters, Part, Problem, Question
from autograder.errors import AutograderError, StaffError, did_you_mean
from autograder.grading.judge import Interview, judge_part
from autograder.parts.respond import local
from autograder.sandbox import Session
from autograder.sandbox.task import LAST_WORDS

EXPECTED = ("full", "less", "none", "held")
SECRET = b"answers that nobody listed"  # of no course: the hidden inputs of these runs
_DRAWS = 300  # draws that show which parameters a problem has, and of what kind
# References and mistakes run in this process, and torch's settings are the whole process's: one of them at a time.
_CODE = threading.Lock()


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


@dataclass(frozen=True, kw_only=True)
class Judged:
    """A row with what came of it: the outcome of each part that could be judged, and why the others could not."""

    row: Row
    outcomes: Mapping[str, Outcome] = field(default_factory=dict)
    stale: Mapping[str, str] = field(default_factory=dict)
    seconds: float = 0.0

    def result(self, part: str) -> str:
        """`right`, or how the verdict differs from the expected one: see `compared`."""
        return "stale" if part in self.stale else compared(self.row.expected.get(part, ()), self.outcomes[part])

    @property
    def parts(self) -> list[str]:
        """The parts that were handed in, in order."""
        return list(self.row.cells)


def compared(expected: tuple[str, ...], outcome: Outcome) -> str:
    """How a verdict stands to those that are in order, of which the first is the one that is wanted.

    `false_accept`: all points for an answer that must lose some, any for one that must have none, or a mark for one
    that a person must see. `false_reject`: points lost by a right answer, or by one that a person must see. `held`: a
    right answer waits for a person. `held_wrong`: a wrong one does.
    """
    if not expected or any(_meets(word, outcome) for word in expected):
        return "right"
    wanted = expected[0]
    if outcome.standing == "held":
        return "held" if wanted == "full" else "held_wrong"
    if wanted in ("less", "none") or outcome.standing == "earned":
        return "false_accept"
    return "false_reject"


def _meets(word: str, outcome: Outcome) -> bool:
    match word:
        case "full":
            return outcome.standing == "earned"
        case "less":
            return outcome.standing == "lost"
        case "none":
            return outcome.standing == "lost" and outcome.points == 0
    return outcome.standing == "held"


def read(lines: Iterable[str]) -> Iterator[Row]:
    """The rows of a .jsonl file; a line that is none says so in its `fault`."""
    for number, line in enumerate(lines, 1):
        if line.strip():
            folder = ""
            try:
                words = _object(line)
                folder = str(words.get("problem", ""))
                yield _row(number, words)
            except _Fault as error:
                yield Row(
                    line=number, slug=folder, cells={}, expected={}, fault=f"line {number}: {error}", readable=False
                )


class _Fault(Exception):
    """Why a line is no row."""


def _object(line: str) -> dict[str, Any]:
    try:
        words = json.loads(line)
    except ValueError as error:
        raise _Fault(f"this is no JSON: {error}") from error
    if not isinstance(words, dict):
        raise _Fault("a row is a JSON object")
    return words


def _row(number: int, words: dict[str, Any]) -> Row:
    if not isinstance(words.get("problem"), str):
        raise _Fault('the key "problem" is missing')
    parameters = words.get("parameters")
    if not isinstance(parameters, dict | None):
        raise _Fault('"parameters" are an object')
    seed = words.get("seed", 0)
    if not isinstance(seed, int) or (parameters is None and "seed" not in words):
        raise _Fault('a row has a "seed", a whole number, or "parameters"')
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
                raise _Fault(f'the key "{key}" is missing')
        cells = {words["part"]: words["cell"]}
    if not isinstance(cells, dict) or not cells or not all(isinstance(cell, str) for cell in cells.values()):
        raise _Fault('"cells" gives the text of a cell for each part')
    return cells


def _expected(words: dict[str, Any], cells: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
    if "expect" not in words:
        raise _Fault('the key "expect" is missing')
    wanted, others = words["expect"], words.get("or", [])
    wanted = wanted if isinstance(wanted, dict) else dict.fromkeys(cells, wanted)
    found = {part: (word, *(others if isinstance(others, list) else [others])) for part, word in wanted.items()}
    for word in (word for verdicts in found.values() for word in verdicts):
        if word not in EXPECTED:
            raise _Fault(f"{word!r} is no verdict; write one of {', '.join(EXPECTED)}")
    if unknown := [part for part in found if part not in cells]:
        raise _Fault(f'"expect" names {unknown[0]!r}, for which there is no cell')
    return found


def judge(row: Row) -> Judged:
    """What grading says to a row. Its parts are stale where problem, part or parameters are not there any more."""
    start = time.monotonic()
    if row.fault:
        return Judged(row=row, stale=dict.fromkeys(row.cells, row.fault))
    try:
        paper = _paper(row.slug, json.dumps(row.parameters), row.seed)
    except _Fault as error:
        return Judged(row=row, stale=dict.fromkeys(row.cells, f"line {row.line}: {error}"))
    names = list(paper.parts)
    stale = {
        part: f"line {row.line}: {row.slug} has no part {part!r}{did_you_mean(part, names)}"
        for part in row.cells
        if part not in names
    }
    outcomes = paper.hand_in(row.cells) if len(stale) < len(row.cells) else {}
    return Judged(row=row, outcomes=outcomes, stale=stale, seconds=time.monotonic() - start)


@dataclass(frozen=True, kw_only=True)
class _Paper:
    """A problem in one variant: its notebook, and what the questions of each part will be."""

    problem: Problem
    parameters: Parameters
    seed: int
    notebook: dict[str, Any]
    foreseen: dict[str, list[Question]] = field(default_factory=dict)

    @property
    def parts(self) -> dict[str, Part]:
        return {part.name: part for part in self.problem.parts}

    def hand_in(self, cells: Mapping[str, str]) -> dict[str, Outcome]:
        """The outcomes of the parts in `cells`, of a notebook that has these instead of the official answers."""
        sources = {answer_id(part): cell for part, cell in cells.items()}
        left = {part for part in cells if part in self.parts}
        followed = {getattr(self.parts[part], "follows", "") for part in left}
        outcomes: dict[str, Outcome] = {}
        with Session() as session:
            ask = Interview(session.ask)  # what an earlier answer was at its own test, it is for those that follow it
            for cell in self.notebook["cells"]:
                name = cell["metadata"]["nbgrader"]["grade_id"]
                if not left:
                    break
                if name in left:
                    outcomes[name] = self._judged(self.parts[name], cells[name], ask)
                    left.remove(name)
                elif name in followed:
                    ask(Question(kind="value", name=name))
                elif cell["cell_type"] == "code" and not cell["metadata"]["nbgrader"]["grade"]:
                    session.run(sources.get(name, cell["source"]))
        return outcomes

    def _judged(self, part: Part, cell: str, ask: Ask) -> Outcome:
        key = self.key(part)
        if part.kind not in ("function", "module"):
            return judge_part(part, self.parameters, _says(cell) if part.judged_by_person else ask, key)
        for question in self._foreseen(part):
            if ask(question).failure in LAST_WORDS:
                break
        with _CODE:
            return judge_part(part, self.parameters, ask, key)

    def _foreseen(self, part: Part) -> list[Question]:
        """What the reference is asked: asked ahead, so that several rows can be at it while one is judged."""
        with _CODE:
            if part.name not in self.foreseen:
                interview = Interview(local(part.reference, part.name, self.parameters))
                judge_part(part, self.parameters, interview, self.key(part))
                self.foreseen[part.name] = [question for question, _ in interview.answers]
            return self.foreseen[part.name]

    def key(self, part: Part) -> tuple[int, ...]:
        """The key of a part's hidden inputs."""
        return part_key(SECRET, self.problem.slug, self.problem.version, self.seed, part.name)


def _says(text: str) -> Ask:
    """Answers for a written part: its text; a stub left as it was is none."""
    said = text.strip()
    return lambda question: Answer(value="" if said == "YOUR ANSWER HERE" else said)


@functools.lru_cache(maxsize=256)
def _made(slug: str, parameters: str, seed: int) -> _Paper | _Fault:
    try:
        problem = loading.load(slug)
    except StaffError as error:
        return _Fault(error.message)
    given = json.loads(parameters)
    p = variant(problem, seed).parameters if given is None else given
    if given is not None and (why := _misfit(problem, given)):
        return _Fault(why)
    try:
        notebook = build(dataclasses.replace(problem, draw=lambda rng: p), seed)
    except Exception as error:
        why = error.message if isinstance(error, AutograderError) else f"{type(error).__name__}: {error}"
        return _Fault(f"{slug} cannot have the parameters {p}: {why}")
    return _Paper(problem=problem, parameters=p, seed=seed, notebook=notebook)


def _paper(slug: str, parameters: str, seed: int) -> _Paper:
    """The paper, made once; `_Fault` where the problem cannot have it."""
    with _CODE:  # a notebook's visible checks show what references return
        found = _made(slug, parameters, seed)
    if isinstance(found, _Fault):
        raise found
    return found


def _misfit(problem: Problem, given: Parameters) -> str:
    """Why no draw gives parameters such as these: other names, a value of another kind, a word that is not drawn.

    Empty where one may. A number may be any: which ones are drawn, a draw does not say.
    """
    names, values = _drawn(problem.slug)
    if frozenset(given) not in names:
        closest = min(names, key=lambda keys: (len(keys ^ given.keys()), sorted(keys)))
        return f"{problem.slug} draws the parameters {', '.join(sorted(closest))}, not {', '.join(sorted(given))}"
    for name, value in given.items():
        alike = [other for other in values[name] if type(other) is type(value)]
        if not alike or (isinstance(value, str) and value not in alike):
            return f"{problem.slug} draws no {name} such as {value!r}"
    return ""


@functools.cache
def _drawn(slug: str) -> tuple[set[frozenset[str]], dict[str, list[Any]]]:
    """The sets of names that draws have, and the values that each name has in them."""
    draws = [variant(loading.load(slug), seed).parameters for seed in range(_DRAWS)]
    values: dict[str, list[Any]] = {}
    for p in draws:
        for name, value in p.items():
            values.setdefault(name, []).append(value)
    return {frozenset(p) for p in draws}, values
