"""`autograder build ASSIGNMENT --walkthrough`: the notebooks that an instructor publishes after the deadline."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import click
import numpy as np

from autograder.audit.simulated_answers import handed_in
from autograder.authoring import loading, privacy, walkthrough
from autograder.authoring.assignment import Assignment
from autograder.authoring.building import write_text
from autograder.authoring.variants import class_seed
from autograder.checks.compare import array, is_tensor
from autograder.core import Case, Parameters, Part, Problem
from autograder.protocol.respondents import NoAnswer, local

FOLDER = "walkthrough"  # in the course, beside source/ and release/
KEY = (0,)  # of the inputs that mistakes are shown on: not those of any course


def build(course: Path, assignment: Assignment, seed: int | None = None) -> None:
    """Write `walkthrough/<assignment>/<problem>.ipynb`, and say what each lacks and when to publish them.

    They hold the answers: only their owner can read them, and the group where it may write to the course.
    """
    root = loading.find_problems(course)
    for slug in assignment.problems:
        problem = loading.load(slug, root).worth(assignment.points.get(slug))
        drawn_from = class_seed(assignment, problem, seed)
        content = walkthrough.notebook(problem, drawn_from, shows, opening=f"*{assignment.title}*", root=root)
        path = course / FOLDER / assignment.name / f"{slug}.ipynb"
        new = write_text(path, json.dumps(content, indent=1, ensure_ascii=False, sort_keys=True) + "\n")
        privacy.close(path, shared=privacy.shared(course))
        click.echo(f"{'wrote    ' if new else 'unchanged'} {path}")
        if missing := walkthrough.without_reason(problem, root):
            click.echo(f"note: no reason is given for {', '.join(missing)} (problems/{slug}/{walkthrough.FILE})")
        if not problem.full_model:
            click.echo(f"note: problems/{slug} names no full model, so none is trained")
    if assignment.per_student:
        click.echo("note: every student has other numbers; these are of the assignment's own seed")
    after = f", {assignment.due:%Y-%m-%d %H:%M %Z}" if assignment.due else ""
    click.echo(f"They hold the answers. Publish them after the deadline{after} and all extensions.")


def shows(problem: Problem, part: Part, mistake: Callable[..., Any], p: Parameters) -> str:
    """How a mistake shows: what is handed in, or where its values are not those of the answer."""
    return _in_values(problem, part, mistake, p) if part.runs else part.mistake_in_words(mistake, p)


def _in_values(problem: Problem, part: Any, mistake: Callable[..., Any], p: Parameters) -> str:
    """The entry that is farthest off on the first inputs that reveal the mistake, or the check that does."""
    for case in part.cases(p, KEY):
        if not case.drawn_by or part.passes(mistake, case):
            continue
        try:
            right, wrong = (_called(part, function, case) for function in (part.reference, mistake))
        except NoAnswer as error:
            return f"It raises an error: {error.reply.detail}"
        theirs = dict(_leaves(wrong))
        for where, ours in _leaves(right):
            if said := _farthest(where, ours, theirs.get(where)):
                return said
    verdicts = part.judge(p, handed_in(problem, part, part.answer_cell(mistake, p)), KEY)
    caught = next((verdict.check for verdict in verdicts if verdict.ok is False), "")
    return f"On plain inputs its values are right; the check *{caught}* finds it." if caught else ""


def _called(part: Any, function: Callable[..., Any], case: Case) -> Any:
    return part.respondent(local(function, part.name, case.parameters), case).call(*case.arguments.values())


def _leaves(value: Any, where: str = "") -> Iterator[tuple[str, Any]]:
    """The arrays and numbers of a result, whatever they are packed in, by their places."""
    if isinstance(value, dict):
        inner = [(f" of `{key}`", item) for key, item in value.items()]
    elif isinstance(value, list | tuple):
        inner = [(f" of result {place + 1}", item) for place, item in enumerate(value)]
    else:
        yield where, value
        return
    for name, item in inner:
        yield from _leaves(item, f"{name}{where}")


def _farthest(where: str, right: Any, wrong: Any) -> str:
    """The entry that differs most, in words; empty where all are the same."""
    if not all(is_tensor(value) or isinstance(value, int | float | np.ndarray) for value in (right, wrong)):
        return ""
    ours, theirs = array(right), array(wrong)
    if ours.shape != theirs.shape:
        return f"The shape{where} is {list(theirs.shape)}; the answer has {list(ours.shape)}."
    with np.errstate(invalid="ignore"):
        off = np.nan_to_num(np.abs(theirs.astype(float) - ours.astype(float)), nan=np.inf)
    if not off.size or off.max() <= 1e-9 * max(1.0, float(np.abs(np.nan_to_num(ours.astype(float))).max())):
        return ""
    index = np.unravel_index(int(off.argmax()), off.shape)
    entry = f"Entry {[int(place) for place in index]}" if index else "The value"
    return f"{entry}{where} is {_written(theirs[index])}; the answer has {_written(ours[index])}."


def _written(value: Any) -> str:
    return f"{value:,}" if isinstance(value, np.integer) else f"{value:.4g}"
