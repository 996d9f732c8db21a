"""What a notebook will be asked, foreseen: the judge interviews the reference once, and every student after it.

A wrong answer can lead to questions that the reference never gets (a property that asks on from what came back). They
are put in further rounds, which run the notebook again; where a judge never comes to an end, a person looks.
"""

from __future__ import annotations

import copy
import functools
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from autograder.authoring import loading
from autograder.authoring.variants import part_key, variant
from autograder.core import Part, Problem, Question, Report
from autograder.errors import AutograderError
from autograder.grading.judge import Interview
from autograder.grading.notebook import grade, runs, tested
from autograder.parts.respond import local
from autograder.sandbox import Limits
from autograder.sandbox.task import Asked, Replayed, Replies, Task

ROUNDS = 32


def task_of(
    notebook: dict[str, Any], *, secret: bytes, limits: Limits, files: Mapping[str, bytes], near: Path | None
) -> Task:
    """What to run and to ask for a mended notebook; nothing, where its problem cannot be loaded."""
    marks = notebook["metadata"]["autograder"]
    try:
        problem = loading.load(marks["slug"], loading.find_problems(near))
    except AutograderError:
        return Task(cells=(), questions={})
    asked = _interviews(problem.slug, loading.find_problems(near), secret, marks["seed"])
    cells: list[str] = []
    questions: dict[int, list[Asked]] = {}
    for cell in notebook["cells"]:
        part = tested(cell, problem.parts)
        if part is not None:
            questions.setdefault(len(cells), []).extend(asked[part.name])
        elif runs(cell):
            cells.append(cell["source"])
    return Task(cells=tuple(cells), questions=questions, limits=limits, files=files)


@functools.lru_cache(maxsize=64)
def _interviews(slug: str, root: Path, secret: bytes, seed: int) -> dict[str, tuple[Asked, ...]]:
    """The questions of each part of a variant; a part that cannot be foreseen is asked in further rounds."""
    problem = loading.load(slug, root)
    return {part.name: tuple(_questions(problem, part, secret, seed)) for part in problem.parts}


def _questions(problem: Problem, part: Part, secret: bytes, seed: int) -> list[Asked]:
    if part.judged_by_person:
        return []
    if part.kind not in ("function", "module"):
        names = filter(None, (part.name, getattr(part, "follows", "")))
        return [Asked.of(part.name, Question(kind="value", name=name)) for name in names]
    p = variant(problem, seed).parameters
    interview = Interview(local(part.reference, part.name, p))
    try:
        part.judge(p, interview, part_key(secret, problem.slug, problem.version, seed, part.name))
    except Exception:
        return []  # the same happens when it is judged, and is held there
    return [Asked.of(part.name, question) for question, _ in interview.answers]


def judged(
    notebook: dict[str, Any],
    task: Task,
    replies: Replies,
    run: Callable[[Task], Replies],
    **options: Any,
) -> tuple[dict[str, Any], Report]:
    """The notebook with its outcomes, and the report, after as many rounds as the judge wants."""
    for left in reversed(range(ROUNDS)):
        shown = copy.deepcopy(notebook)
        replayed = Replayed(replies)
        report = grade(shown, session=replayed, **options)
        if not (replayed.wanted and left):
            break
        replies = replies.and_then(run(task.instead(replayed.wanted)))
    return shown, report
