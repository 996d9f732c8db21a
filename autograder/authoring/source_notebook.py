"""From a variant to its source notebook, in nbgrader's format.

Each part is a statement (locked), an answer cell, and a test cell with a visible check and a hidden region; a written
part is one markdown cell that a person marks. A part's name is its test cell's grade id and the gradebook's key.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from autograder.authoring import loading, statement
from autograder.authoring.variants import variant
from autograder.authoring.voids import Void
from autograder.core import Parameters, Part, Problem, Variant

FORM = "from autograder import student as form"  # what a visible check starts with
HIDDEN_BEGIN, HIDDEN_END = "### BEGIN HIDDEN TESTS", "### END HIDDEN TESTS"
WRITTEN_MARK = "<!-- your answer: {name} -->"
_KERNEL = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}


def answer_id(part: str) -> str:
    """The grade id of a part's answer cell."""
    return f"{part}-answer"


def build(
    problem: Problem,
    seed: int,
    *,
    opening: str = "",
    root: Path | None = None,
    own_variants_of: str = "",
    voids: Mapping[str, Void] | None = None,
) -> dict[str, Any]:
    """The source notebook of the variant that `seed` draws, as nbformat 4.5 JSON; same seed, same bytes.

    `own_variants_of` names an assignment in which every student has a variant of his own: then this one is a student's,
    or, in the course's `source/`, what the others are made like. `voids` that hold for the variant are told under their
    parts; the parts keep their points, so that a void can be taken back.
    """
    drawn = variant(problem, seed)
    holding = {part: void for part, void in (voids or {}).items() if void.applies(seed) and void.effect}
    sections = statement.render(problem, loading.statement_text(problem.slug, root), drawn.parameters)
    introduction = _joined(f"# {problem.title}", opening, sections[""], _how_to(problem, holding))
    cells = [_locked("markdown", "introduction", introduction)]
    if setup := setup_text(problem, drawn.parameters):
        cells.append(_locked("code", "setup", setup))
    own = f"hidden.own_seed({own_variants_of!r}, {problem.slug!r})" if own_variants_of else str(seed)
    for part in problem.parts:
        told = holding[part.name].sentence() if part.name in holding else ""
        text = _joined(sections[part.name], f"*({_points(part.points)})*", f"**{told}**" if told else "")
        cells += _part_cells(part, drawn, own, text)
    return {
        "cells": cells,
        "metadata": {
            "autograder": {
                "slug": drawn.slug,
                "version": drawn.version,
                "seed": seed,
                **({"per_student": True} if own_variants_of else {}),
            },
            "kernelspec": _KERNEL,
            "language_info": {"name": "python"},
        },
        "nbformat": 4,
        "nbformat_minor": 5,
    }


def _joined(*texts: str) -> str:
    return "\n\n".join(text.strip() for text in texts if text.strip())


def _points(points: float) -> str:
    return f"{points:g} point{'' if points == 1 else 's'}"


def setup_text(problem: Problem, p: Parameters) -> str:
    """The first code cell: the problem's own, and what typed answers may use."""
    lines = problem.setup.strip().splitlines()
    declared = [part.declarations(p) for part in problem.parts]
    if any(declared):
        lines += ["", FORM, "# The names that typed answers may use."]
        for words in declared:
            kept = ", ".join(f"{key}={value!r}" for key, value in words.items() if value)
            lines += [f"form.declare({kept})"] if kept and f"form.declare({kept})" not in lines else []
    return "\n".join(lines).strip()


def _how_to(problem: Problem, voids: Mapping[str, Void]) -> str:
    worth = sum(voids.get(part.name, Void()).worth(part.points) for part in problem.parts)
    return (
        f"This notebook is worth {_points(worth)}. Write your answers in the cells that say so, and leave the "
        "names as they are. The cell under each answer looks at its *form* only; whether it is right is judged after "
        "you hand in. Add cells where you like."
    )


def _part_cells(part: Part, drawn: Variant, seed: str, text: str) -> list[dict[str, Any]]:
    p = drawn.parameters
    cells = [_locked("markdown", f"{part.name}-statement", text)]
    if part.judged_by_person:
        body = f"{WRITTEN_MARK.format(name=part.name)}\n{part.solution_cell(p)}"
        return [*cells, _cell("markdown", part.name, body, solution=True, grade=True, points=part.points)]
    cells.append(_cell("code", answer_id(part.name), part.solution_cell(p), solution=True))
    test = _test_source(part, drawn, seed)
    return [*cells, _cell("code", part.name, test, locked=True, grade=True, points=part.points)]


def _test_source(part: Part, drawn: Variant, seed: str) -> str:
    """The visible check and the hidden region; `seed` is source text, the same for all who get the notebook."""
    visible = [
        "# This checks only the form of your answer.",
        FORM,
        part.local_check(drawn.parameters),
    ]
    hidden = [
        HIDDEN_BEGIN,
        "from autograder import hidden",
        f"hidden.score({drawn.slug!r}, {part.name!r}, version={drawn.version}, seed={seed}, "
        f"points={part.points:g}, names=globals())",
        HIDDEN_END,
    ]
    return "\n".join([*filter(None, visible), *hidden])


def _locked(cell_type: str, grade_id: str, source: str) -> dict[str, Any]:
    return _cell(cell_type, grade_id, source, locked=True)


def _cell(
    cell_type: str,
    grade_id: str,
    source: str,
    *,
    solution: bool = False,
    grade: bool = False,
    locked: bool = False,
    points: float | None = None,
) -> dict[str, Any]:
    """One cell with nbgrader's metadata (schema 3)."""
    marks: dict[str, Any] = {
        "grade": grade,
        "grade_id": grade_id,
        "locked": locked,
        "schema_version": 3,
        "solution": solution,
        "task": False,
    }
    if points is not None:
        marks["points"] = points
    cell: dict[str, Any] = {
        "cell_type": cell_type,
        "id": grade_id.replace("_", "-")[:64],
        "metadata": {"nbgrader": marks},
        "source": source.rstrip("\n"),
    }
    if cell_type == "code":
        cell |= {"execution_count": None, "outputs": []}
    return cell


def without_hidden(source: str) -> str:
    """A test cell's source without its hidden region."""
    kept, hidden = [], False
    for line in source.split("\n"):
        hidden = hidden or line.strip() == HIDDEN_BEGIN
        if not hidden:
            kept.append(line)
        hidden = hidden and line.strip() != HIDDEN_END
    return "\n".join(kept)
