"""What an instructor publishes after the deadline: the answers with reasons, the known mistakes, the full model.

`walkthrough.md` of a problem folder holds the words. A heading `## {#name}` opens the reason for the answer to the part
of that name, and `## Title {#model}` what comes last: the part inside its full model, in which each ```python block is
a cell of code. `{{x}}` is the parameter or phrase x, as in the statement. Nothing in the file is required: an answer
without a reason stands for itself, and without a last section the task of the full model is trained as it is.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from autograder.authoring import loading, statement
from autograder.authoring.opening_cells import setup_text
from autograder.authoring.variants import variant
from autograder.core import BEGIN, END, Parameters, Part, Problem
from autograder.errors import AuthorError, did_you_mean

FILE = "walkthrough.md"
MODEL = "model"  # the section that comes last
_HEADING = re.compile(r"^##(?P<title>[^\n]*?)[ \t]*\{#(?P<name>\w+)\}[ \t]*$", re.MULTILINE)
_CODE = re.compile(r"^```python\n(.*?)^```[ \t]*$", re.MULTILINE | re.DOTALL)
_MARKS = re.compile(rf"^[ \t]*({re.escape(BEGIN)}|{re.escape(END)})[ \t]*\n?", re.MULTILINE)

# How a mistake shows, as one line of markdown; empty where nothing more can be said than its hint.
Shown = Callable[[Problem, Part, Callable[..., Any], Parameters], str]

READY = """\
%matplotlib inline
# The models are in the folder `solutions`, here or above, or come with the second distribution.
import os
import sys
from pathlib import Path

here = Path.cwd().resolve()
places = (here, *here.parents, Path(sys.prefix, "share", "deep-learning-autograder"))
place = next((folder for folder in places if (folder / "solutions" / "training.py").is_file()), None)
if place is None:
    raise ModuleNotFoundError("no folder `solutions` in or above this one: put this notebook beside it")
sys.path.insert(0, str(place))

import matplotlib.pyplot as plt
import torch
from torch import nn

