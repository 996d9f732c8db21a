"""From a variant to its source notebook, in nbgrader's format.

The first code cells find the package and declare what answers may use; the last one tells what is answered. Each part
is a statement (locked), an answer cell, and a test cell with a visible check and a hidden region; a written part is one
markdown cell that a person marks. A part's name is its test cell's grade id and the gradebook's key.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from autograder.authoring import loading, statement
from autograder.authoring.opening_cells import declarations_cell, package_cell
from autograder.authoring.variants import variant
from autograder.authoring.voids import Void
from autograder.core import Part, Problem, Variant

HIDDEN_BEGIN, HIDDEN_END = "### BEGIN HIDDEN TESTS", "### END HIDDEN TESTS"
WRITTEN_MARK = "<!-- your answer: {name} -->"
OPENING = ("introduction", "package", "setup", "declarations")  # the cells above the first part, where they are there
OVERVIEW = "overview"  # the last cell
_AGAIN = "# NameError? Run the first cells of the notebook again."  # a traceback shows it
_KERNEL = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}


def answer_id(part: str) -> str:
    """The grade id of a part's answer cell."""
    return f"{part}-answer"


def statement_id(part: str) -> str:
    """The grade id of the cell with a part's question."""
    return f"{part}-statement"


def build(
    problem: Problem,
    seed: int,
    *,
    opening: str = "",
    hand_in: str = "",
    root: Path | None = None,
    own_variants_of: str = "",
    voids: Mapping[str, Void] | None = None,
) -> dict[str, Any]:
    """The source notebook of the variant that `seed` draws, as nbformat 4.5 JSON; same seed, same bytes.

    `own_variants_of` names an assignment in which every student has a variant of his own: then this one is a student's,
    or, in the course's `source/`, what the others are made like. `voids` that hold for the variant are told under their
    parts; the parts keep their points, so that a void can be taken back. `hand_in` says where answers are handed in.
    """
    drawn = variant(problem, seed)
    holding = {part: void for part, void in (voids or {}).items() if void.applies(seed) and void.effect}
    sections = statement.render(problem, loading.statement_text(problem.slug, root), drawn.parameters)
    introduction = _joined(f"# {problem.title}", opening, sections[""], _how_to(problem, holding))
    titles = {part.name: _title(sections[part.name]) for part in problem.parts}
    declarations = declarations_cell(problem, titles, drawn.parameters)
    cells = [
        _locked("markdown", "introduction", introduction),
        _folded(_locked("code", "package", package_cell(problem, declarations))),
    ]
    if problem.setup.strip():
        setup = _locked("code", "setup", problem.setup.strip())
        setup["metadata"]["tags"] = ["raises-exception"]  # without torch the other cells run all the same
        cells.append(setup)
    cells.append(_folded(_locked("code", "declarations", declarations)))
    own = f"hidden.own_seed({own_variants_of!r}, {problem.slug!r})" if own_variants_of else str(seed)
    for part in problem.parts:
        told = holding[part.name].sentence() if part.name in holding else ""
        heading, _, rest = sections[part.name].partition("\n")
        text = _joined(f"{heading} ({_points(part.points)})", rest, f"**{told}**" if told else "")
        cells += _part_cells(part, drawn, own, text)
    told = repr(hand_in) if hand_in else ""
    cells.append(_locked("code", OVERVIEW, f"# What is answered, and how to hand in.\n{_AGAIN}\nform.overview({told})"))
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


def _title(section: str) -> str:
    """The heading of a part's text."""
    return section.partition("\n")[0].removeprefix("## ")


def _how_to(problem: Problem, voids: Mapping[str, Void]) -> str:
    worth = sum(voids.get(part.name, Void()).worth(part.points) for part in problem.parts)
    return (
        f"This notebook is worth {_points(worth)}. Run the code cells above the first question before you begin. Write "
        "each answer into the cell under its question: between the quotes, or in place of `...` or of what says `YOUR`."
        " Leave the names as they are; add cells where you like. The folded cell under each answer looks at its *form* "
        "only; whether it is right is judged after you hand in, and nbgrader's *Validate* cannot tell either. *Restart "
        "Kernel and Run All Cells* works at any time, however little is answered. The last cell says what is answered "
        "and how to hand in."
    )


def _part_cells(part: Part, drawn: Variant, seed: str, text: str) -> list[dict[str, Any]]:
    p = drawn.parameters
    cells = [_locked("markdown", statement_id(part.name), text)]
    if part.judged_by_person:
        mark = WRITTEN_MARK.format(name=part.name)
        body = f"{mark}\n{part.solution_cell(p)}"
        answer = _cell("markdown", part.name, body, solution=True, grade=True, points=part.points)
        return [*cells, _released_as(f"{mark}\n{part.stub_cell(p)}", answer)]
    answer = _cell("code", answer_id(part.name), part.solution_cell(p), solution=True)
    answer["metadata"]["tags"] = ["raises-exception"]  # one that stops does not stop the others
    cells.append(_released_as(part.stub_cell(p), answer))
    test = _test_source(part, drawn, seed)
    return [*cells, _folded(_cell("code", part.name, test, locked=True, grade=True, points=part.points))]


def _folded(cell: dict[str, Any]) -> dict[str, Any]:
    """A cell of which a notebook shows the first line; it runs as any other."""
    cell["metadata"]["jupyter"] = {"source_hidden": True}
    return cell


def _released_as(stub: str, cell: dict[str, Any]) -> dict[str, Any]:
    """An answer's cell, with what stands in it when it is handed out."""
    cell["metadata"]["autograder"] = {"stub": stub.rstrip("\n")}
    return cell


def _test_source(part: Part, drawn: Variant, seed: str) -> str:
    """The visible check and the hidden region; `seed` is source text, the same for all who get the notebook."""
    visible = [
        f"# Check the form of {part.name} (not whether it is right).",
        _AGAIN,
        f"form.check({part.name!r})",
    ]
    hidden = [
        HIDDEN_BEGIN,
        "from autograder import hidden",
        f"hidden.score({drawn.slug!r}, {part.name!r}, version={drawn.version}, seed={seed}, "
        f"points={part.points:g}, names=globals())",
        HIDDEN_END,
    ]
    return "\n".join([*visible, *hidden])


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
