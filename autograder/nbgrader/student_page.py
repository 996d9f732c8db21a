"""`autograder preview`: one page with the notebooks that a student will see, and the answers beside them if asked."""

from __future__ import annotations

import html
import json
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import nbformat
from nbconvert.filters import markdown2html
from traitlets.config import Config

from autograder.authoring import loading
from autograder.authoring.assignment import Assignment, assignments, find_course, read_assignment
from autograder.authoring.building import notebook_text
from autograder.authoring.variants import class_seed, variant
from autograder.core import BEGIN, END
from autograder.errors import StaffError, did_you_mean
from autograder.grading.typeset import with_mathml
from autograder.nbgrader.handouts import released_form

_LOOK = """
body { font: 16px/1.55 system-ui, "Segoe UI", Roboto, sans-serif; color: #1f2328; max-width: 52rem; margin: 2rem auto;
       padding: 0 1rem; }
body.answers { max-width: 96rem; }
.answers .row { display: grid; grid-template-columns: minmax(0, 1fr) minmax(0, 1fr); gap: 1.5rem; align-items: start; }
.answer { border-left: 4px solid #1a7f37; padding-left: 1rem; }
pre { background: #f6f8fa; border: 1px solid #d8dee4; border-radius: 6px; padding: .7rem .9rem; white-space: pre-wrap;
      overflow-wrap: anywhere; font: 13.5px/1.45 ui-monospace, "DejaVu Sans Mono", monospace; }
.label { font-size: .8rem; color: #57606a; } .anchor-link { display: none; } section { margin-bottom: 4rem; }
table { border-collapse: collapse; } th, td { text-align: left; padding: .2rem .8rem .2rem 0;
        border-bottom: 1px solid #d8dee4; }
@media print { .row { break-inside: avoid; } section { break-after: page; } }
"""


def write_page(
    name: str, *, seed: int | None = None, answers: bool = False, output: Path | None = None, course: Path | None = None
) -> Path:
    """Write the page of a problem or an assignment: to `output`, or to a new file of its own; its path."""
    page = student_page(name, seed=seed, answers=answers, course=course)
    path = output or Path(tempfile.mkdtemp(prefix="autograder-preview-"), f"{name}.html")
    path.write_text(page, encoding="utf-8")
    return path.resolve()


def student_page(name: str, *, seed: int | None = None, answers: bool = False, course: Path | None = None) -> str:
    """The page as HTML that needs no network. StaffError where there is neither such a problem nor such a file."""
    assignment, root = _asked_for(name, course)
    title = html.escape(assignment.title)
    sections = "".join(_section(assignment, slug, seed, answers, root) for slug in assignment.problems)
    return (
        f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>{title}</title><style>{_LOOK}</style>'
        f'</head>\n<body class="{"answers" if answers else "student"}">\n{sections}</body></html>\n'
    )


def _asked_for(name: str, course: Path | None) -> tuple[Assignment, Path]:
    """The assignment of that name, or one of the problem alone; with the folder of problems."""
    try:
        course = course or find_course()
    except StaffError:
        course = None
    if course and (course / f"{name}.toml").is_file():
        return read_assignment(course, name), loading.find_problems(course)
    root = loading.find_problems(course)
    if name in (known := loading.slugs(root)):
        return Assignment(name=name, title=loading.load(name, root).title, problems=(name,)), root
    known_here = assignments(course) if course else []
    raise StaffError(
        "unknown_name",
        f"there is no problem and no assignment {name!r}{did_you_mean(name, [*known, *known_here])}; there are "
        f"{', '.join([*known, *known_here])}",
    )


def _section(assignment: Assignment, slug: str, seed: int | None, answers: bool, root: Path) -> str:
    """One notebook: as released, with what the source has more in each cell beside it."""
    problem = loading.load(slug, root)
    number = class_seed(assignment, problem, seed)
    source = nbformat.reads(notebook_text(assignment, slug, number, root), as_version=4)
    released, _ = released_form(source, Config())
    drawn = variant(problem, number).parameters
    solutions = {part.name: part.solution_cell(drawn) for part in problem.parts} if answers else {}
    rows = "".join(_rows(released, solutions))
    said = ", ".join(f"{key} = {json.dumps(value, default=str)}" for key, value in drawn.items()) if answers else ""
    label = f'<p class="label">{html.escape(f"{slug}, seed {number}: {said}")}</p>\n' if answers else ""
    return f"<section>\n{label}{rows}</section>\n"


def _rows(notebook: Any, solutions: Mapping[str, str]) -> Iterator[str]:
    for cell in notebook.cells:
        name = cell.metadata.nbgrader.grade_id.removesuffix("-answer")
        shown = markdown2html(with_mathml(cell.source)) if cell.cell_type == "markdown" else _code(cell.source)
        beside = ""
        if name in solutions and cell.metadata.nbgrader.solution:
            beside = (
                f'<div class="answer"><p class="label">answer</p>{_solution(solutions[name], cell.cell_type)}</div>'
            )
        yield f'<div class="row"><div>{shown}</div>{beside}</div>\n'


def _solution(text: str, cell_type: str) -> str:
    """What stands between nbgrader's marks, with what is around it."""
    kept = "\n".join(line for line in text.splitlines() if line.strip() not in (BEGIN, END))
    return str(markdown2html(with_mathml(kept))) if cell_type == "markdown" else _code(kept)


def _code(source: str) -> str:
    return f"<pre>{html.escape(source)}</pre>"