from solutions.pictures import heat_maps, learning_curves
from solutions.tasks import TASKS
from solutions.training import train

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
STEPS = int(os.environ.get("WALKTHROUGH_STEPS", 0)) or None  # None: as many steps as the task has
print(f"models are trained on {DEVICE}")"""

TRAINED = """\
run = train(TASKS["{task}"], steps=STEPS, device=DEVICE, progress=True)
print(run.sample or dict(run.figures))
learning_curves({{"{task}": run}})"""


def notebook(
    problem: Problem, seed: int, shown: Shown, *, opening: str = "", root: Path | None = None
) -> dict[str, Any]:
    """The walkthrough of the variant that `seed` draws, as nbformat 4.5 JSON without outputs."""
    p = variant(problem, seed).parameters
    asked = statement.render(problem, loading.statement_text(problem.slug, root), p)
    told = sections(problem, p, root)
    needs = (
        "*The answers with their reasons, the known mistakes, and the model that the problem is a part of. The numbers "
        f"are those of variant {seed}. To run it, you need the package with its student extra "
        "(`pip install '.[student]'`) and the models: the folder `solutions` beside or above it, or the distribution "
        "deep-learning-autograder-problems; a GPU is used if there is one.*"
    )
    cells = [
        _markdown(f"# {problem.title}: a walkthrough", opening, needs),
        _code(f"{READY}\np = {p!r}  # the variant of this notebook"),
    ]
    if lines := setup_text(problem, p):
        cells.append(_code(lines))
    cells.append(_markdown(asked[""]))
    for part in problem.parts:
        cells += _answer(problem, part, p, asked[part.name], told.get(part.name, ("", ""))[1], shown)
    cells += _full_model(problem, *told.get(MODEL, ("", "")))
    for number, cell in enumerate(cells):
        cell["id"] = f"cell-{number}"
    kernel = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}
    metadata = {"kernelspec": kernel, "language_info": {"name": "python"}}
    return {"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}


def sections(problem: Problem, p: Parameters, root: Path | None = None) -> dict[str, tuple[str, str]]:
    """Title and text of each section of the folder's file, by name; AuthorError for a name that is no part's."""
    path = (root or loading.find_problems()) / problem.slug / FILE
    text = path.read_text(encoding="utf-8") if path.is_file() else ""
    known = [part.name for part in problem.parts] + [MODEL]
    values = {key: statement.shown_value(value) for key, value in p.items()} | dict(problem.phrases(p))
    headings = list(_HEADING.finditer(text))
    found = {}
    ends = [*(heading.start() for heading in headings), len(text)][1:]
    for heading, end in zip(headings, ends, strict=True):
        name = heading["name"]
        if name not in known or name in found:
            again = "stands twice" if name in found else f"does not name a part{did_you_mean(name, known)}"
            raise AuthorError("unknown_part", f"problems/{problem.slug}/{FILE}: {{#{name}}} {again}")
        section = text[heading.end() : end].strip()
        found[name] = heading["title"].strip(), statement.filled(section, values, f"{problem.slug}/{FILE}")
    return found


def without_reason(problem: Problem, root: Path | None = None) -> list[str]:
    """The parts whose answers have no reason; one in words is a reason itself."""
    path = (root or loading.find_problems()) / problem.slug / FILE
    told = _HEADING.findall(path.read_text(encoding="utf-8")) if path.is_file() else []
    names = {name for _, name in told}
    return [part.name for part in problem.parts if part.name not in names and not part.judged_by_person]


def _answer(
    problem: Problem, part: Part, p: Parameters, asked: str, why: str, shown: Shown
) -> Iterator[dict[str, Any]]:
    """A part's question, its answer, the reason, and the known mistakes."""
    yield _markdown(asked)
    answer = _MARKS.sub("", part.solution_cell(p)).strip()
    if part.judged_by_person:
        yield _markdown(f"**Answer.** {answer}")
    else:
        yield _code("\n".join(line for line in answer.split("\n") if not line.startswith(f"# {part.name} = ")))
    mistakes = [_mistake(problem, part, mistake, p, shown) for mistake in part.mistakes if part.applies(mistake, p)]
    yield _markdown(
        f"**Why.** {why}" if why else "",
        f"**How it is marked.**\n\n{part.rubric.strip()}" if part.rubric else "",
        "**Known mistakes, and how to see them.**\n\n" + "\n".join(mistakes) if mistakes else "",
    )


def _mistake(problem: Problem, part: Part, mistake: Callable[..., Any], p: Parameters, shown: Shown) -> str:
    """One line of the list: the mistake's name, its hint, and how it shows."""
    hint = " ".join((mistake.__doc__ or "").split())
    return f"- *{mistake.__name__.replace('_', ' ')}*: {hint} {shown(problem, part, mistake, p)}".rstrip()


def _full_model(problem: Problem, title: str, text: str) -> Iterator[dict[str, Any]]:
    """The last section: the folder's own, or, without one, the training task as it is."""
    if not problem.full_model:
        return
    place, _, name = problem.full_model.rpartition(".")
    yield _markdown(
        f"# {title or f'Inside the full model: {name}'}",
        f"The full model is `{name}` in `solutions/{place}.py`. It is trained on the task `{problem.task}`: "
        f"`python -m solutions.training {problem.task}`.",
    )
    blocks = _CODE.split(text or f"```python\n{TRAINED.format(task=problem.task)}\n```\n")
    for number, block in enumerate(blocks):
        if block.strip():
            yield _code(block.strip("\n")) if number % 2 else _markdown(block)


def _markdown(*texts: str) -> dict[str, Any]:
    kept = "\n\n".join(text.strip() for text in texts if text.strip())
    return {"cell_type": "markdown", "metadata": {}, "source": kept}


def _code(source: str) -> dict[str, Any]:
    return {"cell_type": "code", "execution_count": None, "metadata": {}, "outputs": [], "source": source}
