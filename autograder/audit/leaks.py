"""What an assignment shows, handed in: whoever copies from its notebooks must not earn what its parts ask.

All notebooks of an assignment are released together, so a part may be answered by the words of another one. Every
displayed formula, code span and quoted text of all of them is handed in to every part that is typed. What earns points
is a leak, and a fault. A bare number or constant says nothing by itself: it is listed, with that reason.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from autograder.audit.parallel import gathered
from autograder.authoring.assignment import Assignment
from autograder.authoring.loading import load
from autograder.authoring.source_notebook import build, without_hidden
from autograder.authoring.variants import class_seeds, stream_key, variant
from autograder.core import BEGIN, END, Answer, Parameters, Part
from autograder.grading.judge import judge_part
from autograder.maths import guard
from autograder.protocol.answering import one_thread

VARIANTS = 60
TOGETHER = 15  # variants that one step tries, so that decisions are remembered

_SOLUTION = re.compile(rf"{re.escape(BEGIN)}.*?{re.escape(END)}", re.DOTALL)
_SHOWN = re.compile(r"\$\$(.+?)\$\$|\$([^$]+)\$|```\w*\n(.+?)```|`([^`\n]+)`", re.DOTALL)
_QUOTED = re.compile(r'"([^"\n]+)"|\'([^\'\n]+)\'')

Progress = Callable[[int, int], None]
# What one notebook shows: the slug, and the texts of each of its cells.
Shown = tuple[str, tuple[tuple[str, ...], ...]]


@dataclass(frozen=True, kw_only=True)
class Copied:
    """A text that earns points in a part, in how many variants, and in which notebooks it stands.

    `reason` says why it is no leak; empty for one.
    """

    slug: str
    part: str
    text: str
    where: str
    points: float
    max_points: float
    seeds: tuple[int, ...]
    reason: str = ""


@dataclass(frozen=True, kw_only=True)
class LeakReport:
    """What was handed in to the typed parts of an assignment's problems in some variants, and what earned points."""

    assignment: str
    variants: int
    problems: int
    parts: int
    shown: int
    tried: int
    found: tuple[Copied, ...]

    @property
    def leaks(self) -> tuple[Copied, ...]:
        """What must not earn."""
        return tuple(item for item in self.found if not item.reason)


def search_leaks(
    pool: Executor,
    assignment: Assignment,
    root: Path,
    *,
    variants: int = VARIANTS,
    progress: Progress = lambda done, total: None,
) -> LeakReport:
    """Hand in what the notebooks of an assignment show, in its own variant and in those of the seeds after it."""
    seeds = {slug: class_seeds(assignment, load(slug, root), variants) for slug in assignment.problems}
    read = dict(gathered(pool, {slug: (_read, slug, root, seeds[slug]) for slug in assignment.problems}, progress))
    shown = [tuple((slug, read[slug][place]) for slug in assignment.problems) for place in range(variants)]
    steps = {
        (slug, first): (_tried, slug, root, seeds[slug][first : first + TOGETHER], shown[first : first + TOGETHER])
        for slug in assignment.problems
        for first in range(0, variants, TOGETHER)
    }
    tried, found = _together(dict(gathered(pool, steps, progress)), steps)
    texts = {text for notebooks in shown for _, cells in notebooks for cell in cells for text in cell}
    return LeakReport(
        assignment=assignment.name, variants=variants, problems=len(assignment.problems), parts=len(tried),
        shown=len(texts), tried=sum(map(len, tried.values())), found=tuple(found.values()),
    )  # fmt: skip


def texts_of(notebook: Mapping[str, Any]) -> tuple[tuple[str, ...], ...]:
    """The formulas and code spans of each cell of a notebook as students get it, and the quoted texts of its code."""
    cells = []
    for cell in notebook["cells"]:
        source = without_hidden(_SOLUTION.sub("", cell["source"]))
        found = [next(filter(None, groups)) for groups in _SHOWN.findall(source)]
        if cell["cell_type"] == "code":
            found += [one or other for one, other in _QUOTED.findall(source)]
        cells.append(tuple(dict.fromkeys(" ".join(text.split()) for text in found)))
    return tuple(cells)


def _read(slug: str, root: Path, seeds: Sequence[int]) -> list[tuple[tuple[str, ...], ...]]:
    one_thread()
    problem = load(slug, root)
    return [texts_of(build(problem, seed, root=root)) for seed in seeds]


# By problem and part: the answers that were handed in, and those that earned points by the text they are from.
Tried = dict[tuple[str, str], set[str]]
Found = dict[tuple[str, str, str], Copied]


def _tried(slug: str, root: Path, seeds: Sequence[int], shown: Sequence[tuple[Shown, ...]]) -> tuple[Tried, Found]:
    """What is handed in to the parts of a problem in some variants."""
    one_thread()
    problem = load(slug, root)
    tried: Tried = {}
    found: Found = {}
    with guard.remembering():
        for seed, notebooks in zip(seeds, shown, strict=True):
            p = variant(problem, seed).parameters
            where = {text: owner for owner, cells in reversed(notebooks) for cell in cells for text in cell}
            cells = [cell for _, cells in notebooks for cell in cells]
            for part in (part.terse() for part in problem.parts):
                for text, subject in part.copied_answers(p, cells):
                    tried.setdefault((slug, part.name), set()).add(repr(subject))
                    if points := _points(part, p, stream_key(b"copied", slug, part.name, seed), subject):
                        copied = Copied(
                            slug=slug, part=part.name, text=text, where=where.get(text, slug), points=points,
                            max_points=float(part.points), seeds=(seed,), reason=part.harmless_copy(subject, p),
                        )  # fmt: skip
                        _add(found, copied)
    return tried, found


def _add(found: Found, copied: Copied) -> None:
    """Count it with what was copied from the same text; a leak in one variant is one in all."""
    key = copied.slug, copied.part, copied.text
    if old := found.get(key):
        copied = replace(
            old, points=max(old.points, copied.points), seeds=tuple(dict.fromkeys((*old.seeds, *copied.seeds))),
            reason=old.reason and copied.reason,
        )  # fmt: skip
    found[key] = copied


def _together(done: Mapping[Any, tuple[Tried, Found]], order: Iterable[Any]) -> tuple[Tried, Found]:
    tried: Tried = {}
    found: Found = {}
    for step in order:
        for key, answers in done[step][0].items():
            tried.setdefault(key, set()).update(answers)
        for copied in done[step][1].values():
            _add(found, copied)
    return tried, found


def _points(part: Part, p: Parameters, key: tuple[int, ...], subject: Any) -> float:
    """What a notebook earns in which this is the only answer."""
    missing = Answer(failure="missing", detail="")
    return judge_part(part, p, lambda asked: Answer(value=subject) if asked.name == part.name else missing, key).points
