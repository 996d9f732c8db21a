"""`autograder similar` from the command line: a page for staff, and the pairs in a table."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from autograder.authoring import loading, privacy
from autograder.authoring.sealing import as_json
from autograder.core import Answer
from autograder.errors import AutograderError
from autograder.grading.judge import judge_part
from autograder.nbgrader.answer_cells import answer_cells, facts_about_files, given_code
from autograder.nbgrader.called import called
from autograder.nbgrader.class_gradebook import read_class
from autograder.reporting import report_files
from autograder.reporting.class_marks import Item
from autograder.reporting.same_answers import Judged
from autograder.reporting.similarity import Likeness, likeness

DECISIONS = 2_000  # about equal answers, in all


def similar_answers(course: Path, assignment: str, *, as_json: bool, out: Path | None) -> int:
    """Write the page on pairs of similar answers; the exit code."""
    course = course.resolve()
    marks = read_class(course, assignment, listed=True)
    sources = answer_cells(course, marks)
    problems = loading.find_problems(course)
    known, same = given_code(course, marks), Judged(problems, DECISIONS)
    found = likeness(marks, sources, known, _Accepts(problems), same)
    facts = facts_about_files(course, marks)
    if (names := called(course)).hidden:
        found, facts, marks = found.called(names), list(map(names.text, facts)), marks.called(names)
        sources = {names.of(student): own for student, own in sources.items()}
    place = out or Path(f"{assignment}-similar.{'json' if as_json else 'html'}")
    if as_json:
        text = json.dumps(dataclasses.asdict(found) | {"facts": facts}, ensure_ascii=False, indent=1)
    else:
        text = report_files.similar_page(found, marks, sources, facts)
    privacy.write(place, text)
    print(f"wrote {place}: for staff alone")
    _show(found)
    return 0


def _show(found: Likeness) -> None:
    if not found.pairs:
        print("No two students share anything unusual.")
        return
    table = Table("pair", "score in bits", "pairs by chance", "what they share")
    for pair in found.pairs[:10]:
        shared = ", ".join(dict.fromkeys(f"{signal.kind} in {signal.part}" for signal in pair.signals))
        cells = (" and ".join(pair.students), f"{pair.bits:.1f}", f"{pair.by_chance:.2g}", shared)
        table.add_row(*map(Text, cells))
    Console().print(table)
    print("A person must look: no mark has changed, and a score does not say why answers are alike.")


class _Accepts:
    """Whether a typed answer is right under some parameters, by the judge; one question for all with one solution."""

    def __init__(self, problems: Path) -> None:
        self._problems = problems
        self._solutions: dict[tuple[str, str], str] = {}
        self._known: dict[tuple[str, str, str], bool] = {}

    def __call__(self, item: Item, p: Mapping[str, Any], typed: str) -> bool:
        try:
            part = loading.load(item.slug, self._problems).part(item.part).terse()
        except AutograderError:
            return False
        seat = (item.name, as_json(dict(p)))
        if seat not in self._solutions:
            self._solutions[seat] = part.solution_cell(dict(p))
        key = (item.name, self._solutions[seat], typed)
        if key not in self._known:
            outcome = judge_part(part, dict(p), lambda question: Answer(value=typed), (0,), ())
            self._known[key] = outcome.standing == "earned"
        return self._known[key]
